"""Offered files that a person has removed: their row stays, with who it was and when; their bytes are gone."""

from __future__ import annotations

from alembic import op

revision = "0052"
down_revision = "0051"

_REMOVED = """
ALTER TABLE offered_file
    ADD COLUMN removed_at timestamptz,
    ADD COLUMN removed_by text NOT NULL DEFAULT '';
"""


def upgrade() -> None:
    """Add the columns."""
    op.execute(_REMOVED)
