"""The lock that allows one writer on a record. The kernel releases it when the process ends, for any reason."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Final

from firmware.record.journal.disk import FILE_MODE, give_to_owner
from firmware.table.errors import JournalBusy

FILE: Final = "journal.lock"


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold a record's lock inside the `with` block. Raises JournalBusy, OSError."""
    with closing(take_lock(folder)):
        yield


def take_lock(folder: Path) -> IO[str]:
    """Take the lock of the record in a folder; closing the file releases it. Raises JournalBusy, OSError."""
    path = folder / FILE
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, FILE_MODE)
    lock = os.fdopen(handle, "a+", encoding="ascii")
    give_to_owner(path)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        lock.seek(0)
        holder = lock.read().strip() or "unknown"
        lock.close()
        raise JournalBusy(
            "Another table process (process %(holder)s) already writes the journal in %(folder)s; "
            "stop it, or choose another data folder.",
            holder=holder,
            folder=path.parent,
        ) from error
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()
    return lock
