"""The journal's file: its name, read-only connections to it, and its errors as messages for a person."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

from firmware.messages import Message
from firmware.record.journal.ground import find_links
from firmware.record.journal.schema import need_known
from firmware.table.errors import JournalDamaged, JournalError, JournalFull, TableError
from firmware.table.events import TrainingBegun

FILE: Final = "journal.sqlite"
RESTORING: Final = "restoring"
READY: Final = "ready"
"""`RESTORING` is the folder of a backup that is being restored (`firmware.record.restore`). The file `READY` in it
means that the backup is complete and that moving it into place may have begun."""
WAIT_S: Final = 5.0
"""Seconds to wait for another connection."""
FULL_ERRORS: Final = ("SQLITE_FULL", "SQLITE_IOERR_SHMSIZE")
"""SQLite's error names for a full disk; the second is raised when the shared-memory file (`-shm`) cannot grow."""

DAMAGED_ERRORS: Final = ("SQLITE_CORRUPT", "SQLITE_NOTADB")


def uri(path: Path) -> str:
    """Return the URI with which SQLite opens a journal read-only at this moment."""
    # Without a -wal file there is no writer. A reader without write access to the folder could not create that file.
    wal = path.with_name(f"{path.name}-wal").exists()
    return f"file:{quote(str(path))}?mode=ro" + ("" if wal else "&immutable=1")


def could_not_be_read(path: Path) -> Message:
    """Return what failed, for `as_journal_errors`."""
    return Message("The journal %(path)s could not be read", path=path)


@contextmanager
def open_journal(path: Path, *, training: bool = False) -> Iterator[sqlite3.Connection | None]:
    """Give a read-only connection to a journal, None where there is none. Raises JournalError."""
    with as_journal_errors(could_not_be_read(path)):
        if what := find_links(path.parent, path.name):
            raise JournalError(what)
        try:
            path.stat()
            # Opening and closing the file here would release SQLite's own locks on it.
            if not os.access(path, os.R_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        except FileNotFoundError:
            yield None
            return
        except OSError as error:  # no permission is not the same as no journal
            raise as_journal_error(error, could_not_be_read(path)) from error
        with closing(sqlite3.connect(uri(path), uri=True, timeout=WAIT_S)) as db:
            guard(db)
            made = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'journal'").fetchone()
            if made:
                _need_no_view(db, path)
                need_known(db)
                need_kind(db, path, training=training)
            yield db if made else None


def guard(db: sqlite3.Connection) -> None:
    """Make SQLite distrust a file: its schema may call no functions, and each page is checked when it is read."""
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("PRAGMA cell_size_check = ON")


def _need_no_view(db: sqlite3.Connection, path: Path) -> None:
    """Raise JournalError for a file with a view: on a foreign stick, its query could be made to run forever."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE type = 'view'").fetchone():
        raise JournalError(
            "The journal %(path)s holds a view: Feltwatch makes none, and it is not read.", path=path
        )


def need_kind(db: sqlite3.Connection, path: Path, *, training: bool) -> None:
    """Raise JournalError where a table's record is opened for training, or a training record for anything else."""
    # Compared in SQL: a changed value may not be valid text. `verify` reports that.
    first = db.execute("SELECT type = ? FROM journal WHERE seq = 1", (TrainingBegun.type,)).fetchone()
    if first is None or bool(first[0]) == training:
        return
    if training:
        raise JournalError(
            "The journal %(path)s is a table's own record, and training never touches one; name "
            "another data folder.",
            path=path,
        )
    raise JournalError(
        "The journal %(path)s is a training record, none of whose hands was ever played; name "
        "another data folder.",
        path=path,
    )


@contextmanager
def as_journal_errors(what: Message) -> Iterator[None]:
    """Convert errors of SQLite and of the file system to JournalError, with a message for a person."""
    try:
        yield
    except TableError:
        raise
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        # UnicodeDecodeError: SQLite quotes a damaged schema in its message
        raise as_journal_error(error, what) from error


def as_journal_error(error: Exception, what: Message) -> JournalError:
    """Return an error as a JournalError whose message says what to do."""
    if isinstance(error, JournalError):
        return error
    number = getattr(error, "errno", None)
    if getattr(error, "sqlite_errorname", "") in FULL_ERRORS or number == errno.ENOSPC:
        return JournalFull(
            "%(what)s: the disk is full. Make room; no evidence is deleted by itself.", what=what
        )
    if getattr(error, "sqlite_errorname", "").startswith(DAMAGED_ERRORS):
        return JournalDamaged(
            "%(what)s: its file is damaged (%(error)s). Keep the folder for the dispute, and restore "
            "a backup.",
            what=what,
            error=error,
        )
    if number in (errno.EACCES, errno.EPERM):
        return JournalError("%(what)s: this user may not. Do it as the table's user.", what=what)
    return JournalError("%(what)s: %(error)s.", what=what, error=error)
