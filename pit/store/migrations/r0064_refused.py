"""When a table's offer was refused last: a fork stays one for some time after it."""

from __future__ import annotations

from alembic import op

revision = "0064"
down_revision = "0063"


def upgrade() -> None:
    """Add the time."""
    op.execute("ALTER TABLE head ADD refused_at timestamptz")
