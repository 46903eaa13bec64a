"""An index for what one person did."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Make the index."""
    op.execute("CREATE INDEX act_of_person ON act (person, act_id)")
