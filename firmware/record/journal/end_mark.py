"""Checks that the record's end is not missing: against the witness file and against the images on the disk."""

import os
import sqlite3
from pathlib import Path
from typing import Final

from firmware.record.journal import captures, witness
from firmware.record.journal.reader import JournalReader, since_last_opened
from firmware.record.journal.witness import Head
from firmware.table.errors import JournalError, UnknownEvent
from firmware.table.events import RecordFault

AHEAD: Final = 1000
"""How many hand numbers after the last hand are searched for images; such images mean that rows are missing."""
COMMIT: Final = 16
"""Rows by which the record may be ahead of its witness: the power may go after one commit, and none has more rows."""
NAMED: Final = 100
"""A fault names at most this many images."""


def end_fault(
    db: sqlite3.Connection, folder: Path, seq: int, seen: Head | None, hand: int, after: Head | None = None
) -> RecordFault | None:
    """Return what is wrong with the end of the record in `db`; None if nothing is.

    `seq`: the last row's number; `seen`: the head in the witness file, None without a valid one; `hand`: the record's
    last hand. `after`: the head in the witness file, read again after the rows, where another process may be writing.
    Raises sqlite3.Error, OSError.
    """
    ahead = _images_of_later_hands(folder, hand)
    if seen is None:
        if not seq and not ahead:
            return None
        return RecordFault("witness", seq, captures=ahead)
    if seen[0] > seq:
        found = (*_unnamed_images(db, folder, hand), *ahead)[:NAMED]
        return RecordFault("short", seq, *seen, captures=found)
    # Compared in SQL: a changed value may not be valid text. `verify` reports that.
    row = db.execute("SELECT hash = ? FROM journal WHERE seq = ?", (seen[1], seen[0])).fetchone()
    if seen[0] and (row is None or not row[0]):
        return RecordFault("rewritten", seq, *seen, captures=ahead)
    if seq - (after or seen)[0] > COMMIT:
        return RecordFault("beyond", seq, *(after or seen), captures=ahead)
    return RecordFault("captures", seq, *seen, captures=ahead) if ahead else None


def compare(db: sqlite3.Connection, folder: Path) -> RecordFault | None:
    """Return `end_fault` for a record that another process may be writing. Raises sqlite3.Error, OSError."""
    seen = witness.read(folder)  # read before the rows: the witness is never ahead of them
    seq, hand = db.execute("SELECT seq, hand FROM journal ORDER BY seq DESC LIMIT 1").fetchone() or (0, 0)
    return end_fault(db, folder, seq, seen, hand, witness.read(folder))


def need_head(reader: JournalReader, head: Head | None) -> None:
    """Raise JournalError unless a record still holds the row that was written last when `head` was read.

    The rows that a reader hides (`firmware.record.finished_reader`) are looked at, too.
    """
    if head is None or not head[0]:
        return
    (seen, digest), seq = head, 0
    with reader.opened() as db:
        if db is not None:
            seq = db.execute("SELECT max(seq) FROM main.journal").fetchone()[0] or 0
            found = db.execute("SELECT hash = ? FROM main.journal WHERE seq = ?", (digest, seen)).fetchone()
            if found and found[0]:
                return
    folder = reader.path.parent
    damage = RecordFault("short" if seq < seen else "rewritten", seq, seen, digest)
    raise JournalError(
        "%(what)s Keep %(folder)s for the dispute, and restore a backup.", what=damage.problem, folder=folder
    )


def _images_of_later_hands(folder: Path, hand: int) -> tuple[str, ...]:
    store = folder / captures.FOLDER
    found: list[str] = []
    try:
        inside = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
    except FileNotFoundError:
        return ()
    try:
        for number in range(hand + 1, hand + 1 + AHEAD):
            name = captures.hand_folder(number)
            if len(found) < NAMED and os.access(name, os.F_OK, dir_fd=inside):
                found += _images_in(store, name)
    finally:
        os.close(inside)
    return tuple(found[:NAMED])


def _unnamed_images(db: sqlite3.Connection, folder: Path, hand: int) -> list[str]:
    """Return the images of the last hand that none of its rows names."""
    named: set[str] = set()
    for entry in since_last_opened(db):
        try:
            named |= {capture.name for capture in captures.captures_in(entry.event)}
        except UnknownEvent:  # the row was changed; `verify` reports that
            continue
    return [
        name for name in _images_in(folder / captures.FOLDER, captures.hand_folder(hand)) if name not in named
    ]


def _images_in(store: Path, name: str) -> list[str]:
    try:
        files = sorted(path.name for path in (store / name).iterdir())
    except OSError:
        return []
    return [f"{name}/{file}" for file in files if not file.startswith(".")]
