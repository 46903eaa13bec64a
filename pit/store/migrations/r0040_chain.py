"""The house's own number, in what a head office may have: hands, downs, tables' heads, checkpoints.

It is random and made once, so that the rows of several houses can lie in one table. New columns with a constant default
rewrite no row.
"""

from __future__ import annotations

from alembic import op

revision = "0040"
down_revision = "0020"

_HOUSE = """
CREATE TABLE house (
    house uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name  text NOT NULL DEFAULT ''
);
INSERT INTO house DEFAULT VALUES;
DO $$
DECLARE
    own uuid := (SELECT house FROM house);
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['record', 'head', 'hand', 'down_total', 'epoch', 'checkpoint'] LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN house uuid NOT NULL DEFAULT %L', one, own);
    END LOOP;
END $$;
"""


def upgrade() -> None:
    """Make the number, and the columns."""
    op.execute(_HOUSE)
