"""People at the pit and what they did; what each table does now; what the search asks; the pit's processes.

`act` is evidence: rows are added and never changed. `table_now`, `place` and `down_total` are projections, like `hand`.

A restore at a table opens a branch with the rows that both have in common. Totals count the newest branch: that is what
the table itself has; a hand that was played after the backup is listed, of the branch that has it. A row's time is the
table's clock if that was set, and never later than the pit took it (`row_time`).
"""

from alembic import op

revision = "0066_people"
down_revision = "0066_record"

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
CREATE INDEX act_of_person ON act (person, act_id);

CREATE TABLE going (
    table_id bigint PRIMARY KEY REFERENCES gaming_table,
    person   text NOT NULL,
    need     text NOT NULL,                      -- the need's key: with it, or after five minutes, this ends
    at       timestamptz NOT NULL DEFAULT now()
);
CREATE TABLE worker (
    worker text PRIMARY KEY,                     -- a name of this process alone
    since  timestamptz NOT NULL DEFAULT now(),
    seen   timestamptz NOT NULL DEFAULT now()
) WITH (fillfactor = 50);                        -- each row is written every second
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

CREATE TABLE down_total (
    record_id bigint NOT NULL, began_seq bigint NOT NULL, dealer text NOT NULL, down bigint NOT NULL,
    began_ms bigint NOT NULL, ended_ms bigint NOT NULL,
    hands int NOT NULL, voids int NOT NULL, misdeals int NOT NULL, fouls int NOT NULL, naturals int NOT NULL,
    reopened int NOT NULL, corrected int NOT NULL, cards int NOT NULL, unsure int NOT NULL, errors int NOT NULL,
    faults int NOT NULL, collection bigint NOT NULL,
    readings int NOT NULL, reading_ms bigint NOT NULL, house uuid NOT NULL,
    PRIMARY KEY (record_id, began_seq)
);
CREATE INDEX down_total_by_time ON down_total (began_ms, record_id);
CREATE INDEX down_total_of_record ON down_total (record_id, began_ms);
"""
_VIEWS = """
CREATE VIEW entry_finished AS
    SELECT entry.* FROM entry JOIN table_now USING (record_id) WHERE entry.seq <= table_now.finished;
CREATE VIEW entry_disputed AS SELECT * FROM entry WHERE type = 'hand_disputed';
COMMENT ON VIEW entry_disputed IS 'Names a past hand and a reason; it may be written while another hand is open.';
CREATE VIEW row_time AS
    SELECT record_id, seq, (extract(epoch FROM taken_at) * 1000)::bigint AS taken_ms,
           CASE WHEN clock = 'synchronised' THEN least(wall_ms, (extract(epoch FROM taken_at) * 1000)::bigint)
                ELSE (extract(epoch FROM taken_at) * 1000)::bigint END AS made_ms, taken_at
    FROM entry;
COMMENT ON VIEW row_time IS 'Of rows of an open hand it says that they are there, and when they came. Nothing else.';
CREATE VIEW record_branch AS
    SELECT r.*, n.stem AS shared FROM record r LEFT JOIN record n ON n.genesis = r.genesis AND n.branch = r.branch + 1;
COMMENT ON VIEW record_branch IS 'shared: the last row that the next branch has, too; NULL for the newest branch.';
CREATE VIEW counted_hand AS
    SELECT hand.*, b.table_id FROM hand JOIN record_branch b USING (record_id) WHERE b.shared IS NULL;
CREATE VIEW counted_down AS
    SELECT d.*, b.table_id FROM down_total d JOIN record_branch b USING (record_id) WHERE b.shared IS NULL;
CREATE VIEW listed_hand AS
    SELECT hand.*, b.table_id FROM hand JOIN record_branch b USING (record_id)
    WHERE b.shared IS NULL OR hand.last > b.shared;
COMMENT ON VIEW listed_hand IS 'Each hand once, of the newest branch that has it.';
"""
_SEARCH = """
CREATE INDEX hand_by_time ON hand (opened_ms, record_id, hand) WHERE outcome <> 'open';
CREATE INDEX hand_by_record ON hand (record_id, opened_ms, hand) WHERE outcome <> 'open';
CREATE INDEX hand_by_dealer ON hand (dealer, opened_ms, record_id, hand) WHERE outcome <> 'open';
CREATE INDEX hand_by_profile ON hand (profile, opened_ms, record_id, hand) WHERE outcome <> 'open';
CREATE INDEX hand_disputed_now ON hand (record_id, hand) WHERE disputed;
CREATE INDEX hand_seat_by_player ON hand_seat (player, opened_ms, record_id, hand);
CREATE INDEX hand_by_first ON hand (record_id, first);
"""
_MARKS = {
    "foul": "fouls > 0",
    "natural": "naturals > 0",
    "corrected": "(corrections > 0 OR reopened > 0)",
    "disputed": "disputes > 0",
}


def upgrade() -> None:
    """Make the tables, views and indexes."""
    for statements in (_PEOPLE, _NOW, _VIEWS, _SEARCH):
        op.execute(statements)
    for name, clause in _MARKS.items():
        for by in ("opened_ms", "profile, opened_ms", "record_id, opened_ms"):
            title = by.partition("_ms")[0].replace(", ", "_")
            rest = "hand" if by.startswith("record_id") else "record_id, hand"
            op.execute(
                f"CREATE INDEX hand_{name}_by_{title} ON hand ({by}, {rest}) WHERE outcome <> 'open' AND {clause}"
            )
