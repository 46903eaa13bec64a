"""One-time codes that bring tables in, and what the pit says of itself to its pages.

A code's row stays after its end: a second use is recognised, and answered with the reason.
"""

from __future__ import annotations

from alembic import op

revision = "0020"
down_revision = "0012"

_ENROLMENT = """
CREATE TABLE enrolment (
    enrolment_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name         text NOT NULL,                  -- the table that it is for
    renews       boolean NOT NULL,               -- there is a table of this name: it gets another certificate
    code_name    text NOT NULL UNIQUE,           -- the secret's HMAC, by which requests find the row
    code_key     bytea NOT NULL,                 -- another: the secret itself is in `code` only
    code         text,                           -- to be shown; null once it is dead
    made_at      timestamptz NOT NULL DEFAULT now(),
    made_by      text NOT NULL,
    ends_at      timestamptz NOT NULL,
    request      text,                           -- the table's certificate request, PEM
    device_key   bytea,
    witness_key  bytea,
    words        text NOT NULL DEFAULT '',       -- five, to be compared
    table_said   text NOT NULL DEFAULT '' CHECK (table_said IN ('', 'same', 'other')),
    pit_said     text NOT NULL DEFAULT '' CHECK (pit_said IN ('', 'same', 'other')),
    pit_said_by  text NOT NULL DEFAULT '',
    ended_at     timestamptz,
    why          text NOT NULL DEFAULT '',       -- a message's JSON; empty: the table is enrolled
    certificate  text,
    refused_at   timestamptz,                    -- when it was used in vain last
    refused      text NOT NULL DEFAULT '',       -- and why: a message's JSON
    CHECK (ended_at IS NULL OR code IS NULL)
);
CREATE INDEX enrolment_open ON enrolment (name) WHERE ended_at IS NULL;

CREATE TABLE house_fact (
    name  text PRIMARY KEY,                      -- 'authority': its certificate, PEM; 'addresses': where the pit is
    value text NOT NULL
);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(_ENROLMENT)
