"""The journal's file: its name, how it is opened for reading, and what goes wrong with it in one sentence."""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from firmware.record.journal.schema import need_known
from firmware.table.errors import JournalDamaged, JournalError, JournalFull, TableError
from firmware.table.events import TrainingBegun

FILE: Final = "journal.sqlite"
RESTORING: Final = "restoring"
READY: Final = "ready"
"""In the data folder: a backup that is put in the record's place (`firmware.record.backup`); the file in it says that
it is whole, and that the record may be half moved."""
WAIT_S: Final = 5.0
"""Seconds to wait for another connection."""
FULL_ERRORS: Final = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
"""What SQLite says of a full disk; the latter: no room for what readers share next to the record."""

DAMAGED_ERRORS: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


def uri(path: Path) -> str:
    """Return how SQLite opens a journal at this moment, for reading only."""
    # Without a -wal file nobody writes, and a reader who may not write to the folder could not make one.
    wal = path.with_name(f"{path.name}-wal").exists()
    return f"file:{quote(str(path))}?mode=ro" + ("" if wal else "&immutable=1")


@contextmanager
def opened(path: Path, *, training: bool = False) -> Iterator[sqlite3.Connection | None]:
    """Give a read-only connection to a journal, None where there is none. Raises JournalError."""
    with as_journal_errors(f"The journal {path} could not be read"):
        try:
            path.stat()
            # To open and close it here would let go of SQLite's own locks on it.
            if not os.access(path, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except FileNotFoundError:
            yield None
            return
        except OSError as error:  # what may not be looked at is not nothing
            raise as_journal_error(error, f"The journal {path} could not be read") from error
        with closing(sqlite3.connect(uri(path), uri=True, timeout=WAIT_S)) as db:
            guard(db)
            made = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'journal'").fetchone()
            if made:
                _need_no_view(db, path)
                need_known(db)
                need_kind(db, path, training=training)
            yield db if made else None


def guard(db: sqlite3.Connection) -> None:
    """Have SQLite trust less of a file: no function is called by its schema, each page is looked at as it is read."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


def _need_no_view(db: sqlite3.Connection, path: Path) -> None:
    """Raise JournalError for a file that computes what it is asked for: on a stick it may be made to never end."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE type = 'view'").fetchone():
        raise JournalError(f"The journal {path} holds a view: Feltwatch makes none, and it is not read.")


def need_kind(db: sqlite3.Connection, path: Path, *, training: bool) -> None:
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


@contextmanager
def as_journal_errors(what: str) -> Iterator[None]:
    """Turn SQLite's and the file system's errors into a sentence."""
    try:
        yield
    except TableError:
        raise
    except (
        sqlite3.Error,
        UnicodeDecodeError,
        OSError,
    ) as error:  # a damaged schema's text comes in its message
        raise as_journal_error(error, what) from error


def as_journal_error(error: Exception, what: str) -> JournalError:
    """Return an error as a sentence that says what to do."""
    if isinstance(error, JournalError):
        return error
    number = getattr(error, "errno", None)
    if getattr(error, "sqlite_errorname", "") in FULL_ERRORS or number == errno.ENOSPC:
        return JournalFull(f"{what}: the disk is full. Make room; no evidence is deleted by itself.")
    if getattr(error, "sqlite_errorname", "").startswith(DAMAGED_ERRORS):
        return JournalDamaged(
            f"{what}: its file is damaged ({error}). Keep the folder for the dispute, and restore a backup."
        )
    if number in (errno.EACCES, errno.EPERM):
        return JournalError(f"{what}: this user may not. Do it as the table's user.")
    return JournalError(f"{what}: {getattr(error, 'strerror', None) or error}.")
