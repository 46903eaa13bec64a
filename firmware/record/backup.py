"""Backup of the record: the journal by SQLite's backup call, the images file by file, both verified.

A backup leaves out the device's key and the PIN verifiers (secrets), the dispute files and the index. `restore.py` puts
one back.
"""

import errno
import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from firmware.record.evidence.verify import Verification, verify
from firmware.record.journal import witness
from firmware.record.journal.captures import FOLDER as CAPTURES
from firmware.record.journal.captures import MAX_BYTES, is_capture_name
from firmware.record.journal.disk import (
    FILE_MODE,
    FOLDER_MODE,
    NotPlain,
    give_tree,
    make_folder,
    read_plain,
    sync_folder,
)
from firmware.record.journal.end_mark import end_fault
from firmware.record.journal.journal import FILE, JournalReader
from firmware.table.errors import TableError

_PART: Final = ".feltwatch-", ".part"
"""How the name of an unfinished backup begins and ends."""
Progress = Callable[[int, int], None]


class BackupError(TableError, OSError):
    """A backup could not be made or used; the record is unchanged."""


def back_up(data: Path, to: Path, *, on_progress: Progress = lambda rows, of: None) -> Verification:
    """Copy the record to a new folder, verify the copy, and return the result. The table may keep running.

    A record with problems is copied too, because it is evidence. A copy made by root gets the record's owner. What
    backups that were killed have left in the parent folder is removed. Raises BackupError, JournalError; then no part
    of the copy remains.
    """
    if not JournalReader(data).head()[0]:
        raise BackupError("There is no record in %(path)s.", path=str(data))
    with suppress(FileNotFoundError):
        to.lstat()  # raises OSError with this path if the parent folder may not be searched
        raise BackupError("%(path)s is there already; name a new folder.", path=str(to))
    with errors_as_sentences("The backup"), _part_beside(to) as part:
        part.chmod(FOLDER_MODE)
        _copy(data, part)
        found = verify(part, replayed=False, on_progress=on_progress)
        if os.geteuid() == 0:
            with suppress(PermissionError):  # a stick's file system may have no owners
                give_tree(part, data.stat())
        part.rename(to)
        sync_folder(to.absolute().parent)
    return found


@contextmanager
def _part_beside(to: Path) -> Iterator[Path]:
    """Create the temporary folder that is renamed to `to` in the `with` block; remove those of killed backups.

    It is locked while it is in use. Raises OSError, whose file name is `to`.
    """
    parent = to.absolute().parent
    for left in parent.glob(f"{_PART[0]}*{_PART[1]}"):
        with suppress(OSError), _lock(left):
            shutil.rmtree(left, ignore_errors=True)
    try:
        # A random name: on a prepared stick, a link could wait under a predictable one.
        part = Path(tempfile.mkdtemp(prefix=_PART[0], suffix=_PART[1], dir=parent))
    except OSError as error:
        error.filename = str(to)
        raise
    with _lock(part):
        try:
            yield part
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Hold a folder's lock in the `with` block. Raises OSError for a link, or if another process holds it."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _copy(data: Path, to: Path) -> None:
    """Copy journal and images durably. Raises OSError, sqlite3.Error."""
    reader = JournalReader(data)
    # Before the rows, too: what the house's rule removes meanwhile has no tombstone among the rows that are copied.
    copy_images(data, to)
    seen = witness.read(data)  # read before the rows: the witness is never ahead of them
    with (
        closing(sqlite3.connect(reader.uri(), uri=True)) as source,
        closing(sqlite3.connect(to / FILE)) as target,
    ):
        source.backup(target)
    (to / FILE).chmod(FILE_MODE)
    _sync(to / FILE)
    with JournalReader(to).opened() as copied:
        if copied is None:
            return
        end = copied.execute("SELECT seq, hash, hand FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
        seq, digest, hand = end or (0, "", 0)
        fault = end_fault(copied, to, seq, seen, hand)
    if seen is not None:
        with witness.Witness(to) as of_copy:  # if the record is too short, the copy's witness shows it, too
            of_copy.write(seen if fault is not None else (seq, digest))
    copy_images(data, to, hand)
    sync_folder(to)


def copy_images(data: Path, to: Path, hand: int | None = None) -> None:
    """Copy the images that are not there yet, except those of hands after `hand`, opened after the rows were copied.

    An image that cannot be read is left out: the copy's verification names it. So is what has no image's name: a stick
    may hold anything. Raises OSError.
    """
    top = data / CAPTURES
    if not top.exists():
        return
    for folder, below, names, at in os.fwalk(top, onerror=_refuse):
        if hand is not None and Path(folder) == top:
            below[:] = [name for name in below if not (name.isdecimal() and int(name) > hand)]
        inside = Path(folder).relative_to(top)
        below[:] = [name for name in below if is_capture_name(f"{name}/a.jpg")]
        kept = to / CAPTURES / inside
        make_folder(kept)
        for name in names:
            if not is_capture_name((inside / name).as_posix()) or (kept / name).exists():
                continue  # also what is incomplete: no event names it yet
            _copy_image(Path(folder) / name, at, kept / name)
        sync_folder(kept)


def _copy_image(path: Path, folder: int, to: Path) -> None:
    """Copy the image `path`, which lies in an open folder. With a link, a stick could make root copy any file."""
    try:
        image = read_plain(path.name, MAX_BYTES, folder)
    except NotPlain as error:
        if error.errno != errno.EFBIG:
            raise no_plain(path) from error
        return
    except OSError:  # rotten, or removed by retention in the meantime
        return
    with to.open("xb") as file:
        os.fchmod(file.fileno(), FILE_MODE)
        file.write(image)
        file.flush()
        os.fsync(file.fileno())


def _refuse(error: OSError) -> None:
    """Raise an error from walking the images, except that a folder is missing: no image may be left out silently."""
    if not isinstance(error, FileNotFoundError):
        raise error


def no_plain(path: Path) -> BackupError:
    """Return the error for a link or a device instead of a file."""
    return BackupError(
        "%(path)s is no plain file: no backup has such a thing, and nothing was copied.", path=str(path)
    )


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def errors_as_sentences(what: str) -> Iterator[None]:
    """Raise BackupError for the block's errors of the disk and of SQLite."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, TableError):
            raise
        full = getattr(error, "errno", None) == errno.ENOSPC or "full" in str(error)
        why = "the disk is full" if full else getattr(error, "strerror", None) or str(error)
        named = getattr(error, "filename", None)
        why = f"{why} ({named})" if named and not full else why
        raise BackupError("%(what)s could not be made: %(why)s.", what=what, why=why) from error
