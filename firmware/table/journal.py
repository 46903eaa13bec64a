"""The journal: every event, durable, in order, hash-chained, append-only. One writer, many readers."""

from __future__ import annotations

import errno
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import quote

from firmware.table.disk import make_file, make_folder, sync_folder
from firmware.table.effects import fold
from firmware.table.errors import JournalError, NotNow, UnknownEvent
from firmware.table.events import Event, HandOpened, TrainingBegun, canonical, parse, payload
from firmware.table.lock import take_lock
from firmware.table.moment import Clock, Moment, now
from firmware.table.schema import ABOUT_HAND, ABOUT_TYPES, MIGRATIONS, PROFILE_TYPES, SET_UP_TYPES
from firmware.table.state import State
from firmware.table.transaction import transaction

FILE: Final = "journal.sqlite"
TABLE: Final = "table"
"""The actor of what the table process does by itself."""
RESTORING: Final = "restoring"
READY: Final = "ready"
"""In the data folder: a backup that is put in the record's place (`firmware.table.backup`); the file in it says that
it is whole, and that the record may be half moved."""
_COLUMNS: Final = "seq, hand, boot, monotonic_ns, wall_ms, clock, actor, type, payload, previous, hash"
_VALUES: Final = attrgetter(*_COLUMNS.split(", "))
_WAIT_S: Final = 5.0
CLOCK_TOLERANCE_MS: Final = 500
"""Milliseconds that the network's time may put the wall clock back without a word."""


@dataclass(frozen=True)
class Entry:
    """One row. `previous` is the hash of the row before it ("" for the first), `hash` covers the rest (`sealed`)."""

    seq: int
    hand: int
    boot: str
    monotonic_ns: int
    wall_ms: int
    clock: str
    actor: str
    type: str
    payload: str
    previous: str
    hash: str

    @property
    def event(self) -> Event:
        """The event. Raises UnknownEvent if this release cannot read it."""
        return parse(self.type, self.payload)

    def sealed(self) -> str:
        """Return the SHA-256, in hex, that `hash` must be: of a line of JSON, `previous` first, then the payload.

        The payload stands as it is stored, not once more as JSON: a long record is verified half as fast again.
        """
        head = [self.previous, self.seq, self.hand, self.boot, self.monotonic_ns, self.wall_ms]
        head += [self.clock, self.actor, self.type]
        return hashlib.sha256(f"{canonical(head)}\n{self.payload}".encode()).hexdigest()

    def columns(self) -> tuple[Any, ...]:
        """Return the row's values, in the order of the fields."""
        values: tuple[Any, ...] = _VALUES(self)
        return values


def content_hash(data: bytes) -> str:
    """Return the SHA-256, in hex, by which the content table and the events know this content."""
    return hashlib.sha256(data).hexdigest()


class Journal:
    """The one writer of a journal. Used from one thread at a time.

    >>> with Journal(folder) as journal:  # doctest: +SKIP
    ...     state = journal.recover()
    ...     journal.append([TableStarted()], actor="table")
    """

    commit_s: float = 0.0
    """Seconds that the last commit took."""

    def __init__(self, folder: Path, clock: Clock = now, *, training: bool = False) -> None:
        """Open the journal in a folder, or make it. Raises JournalBusy or JournalError.

        `training`: hands that are no game. A table's record is never opened so, nor a training record otherwise.
        """
        self._clock = clock
        self.training: Final = training
        path = folder / FILE
        if (folder / RESTORING / READY).exists():
            raise JournalError(
                f"A restore of the record in {folder} was interrupted; do the same 'feltwatch restore' once more."
            )
        try:
            make_folder(folder)
            self._lock = take_lock(folder)
            make_file(path)
        except OSError as error:
            raise _as_journal_error(error, f"The journal in {folder} cannot be opened") from error
        with ExitStack() as failing, _said(f"The journal {path} cannot be opened"):
            failing.callback(self._lock.close)
            # One thread at a time uses it, but it is opened by one and used by another.
            self._db = sqlite3.connect(path, isolation_level=None, timeout=_WAIT_S, check_same_thread=False)
            failing.callback(self._db.close)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = FULL")  # NORMAL may lose the last hands at a power cut
            _migrate(self._db)
            sync_folder(folder)
            last = self._db.execute(f"SELECT {_COLUMNS} FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
            self._last: Entry | None = Entry(*last) if last else None
            self._latest_ms = _latest_wall_ms(self._db, self._last)
            self._stepped_back = False
            _need_kind(self._db, path, training=training)
            if training and self._last is None:
                self.append([TrainingBegun()], TABLE)
            failing.pop_all()

    @property
    def seq(self) -> int:
        """The last row's number; 0 when empty."""
        return self._last.seq if self._last else 0

    @property
    def head(self) -> tuple[int, str]:
        """The last row's number and hash; 0 and "" when empty."""
        return (self._last.seq, self._last.hash) if self._last else (0, "")

    def clock_is_behind(self) -> bool:
        """Look at the clock: say whether the wall clock shows a time that the record has passed already.

        Order never hangs on it: rows are ordered by number. The next row tells of a step that is seen here.
        """
        return self._latest_ms - self._now().wall_ms > CLOCK_TOLERANCE_MS

    def _now(self) -> Moment:
        moment = self._clock()
        self._stepped_back |= moment.clock == "stepped_back"
        self._latest_ms = max(self._latest_ms, moment.wall_ms)
        return moment

    def append(self, events: Sequence[Event], actor: str, followed: Sequence[Event] = ()) -> int:
        """Make the events durable, all or none, and return the last one's number.

        `followed` is what the table did by itself after them; they stand in its name.
        Raises JournalError; then nothing was written.
        """
        entries: list[Entry] = []
        last = self._last
        for event, who in [*((e, actor) for e in events), *((e, TABLE) for e in followed)]:
            last = _next(last, event, who, self._now(), self._stepped_back and not entries)
            entries.append(last)
        began = time.perf_counter()
        self._insert(entry.columns() for entry in entries)
        self._last, self._stepped_back = last, False
        self.commit_s = time.perf_counter() - began
        return self.seq

    def append_sealed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Make rows durable that were sealed elsewhere: the columns of `Entry`, in order, all or none.

        For whole records at once, generated or restored. What does not follow the last row is refused.
        Raises JournalError.
        """
        rows = list(rows)
        self._insert(rows)
        self._last = Entry(*rows[-1]) if rows else self._last

    def _insert(self, rows: Iterable[tuple[Any, ...]]) -> None:
        with _said("The journal could not be written"), transaction(self._db):
            self._db.executemany(f"INSERT INTO journal ({_COLUMNS}) VALUES ({', '.join('?' * 11)})", rows)

    def keep(self, kind: str, data: bytes) -> str:
        """Store content that events name by hash (a profile's text, a layout), once; return its hash."""
        digest = content_hash(data)
        with _said("The journal could not be written"), transaction(self._db):
            known = self._db.execute("SELECT 1 FROM content WHERE hash = ?", (digest,)).fetchone()
            if known is None:
                self._db.execute(
                    "INSERT INTO content (hash, kind, bytes) VALUES (?, ?, ?)", (digest, kind, data)
                )
        return digest

    def recover(self) -> State:
        """Return the state that the journal implies, from the last opened hand on.

        Raises JournalError if those rows do not fit together: nothing goes on from a record that was bent.
        """
        with _said("The journal could not be read"):
            entries = _since_last_opened(self._db)
        return _replay(entries)

    def close(self) -> None:
        """Close the file and let another writer in. May be called twice."""
        self._db.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class JournalReader:
    """Reads a journal that another process may be writing, and never writes to it.

    Each call opens the file, reads and closes it: no read transaction outlives a call, and a journal that is
    made, closed or opened anew in between is seen. Before the table process has made it, it has no entries.
    """

    def __init__(self, folder: Path, *, training: bool = False) -> None:
        """`training` as in `Journal`: each call refuses a record of the other kind with JournalError."""
        self.path = folder / FILE
        self._training = training

    def events_since(self, seq: int, limit: int = 10_000) -> list[Entry]:
        """Return the entries after number `seq`, in order, at most `limit`. Raises JournalError."""
        with self._open() as db:
            return _entries(db, "WHERE seq > ? ORDER BY seq LIMIT ?", (seq, limit)) if db else []

    def since_last_opened(self) -> list[Entry]:
        """Return the entries from the last opened hand on; all, if none was opened."""
        with self._open() as db:
            return _since_last_opened(db) if db else []

    def recover(self) -> tuple[State, int]:
        """Return the state that the journal implies and the last row's number. Raises JournalError."""
        entries = self.since_last_opened()
        return _replay(entries), entries[-1].seq if entries else 0

    def of_hand(self, hand: int) -> list[Entry]:
        """Return the entries of one hand."""
        with self._open() as db:
            if db is None:
                return []
            first = db.execute(
                "SELECT min(seq) FROM journal WHERE type = 'hand_opened' AND hand = ?", (hand,)
            ).fetchone()[0]
            after = db.execute(
                "SELECT min(seq) FROM journal WHERE type = 'hand_opened' AND hand = ?", (hand + 1,)
            ).fetchone()[0]
            if first is None:
                return []
            return _entries(db, "WHERE seq >= ? AND seq < ? ORDER BY seq", (first, after or 1 << 62))

    def openings(self, before: int = 1 << 62, limit: int = 100) -> list[Entry]:
        """Return the rows in which hands below number `before` were opened, the newest first, at most `limit`."""
        with self._open() as db:
            where = "WHERE type = 'hand_opened' AND hand < ? ORDER BY hand DESC LIMIT ?"
            return _entries(db, where, (before, limit)) if db else []

    def about(self, hand: int) -> list[Entry]:
        """Return the entries about a past hand that stand elsewhere: reopened, disputed, reviewed, images dropped."""
        with self._open() as db:
            return (
                _entries(db, f"WHERE {ABOUT_HAND} = ? AND {ABOUT_TYPES} ORDER BY seq", (hand,)) if db else []
            )

    def head(self) -> tuple[int, str]:
        """Return the last row's number and hash; 0 and "" where there is none."""
        with self._open() as db:
            row = db and db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
            return (row[0], row[1]) if row else (0, "")

    def anchors(self, since: int = 0, limit: int = -1) -> list[Entry]:
        """Return the rows after number `since` in which the chain's head was signed, in order."""
        with self._open() as db:
            where = "WHERE type = 'head_signed' AND seq > ? ORDER BY seq LIMIT ?"
            return _entries(db, where, (since, limit)) if db else []

    def last_anchor(self) -> Entry | None:
        """Return the row in which the chain's head was last signed, or None."""
        return self._last("head_signed")

    def last_key(self) -> Entry | None:
        """Return the row that announced the key in use, or None."""
        return self._last("key_announced")

    def last_log_on(self) -> Entry | None:
        """Return the row in which the dealer's down began, or None where nobody ever logged on."""
        return self._last("logged_on")

    def last_reading_before(self, hand: int) -> Entry | None:
        """Return the row in which the camera last read a table before this hand, however many hands ago; or None."""
        with self._open() as db:
            where = "WHERE type = 'reading_taken' AND hand < ? ORDER BY seq DESC LIMIT 1"
            found = _entries(db, where, (hand,)) if db else []
            return found[0] if found else None

    def _last(self, kind: str) -> Entry | None:
        with self._open() as db:
            # the kind stands in the query, not beside it: only so its own index is used
            found = _entries(db, f"WHERE type = '{kind}' ORDER BY seq DESC LIMIT 1", ()) if db else []
            return found[0] if found else None

    def of_set_up(self) -> list[Entry]:
        """Return the entries of the set-up: steps settled, devices tried, calibrations, decks."""
        with self._open() as db:
            return _entries(db, f"WHERE {SET_UP_TYPES} ORDER BY seq", ()) if db else []

    def about_profiles(self) -> list[Entry]:
        """Return the rows in which a house's profile was written down or the table set otherwise, of all hands."""
        with self._open() as db:
            return _entries(db, f"WHERE {PROFILE_TYPES} ORDER BY seq", ()) if db else []

    def of_type(self, type_name: str) -> list[Entry]:
        """Return the entries of one type, of all hands."""
        with self._open() as db:
            return _entries(db, "WHERE type = ? ORDER BY seq", (type_name,)) if db else []

    def content(self, digest: str) -> bytes | None:
        """Return the content with this hash, or None."""
        with self._open() as db:
            row = db and db.execute("SELECT bytes FROM content WHERE hash = ?", (digest,)).fetchone()
            return row[0] if row else None

    def contents(self) -> dict[str, bytes]:
        """Return all content by hash."""
        with self._open() as db:
            return dict(db.execute("SELECT hash, bytes FROM content")) if db else {}

    def uri(self) -> str:
        """Return how SQLite opens the journal at this moment, for reading only."""
        # Without a -wal file nobody writes, and a reader who may not write to the folder could not make one.
        wal = self.path.with_name(f"{self.path.name}-wal").exists()
        return f"file:{quote(str(self.path))}?mode=ro" + ("" if wal else "&immutable=1")

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection | None]:
        """Give a read-only connection to whoever reads more than a call's worth; None before there is a journal.

        Leave no statement half read: it would be a long read transaction. Raises JournalError.
        """
        with self._open() as db:
            yield db

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        try:
            self.path.stat()
            # To open and close it here would let go of SQLite's own locks on it.
            if not os.access(self.path, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except FileNotFoundError:
            yield None
            return
        except OSError as error:  # what may not be looked at is not nothing
            raise _as_journal_error(error, f"The journal {self.path} could not be read") from error
        with (
            _said(f"The journal {self.path} could not be read"),
            closing(sqlite3.connect(self.uri(), uri=True, timeout=_WAIT_S)) as db,
        ):
            made = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'journal'").fetchone()
            if made:
                _need_no_view(db, self.path)
                _need_kind(db, self.path, training=self._training)
            yield db if made else None


def _need_no_view(db: sqlite3.Connection, path: Path) -> None:
    """Raise JournalError for a file that computes what it is asked for: on a stick it may be made to never end."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE type = 'view'").fetchone():
        raise JournalError(f"The journal {path} holds a view: Feltwatch makes none, and it is not read.")


def _need_kind(db: sqlite3.Connection, path: Path, *, training: bool) -> None:
    """Raise JournalError where a table's record is opened for training, or a training record for anything else."""
    # Compared in SQL: a changed byte may be no text any more, and that is for `verify` to say.
    first = db.execute("SELECT type = ? FROM journal WHERE seq = 1", (TrainingBegun.type,)).fetchone()
    if first is None or bool(first[0]) == training:
        return
    if training:
        raise JournalError(
            f"The journal {path} is a table's own record, and training never touches one; name another data folder."
        )
    raise JournalError(
        f"The journal {path} is a training record, none of whose hands was ever played; name another data folder."
    )


def _latest_wall_ms(db: sqlite3.Connection, last: Entry | None) -> int:
    """Return the latest wall time in the record: the last row's, or that of a row before a step back."""
    peaks = db.execute(
        "SELECT max(peak.wall_ms) FROM journal AS step JOIN journal AS peak ON peak.seq = step.seq - 1 "
        "WHERE step.clock = 'stepped_back'"
    ).fetchone()[0]
    return max(peaks or 0, last.wall_ms if last else 0)


def _next(last: Entry | None, event: Event, actor: str, moment: Moment, stepped_back: bool) -> Entry:
    seq, hand, previous = (last.seq + 1, last.hand, last.hash) if last else (1, 0, "")
    if isinstance(event, HandOpened):
        hand = event.hand
    stepped_back = stepped_back or (last is not None and moment.wall_ms < last.wall_ms)
    clock = "stepped_back" if stepped_back else moment.clock
    entry = Entry(
        seq=seq,
        hand=hand,
        boot=moment.boot,
        monotonic_ns=moment.monotonic_ns,
        wall_ms=moment.wall_ms,
        clock=clock,
        actor=actor,
        type=event.type,
        payload=payload(event),
        previous=previous,
        hash="",
    )
    return replace(entry, hash=entry.sealed())


def _entries(db: sqlite3.Connection, where: str, values: tuple[int | str, ...]) -> list[Entry]:
    return [Entry(*row) for row in db.execute(f"SELECT {_COLUMNS} FROM journal {where}", values)]


def _since_last_opened(db: sqlite3.Connection) -> list[Entry]:
    last = db.execute(
        "SELECT seq FROM journal WHERE type = 'hand_opened' ORDER BY hand DESC, seq DESC LIMIT 1"
    ).fetchone()
    return _entries(db, "WHERE seq >= ? ORDER BY seq", (last[0] if last else 1,))


def _replay(entries: list[Entry]) -> State:
    """Check that the entries follow each other and fold them."""
    for before, entry in zip([None, *entries], entries, strict=False):
        if entry.hash != entry.sealed() or (before and entry.previous != before.hash):
            raise JournalError(
                f"Row {entry.seq} of the journal was changed after it was written. Keep the data folder for "
                "the dispute and go on with a new one."
            )
    try:
        return fold(entry.event for entry in entries)
    except (NotNow, UnknownEvent) as error:
        raise JournalError(f"The journal cannot be followed to its end: {error}") from error


def _migrate(db: sqlite3.Connection) -> None:
    # A later release's number is no hindrance: migrations only add, so a release that was rolled back to finds all
    # that it knows. An event that it does not know it refuses, by name (`_replay`).
    version = db.execute("PRAGMA user_version").fetchone()[0]
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        db.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {number}; COMMIT;")


@contextmanager
def _said(what: str) -> Iterator[None]:
    """Turn SQLite's errors into a sentence."""
    try:
        yield
    except (
        sqlite3.Error,
        UnicodeDecodeError,
    ) as error:  # a damaged schema's text comes in SQLite's own message
        raise _as_journal_error(error, what) from error


def _as_journal_error(error: Exception, what: str) -> JournalError:
    if isinstance(error, JournalError):
        return error
    number = getattr(error, "errno", None)
    # The latter: no room for what readers share beside the record.
    full = getattr(error, "sqlite_errorname", "") in ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
    if full or number == errno.ENOSPC:
        return JournalError(f"{what}: the disk is full. Make room; no evidence is deleted by itself.")
    if number in (errno.EACCES, errno.EPERM):
        return JournalError(f"{what}: this user may not. Do it as the table's user.")
    return JournalError(f"{what}: {getattr(error, 'strerror', None) or error}.")
