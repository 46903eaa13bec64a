"""The tables of the house, their records row by row, and the list of hands made from them.

`entry`, `content` and `quarantine` are evidence: rows are added and never changed. Triggers hold that
against everybody. `hand` and `hand_seat` are projections: `feltwatch pit reindex` makes them again.
"""

from __future__ import annotations

from alembic import op

revision = "0001"
down_revision = None

_PARTITIONS = 16

_TABLES = """
CREATE TABLE gaming_table (
    table_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL UNIQUE,
    serial      text NOT NULL UNIQUE,            -- of its certificate, in lower-case hexadecimal digits
    enrolled_at timestamptz NOT NULL DEFAULT now(),
    struck_at   timestamptz
);
COMMENT ON COLUMN gaming_table.struck_at IS 'Since when nothing is taken from it.';

CREATE TABLE record (
    record_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    table_id  bigint NOT NULL REFERENCES gaming_table,
    genesis   text NOT NULL,                     -- the hash of its first row
    branch    int NOT NULL DEFAULT 1,            -- one more after each restore at the table
    stem      bigint NOT NULL DEFAULT 0,         -- the last row that it shares with the branch before
    opened_at timestamptz NOT NULL DEFAULT now(),
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
    fork_at       timestamptz
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
    taken_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (record_id, seq)
) PARTITION BY HASH (record_id);

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
    PRIMARY KEY (record_id, hand)
);
CREATE TABLE hand_seat (
    record_id bigint NOT NULL, hand bigint NOT NULL, seat int NOT NULL, player text NOT NULL, points int,
    foul boolean NOT NULL, "natural" text,
    PRIMARY KEY (record_id, hand, seat)
);
"""

_NEVER_CHANGED = """
CREATE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only: rows are never changed or removed', TG_TABLE_NAME;
END $$;
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(_TABLES)
    for part in range(_PARTITIONS):
        op.execute(
            f"CREATE TABLE entry_{part} PARTITION OF entry "
            f"FOR VALUES WITH (MODULUS {_PARTITIONS}, REMAINDER {part})"
        )
    # Payloads are JSON of some kilobytes: lz4 where this PostgreSQL has it, its own compression where not.
    op.execute(
        "DO $$ BEGIN ALTER TABLE entry ALTER COLUMN payload SET COMPRESSION lz4; "
        "EXCEPTION WHEN OTHERS THEN NULL; END $$"
    )
    op.execute(_NEVER_CHANGED)
    for table in ("entry", "content", "quarantine"):
        op.execute(
            f"CREATE TRIGGER {table}_never_changed BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION append_only()"
        )
        op.execute(
            f"CREATE TRIGGER {table}_never_emptied BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION append_only()"
        )
