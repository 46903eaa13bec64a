"""Which hands and downs count: those of a record's newest branch. What only an older branch has is listed, not counted.

A restore at a table opens a branch with the rows that both have in common; the newest branch is what the table itself
has, so totals over it are the table's own. A hand that was played after the backup is in no later branch: it is in the
lists, of the branch that has it.
"""

from __future__ import annotations

from alembic import op

revision = "0061"
down_revision = "0060"

_VIEWS = """
CREATE VIEW record_branch AS
    SELECT r.*, n.stem AS shared FROM record r LEFT JOIN record n ON n.genesis = r.genesis AND n.branch = r.branch + 1;
COMMENT ON VIEW record_branch IS 'shared: the last row that the next branch has, too; NULL for the newest branch.';
CREATE VIEW counted_hand AS
    SELECT hand.*, b.table_id FROM hand JOIN record_branch b USING (record_id) WHERE b.shared IS NULL;
CREATE VIEW counted_down AS
    SELECT d.*, b.table_id FROM down_total d JOIN record_branch b USING (record_id) WHERE b.shared IS NULL;
CREATE VIEW listed_hand AS
    SELECT hand.*, b.table_id FROM hand JOIN record_branch b USING (record_id)
    WHERE b.shared IS NULL OR hand.last > b.shared;
COMMENT ON VIEW listed_hand IS 'Each hand once, of the newest branch that has it.';
"""


def upgrade() -> None:
    """Add the views."""
    op.execute(_VIEWS)
