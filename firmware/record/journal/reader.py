"""Reads a journal that another process may be writing."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from firmware.record.journal import file as journal_file
from firmware.record.journal.row_index import (
    ABOUT_TYPES,
    END,
    PROFILE_TYPES,
    SET_UP_TYPES,
    RowQuery,
    find,
    scan,
)
from firmware.table import events as ev
from firmware.table.entry import COLUMNS, Entry, content_hash
from firmware.table.errors import CommandRefused, JournalError, RowChanged, UnknownEvent
from firmware.table.event import fold
from firmware.table.state import State


class JournalReader:
    """Reads a journal that another process may be writing, and never writes to it.

    Each call opens the file, reads it and closes it. So no read transaction outlives a call, and a journal that was
    created or replaced between two calls is read. A journal that does not exist yet has no entries.

    No entry is returned from a row that was changed after it was written: the call raises RowChanged.
    """

    def __init__(self, folder: Path, *, training: bool = False, are_checked: bool = True) -> None:
        """`training` as in `Journal`: each call raises JournalError for a record of the other kind.

        Without `are_checked`, changed rows are returned too: for programs that list or compare them.
        """
        self.path = folder / journal_file.FILE
        self._training = training
        self._are_checked = are_checked

    def events_since(self, seq: int, limit: int = 10_000) -> list[Entry]:
        """Return the entries after number `seq`, in order, at most `limit`. Raises JournalError."""
        with self.opened() as db:
            rows = entries(db, "WHERE seq >= ? ORDER BY seq LIMIT ?", (seq, limit + 1)) if db else []
        rows = self._sound(rows)
        rows = rows[1:] if rows and rows[0].seq == seq else rows[:limit]
        # a damaged page; anyone who reads on from the last row would never end
        if rows and rows[-1].seq <= seq:
            raise JournalError(
                "The journal %(path)s is damaged: row %(row)s is not found by its number. Restore a backup.",
                path=self.path,
                row=seq + 1,
            )
        return rows

    def since_last_opened(self) -> list[Entry]:
        """Return the entries from the last opened hand on; all entries if no hand was opened."""
        with self.opened() as db:
            return since_last_opened(db) if db else []

    def recover(self) -> tuple[State, int]:
        """Return the state that the journal implies and the last row's number. Raises JournalError."""
        rows = self.since_last_opened()
        return replay(rows), rows[-1].seq if rows else 0

    def of_hand(self, hand: int) -> list[Entry]:
        """Return the entries of one hand."""
        with self.opened() as db:
            if db is None:
                return []
            folder = self.path.parent
            sought = RowQuery({ev.HandOpened.type}, (hand, hand + 2))
            opened = [(entry.hand, entry.seq) for entry in find(db, folder, sought)]
            last = entries(db, "ORDER BY seq DESC LIMIT 1", ())
            # hand numbers have no gaps, so an index without one of these is wrong
            if last and [number for number, _ in opened] != [
                number for number in (hand, hand + 1) if 1 <= number <= last[0].hand
            ]:
                opened = [(entry.hand, entry.seq) for entry in scan(db, sought)]
            first = dict(reversed(opened))
            if hand not in first:
                return []
            following = first.get(
                hand + 1, END
            )  # the opening of the next hand, which holds the last row's hash
            rows = entries(db, "WHERE seq >= ? AND seq <= ? ORDER BY seq", (first[hand], following))
        return [row for row in self._sound(rows) if row.seq < following]

    def openings(self, before: int = END, limit: int = 100) -> list[Entry]:
        """Return the opening rows of hands below number `before`, newest first, at most `limit`."""
        return self._find(RowQuery({ev.HandOpened.type}, (0, before), newest_first=True, limit=limit))

    def about(self, hand: int) -> list[Entry]:
        """Return the later entries about a past hand: reopened, disputed, reviewed, images dropped."""
        return self._find(RowQuery(ABOUT_TYPES, (hand, hand + 1)))

    def head(self) -> tuple[int, str]:
        """Return the last row's number and hash; 0 and "" where there is none."""
        with self.opened() as db:
            row = db and db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
            return (row[0], row[1]) if row else (0, "")

    def anchors(self, since: int = 0, limit: int = -1) -> list[Entry]:
        """Return the rows after number `since` that hold a signed head, in order."""
        return self._find(RowQuery({ev.HeadSigned.type}, since=since, limit=limit))

    def last_anchor(self) -> Entry | None:
        """Return the row with the last signed head, or None."""
        return self._last(ev.HeadSigned.type)

    def last_tombstone(self) -> Entry | None:
        """Return the last row that recorded the removal of images, or None."""
        return self._last(ev.ImagesDropped.type)

    def last_key(self) -> Entry | None:
        """Return the row that announced the key in use, or None."""
        return self._last(ev.KeyAnnounced.type)

    def last_log_on(self) -> Entry | None:
        """Return the row of the last log-on, or None if no dealer ever logged on."""
        return self._last(ev.LoggedOn.type)

    def last_update(self) -> Entry | None:
        """Return the row with which the last update began, or None."""
        return self._last(ev.UpdateBegun.type)

    def last_reading_before(self, hand: int) -> Entry | None:
        """Return the row of the last reading before this hand, from any earlier hand; or None."""
        found = self._find(RowQuery({ev.ReadingTaken.type}, (0, hand), newest_first=True, limit=1))
        return found[0] if found else None

    def _last(self, kind: str) -> Entry | None:
        found = self._find(RowQuery({kind}, newest_first=True, limit=1))
        return found[0] if found else None

    def of_set_up(self) -> list[Entry]:
        """Return the entries of the set-up: settled steps, device tests, calibrations, decks."""
        return self._find(RowQuery(SET_UP_TYPES))

    def about_profiles(self) -> list[Entry]:
        """Return the rows in which a house profile was stored or the table's settings were changed, of all hands."""
        return self._find(RowQuery(PROFILE_TYPES))

    def of_type(self, type_name: str) -> list[Entry]:
        """Return the entries of one type, of all hands; fast for the types in `row_index.INDEXED`."""
        return self._find(RowQuery({type_name}))

    def _find(self, sought: RowQuery) -> list[Entry]:
        with self.opened() as db:
            return self._sound(find(db, self.path.parent, sought)) if db else []

    def _sound(self, rows: list[Entry]) -> list[Entry]:
        if self._are_checked:
            need_unchanged(rows)
        return rows

    def content(self, digest: str) -> bytes | None:
        """Return the content with this hash, or None. Raises JournalError for content that was changed."""
        with self.opened() as db:
            row = db and db.execute("SELECT bytes FROM content WHERE hash = ?", (digest,)).fetchone()
        if not row:
            return None
        if content_hash(row[0]) != digest:
            raise JournalError(
                "The content %(digest)s was changed after it was written. Restore a backup.", digest=digest
            )
        return bytes(row[0])

    def contents(self) -> dict[str, bytes]:
        """Return all content by hash, unchecked."""
        with self.opened() as db:
            return dict(db.execute("SELECT hash, bytes FROM content")) if db else {}

    def uri(self) -> str:
        """Return the URI with which SQLite opens the journal read-only at this moment."""
        return journal_file.uri(self.path)

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a read-only connection for queries that this class does not offer; None if there is no journal yet.

        Read every statement to its end: a half-read one keeps a read transaction open. Raises JournalError.
        """
        with journal_file.open_journal(self.path, training=self._training) as db:
            yield db


def entries(db: sqlite3.Connection, where: str, values: tuple[int | str, ...]) -> list[Entry]:
    """Return the rows that an SQL clause selects. Raises sqlite3.Error."""
    return [Entry(*row) for row in db.execute(f"SELECT {COLUMNS} FROM journal {where}", values)]


def since_last_opened(db: sqlite3.Connection) -> list[Entry]:
    """Return the rows from the last opened hand on. Reads backwards from the end: a long record costs no time."""
    rows: list[Entry] = []
    for row in db.execute(f"SELECT {COLUMNS} FROM journal ORDER BY seq DESC"):
        rows.append(Entry(*row))
        if rows[-1].type == ev.HandOpened.type:
            break
    return rows[::-1]


def first_changed(rows: Sequence[Entry], *, with_gaps: bool = False) -> Entry | None:
    """Return the first row that has not its own hash, or does not follow the one before it; None if all do.

    `with_gaps`: the rows are a selection, so that only neighbours are compared with each other.
    """
    for before, entry in zip([None, *rows], rows, strict=False):
        follows = (
            before is None
            or (entry.previous, entry.seq) == (before.hash, before.seq + 1)
            or (with_gaps and entry.seq != before.seq + 1)
        )
        if not follows or entry.hash != entry.sealed():
            return entry
    return None


def need_unchanged(rows: Sequence[Entry]) -> None:
    """Raise RowChanged if one of the selected rows was changed after it was written."""
    if (changed := first_changed(rows, with_gaps=True)) is not None:
        raise RowChanged(changed.seq)


def replay(rows: list[Entry]) -> State:
    """Check that rows are chained, and return the state that they imply. Raises JournalError."""
    if (changed := first_changed(rows)) is not None:
        raise JournalError(
            "Row %(seq)s of the journal was changed after it was written. Keep the data folder for "
            "the dispute and go on with a new one.",
            seq=changed.seq,
        )
    try:
        return fold(entry.event for entry in rows)
    except (CommandRefused, UnknownEvent) as error:
        raise JournalError("The journal cannot be followed to its end: %(error)s", error=error) from error
