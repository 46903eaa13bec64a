"""Files that go down are named by a signed repository: their rows need no signature of their own."""

from __future__ import annotations

from alembic import op

revision = "0066"
down_revision = "0065"


def upgrade() -> None:
    """Drop the column."""
    op.execute("ALTER TABLE offered_file DROP COLUMN signature")
