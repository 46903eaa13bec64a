"""Codes that enrol tables; files for tables, and the channels of releases; triggers that protect evidence.

A code's row stays after its end: a second use is recognised, and answered with the reason. The bytes of a file lie in
the house's repository. A request's end stays: what was asked of a table, when, and how it went.
"""

from alembic import op

revision = "0066"
down_revision = "0066_log"

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
_FILES = """
CREATE TABLE offered_file (
    sha256     text PRIMARY KEY,
    kind       text NOT NULL CHECK (kind IN ('profile', 'deck', 'release')),
    name       text NOT NULL,
    version    text NOT NULL DEFAULT '',         -- a release's name
    size       bigint NOT NULL CHECK (size > 0), -- bytes
    offered_by text NOT NULL,
    offered_at timestamptz NOT NULL DEFAULT now(),
    removed_at timestamptz,                      -- its bytes are gone then
    removed_by text NOT NULL DEFAULT ''
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

CREATE TABLE channel (
    channel     text PRIMARY KEY CHECK (channel IN ('first', 'tenth', 'rest')),
    sha256      text REFERENCES offered_file,        -- the release that it holds
    moved_at    timestamptz,
    moved_by    text NOT NULL DEFAULT '',
    stopped_why text NOT NULL DEFAULT ''             -- a message's JSON; empty: the release goes on
);
INSERT INTO channel (channel) VALUES ('first'), ('tenth'), ('rest');
CREATE TABLE channel_table (                         -- a table to which its channel's release goes
    table_id    bigint PRIMARY KEY REFERENCES gaming_table,
    sha256      text NOT NULL REFERENCES offered_file,
    reached_at  timestamptz NOT NULL DEFAULT now(),  -- since when it is waited for
    is_left_out boolean NOT NULL DEFAULT false,
    was_updated boolean NOT NULL DEFAULT false,
    mark        text NOT NULL DEFAULT 'waits',       -- from here on: made again from its rows at each turn
    since       timestamptz,
    why         text NOT NULL DEFAULT ''             -- a message's JSON, or a text's
);
CREATE TABLE channel_note (
    note_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at      timestamptz NOT NULL DEFAULT now(),
    person  text NOT NULL,                           -- empty: the pit itself
    what    text NOT NULL                            -- a message's JSON
);
"""
_HOUSE = """
DO $$
DECLARE
    own uuid := (SELECT house FROM house);
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['record', 'head', 'hand', 'down_total', 'epoch', 'checkpoint'] LOOP
        EXECUTE format('ALTER TABLE %I ALTER COLUMN house SET DEFAULT %L', one, own);
    END LOOP;
END $$;
"""
_EVIDENCE = """
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: rows are never changed or removed', TG_TABLE_NAME;
END $$;
DO $$
DECLARE
    one text;
BEGIN
    FOREACH one IN ARRAY ARRAY['entry', 'content', 'quarantine', 'act', 'epoch', 'leaf', 'node', 'checkpoint',
        'cosignature', 'proven'] LOOP
        EXECUTE format('CREATE TRIGGER %I BEFORE UPDATE OR DELETE ON %I FOR EACH ROW EXECUTE FUNCTION append_only()',
            one || '_never_changed', one);
        EXECUTE format('CREATE TRIGGER %I BEFORE TRUNCATE ON %I FOR EACH STATEMENT EXECUTE FUNCTION append_only()',
            one || '_never_emptied', one);
    END LOOP;
END $$;
"""


def upgrade() -> None:
    """Make the tables, give every row the house's number, and protect evidence."""
    for statements in (_ENROLMENT, _FILES, _HOUSE, _EVIDENCE):
        op.execute(statements)
