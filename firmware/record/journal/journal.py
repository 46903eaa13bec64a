"""The journal: a durable, ordered, hash-chained, append-only log of events. One writer, many readers."""

import os
import sqlite3
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final, Self

from firmware.messages import Message, Text
from firmware.record.journal import witness
from firmware.record.journal.clocks import Clock, Timestamp, now
from firmware.record.journal.disk import give_to_owner, make_file, make_folder, sync_folder
from firmware.record.journal.end_mark import end_fault
from firmware.record.journal.file import FILE as FILE
from firmware.record.journal.file import READY as READY
from firmware.record.journal.file import RESTORING as RESTORING
from firmware.record.journal.file import WAIT_S, as_journal_error, as_journal_errors, guard, need_kind
from firmware.record.journal.ground import find_links
from firmware.record.journal.lock import take_lock
from firmware.record.journal.named_files import NamedFiles
from firmware.record.journal.reader import JournalReader as JournalReader
from firmware.record.journal.reader import replay, since_last_opened
from firmware.record.journal.schema import migrate, strange_header, strangers
from firmware.record.journal.transaction import Transaction
from firmware.record.journal.witness import Head, Witness
from firmware.table.entry import COLUMNS, MARKS, MAX_PAYLOAD, content_hash, seal
from firmware.table.entry import Entry as Entry
from firmware.table.errors import JournalError, JournalUncertain
from firmware.table.events import Event, HandOpened, TrainingBegun, payload
from firmware.table.state import State

TABLE: Final = "table"
"""The actor of events that the table process creates by itself."""
CLOCK_TOLERANCE_MS: Final = 500
"""Milliseconds by which the network's time may set the wall clock back without a warning."""
CLOCK_AHEAD_MS: Final = 60_000
"""Milliseconds by which a synchronised wall clock may gain on the monotonic clock between two readings."""
CLOCK_CALM_NS: Final = 60 * 10**9
"""Nanoseconds of network time after which a later time in the record is taken for a past error of the clock."""
COPY_BACK_AFTER: Final = 1000
"""Rows after which the `-wal` is copied back into the database: about four megabytes."""
BOTH_WAYS: Final = 1000
"""How many of the last rows are read both backwards and by number when a journal is opened; both must agree."""
_INSERT: Final = f"INSERT INTO journal ({COLUMNS}) VALUES ({MARKS})"
_NOT_WRITTEN: Final = Message("The journal could not be written")


def _not_certain(why: object) -> Message:
    return Message(
        "It is not certain whether that was recorded (%(why)s). Nothing more is recorded until it is certain. "
        "Look at the page and at the disk before you do it again.",
        why=why,
    )


BROKEN_OFF: Final = _not_certain("the table broke off while it wrote")
"""What is said of a write that broke off for any reason. Made beforehand: there may be no memory left by then."""


class Journal:
    """The one writer of a journal. Used from one thread at a time.

    >>> with Journal(folder) as journal:  # doctest: +SKIP
    ...     state = journal.recover()
    ...     journal.append([TableStarted()], actor="table")
    """

    commit_s: float = 0.0
    """Duration of the last commit in seconds, including the write of the witness."""

    def __init__(self, folder: Path, clock: Clock = now, *, training: bool = False) -> None:
        """Open the journal in a folder, or create it. Raises JournalBusy or JournalError.

        If the record ends before the row in its witness, the first new row is a `RecordFault`. `training`: a record of
        training hands. A table's record is never opened with it, and a training record never without it.
        """
        self._clock = clock
        self.training: Final = training
        self._path = path = folder / FILE
        if (folder / RESTORING / READY).exists():
            raise JournalError(
                "A restore of the record in %(folder)s was interrupted; do the same 'feltwatch restore' "
                "once more.",
                folder=folder,
            )
        self._uncertain: Message | None = None
        self._files = NamedFiles(path)
        with ExitStack() as failing:
            with as_journal_errors(Message("The journal in %(folder)s cannot be opened", folder=folder)):
                make_folder(folder)
                if link := find_links(folder, FILE):
                    raise JournalError(link)
                self._lock = failing.enter_context(take_lock(folder))
                make_file(path)
                give_to_owner(path)
                seen = witness.read(folder)
                self._witness = failing.enter_context(Witness(folder))
            with as_journal_errors(Message("The journal %(path)s cannot be opened", path=path)):
                if what := strange_header(path):
                    raise _unfit(what, path)
                self._db = self._connect()
                failing.callback(lambda: self._db.close())
                migrate(self._db)
                _need_sound(self._db, path)
                sync_folder(folder)
                opened = since_last_opened(self._db)
                need_kind(self._db, path, training=training)
            self._last: Entry | None = opened[-1] if opened else None
            self._latest_ms = max((entry.wall_ms for entry in opened), default=0)
            self._not_copied = 0
            self._stepped_back = False
            self._calm_since_ns: int | None = None
            self._last_synchronised = next(
                (
                    Timestamp(row.boot, row.monotonic_ns, row.wall_ms, "synchronised")
                    for row in reversed(opened)
                    if row.clock == "synchronised"
                ),
                None,
            )
            self._is_ahead = False
            self._files.note()
            hand = self._last.hand if self._last else 0
            with as_journal_errors(Message("The journal %(path)s cannot be opened", path=path)):
                fault = end_fault(self._db, folder, self.seq, seen, hand)
            self._witness_is_behind = fault is None and seen != self.head  # the fault's row comes first
            if fault is not None:
                self.append([fault], TABLE)
            if training and self._last is None:
                self.append([TrainingBegun()], TABLE)
            failing.pop_all()

    def _connect(self) -> sqlite3.Connection:
        # Used by one thread at a time, but opened in one and used in another.
        db = sqlite3.connect(self._path, isolation_level=None, timeout=WAIT_S, check_same_thread=False)
        try:
            guard(db)
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = FULL")  # NORMAL may lose the last hands at a power cut
            # `_copy_back` does it, after the commit that it would delay
            db.execute("PRAGMA wal_autocheckpoint = 0")
        except BaseException:
            db.close()
            raise
        return db

    @property
    def folder(self) -> Path:
        """The folder that it lies in."""
        return self._path.parent

    @property
    def seq(self) -> int:
        """The last row's number; 0 when empty."""
        return self._last.seq if self._last else 0

    @property
    def head(self) -> Head:
        """The last row's number and hash; 0 and "" when empty."""
        return (self._last.seq, self._last.hash) if self._last else (0, "")

    def clock_is_behind(self) -> bool:
        """Read the clock, and say whether the wall clock is behind the latest time in the last hands.

        Rows are ordered by number, so the order does not depend on it. The next row records a step back seen here.
        """
        moment = self._now()
        is_behind = self._latest_ms - moment.wall_ms > CLOCK_TOLERANCE_MS
        if not is_behind or moment.clock != "synchronised":
            self._calm_since_ns = None
        elif self._calm_since_ns is None:
            self._calm_since_ns = moment.monotonic_ns
        elif moment.monotonic_ns - self._calm_since_ns >= CLOCK_CALM_NS:
            # the later time was wrong: the clock had jumped ahead
            self._latest_ms, is_behind = moment.wall_ms, False
            self._calm_since_ns = None
        return is_behind

    def clock_is_ahead(self) -> bool:
        """Read the clock, and say whether a synchronised wall clock went on by more than the monotonic clock did.

        One of the two times is wrong then, and nobody knows which; rows do not call such a time synchronised. It lasts
        until the wall clock agrees again, or until the box starts again.
        """
        self._now()
        return self._is_ahead

    def _now(self) -> Timestamp:
        moment = self._clock()
        if moment.clock == "synchronised":
            self._is_ahead = (
                self._last_synchronised is not None
                and _gain_ms(self._last_synchronised, moment) > CLOCK_AHEAD_MS
            )
            if self._is_ahead:
                moment = moment._replace(clock="unknown")
            else:
                self._last_synchronised = moment
        self._stepped_back |= moment.clock == "stepped_back"
        self._latest_ms = max(self._latest_ms, moment.wall_ms)
        return moment

    def append(
        self, events: Sequence[Event], actor: str, consequences: Sequence[Event] = (), command: str = ""
    ) -> int:
        """Write the events durably, all or none, and return the last row's number.

        `consequences`: events that follow from them; their actor is `TABLE`. `command` is the id of the command that
        caused the events. Raises JournalError if nothing was written, JournalUncertain if it is not known whether the
        events were written.
        """
        rows: list[Entry] = []
        last = self._last
        for event, who in [(e, actor) for e in events] + [(e, TABLE) for e in consequences]:
            last = _next(last, event, who, command, self._now(), self._stepped_back and not rows)
            rows.append(last)
            if len(last.payload.encode()) > MAX_PAYLOAD:
                raise as_journal_error(ValueError(f"{event.type} is too long for a row"), _NOT_WRITTEN)
        began = time.perf_counter()
        self._commit(rows, last)
        self._stepped_back = False
        self.commit_s = time.perf_counter() - began
        return self.seq

    def append_sealed(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write rows durably that already have their hashes: the columns of `Entry`, in order, all or none.

        For generated and restored records. Rows that do not follow the last row are refused. Raises JournalError.
        """
        rows = list(rows)
        if rows:
            self._commit(rows, Entry(*rows[-1]))

    def _commit(self, rows: Sequence[tuple[Any, ...]], last: Entry | None) -> None:
        self._need_ready()
        try:
            self._commit_now(rows, last)
        except JournalError:
            raise
        except BaseException:
            self._uncertain = BROKEN_OFF  # by Ctrl-C, say: at any line, also after the commit
            raise

    def _commit_now(self, rows: Sequence[tuple[Any, ...]], last: Entry | None) -> None:
        try:
            if len(rows) == 1:
                self._db.execute(_INSERT, rows[0])  # a single statement is its own transaction
            else:
                with Transaction(self._db):
                    self._db.executemany(_INSERT, rows)
        except (sqlite3.Error, MemoryError) as error:
            if not self._was_written(error, (last.seq, last.hash) if last else (0, "")):
                raise as_journal_error(error, _NOT_WRITTEN) from error
        self._last = last
        self._witness_is_behind = True
        self._note_commit()
        # The rows are durable now; no more are accepted until the witness is, too (`_need_ready`).
        try:  # noqa: SIM105 -- runs at every commit; `suppress` takes ten times as long
            self._write_witness()
        except OSError:
            pass
        self._not_copied += len(rows)
        if self._not_copied >= COPY_BACK_AFTER:
            self._copy_back()

    def _note_commit(self) -> None:
        try:
            self._files.note_commit()
        except JournalError as error:  # the rows may be in a file that no path leads to
            self._uncertain = error.sentence
            raise JournalUncertain(error.sentence) from error

    def _copy_back(self) -> None:
        """Copy the `-wal` back into the database, as far as readers allow.

        The rows are durable already, so errors are ignored here: the next commit reports them.
        """
        self._not_copied = 0
        try:
            self._files.compare()
        except JournalError:
            return
        with suppress(sqlite3.Error):
            self._db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        with suppress(JournalError):
            self._files.note()

    def _write_witness(self) -> None:
        self._witness.write(self.head)
        self._witness_is_behind = False

    def keep(self, kind: str, data: bytes) -> str:
        """Store content that events name by hash (a profile's text, a layout), if it is new; return its hash.

        Raises JournalError.
        """
        digest = content_hash(data)
        self._need_ready()
        try:
            with Transaction(self._db):
                if not self._has(digest):
                    self._db.execute(
                        "INSERT INTO content (hash, kind, bytes) VALUES (?, ?, ?)", (digest, kind, data)
                    )
        except (sqlite3.Error, MemoryError) as error:
            self._was_written(error, self.head)
            with as_journal_errors(_NOT_WRITTEN):
                if not self._has(digest):
                    raise as_journal_error(error, _NOT_WRITTEN) from error
        self._note_commit()
        return digest

    def _has(self, digest: str) -> bool:
        return self._db.execute("SELECT 1 FROM content WHERE hash = ?", (digest,)).fetchone() is not None

    # ---- a write that failed ----

    def _need_ready(self) -> None:
        """Raise JournalError if the journal may not accept writes now."""
        if self._uncertain is not None:
            raise JournalUncertain(self._uncertain)
        self._files.compare()
        if self._witness_is_behind:
            try:
                self._write_witness()
            except OSError as error:
                raise as_journal_error(
                    error, Message("The witness of the record's end cannot be written")
                ) from error

    def _was_written(self, error: sqlite3.Error | MemoryError, wanted: Head) -> bool:
        """Return whether a failed transaction is in the record anyway. Raises JournalUncertain.

        After a failed sync the frames may be complete in the file, and would be valid at the next start.
        """
        if getattr(error, "sqlite_errorname", "") == "SQLITE_FULL":
            # A write was short, so the transaction's last frame is incomplete. Without it the others are never valid:
            # nothing was written, and the file need not be opened again to find out.
            self._files.note()  # the partial write made the file longer; the next write overwrites it
            return False
        self._uncertain = BROKEN_OFF if isinstance(error, MemoryError) else _not_certain(error)
        return self.settle() == wanted and wanted != self.head

    @property
    def is_uncertain(self) -> bool:
        """Whether the last write failed and its result is still unknown: `settle` finds out."""
        return self._uncertain is not None

    def settle(self) -> Head:
        """Find out whether a failed write is in the record: open the file again and return its head.

        The result is final: the `-wal` is copied into the database and emptied, so no other rows can appear later.
        Raises JournalUncertain if that is not possible.
        """
        assert self._uncertain is not None
        self._db.close()
        try:
            if not self._files.is_same_file():
                raise JournalUncertain(self._uncertain)
            self._db = self._connect()
            found = self._head_in_file()
            if self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
                raise JournalUncertain(self._uncertain)  # a reader prevents it at this moment
            _sync_if_there(self._path.with_name(f"{FILE}-wal"))
            sync_folder(self._path.parent)
            mine = self._db.execute("SELECT hash FROM journal WHERE seq = ?", (self.seq,)).fetchone()
            if self._head_in_file() != found or (mine[0] if mine else "") != self.head[1]:
                raise JournalUncertain(self._uncertain)
        except (sqlite3.Error, OSError) as error:
            raise JournalUncertain(self._uncertain) from error
        self._files.forget()
        self._files.note()
        self._uncertain = None
        return found

    # ---- what the file holds ----

    def _head_in_file(self) -> Head:
        row = self._db.execute("SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
        return (row[0], row[1]) if row else (0, "")

    def recover(self) -> State:
        """Return the state that the journal implies, from the last opened hand on.

        Raises JournalError if those rows do not fit together: play never continues from a record that was changed.
        """
        with as_journal_errors(Message("The journal could not be read")):
            rows = since_last_opened(self._db)
        state = replay(rows)
        if rows and rows[-1] != self._last:  # a failed write had written rows after all
            self._last = rows[-1]
            self._witness_is_behind = True
        return state

    def commands(self) -> dict[str, int]:
        """Return the ids of the last commands, each with the number of its last row. Raises JournalError."""
        with as_journal_errors(Message("The journal could not be read")):
            found = self._db.execute(
                "SELECT command, seq FROM journal WHERE seq > ? AND command != '' ORDER BY seq",
                (self.seq - BOTH_WAYS,),
            ).fetchall()
        return dict(found)

    def close(self) -> None:
        """Close the file and release the lock. May be called twice."""
        self._db.close()
        self._witness.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _need_sound(db: sqlite3.Connection, path: Path) -> None:
    """Raise JournalError for a wrong schema, or if the last rows differ when read backwards and by number."""
    for what in strangers(db):
        raise _unfit(what, path)
    back = db.execute(f"SELECT {COLUMNS} FROM journal ORDER BY seq DESC LIMIT ?", (BOTH_WAYS,)).fetchall()
    first = db.execute("SELECT seq FROM journal ORDER BY seq LIMIT 1").fetchone()
    end = back[0][0] if back else 0
    numbers = [row[0] for row in back]
    if (first and first[0] != 1) or numbers != list(range(end, max(0, end - BOTH_WAYS), -1)):
        raise JournalError(
            "Rows of the journal %(path)s are missing or too many; restore a backup.", path=path
        )
    marks = ", ".join("?" * len(numbers))
    # each row is found from the tree's root
    found = db.execute(f"SELECT {COLUMNS} FROM journal WHERE seq IN ({marks})", numbers)
    by_number = {row[0]: row for row in found}
    for row in back:
        if by_number.get(row[0]) != row:
            raise JournalError(
                "The journal %(path)s is damaged: row %(row)s is not found by its number. Restore a backup.",
                path=path,
                row=row[0],
            )


def _unfit(what: Text, path: Path) -> JournalError:
    return JournalError(
        "%(what)s Keep %(folder)s for the dispute, and restore a backup.", what=what, folder=path.parent
    )


def _sync_if_there(path: Path) -> None:
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _gain_ms(before: Timestamp, now: Timestamp) -> int:
    """Return how much more the wall clock went on than the monotonic one; 0 across boots, where nothing says it."""
    if before.boot != now.boot:
        return 0
    return now.wall_ms - before.wall_ms - (now.monotonic_ns - before.monotonic_ns) // 1_000_000


def _next(
    last: Entry | None, event: Event, actor: str, command: str, moment: Timestamp, stepped_back: bool
) -> Entry:
    seq, hand, previous = (last.seq + 1, last.hand, last.hash) if last else (1, 0, "")
    if isinstance(event, HandOpened):
        hand = event.hand
    stepped_back = stepped_back or (last is not None and moment.wall_ms < last.wall_ms)
    clock = "stepped_back" if stepped_back else moment.clock
    when = moment.boot, moment.monotonic_ns, moment.wall_ms, clock
    row = (seq, hand, *when, actor, command, event.type, payload(event), previous)
    return Entry(*row, seal(row))
