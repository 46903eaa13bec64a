"""The archive: a paged list of hands, and each hand with everything that was done about it later."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from firmware.record.archive_index import bring_up_to_date
from firmware.record.archive_lines import HandLine, read_lines
from firmware.record.journal.captures import CaptureStore, captures_in
from firmware.record.journal.journal import Entry, JournalReader
from firmware.record.journal.row_index import ENDS, forget_index, open_index, table_keeps_index
from firmware.table import events as ev
from firmware.table.errors import CommandRefused, JournalError
from firmware.table.readings import Capture

Mark = Literal["correction", "foul", "natural", "dispute", "not_reviewed"]
MARKS: Final[dict[Mark, str]] = {
    "correction": "hands.corrections > 0",
    "foul": "hands.fouls > 0",
    "natural": "hands.naturals > 0",
    "dispute": "hands.disputes > 0",
    "not_reviewed": "hands.reviewed = 0",
}
RARE: Final = frozenset({"correction", "dispute"})
"""Marks that few hands have: they select faster than a seat does."""
PAGE: Final = 50
"""Hands on one page of the list."""
ImageState = Literal["ok", "dropped", "missing", "changed", "unreadable"]


@dataclass(frozen=True)
class HandFilter:
    """A filter on hands; all given values must match. UTC milliseconds, from `since_ms` to before `until_ms`."""

    since_ms: int | None = None
    until_ms: int | None = None
    seat: int | None = None
    player: str | None = None
    profile: str | None = None
    dealer: str | None = None
    marks: frozenset[Mark] = frozenset()


@dataclass(frozen=True)
class Image:
    """An image that a row names, and its state."""

    capture: Capture
    row: int
    state: ImageState


@dataclass(frozen=True)
class Hand:
    """A hand from the record.

    `rows` are its own, from its opening to the row before the next hand's. `later` are the later rows about it:
    reopened (with the rows until it was closed again), disputed, reviewed, images dropped.
    """

    hand: int
    rows: tuple[Entry, ...]
    later: tuple[Entry, ...]

    @property
    def opened(self) -> ev.HandOpened:
        """The event that opened it."""
        event = self.rows[0].event
        assert isinstance(event, ev.HandOpened)
        return event

    @property
    def play(self) -> tuple[Entry, ...]:
        """Its own rows up to its end, without those of a past hand that was corrected meanwhile."""
        own: list[Entry] = []
        is_other = False
        for row in self.rows:
            is_other = is_other or row.type == ev.HandReopened.type
            if not is_other:
                own.append(row)
                if row.type in ENDS:
                    break
            is_other = is_other and row.type not in ENDS
        return tuple(own)

    @property
    def settlements(self) -> tuple[Entry, ...]:
        """All its settlements, in order."""
        return tuple(row for row in (*self.play, *self.later) if row.type == ev.HandSettled.type)

    @property
    def disputed(self) -> bool:
        """Whether it is under dispute."""
        marks = [row.type for row in self.later if row.type in (ev.HandDisputed.type, ev.DisputeClosed.type)]
        return marks[-1:] == [ev.HandDisputed.type]

    @property
    def captures(self) -> dict[Capture, int]:
        """The images that its rows name, each with the number of the first such row."""
        found: dict[Capture, int] = {}
        for row in (*self.play, *self.later):
            if row.type not in (ev.ImagesDropped.type, ev.ImagesLost.type):
                for capture in captures_in(row.event):
                    found.setdefault(capture, row.seq)
        return found

    @property
    def dropped(self) -> frozenset[Capture]:
        """The images that were removed by the house's retention rule."""
        return frozenset(
            image
            for row in self.later
            if isinstance(event := row.event, ev.ImagesDropped)
            for image in event.images
        )


class Archive:
    """Reads the archive of a data folder. Keeps no connection open between calls.

    The table process keeps the box's index up to date. Any other program reads that, or makes an index of its own.
    """

    def __init__(
        self, data: Path, reader: JournalReader | None = None, store: CaptureStore | None = None
    ) -> None:
        """`reader`: a reader that hides part of the journal, if needed; the index itself always covers all rows.

        `store`: where the images are, if not in the data folder.
        """
        self.reader = reader or JournalReader(data)
        self._data = data
        self._store = store or CaptureStore(data)

    def refresh(self, on_progress: Callable[[int, int], None] = lambda seq, of: None) -> None:
        """Bring the index that this process may write up to the journal's end.

        `on_progress` is called with the rows indexed and their total. Raises JournalError.
        """
        if self.reader.path.exists():
            bring_up_to_date(self._data, on_progress)

    def hands(
        self, wanted: HandFilter = HandFilter(), before: int | None = None, limit: int = PAGE
    ) -> list[HandLine]:
        """Return a page of the list, the newest hand first: at most `limit` hands before hand `before`.

        Ordered by time if the filter has times, otherwise by number. Raises JournalError.
        """
        timed = wanted.since_ms is not None or wanted.until_ms is not None
        by_seat = _is_of_seat(wanted) and not timed and not wanted.marks & RARE
        where, values = _clause(wanted, by_seat)
        with self._open() as db:
            if db is None:
                return []
            if before is not None and timed:
                at = db.execute("SELECT opened_ms FROM hands WHERE hand = ?", (before,)).fetchone()
                where.append("(hands.opened_ms, hands.hand) < (?, ?)")
                values += [at[0] if at else 0, before]
            elif before is not None:
                where.append("seats.hand < ?" if by_seat else "hands.hand < ?")
                values.append(before)
            order = "hands.opened_ms DESC, hands.hand DESC" if timed else "hands.hand DESC"
            table = "seats JOIN hands ON hands.hand = seats.hand" if by_seat else "hands"
            order = order.replace("hands.", "seats.") if by_seat else order
            text = f"{table} {_where(where)} ORDER BY {order} LIMIT ?"
            return read_lines(db, text, (*values, limit))

    def line(self, hand: int) -> HandLine | None:
        """Return one hand's line, or None. Raises JournalError."""
        with self._open() as db:
            found = read_lines(db, "hands WHERE hand = ?", (hand,)) if db else []
            return found[0] if found else None

    def names(self, *, of_open: bool = True) -> dict[str, list[str]]:
        """Return all players, dealers and profiles; without `of_open`, no player whose first hand is still open.

        Raises JournalError.
        """
        new = set() if of_open else self._only_in_open_hand()
        with self._open() as db:
            if db is None:
                return {"player": [], "dealer": [], "profile": []}
            return {
                "player": [name for name in _distinct(db, "player", "seats") if name not in new],
                "dealer": [name for name in _distinct(db, "dealer", "hands") if name],
                "profile": _distinct(db, "profile", "hands"),
            }

    def hours(self, since_ms: int, until_ms: int) -> list[int]:
        """Return the hours of a time span in which hands were opened, counted from 0 at its beginning.

        Raises JournalError.
        """
        text = "SELECT DISTINCT (opened_ms - ?) / 3600000 FROM hands WHERE opened_ms >= ? AND opened_ms < ? ORDER BY 1"
        with self._open() as db:
            return [hour for (hour,) in db.execute(text, (since_ms, since_ms, until_ms))] if db else []

    def _only_in_open_hand(self) -> set[str]:
        """Return the players whose first hand is still open."""
        last = self.hands(limit=1)
        if not last or last[0].outcome != "open":
            return set()
        names = {seat.player for seat in last[0].seats}
        return {name for name in names if not self.hands(HandFilter(player=name), last[0].hand, 1)}

    def behind(self) -> int:
        """Return how many rows of the journal are not yet in the index. Raises JournalError."""
        with self._open() as db:
            seq = db.execute("SELECT seq FROM head").fetchone()[0] if db else 0
        return max(0, self.reader.head()[0] - seq)

    def oldest_with_images(self, limit: int, after: int = 0) -> list[HandLine]:
        """Return hands after hand `after` that still have images, the oldest first. Raises JournalError."""
        with self._open() as db:
            text = "hands WHERE image_bytes > 0 AND hand > ? ORDER BY hand LIMIT ?"
            return read_lines(db, text, (after, limit)) if db else []

    def image_bytes(self) -> int:
        """Return the total size in bytes of all images kept, from their events. Raises JournalError."""
        with self._open() as db:
            text = "SELECT coalesce(sum(image_bytes), 0) FROM hands WHERE image_bytes > 0"
            return int(db.execute(text).fetchone()[0]) if db else 0

    def hand(self, number: int) -> Hand:
        """Return a hand from the journal, without the index.

        Raises CommandRefused for a hand that is not in the record, JournalError.
        """
        rows = self.reader.of_hand(number)
        if not rows:
            raise CommandRefused("Hand %(hand)s is not in the record.", hand=number)
        later: list[Entry] = []
        for row in self.reader.about(number):
            later += self._until_closed(row) if row.type == ev.HandReopened.type else [row]
        return Hand(number, tuple(rows), tuple(later))

    def _until_closed(self, reopened: Entry) -> Iterable[Entry]:
        for row in self.reader.events_since(reopened.seq - 1, 5000):
            yield row
            if row.type in ENDS:
                return

    def images(self, hand: Hand) -> list[Image]:
        """Return the hand's images as they are now: each is read and compared with its hash."""
        dropped = hand.dropped
        images = []
        for capture, row in hand.captures.items():
            state: ImageState = self._store.check(capture)
            if state == "missing" and capture in dropped:
                state = "dropped"
            images.append(Image(capture, row, state))
        return images

    def load(self, capture: Capture) -> bytes:
        """Return an image's bytes. Raises CaptureError if it is not what was stored."""
        return self._store.load(capture)

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        try:
            with ExitStack() as stack:
                if not table_keeps_index(self._data, self.reader.head()[0]):
                    self.refresh()
                db = stack.enter_context(open_index(self._data))
                if db is None and self.reader.path.exists():
                    raise JournalError("The list of hands is being made again; try again in a moment.")
                yield db
        except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite quotes a damaged schema in its message
            forget_index(self._data)
            raise JournalError(
                "The archive's index could not be read (%(why)s); it is made again, try again in a moment.",
                why=error,
            ) from error


def _where(parts: list[str]) -> str:
    return f"WHERE {' AND '.join(parts)}" if parts else ""


def _is_of_seat(wanted: HandFilter) -> bool:
    return wanted.player is not None or wanted.seat is not None


def _clause(wanted: HandFilter, by_seat: bool) -> tuple[list[str], list[Any]]:
    """Return the SQL conditions and their values.

    A player's hands are found through the index of seats. If times or a rare mark select fewer hands, a subquery checks
    the seats of those.
    """
    parts: list[str] = [MARKS[mark] for mark in sorted(wanted.marks)]
    values: list[Any] = []
    for text, value in (
        ("hands.opened_ms >= ?", wanted.since_ms),
        ("hands.opened_ms < ?", wanted.until_ms),
        ("hands.profile = ?", wanted.profile),
        ("hands.dealer = ?", wanted.dealer),
    ):
        if value is not None:
            parts.append(text)
            values.append(value)
    if _is_of_seat(wanted):
        of_seat = [("player = ?", wanted.player), ("seat = ?", wanted.seat)]
        given = [(text, value) for text, value in of_seat if value is not None]
        clause = " AND ".join(f"seats.{text}" for text, _ in given)
        among = f"EXISTS (SELECT 1 FROM seats WHERE seats.hand = hands.hand AND {clause})"
        parts.append(clause if by_seat else among)
        values += [value for _, value in given]
    return parts, values


def _distinct(db: sqlite3.Connection, column: str, table: str) -> list[str]:
    """Return a column's distinct values by skipping through its index; a plain DISTINCT would read every row."""
    text = (
        f"WITH RECURSIVE each(name) AS (SELECT min({column}) FROM {table} UNION ALL "
        f"SELECT (SELECT min({column}) FROM {table} WHERE {column} > name) FROM each WHERE name IS NOT NULL) "
        "SELECT name FROM each WHERE name IS NOT NULL"
    )
    return [name for (name,) in db.execute(text)]
