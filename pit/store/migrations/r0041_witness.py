"""A witness's key is one table's: two tables that cosign with one key would count twice.

Tables that were struck off do not count. So a box may come in again under another name. Where two tables have one key
already, the first keeps it, and the others are without one until theirs is known.
"""

from __future__ import annotations

from alembic import op

revision = "0041"
down_revision = "0040"

_WITNESS = """
UPDATE gaming_table SET witness_key = NULL WHERE struck_at IS NULL AND EXISTS (
    SELECT FROM gaming_table first WHERE first.witness_key = gaming_table.witness_key
    AND first.struck_at IS NULL AND first.table_id < gaming_table.table_id
);
CREATE UNIQUE INDEX gaming_table_witness ON gaming_table (witness_key) WHERE struck_at IS NULL;
"""


def upgrade() -> None:
    """Make the index."""
    op.execute(_WITNESS)
