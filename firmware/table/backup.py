"""Backup and restore of the record: the journal by SQLite's own call, the images file by file, both verified.

Not in a backup: the device's key and the PINs' verifiers (whoever has a backup would have them), dispute files, the
index. A restore is put together beside the record, verified, and only then moved in; what it replaces is kept. A stop
at any moment loses neither: the same command goes on where it was.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from firmware.table import events as ev
from firmware.table.archive_index import FILE as INDEX
from firmware.table.captures import FOLDER as CAPTURES
from firmware.table.disk import FILE_MODE, make_folder, sync_folder
from firmware.table.errors import TableError
from firmware.table.journal import FILE, READY, RESTORING, Journal, JournalReader
from firmware.table.lock import writing
from firmware.table.moment import Clock
from firmware.table.pins import FOLDER as PINS
from firmware.table.schema import is_later
from firmware.table.verify import Verification, verify

_MOVED: Final = "moved"
"""In the folder of a restore: the old record is out of the way."""
_RECORD: Final = (f"{FILE}-wal", f"{FILE}-shm", FILE, CAPTURES, INDEX, f"{INDEX}-journal")
Done = Callable[[int, int], None]


class BackupError(TableError, OSError):
    """A backup could not be made or used; the record is as it was."""


def back_up(data: Path, to: Path, *, workers: int = 1, done: Done = lambda rows, of: None) -> Verification:
    """Copy the record to a new folder while the table may go on, verify the copy, and say what was found.

    A record that does not hold is copied all the same: it is evidence. Raises BackupError, JournalError; then nothing
    is left behind.
    """
    if not JournalReader(data).head()[0]:
        raise BackupError("There is no record in %(path)s.", path=str(data))
    if to.exists():
        raise BackupError("%(path)s is there already; name a new folder.", path=str(to))
    part = to.with_name(f".{to.name}.part")
    with _said("The backup"):
        try:
            shutil.rmtree(part, ignore_errors=True)  # a stopped one's
            _copy(data, part)
            found = verify(part, workers=workers, replayed=False, done=done)
            part.rename(to)
            sync_folder(to.absolute().parent)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
    return found


def restore(
    source: Path, data: Path, clock: Clock, *, workers: int = 1, done: Done = lambda rows, of: None
) -> Path | None:
    """Put a backup in the place of the record; return the folder of what it replaced, None where there was nothing.

    The table must be stopped. Raises BackupError for a backup that does not hold, JournalBusy, JournalError.
    """
    with _said("The restore"):
        make_folder(data)
        with writing(data):
            staging = data / RESTORING
            if not (staging / READY).exists():
                _prepare(source, staging, workers, done)
            replaced = data / (staging / READY).read_text(encoding="ascii")
            _move_in(data, staging, replaced)
    with Journal(data, clock) as journal:
        journal.append([ev.RecordRestored(*journal.head)], "console")
    return replaced if replaced.exists() else None


def _prepare(source: Path, staging: Path, workers: int, done: Done) -> None:
    shutil.rmtree(staging, ignore_errors=True)
    none = BackupError("There is no backup in %(path)s.", path=str(source))
    if not (source / FILE).exists():
        raise none
    _need_plain(source / FILE)
    if (source / CAPTURES).exists():
        _need_plain(source / CAPTURES, folder=True)
    try:
        _copy(source, staging)
        with JournalReader(staging).opened() as db:
            if db and is_later(db):  # what it holds beside our own tables nobody here can judge
                raise BackupError(
                    "The backup is of a later release than this one: install that release first."
                )
        found = verify(staging, workers=workers, replayed=False, done=done)
        if not found.ok:
            first = found.problems[0]
            said = "The backup does not hold, and nothing was replaced. "
            if first.seq is None:
                raise BackupError(said + "%(what)s", what=first.what)
            raise BackupError(said + "Row %(row)s: %(what)s", row=first.seq, what=first.what)
        if not found.entries:
            raise none
        number = 1
        while (staging.parent / f"replaced-{number}").exists():
            number += 1
        _write(staging / READY, f"replaced-{number}")
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def _move_in(data: Path, staging: Path, replaced: Path) -> None:
    """Move the old record out and the new one in. Each step may be the last before a stop; the next call goes on."""
    if not (staging / _MOVED).exists():
        old = [name for name in _RECORD if (data / name).exists()]
        if old:
            replaced.mkdir(mode=0o750, exist_ok=True)
            if (data / PINS).is_dir():
                shutil.copytree(data / PINS, replaced / PINS, dirs_exist_ok=True)
                (replaced / PINS).chmod(0o700)
        for name in old:
            (data / name).rename(replaced / name)
        if old:
            sync_folder(replaced)
        sync_folder(data)
        _write(staging / _MOVED, "")
    for name in (CAPTURES, FILE):
        if (staging / name).exists():
            (staging / name).rename(data / name)
    _give_to_owner(data)
    sync_folder(data)
    (staging / READY).unlink()
    sync_folder(staging)
    shutil.rmtree(staging)


def _copy(data: Path, to: Path) -> None:
    """Copy journal and images; all of it is durable afterwards. Raises OSError, sqlite3.Error."""
    make_folder(to)
    reader = JournalReader(data)
    with (
        closing(sqlite3.connect(reader.uri(), uri=True)) as source,
        closing(sqlite3.connect(to / FILE)) as target,
    ):
        source.backup(target)
    (to / FILE).chmod(FILE_MODE)
    _sync(to / FILE)
    for folder, _, names in os.walk(data / CAPTURES, onerror=_refuse):
        kept = to / CAPTURES / Path(folder).relative_to(data / CAPTURES)
        make_folder(kept)
        for name in names:
            if name.startswith("."):
                continue  # being written, or torn: no event names it
            try:
                _copy_plain(Path(folder) / name, kept / name)
            except FileNotFoundError:
                continue  # dropped meanwhile, with its tombstone
            (kept / name).chmod(FILE_MODE)
            _sync(kept / name)
        sync_folder(kept)
    sync_folder(to)


def _refuse(error: OSError) -> None:
    """Raise what a folder of images says, unless there is none: a copy without them would be none."""
    if not isinstance(error, FileNotFoundError):
        raise error


def _need_plain(path: Path, *, folder: bool = False) -> None:
    """Raise BackupError for a link or a device: a stick from elsewhere could have root copy out any file of the box."""
    mode = path.lstat().st_mode
    if not (stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)):
        raise BackupError(
            "%(path)s is no plain file: no backup has such a thing, and nothing was copied.", path=str(path)
        )


def _copy_plain(path: Path, to: Path) -> None:
    _need_plain(path)
    shutil.copyfile(path, to)


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="ascii")
    _sync(part)
    part.rename(path)
    sync_folder(path.parent)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _give_to_owner(data: Path) -> None:
    """What root restores belongs to whom the folder belongs."""
    if os.geteuid() != 0:
        return
    owner = data.stat()
    for name in (FILE, CAPTURES):
        for path in (data / name, *(data / name).rglob("*")):
            if path.exists():
                os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


@contextmanager
def _said(what: str) -> Iterator[None]:
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
