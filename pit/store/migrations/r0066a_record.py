"""The tables of the house, their records row by row, by month, and the list of hands made from them.

`entry`, `content` and `quarantine` are evidence: rows are added and never changed. `hand` and `hand_seat` are
projections: `feltwatch pit reindex` makes them again. A month's part of `entry` has its own key: that a record has no
number twice across months, its locked head sees to (`take.py`), and `pit verify` looks.
"""

from alembic import op

revision = "0066_record"
down_revision = None

_TABLES = """
CREATE TABLE house (
    house uuid PRIMARY KEY DEFAULT gen_random_uuid(),  -- several houses may lie in one table of a head office
    name  text NOT NULL DEFAULT ''
);
INSERT INTO house DEFAULT VALUES;

CREATE TABLE gaming_table (
    table_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    serial      text NOT NULL UNIQUE,            -- of its certificate, in lower-case hexadecimal digits
    enrolled_at timestamptz NOT NULL DEFAULT now(),
    struck_at   timestamptz,
    device_key  bytea CHECK (octet_length(device_key) = 32),
    witness_key bytea CHECK (octet_length(witness_key) = 32),
    channel     text NOT NULL DEFAULT 'rest' CHECK (channel IN ('first', 'tenth', 'rest'))
);
CREATE UNIQUE INDEX gaming_table_witness ON gaming_table (witness_key) WHERE struck_at IS NULL;
COMMENT ON COLUMN gaming_table.struck_at IS 'Since when nothing is taken from it.';
COMMENT ON COLUMN gaming_table.device_key IS
    'Ed25519 public key with which the table signs heads; NULL until a person has compared its words.';
COMMENT ON COLUMN gaming_table.witness_key IS
    'Ed25519 public key with which its uplink cosigns checkpoints; NULL until it is known.';

CREATE TABLE record (
    record_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_id  bigint NOT NULL REFERENCES gaming_table,
    genesis   text NOT NULL,                     -- the hash of its first row
    branch    int NOT NULL DEFAULT 1,            -- one more after each restore at the table
    stem      bigint NOT NULL DEFAULT 0,         -- the last row that it shares with the branch before
    opened_at timestamptz NOT NULL DEFAULT now(),
    house     uuid NOT NULL,
    UNIQUE (genesis, branch)
);
CREATE INDEX record_of_table ON record (table_id, record_id);

CREATE TABLE head (
    record_id     bigint PRIMARY KEY REFERENCES record,
    seq           bigint NOT NULL DEFAULT 0,
    hash          text NOT NULL DEFAULT '',
    taken_at      timestamptz,                   -- when the last row came
    heard_at      timestamptz NOT NULL DEFAULT now(),
    table_seq     bigint NOT NULL DEFAULT 0,     -- how far the table said that its record goes
    release       text NOT NULL DEFAULT '',
    health        text NOT NULL DEFAULT '{}',
    fork_seq      bigint,                        -- the row that differs, while the table and the pit disagree
    fork_at       timestamptz,
    house         uuid NOT NULL,
    refused_at    timestamptz                    -- a fork stays one for some time after the last refusal
);

CREATE TABLE projection (
    record_id bigint PRIMARY KEY REFERENCES record,
    seq       bigint NOT NULL DEFAULT 0,         -- the last row that is in `hand` and `hand_seat`
    subject   bigint NOT NULL DEFAULT 0,         -- the past hand that is reopened there, 0 for none
    stuck_at  bigint,                            -- the row that this release cannot read
    stuck_why text
);

CREATE TABLE entry (
    record_id    bigint NOT NULL,
    seq          bigint NOT NULL,
    hand         bigint NOT NULL,
    boot         text NOT NULL,
    monotonic_ns bigint NOT NULL,
    wall_ms      bigint NOT NULL,
    clock        text NOT NULL,
    actor        text NOT NULL,
    command      text NOT NULL,
    type         text NOT NULL,
    payload      text NOT NULL,
    previous     text NOT NULL,
    hash         text NOT NULL,
    taken_at     timestamptz NOT NULL DEFAULT now()
) PARTITION BY RANGE (taken_at);
CREATE INDEX entry_signed ON entry (record_id, seq) WHERE type IN ('head_signed', 'key_announced');
CREATE INDEX entry_started ON entry (record_id, seq) WHERE type = 'table_started';

CREATE TABLE content (
    hash  text PRIMARY KEY,
    bytes bytea NOT NULL
);

CREATE TABLE quarantine (
    quarantine_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_id bigint NOT NULL REFERENCES gaming_table,
    genesis  text NOT NULL,
    taken_at timestamptz NOT NULL DEFAULT now(),
    why      text NOT NULL,
    seq      bigint NOT NULL,
    digest   text NOT NULL,                      -- of `rows`: the same offer is kept once
    rows     bytea NOT NULL,                     -- as they came
    UNIQUE (table_id, digest)
);

CREATE TABLE wish (
    wish_id  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_id bigint NOT NULL REFERENCES gaming_table,
    kind     text NOT NULL,                      -- content: a text that a row names by hash; image: of a hand
    hash     text NOT NULL,
    name     text NOT NULL,                      -- as the table has it
    asked_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    missing  boolean NOT NULL DEFAULT false,     -- the table does not have it any more
    UNIQUE (table_id, hash)
);
CREATE INDEX wish_open ON wish (table_id, wish_id) WHERE ended_at IS NULL;

CREATE TABLE hand (
    record_id bigint NOT NULL,
    hand bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL, opened_ms bigint NOT NULL,
    ended_ms bigint, outcome text NOT NULL, profile text NOT NULL, dealer text NOT NULL, down bigint NOT NULL,
    settled int NOT NULL, corrections int NOT NULL, fouls int NOT NULL, naturals int NOT NULL,
    cards int NOT NULL, unsure int NOT NULL, irregularities int NOT NULL, reopened int NOT NULL,
    disputes int NOT NULL, disputed boolean NOT NULL, reviewed int NOT NULL, images int NOT NULL,
    image_bytes bigint NOT NULL, image_names text[] NOT NULL,
    house uuid NOT NULL,
    lost int NOT NULL DEFAULT 0,                 -- images that a restore of the table did not find
    game text NOT NULL DEFAULT '',               -- the hash of its rules
    PRIMARY KEY (record_id, hand)
);
CREATE TABLE hand_seat (
    record_id bigint NOT NULL, hand bigint NOT NULL, seat int NOT NULL, player text NOT NULL, points int,
    foul boolean NOT NULL, "natural" text, opened_ms bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (record_id, hand, seat)
);
"""
_COMPRESS = """
DO $$ BEGIN
    ALTER TABLE entry ALTER COLUMN payload SET COMPRESSION lz4;
EXCEPTION WHEN OTHERS THEN NULL; -- where it has no lz4: its own compression, for JSON of some kilobytes
END $$;
"""
_MONTHS = """
CREATE FUNCTION make_entry_month(at timestamptz) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp SET timezone = 'UTC' AS $$
DECLARE
    first timestamptz := date_trunc('month', at);
    name text := to_char(first, '"entry_"YYYY_MM');
BEGIN
    IF at IS NULL OR at NOT BETWEEN now() - interval '1 day' AND now() + interval '2 months' THEN
        RAISE EXCEPTION 'only this month''s part and the next two are made: % is not among them', name;
    END IF;
    IF to_regclass(quote_ident(name)) IS NOT NULL THEN
        RETURN false;
    END IF;
    PERFORM pg_advisory_xact_lock(1180259413);
    EXECUTE format('CREATE TABLE %I (LIKE entry INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING COMPRESSION,'
        ' PRIMARY KEY (record_id, seq))', name);
    -- Attached, not created as a part: that would wait for every reader, and let every other one wait.
    EXECUTE format('ALTER TABLE entry ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
        name, first, first + interval '1 month');
    RETURN true;
EXCEPTION WHEN invalid_object_definition OR duplicate_table THEN
    RETURN false; -- what was there before months has these rows, or another process was first
END $$;
REVOKE ALL ON FUNCTION make_entry_month FROM PUBLIC;
COMMENT ON FUNCTION make_entry_month IS 'Makes the part of entry for a month near now. All that the door may make.';
SELECT make_entry_month(now());
SELECT make_entry_month(now() + interval '1 month');
"""


def upgrade() -> None:
    """Make the tables, and the parts of this month and the next."""
    for statements in (_TABLES, _COMPRESS, _MONTHS):
        op.execute(statements)
