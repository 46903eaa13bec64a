"""The archive's index: one line for each hand, and the positions of rows, so that a list of a million hands opens fast.

It is a cache, not evidence: it lies in the runtime folder (`row_index`), and is made from the journal after each start.
The table process makes it in the background; where there is none, any program makes one of its own. It is updated in
batches, each in one transaction, and read once it is complete.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Final

from firmware.record.archive_lines import SCHEMA, TOLD, Batch, line_in, write
from firmware.record.journal.disk import give_to_owner, make_file
from firmware.record.journal.reader import JournalReader
from firmware.record.journal.row_index import INDEXED, SHAPE, forget_index, index_paths, index_to_write
from firmware.record.journal.transaction import Transaction
from firmware.table.errors import JournalError

BATCH: Final = 20_000
"""Rows of the journal in one transaction."""
LOCKED_S: Final = 1.0
"""Seconds to wait for a reader; after that another process is taken to be writing the index, which is left to it."""
BEFORE: Final = ("index.sqlite", "index.sqlite-sum", "index.sqlite-lock", "index.sqlite-journal")
"""Where releases up to 0.2.0 had it, in the data folder."""
_TAKEN: Final = tuple(sorted(INDEXED.union(TOLD)))


def bring_up_to_date(data: Path, done: Callable[[int, int], None] = lambda seq, of: None) -> None:
    """Add the journal's new rows to its index; make it again if it is damaged or belongs to another journal.

    `done` is called after each batch with the rows indexed and their total. Raises JournalError.
    """
    reader = JournalReader(data)
    for name in BEFORE:
        with suppress(OSError):
            (data / name).unlink(missing_ok=True)
    try:
        try:
            _bring(reader, index_to_write(data), done)
        except (sqlite3.Error, UnicodeDecodeError, JournalError) as error:
            if is_busy(error):
                return
            if isinstance(error, JournalError):
                raise
            forget_index(data)
            _bring(reader, index_to_write(data), done)
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


def _bring(reader: JournalReader, path: Path, done: Callable[[int, int], None]) -> None:
    make_file(path)
    give_to_owner(path)
    with closing(sqlite3.connect(path, isolation_level=None, timeout=LOCKED_S)) as db:
        # No WAL: readers would need write access for it, and readers of the same group have none.
        db.execute("PRAGMA journal_mode = TRUNCATE")
        db.execute("PRAGMA synchronous = NORMAL")
        if abs(db.execute("PRAGMA user_version").fetchone()[0]) != SHAPE or not _is_of(db, reader):
            _clear(db)
        with reader.opened() as journal:
            end = journal.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0] if journal else 0
            while journal and (at := _batch(db, journal, end)) < end:
                done(at, end)
        db.execute(f"PRAGMA user_version = {SHAPE}")
    done(end, end)


def _is_of(db: sqlite3.Connection, reader: JournalReader) -> bool:
    seq, digest, _ = db.execute("SELECT seq, hash, subject FROM head").fetchone()
    rows = reader.events_since(seq - 1, 1) if seq else []
    return seq == 0 or (bool(rows) and (rows[0].seq, rows[0].hash) == (seq, digest))


def _clear(db: sqlite3.Connection) -> None:
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    drops = "".join(f"DROP TABLE {name};" for name in tables)
    db.executescript(f"BEGIN IMMEDIATE; {drops} {SCHEMA} PRAGMA user_version = -{SHAPE}; COMMIT;")


def _batch(db: sqlite3.Connection, journal: sqlite3.Connection, end: int) -> int:
    """Add the next batch of rows, and return the number of the last one."""
    with Transaction(db):
        seq, _, subject = db.execute("SELECT seq, hash, subject FROM head").fetchone()
        upto = min(end, seq + BATCH)
        if upto <= seq:
            return int(seq)
        batch = Batch(partial(line_in, db), subject)
        marks = ", ".join("?" * len(_TAKEN))
        for row in journal.execute(
            "SELECT seq, hand, wall_ms, type, payload FROM journal "
            f"WHERE seq > ? AND seq <= ? AND type IN ({marks}) ORDER BY seq",
            (seq, upto, *_TAKEN),
        ):
            try:
                batch.take(*row)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                raise JournalError(
                    "Row %(row)s of the journal holds what no release wrote; feltwatch hands verify --all says more.",
                    row=row[0],
                ) from error
        write(db, batch)
        digest = journal.execute("SELECT hash FROM journal WHERE seq = ?", (upto,)).fetchone()[0]
        db.execute("UPDATE head SET seq = ?, hash = ?, subject = ?", (upto, digest, batch.subject))
    return int(upto)
