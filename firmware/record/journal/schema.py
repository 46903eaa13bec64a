"""The journal's tables. Migrations are numbered, only add, and are never edited once released.

The file holds no derived data and no index. Rows are found by their number, which is the table's key. Other searches
use the archive's index, which is built from the rows and can be deleted.

A release applies the migrations up to `APPLIED` and knows all of `MIGRATIONS`: a migration is known one release before
it is applied. The previous release can therefore use a journal that the next one migrated; the box rolls back failed
releases by itself. A new column of `journal` has a default, a new trigger refuses nothing that was allowed before, and
an event of a new type is readable one release before it is written.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from firmware.messages import Message, Text
from firmware.table.errors import JournalError

FIRST: Final = 6
"""`PRAGMA user_version` after the first migration. Lower versions had indexes and were never released."""

MIGRATIONS: Final[tuple[str, ...]] = (
    # 6: the journal and the content that its events name by hash
    """
    CREATE TABLE journal (
        seq          INTEGER PRIMARY KEY,
        hand         INTEGER NOT NULL,
        boot         TEXT    NOT NULL,
        monotonic_ns INTEGER NOT NULL,
        wall_ms      INTEGER NOT NULL,
        clock        TEXT    NOT NULL,
        actor        TEXT    NOT NULL,
        command      TEXT    NOT NULL,
        type         TEXT    NOT NULL,
        payload      TEXT    NOT NULL,
        previous     TEXT    NOT NULL,
        hash         TEXT    NOT NULL
    ) STRICT;
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
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER content_no_update BEFORE UPDATE ON content
    BEGIN SELECT RAISE(ABORT, 'content is append-only: it is never changed'); END;
    CREATE TRIGGER content_no_delete BEFORE DELETE ON content
    BEGIN SELECT RAISE(ABORT, 'content is append-only: it is never removed'); END;
    CREATE TRIGGER content_once BEFORE INSERT ON content
    WHEN EXISTS (SELECT 1 FROM content WHERE hash = NEW.hash)
    BEGIN SELECT RAISE(ABORT, 'content is append-only: this hash is there already'); END;
    """,
)
"""Each runs in one transaction, which also sets `PRAGMA user_version` to its number."""
APPLIED: Final = len(MIGRATIONS)
"""How many of the migrations this release applies."""

HEADER: Final = 100
"""Size of the file header in bytes."""
_HEADER: Final = (
    (0, 16, (b"SQLite format 3\0",)),
    (18, 20, (b"\1\1", b"\2\2")),  # read and write version: 1 in a backup's copy, 2 with a WAL
    (20, 24, (b"\0\x40\x20\x20",)),
    (44, 48, (b"\0\0\0\4", bytes(4))),  # schema format; 0 until there is a schema
    (52, 56, (bytes(4),)),  # no auto-vacuum
    (56, 60, (b"\0\0\0\1", bytes(4))),  # UTF-8
    (64, 92, (bytes(28),)),
)
"""Begin, end and permitted values: the bytes that never change as rows are written and are not checked elsewhere."""

# INSERT OR REPLACE removes a row without firing the delete trigger; the insert triggers above refuse it.


def need_known(db: sqlite3.Connection) -> None:
    """Raise JournalError for a journal with a schema that this release does not know. Raises sqlite3.Error."""
    if unknown := _unknown(_version(db)):
        raise JournalError(unknown)


def migrate(db: sqlite3.Connection) -> None:
    """Migrate a journal's file to this release's schema. Raises JournalError for a schema that no release made."""
    version = _version(db)
    if version == 0 and _parts(db):
        raise JournalError("The record's file says that it is new, and holds something: it is damaged.")
    if version and (unknown := _unknown(version)):
        raise JournalError(unknown)
    done = version - FIRST + 1 if version else 0
    for number, script in enumerate(MIGRATIONS[done:APPLIED], start=FIRST + done):
        db.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;")


def strangers(db: sqlite3.Connection) -> list[Message]:
    """Return what is wrong with a journal's schema, one message per problem. Raises sqlite3.Error.

    Each object must have exactly the SQL text of our migrations, and there must be no other object. A journal from a
    stick may contain a trigger that alters rows after a restore, or lack one that protects them. SQLite creates no
    objects of its own for these tables, so there are no exceptions.
    """
    version = _version(db)
    if unknown := _unknown(version):
        return [unknown]
    theirs = _parts(db)
    with closing(sqlite3.connect(":memory:")) as made:
        for script in MIGRATIONS[: version - FIRST + 1]:
            made.executescript(script)
        ours = _parts(made)
    found = [
        Message("The record's file lacks %(name)s as Feltwatch makes it.", name=name)
        for (kind, name), text in ours.items()
        if theirs.get((kind, name)) != text
    ]
    return found + [
        Message(
            "The record's file holds the %(kind)s %(name)s, which Feltwatch did not make.",
            kind=kind,
            name=name,
        )
        for kind, name in theirs
        if (kind, name) not in ours
    ]


def strange_header(path: Path) -> Text:
    """Return what is wrong with a journal's file header; "" if nothing is, or if the file is empty. Raises OSError.

    SQLite trusts the header: one wrong bit can make the file read-only or turn auto-vacuum on. Do not call this in a
    process that has the journal open: opening and closing the file would release SQLite's own locks.
    """
    with path.open("rb") as file:
        header = file.read(HEADER)
    if len(header) < HEADER:
        return ""
    found = [bytes(header[begin:end]) in allowed for begin, end, allowed in _HEADER]
    return (
        ""
        if all(found)
        else Message("The head of the record's file is not as Feltwatch makes it: the file is damaged.")
    )


def _unknown(version: int) -> Message | None:
    if FIRST <= version < FIRST + len(MIGRATIONS):
        return None
    if version < FIRST:
        return Message(
            "The record's file has the shape %(version)s, which no release made: it is of a "
            "development version. Keep the folder as it is, and go on with a new one.",
            version=version,
        )
    return Message(
        "The record's file has the shape %(version)s, which this release does not know: it is of "
        "a later release, or damaged. Install that release, or restore a backup.",
        version=version,
    )


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _parts(db: sqlite3.Connection) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the table and the SQL text of every object in a file's schema, by kind and name."""
    rows = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_master")
    return {(str(kind), str(name)): (str(table), str(text)) for kind, name, table, text in rows}
