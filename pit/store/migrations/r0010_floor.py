"""People at the pit and what they did; what each table does now; indexes for the search over all tables.

`act` is evidence: rows are added and never changed. `table_now`, `place` and `down_total` are projections, like `hand`.
"""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision = "0001"

_PEOPLE = """
CREATE TABLE person (
    person_id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE,
    role          text NOT NULL CHECK (role IN ('floor', 'auditor', 'technician', 'owner')),
    passphrase_id text NOT NULL,                 -- changes with the passphrase, so that old sessions end
    verifier      text NOT NULL,                 -- scrypt's cost, salt and key, as JSON
    added_at      timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE session (
    token_hash    text PRIMARY KEY,              -- the token itself is in a cookie and nowhere else
    person_id     bigint NOT NULL REFERENCES person ON DELETE CASCADE,
    passphrase_id text NOT NULL,
    began_at      timestamptz NOT NULL DEFAULT now(),
    used_at       timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX session_of_person ON session (person_id);
CREATE INDEX session_by_age ON session (began_at);

CREATE TABLE act (
    act_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at        timestamptz NOT NULL DEFAULT now(),
    person    text NOT NULL,                     -- the name, because people are removed and acts stay
    role      text NOT NULL,
    what      text NOT NULL,
    record_id bigint,
    hand      bigint,
    detail    text NOT NULL DEFAULT ''
);
CREATE INDEX act_of_hand ON act (record_id, hand, act_id);
CREATE TRIGGER act_never_changed BEFORE UPDATE OR DELETE ON act
    FOR EACH ROW EXECUTE FUNCTION append_only();
CREATE TRIGGER act_never_emptied BEFORE TRUNCATE ON act
    FOR EACH STATEMENT EXECUTE FUNCTION append_only();

CREATE TABLE going (
    table_id bigint PRIMARY KEY REFERENCES gaming_table,
    person   text NOT NULL,
    need     text NOT NULL,                      -- the need's key: with it, or after five minutes, this ends
    at       timestamptz NOT NULL DEFAULT now()
);
"""

_NOW = """
CREATE TABLE table_now (
    record_id bigint PRIMARY KEY REFERENCES record,
    seq       bigint NOT NULL,                   -- the last row that is in `facts`
    finished  bigint NOT NULL,                   -- the last row after which no hand lay on the table
    down_seq  bigint NOT NULL,                   -- the row with which the dealer's down began
    facts     text NOT NULL,                     -- JSON; no card of an open hand
    stuck_why text
);
CREATE TABLE place (
    record_id bigint NOT NULL, type text NOT NULL, hand bigint NOT NULL, seq bigint NOT NULL,
    PRIMARY KEY (record_id, type, hand, seq)
);
COMMENT ON TABLE place IS 'Where rows of the searched types are, by the hand that they are about.';
CREATE VIEW entry_finished AS
    SELECT entry.* FROM entry JOIN table_now USING (record_id) WHERE entry.seq <= table_now.finished;
CREATE VIEW entry_disputed AS SELECT * FROM entry WHERE type = 'hand_disputed';
COMMENT ON VIEW entry_disputed IS 'Names a past hand and a reason; it may be written while another hand is open.';

CREATE TABLE down_total (
    record_id bigint NOT NULL, began_seq bigint NOT NULL, dealer text NOT NULL, down bigint NOT NULL,
    began_ms bigint NOT NULL, ended_ms bigint NOT NULL,
    hands int NOT NULL, voids int NOT NULL, misdeals int NOT NULL, fouls int NOT NULL, naturals int NOT NULL,
    reopened int NOT NULL, corrected int NOT NULL, cards int NOT NULL, unsure int NOT NULL, errors int NOT NULL,
    faults int NOT NULL, collection bigint NOT NULL,
    readings int NOT NULL, reading_ms bigint NOT NULL,
    PRIMARY KEY (record_id, began_seq)
);
CREATE INDEX down_total_by_time ON down_total (began_ms, record_id);
CREATE INDEX down_total_of_record ON down_total (record_id, began_ms);
"""

_SEARCH = """
ALTER TABLE hand_seat ADD COLUMN opened_ms bigint NOT NULL DEFAULT 0;
UPDATE hand_seat SET opened_ms = hand.opened_ms FROM hand
    WHERE hand.record_id = hand_seat.record_id AND hand.hand = hand_seat.hand;
CREATE INDEX hand_by_time ON hand (opened_ms, record_id, hand) WHERE outcome <> 'open';
CREATE INDEX hand_by_record ON hand (record_id, opened_ms, hand) WHERE outcome <> 'open';
CREATE INDEX hand_by_dealer ON hand (dealer, opened_ms, record_id, hand) WHERE outcome <> 'open';
CREATE INDEX hand_by_profile ON hand (profile, opened_ms, record_id, hand) WHERE outcome <> 'open';
CREATE INDEX hand_disputed_now ON hand (record_id, hand) WHERE disputed;
CREATE INDEX hand_seat_by_player ON hand_seat (player, opened_ms, record_id, hand);
"""
_MARKS = {
    "foul": "fouls > 0",
    "natural": "naturals > 0",
    "corrected": "(corrections > 0 OR reopened > 0)",
    "disputed": "disputes > 0",
}


def upgrade() -> None:
    """Make the tables and the indexes."""
    op.execute(_PEOPLE)
    op.execute(_NOW)
    op.execute(_SEARCH)
    for name, clause in _MARKS.items():
        for by in ("opened_ms", "profile, opened_ms", "record_id, opened_ms"):
            title = by.partition("_ms")[0].replace(", ", "_")
            rest = "hand" if by.startswith("record_id") else "record_id, hand"
            op.execute(
                f"CREATE INDEX hand_{name}_by_{title} ON hand ({by}, {rest}) WHERE outcome <> 'open' AND {clause}"
            )
