"""The archive's index: one line for each hand, and the positions of rows. A list of a million hands opens fast with it.

The index is a cache, not evidence. It is in the runtime folder (`row_index`), and is made from the journal after each
start. The table process makes it in the background. Where no table process runs, a program makes its own. The index is
updated in batches, each in one transaction. It is read only when it is complete.
"""

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

from firmware.record.archive_lines import SCHEMA, Batch, line_in, write
from firmware.record.journal.disk import give_to_owner, make_file
from firmware.record.journal.reader import JournalReader
from firmware.record.journal.row_index import SHAPE, forget_index, index_paths, index_to_write
from firmware.record.journal.transaction import Transaction
from firmware.table.entry import COLUMNS, Entry
from firmware.table.errors import JournalError

BATCH: Final = 20_000
"""The number of journal rows that one transaction adds."""
LOCKED_S: Final = 1.0
"""Seconds to wait for a lock. After that, another process is assumed to write the index, and does the work."""
BEFORE: Final = ("index.sqlite", "index.sqlite-sum", "index.sqlite-lock", "index.sqlite-journal")
"""The files of the index in releases up to 0.2.0, in the data folder."""


def bring_up_to_date(data: Path, on_progress: Callable[[int, int], None] = lambda seq, of: None) -> None:
    """Add the journal's new rows to its index. Make the index again if it is damaged or belongs to another journal.

    `on_progress` is called after each batch with the numbers of the last indexed row and of the last row. If another
    process is writing the index, this returns without an error. Raises JournalError.
    """
    reader = JournalReader(data, are_checked=False)  # a line says how many of its rows were changed
    for name in BEFORE:
        with suppress(OSError):
            (data / name).unlink(missing_ok=True)
    try:
        try:
            _add_new_rows(reader, index_to_write(data), on_progress)
        except (sqlite3.Error, UnicodeDecodeError, JournalError) as error:
            if is_busy(error):
                return
            if isinstance(error, JournalError):
                raise
            forget_index(data)
            _add_new_rows(reader, index_to_write(data), on_progress)
    except JournalError:
        raise
    except (sqlite3.Error, OSError) as error:
        raise JournalError(
            "The archive's index %(path)s cannot be made: %(why)s.", path=index_paths(data)[0].name, why=error
        ) from error


def is_busy(error: Exception) -> bool:
    """Return whether another process is writing the index."""
    return any(
        getattr(one, "sqlite_errorname", "").startswith("SQLITE_BUSY") for one in (error, error.__cause__)
    )


def _add_new_rows(reader: JournalReader, path: Path, on_progress: Callable[[int, int], None]) -> None:
    """Add all rows that the index lacks. Start with an empty index if it has another format or another journal."""
    make_file(path)
    give_to_owner(path)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=LOCKED_S)) as db:
        # No WAL: with it, readers would need write access, and readers of the same group do not have that.
        db.execute("PRAGMA journal_mode = TRUNCATE")
        db.execute("PRAGMA synchronous = NORMAL")
        if abs(db.execute("PRAGMA user_version").fetchone()[0]) != SHAPE or not _is_of_journal(db, reader):
            _make_empty(db)
        with reader.opened() as journal:
            end = journal.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0] if journal else 0
            while journal and (at := _add_batch(db, journal, end)) < end:
                on_progress(at, end)
        db.execute(f"PRAGMA user_version = {SHAPE}")
    on_progress(end, end)


def _is_of_journal(db: sqlite3.Connection, reader: JournalReader) -> bool:
    """Return whether the last indexed row is in the journal, with the same hash."""
    seq, digest, _ = db.execute("SELECT seq, hash, subject FROM head").fetchone()
    rows = reader.events_since(seq - 1, 1) if seq else []
    return seq == 0 or (bool(rows) and (rows[0].seq, rows[0].hash) == (seq, digest))


def _make_empty(db: sqlite3.Connection) -> None:
    """Make an empty index, marked as incomplete (a negative `user_version`)."""
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    drops = "".join(f"DROP TABLE {name};" for name in tables)
    db.executescript(f"BEGIN IMMEDIATE; {drops} {SCHEMA} PRAGMA user_version = -{SHAPE}; COMMIT;")


def _add_batch(db: sqlite3.Connection, journal: sqlite3.Connection, end: int) -> int:
    """Add the next batch of rows, up to row `end`. Return the number of the last row that was added."""
    with Transaction(db):
        seq, before, subject = db.execute("SELECT seq, hash, subject FROM head").fetchone()
        upto = min(end, seq + BATCH)
        if upto <= seq:
            return int(seq)
        batch = Batch(partial(line_in, db), subject)
        rows = journal.execute(
            f"SELECT {COLUMNS} FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq", (seq, upto)
        )
        for entry in map(Entry._make, rows):
            try:
                hand = batch.take(entry.seq, entry.hand, entry.wall_ms, entry.type, entry.payload)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise JournalError(
                    "Row %(row)s of the journal holds what no release wrote; feltwatch hands verify --all says more.",
                    row=entry.seq,
                ) from error
            if entry.previous != before or entry.hash != entry.sealed():
                db.execute("INSERT INTO changed (hand, seq) VALUES (?, ?)", (hand, entry.seq))
            before = entry.hash
        write(db, batch)
        db.execute("UPDATE head SET seq = ?, hash = ?, subject = ?", (upto, before, batch.subject))
    return int(upto)
