"""The proof log: signed heads as leaves of a Merkle tree, its checkpoints, and the tables' signatures of them.

All of it is evidence: rows are added and never changed. `log_mark` alone moves: how far each record was looked at. The
keys' public halves are those of a table's device (signs heads) and of its uplink (cosigns checkpoints).
"""

from alembic import op

revision = "0066_log"
down_revision = "0066_people"

_LOG = """
CREATE TABLE epoch (
    epoch     bigint PRIMARY KEY,                -- from 1; each is a log of its own
    origin    text NOT NULL UNIQUE,              -- its name in the checkpoints
    key       bytea NOT NULL CHECK (octet_length(key) = 32),  -- Ed25519, public: signs them
    opened_at timestamptz NOT NULL DEFAULT now(),
    unknown   text NOT NULL DEFAULT '',          -- the checkpoint that a table held and this database did not know
    house     uuid NOT NULL
);

CREATE TABLE leaf (
    epoch     bigint NOT NULL REFERENCES epoch,
    number    bigint NOT NULL,                   -- from 0, without a gap
    record_id bigint REFERENCES record,          -- NULL for the first leaf of a later epoch
    seq       bigint,                            -- the signed row, not the row with the signature
    hash      bytea NOT NULL,                    -- RFC 6962: SHA-256(0x00 || entry)
    at        timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (epoch, number),
    UNIQUE (record_id, seq)
);

CREATE TABLE node (
    epoch  bigint NOT NULL REFERENCES epoch,
    level  smallint NOT NULL CHECK (level % 8 = 0 AND level > 0),
    number bigint NOT NULL,
    hash   bytea NOT NULL,                       -- of the whole subtree of 2^level leaves
    PRIMARY KEY (epoch, level, number)
);

CREATE TABLE checkpoint (
    epoch bigint NOT NULL REFERENCES epoch,
    size  bigint NOT NULL,
    root  bytea NOT NULL,
    note  text NOT NULL,                         -- as signed (C2SP tlog-checkpoint)
    at    timestamptz NOT NULL DEFAULT now(),
    house uuid NOT NULL,
    PRIMARY KEY (epoch, size)
);

CREATE TABLE cosignature (
    epoch    bigint NOT NULL,
    size     bigint NOT NULL,
    table_id bigint NOT NULL REFERENCES gaming_table,
    line     text NOT NULL,                      -- as signed (C2SP tlog-cosignature)
    at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (epoch, size, table_id),
    FOREIGN KEY (epoch, size) REFERENCES checkpoint
);

CREATE TABLE proven (
    epoch   bigint NOT NULL,
    size    bigint NOT NULL,
    signers int NOT NULL,                        -- of so many tables that were heard of in the last ten minutes
    heard   int NOT NULL,
    at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (epoch, size),
    FOREIGN KEY (epoch, size) REFERENCES checkpoint
);
COMMENT ON TABLE proven IS 'Checkpoints that more than half of the tables have cosigned.';

CREATE TABLE log_mark (
    record_id bigint PRIMARY KEY REFERENCES record,
    seq       bigint NOT NULL DEFAULT 0,         -- the last row that was looked at for a signed head
    announced bytea,                             -- the key that the record announced last
    bad_seq   bigint,                            -- the first row whose signature is not what it should be
    bad_why   text
);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(_LOG)
