"""When each row was made and when it came, without anything that it says: for how live and whole a record is.

A row is dated by the table's clock if that was set, and never later than the pit took it.
"""

from __future__ import annotations

from alembic import op

revision = "0060"
down_revision = "0053"

_TIMES = """
CREATE VIEW row_time AS
    SELECT record_id, seq, (extract(epoch FROM taken_at) * 1000)::bigint AS taken_ms,
           CASE WHEN clock = 'synchronised' THEN least(wall_ms, (extract(epoch FROM taken_at) * 1000)::bigint)
                ELSE (extract(epoch FROM taken_at) * 1000)::bigint END AS made_ms
    FROM entry;
COMMENT ON VIEW row_time IS 'Of rows of an open hand it says that they are there, and when they came. Nothing else.';
"""


def upgrade() -> None:
    """Add the view."""
    op.execute(_TIMES)
