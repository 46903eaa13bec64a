"""The pit's processes that share this database, and when each was last heard of (`scale/workers.py`)."""

from __future__ import annotations

from alembic import op

revision = "0062"
down_revision = "0061"

_TABLE = """
CREATE TABLE worker (
    worker text PRIMARY KEY,                     -- a name of this process alone
    since  timestamptz NOT NULL DEFAULT now(),
    seen   timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);                        -- each row is written every second
"""


def upgrade() -> None:
    """Make the table."""
    op.execute(_TABLE)
