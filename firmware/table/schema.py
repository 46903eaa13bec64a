"""The journal's tables. Migrations are numbered, only add, and are never edited once released.

The release before goes on with a journal that the next one migrated, as the box rolls a release back by itself: a
new column of `journal` has a default, a new trigger refuses nothing that was allowed, and an event of a new type is
read one release before it is written.
"""

from __future__ import annotations

from typing import Final

ABOUT_HAND: Final = "coalesce(json_extract(payload, '$.opened.hand'), json_extract(payload, '$.hand'))"
"""The hand that a row about a past one is about. This and the next are part of a migration: never edit them."""
ABOUT_TYPES: Final = (
    "type IN ('hand_reopened', 'hand_disputed', 'dispute_closed', 'hand_reviewed', 'images_dropped')"
)

SET_UP_TYPES: Final = (
    "type IN ('step_settled', 'device_tried', 'set_up_ended', 'calibrated', 'deck_enrolled', 'deck_checked')"
)
"""A set-up's rows; a query that says the same finds them by the index."""

PROFILE_TYPES: Final = "type IN ('profile_kept', 'house_set')"
"""Rows about rule profiles: versions written down, and settings of the table, the profile in force among them."""

MIGRATIONS: Final[tuple[str, ...]] = (
    # 1: the journal and the content that its events name by hash
    """
    CREATE TABLE journal (
        seq          INTEGER PRIMARY KEY,
        hand         INTEGER NOT NULL,
        boot         TEXT    NOT NULL,
        monotonic_ns INTEGER NOT NULL,
        wall_ms      INTEGER NOT NULL,
        clock        TEXT    NOT NULL,
        actor        TEXT    NOT NULL,
        type         TEXT    NOT NULL,
        payload      TEXT    NOT NULL,
        previous     TEXT    NOT NULL,
        hash         TEXT    NOT NULL
    ) STRICT;
    CREATE INDEX journal_opened ON journal (hand, seq) WHERE type = 'hand_opened';
    CREATE TRIGGER journal_no_update BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only: rows are never changed'); END;
    CREATE TRIGGER journal_no_delete BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only: rows are never removed'); END;
    CREATE TRIGGER journal_in_order BEFORE INSERT ON journal
    WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM journal)
      OR NEW.previous IS NOT coalesce((SELECT hash FROM journal ORDER BY seq DESC LIMIT 1), '')
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only: a row must follow the last one'); END;

    CREATE TABLE content (
        hash  TEXT PRIMARY KEY,
        kind  TEXT NOT NULL,
        bytes BLOB NOT NULL
    ) STRICT;
    CREATE TRIGGER content_no_update BEFORE UPDATE ON content
    BEGIN SELECT RAISE(ABORT, 'content is append-only: it is never changed'); END;
    CREATE TRIGGER content_no_delete BEFORE DELETE ON content
    BEGIN SELECT RAISE(ABORT, 'content is append-only: it is never removed'); END;
    CREATE TRIGGER content_once BEFORE INSERT ON content
    WHEN EXISTS (SELECT 1 FROM content WHERE hash = NEW.hash)
    BEGIN SELECT RAISE(ABORT, 'content is append-only: this hash is there already'); END;
    """,
    # 2: a dealer's downs, and where the clock stepped back, found at once in a long record
    """
    CREATE INDEX journal_downs ON journal (seq) WHERE type = 'logged_on';
    CREATE INDEX journal_stepped_back ON journal (seq) WHERE clock = 'stepped_back';
    """,
    # 3: what was done about a past hand, the signed heads and the keys, found at once in a long record
    f"""
    CREATE INDEX journal_about ON journal ({ABOUT_HAND}, seq) WHERE {ABOUT_TYPES};
    CREATE INDEX journal_signed ON journal (seq) WHERE type = 'head_signed';
    CREATE INDEX journal_keys ON journal (seq) WHERE type = 'key_announced';
    """,
    # 4: what was set up and tried, by whom and when, found at once in a long record
    f"""
    CREATE INDEX journal_set_up ON journal (seq) WHERE {SET_UP_TYPES};
    """,
    # 5: the versions of the house's profiles, and what was put in force, found at once in a long record
    f"""
    CREATE INDEX journal_profiles ON journal (seq) WHERE {PROFILE_TYPES};
    """,
)
"""Each runs in one transaction with the step of `PRAGMA user_version` to its number."""

# INSERT OR REPLACE would remove a row without firing a delete trigger; the insert triggers above refuse it.
