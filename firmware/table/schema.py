"""The journal's tables. Migrations are numbered, only add, and are never edited once released.

The release before goes on with a journal that the next one migrated, as the box rolls a release back by itself: a
new column of `journal` has a default, a new trigger refuses nothing that was allowed, and an event of a new type is
read one release before it is written.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
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


def strangers(db: sqlite3.Connection) -> list[str]:
    """Return what a journal's file lacks of what Feltwatch made, and what it holds that Feltwatch did not make.

    A sentence each. A stick's journal may have a trigger that bends the rows written after it was restored, or lack one
    that guards them. A later release's file is not judged: it may hold more. Raises sqlite3.Error.
    """
    if is_later(db):
        return []
    theirs = _parts(db)
    with closing(sqlite3.connect(":memory:")) as made:
        for script in MIGRATIONS[: _version(db)]:
            made.executescript(script)
        ours = _parts(made)
    found = [
        f"The record's file lacks {name} as Feltwatch makes it."
        for name in ours
        if theirs.get(name) != ours[name]
    ]
    return found + [
        f"The record's file holds the {kind} {name}, which Feltwatch did not make."
        for name, (kind, _) in theirs.items()
        if name not in ours
    ]


def is_later(db: sqlite3.Connection) -> bool:
    """Say whether a later release than this one migrated a journal's file. Raises sqlite3.Error."""
    return _version(db) > len(MIGRATIONS)


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _parts(db: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    """Return kind and text of what a file holds, by name; without what SQLite makes for itself."""
    rows = db.execute(
        "SELECT name, type, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    )
    return {str(name): (str(kind), str(text)) for name, kind, text in rows}
