"""The file of the archive's index: who may bring it up to date, and whether it still is what was written.

Next to `index.sqlite` lies the SHA-256 of its bytes. An index whose bytes are others is not read: the journal is looked
through in its place, and anyone who may write to the folder makes the index again.
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
SHAPE: Final = 2
"""`PRAGMA user_version` of an index; one of another shape is made again."""
WAIT_S: Final = 5.0
"""Seconds to wait for another connection."""
SEALED_WITHIN_S: Final = 5.0
"""Seconds to wait for anyone who writes at this moment, or makes it for the first time, to say what it is now."""
TRUSTED_S: Final = 600.0
"""Seconds until one process compares the bytes again, as long as their writer goes on saying what they are."""
_AGAIN_S: Final = 0.05
_checked: dict[Path, tuple[tuple[int, int, int], str, float]] = {}
"""By path: the file and the sum that were found to fit, and when."""


def _sum_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-sum")


def _lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}-lock")


@contextmanager
def writing(path: Path) -> Iterator[bool]:
    """Keep others from bringing an index up to date meanwhile; False where somebody does already. Raises OSError."""
    handle = os.open(_lock_file(path), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)
    try:
        with suppress(PermissionError):  # another user of the group made it, with the mode that it is to have
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
    """Say whether somebody brings an index up to date at this moment."""
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
    """Say whether an index is, byte for byte, what was written last. Raises nothing."""
    try:
        answer = _sum_file(path).read_text(encoding="ascii")
        stat = path.stat()
        here = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        known = _checked.get(path)
        if known is not None and time.monotonic() - known[2] < TRUSTED_S:
            if known[:2] == (here, answer):
                return True
            if known[1] != answer:  # it was written on meanwhile, by anyone who says what it is now
                _checked[path] = (here, answer, known[2])
                return True
        if _sum_of(path) != answer:
            return False
    except (OSError, ValueError):
        return False
    _checked[path] = (here, answer, time.monotonic())
    return True


def _sum_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def seal(path: Path) -> None:
    """Write down what an index is now. Called by its writer, with no transaction open. Raises OSError."""
    answer = _sum_of(path)
    handle = os.open(_sum_file(path), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, FILE_MODE)
    try:
        with suppress(PermissionError):
            os.fchmod(handle, FILE_MODE)
        os.pwrite(handle, answer.encode("ascii"), 0)
        os.ftruncate(handle, len(answer))
        os.fdatasync(handle)  # without it a power cut would have the whole index made again
    finally:
        os.close(handle)
    give_to_owner(_sum_file(path))
    stat = path.stat()
    _checked[path] = ((stat.st_ino, stat.st_size, stat.st_mtime_ns), answer, time.monotonic())


def forget(path: Path) -> None:
    """Remove an index. Raises OSError."""
    _checked.pop(path, None)
    for one in (_sum_file(path), path, path.with_name(f"{path.name}-journal")):
        one.unlink(missing_ok=True)


def distrust(path: Path) -> None:
    """Have an index made again that answered wrong, where this user may."""
    _checked.pop(path, None)
    with suppress(OSError):
        _sum_file(path).unlink(missing_ok=True)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Give a read-only connection to an index that holds; None where there is none. Raises sqlite3.Error."""
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
