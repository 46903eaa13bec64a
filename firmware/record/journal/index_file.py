"""The file of the archive's index: its write lock, and the checksum that detects changes.

Next to `index.sqlite` lies a file with the SHA-256 of its bytes. An index with another checksum is not read: the
journal is scanned instead, and the next process with write access to the folder rebuilds the index.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote

from firmware.record.journal.disk import FILE_MODE, give_to_owner

FILE: Final = "index.sqlite"
SHAPE: Final = 3
"""`PRAGMA user_version` of an index; one with another version is rebuilt."""
WAIT_S: Final = 5.0
"""Seconds to wait for another connection."""
SEALED_WITHIN_S: Final = 5.0
"""Seconds to wait for a checksum while another process writes or creates the index."""
TRUSTED_S: Final = 600.0
"""Seconds until a process compares the bytes with the checksum again; until then only the checksum file is read."""
_AGAIN_S: Final = 0.05
_checked: dict[Path, tuple[tuple[int, int, int], str, float]] = {}
"""By path: inode, size and modification time of the file, the checksum that matched it, and when (monotonic)."""


def _sum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-sum")


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-lock")


@contextmanager
def writing(path: Path) -> Iterator[bool]:
    """Hold an index's write lock inside the `with` block; yields False if another process has it. Raises OSError."""
    handle = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)
    try:
        with suppress(PermissionError):  # created by another user of the group, already with this mode
            os.fchmod(handle, FILE_MODE)
        give_to_owner(_lock_file(path))
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(handle)


def is_being_written(path: Path) -> bool:
    """Say whether a process is updating an index at this moment."""
    try:
        handle = os.open(_lock_file(path), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def holds(path: Path) -> bool:
    """Say whether an index still has the bytes that were last written. Raises nothing."""
    try:
        checksum = _sum_file(path).read_text(encoding="ascii")
        stat = path.stat()
        here = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        known = _checked.get(path)
        if known is not None and time.monotonic() - known[2] < TRUSTED_S:
            if known[:2] == (here, checksum):
                return True
            if known[1] != checksum:  # updated since then, and sealed with a new checksum
                _checked[path] = (here, checksum, known[2])
                return True
        if _sum_of(path) != checksum:
            return False
    except (OSError, ValueError):
        return False
    _checked[path] = (here, checksum, time.monotonic())
    return True


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(path: Path) -> None:
    """Write an index's checksum. Called by its writer, with no transaction open. Raises OSError."""
    checksum = _sum_of(path)
    handle = os.open(_sum_file(path), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)
    try:
        with suppress(PermissionError):
            os.fchmod(handle, FILE_MODE)
        os.pwrite(handle, checksum.encode("ascii"), 0)
        os.ftruncate(handle, len(checksum))
        os.fdatasync(handle)  # otherwise a power cut could force a full rebuild of the index
    finally:
        os.close(handle)
    give_to_owner(_sum_file(path))
    stat = path.stat()
    _checked[path] = ((stat.st_ino, stat.st_size, stat.st_mtime_ns), checksum, time.monotonic())


def forget(path: Path) -> None:
    """Remove an index. Raises OSError."""
    _checked.pop(path, None)
    for one in (_sum_file(path), path, path.with_name(f"{path.name}-journal")):
        one.unlink(missing_ok=True)


def distrust(path: Path) -> None:
    """Remove a wrong index's checksum, if this user may, so that the index is rebuilt."""
    _checked.pop(path, None)
    with suppress(OSError):
        _sum_file(path).unlink(missing_ok=True)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Yield a read-only connection to a valid index; None where there is none. Raises sqlite3.Error."""
    until = time.monotonic() + SEALED_WITHIN_S
    while not (found := holds(path)) and is_being_written(path):
        if time.monotonic() > until:
            break
        time.sleep(_AGAIN_S)
    if not found:
        yield None
        return
    with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=WAIT_S)) as db:
        yield db if db.execute("PRAGMA user_version").fetchone()[0] == SHAPE else None
