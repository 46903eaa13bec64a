"""How many of a hand's images a restore of its table did not find as they were stored."""

from __future__ import annotations

from alembic import op

revision = "0053"
down_revision = "0052"

_LOST = "ALTER TABLE hand ADD COLUMN lost int NOT NULL DEFAULT 0;"


def upgrade() -> None:
    """Add the column."""
    op.execute(_LOST)
