"""What goes down to tables: files that the house offers, and who is asked to fetch them.

The bytes lie in the folder of the images, by their hash. A request's end stays: what was asked of a table, when, and
how it went.
"""

from __future__ import annotations

from alembic import op

revision = "0050"
down_revision = "0041"

_DOWN = """
CREATE TABLE offered_file (
    sha256     text PRIMARY KEY,
    kind       text NOT NULL CHECK (kind IN ('profile', 'deck', 'release')),
    name       text NOT NULL,
    version    text NOT NULL DEFAULT '',         -- a release's name
    size       bigint NOT NULL CHECK (size > 0), -- bytes
    signature  text NOT NULL,                    -- the house's, hex; empty: a release carries the release key's
    offered_by text NOT NULL,
    offered_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE file_request (
    request_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_id   bigint NOT NULL REFERENCES gaming_table,
    sha256     text NOT NULL REFERENCES offered_file,
    asked_by   text NOT NULL,
    asked_at   timestamptz NOT NULL DEFAULT now(),
    ends_at    timestamptz NOT NULL,             -- it is withdrawn then, if it has not ended before
    state      text NOT NULL DEFAULT 'asked'
        CHECK (state IN ('asked', 'fetched', 'waiting', 'in_force', 'refused', 'withdrawn')),
    why        text NOT NULL DEFAULT '',         -- a message's JSON
    state_at   timestamptz NOT NULL DEFAULT now(),
    ended_at   timestamptz,
    ended_by   text NOT NULL DEFAULT '',         -- who withdrew it
    CHECK ((ended_at IS NULL) = (state IN ('asked', 'fetched', 'waiting')))
);
CREATE UNIQUE INDEX file_request_open ON file_request (table_id, sha256) WHERE ended_at IS NULL;
CREATE INDEX file_request_of_table ON file_request (table_id, request_id);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(_DOWN)
