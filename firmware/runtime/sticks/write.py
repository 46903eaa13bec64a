"""Copies one dispute file to a USB stick, as root (systemd/units/feltwatch-stick.service).

A stick is untrusted. Only the file just written is read from it, no link on it is followed, no file is replaced, and
this program chooses the file's name. The table's process may be compromised: it can request only a file of one form
from one folder.
"""

import errno
import hashlib
import logging
import os
import re
import stat
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.record.dispute_file import export_path
from firmware.record.evidence.dispute_verifier import MAX_BYTES
from firmware.record.stick_request import Progress, Request
from firmware.runtime.sticks.disks import GONE, PROTECTED, Stick, StickWriteError

log = logging.getLogger(__name__)

PIECE: Final = 1 << 20
SYNC_EVERY: Final = 4 << 20
"""Bytes after which data is synced to the stick, so that the reported progress is true."""
SPARE: Final = 1 << 20
"""Bytes that a file system needs for itself."""
TELL_EVERY: Final = 0.2
LOOK_EVERY: Final = 0.5
MAX_NAMES: Final = 99

NO_STICK: Final = Message("No stick was put in. Put one in, and try again.")
UNLIKE: Final = Message("What lies on the stick is not what was written. Use another stick.")
NO_FILE: Final = Message("The dispute file is not there any more. Try again: it is made again.")
OURS: Final = Message("The program that writes sticks met an error of ours; look at the box's log.")
NAMES: Final = Message("All names for this file are taken on the stick. Use another stick.")

_NO_LINK: Final = os.O_NOFOLLOW | os.O_CLOEXEC
_GONE: Final = frozenset({errno.EIO, errno.ENODEV, errno.ENXIO, errno.ENOMEDIUM, errno.ESHUTDOWN})
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

Find = Callable[[], Stick | None]


class Teller:
    """Reports progress, no more often than it is polled."""

    def __init__(self, request: Request, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._progress = Progress(request.id, request.hand)
        self._path, self._clock, self._at = path, clock, float("-inf")

    def say(self, often: bool = False, /, **changes: object) -> None:
        """Change the progress. `often`: this update may be skipped. A failure to report is only logged."""
        self._progress = replace(self._progress, **changes)  # type: ignore[arg-type]
        if often and self._clock() - self._at < TELL_EVERY:
            return
        self._at = self._clock()
        try:
            self._progress.write(self._path)
        except OSError as error:
            log.error("how far it is cannot be told (%s: %s)", self._path, error.strerror)


def put(request: Request, data: Path, find: Find, teller: Teller, wait_s: float) -> bool:
    """Copy a hand's dispute file to the stick, waiting some seconds for one; return whether it was written."""
    try:
        name = _put(request, data, wait_for_stick(find, teller, wait_s), teller)
    except StickWriteError as error:
        log.warning("hand %s is on no stick: %s", request.hand, error)
        teller.say(step="failed", refusal=error.sentence.to_json())
        return False
    except Exception:
        teller.say(step="failed", refusal=OURS.to_json())
        raise
    log.info("hand %s is on the stick as %s", request.hand, name)
    teller.say(step="done")
    return True


def wait_for_stick(find: Find, teller: Teller, wait_s: float) -> Stick:
    """Return the stick, waiting some seconds for one. Raises StickWriteError."""
    until = time.monotonic() + wait_s
    while True:
        stick = find()
        if stick is not None:
            return stick
        teller.say(step="waiting")
        if time.monotonic() >= until:
            raise StickWriteError(NO_STICK)
        time.sleep(LOOK_EVERY)


def _put(request: Request, data: Path, stick: Stick, teller: Teller) -> str:
    source = _source(export_path(data, request.hand))
    with closing(os.fdopen(source, "rb", buffering=0)):
        size = os.fstat(source).st_size
        try:
            with stick.mounted(write=True) as folder:
                name, digest = _write(source, size, folder, request, teller)
            teller.say(step="checking", at=0, of=size, name=name)
            with stick.mounted(write=False) as folder:
                if _read_back(folder, name, size, teller) != digest:
                    raise StickWriteError(UNLIKE)
        except OSError as error:
            raise StickWriteError(_why(error)) from error
    return name


def _source(path: Path) -> int:
    """Open the table's file, which must be a regular file in a regular folder."""
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
        try:
            source = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise StickWriteError(NO_FILE) from error
    found = os.fstat(source)
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_BYTES:
        os.close(source)
        raise StickWriteError(NO_FILE)
    return source


def _write(source: int, size: int, at: Path, request: Request, teller: Teller) -> tuple[str, str]:
    """Write the file under a name that is free on the stick; return that name and the file's SHA-256."""
    folder = os.open(at, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK)
    try:
        room = os.fstatvfs(folder)
        if room.f_flag & os.ST_RDONLY:
            raise StickWriteError(PROTECTED)
        free = room.f_bavail * room.f_frsize
        if free < size + SPARE:
            raise StickWriteError(_full(free, size))
        name, target = _new_file(folder, request)
        try:
            with closing(os.fdopen(target, "wb", buffering=0)) as out:
                digest = hashlib.sha256()
                done = synced = 0
                while piece := os.read(source, PIECE):
                    digest.update(piece)
                    done += len(piece)
                    while piece:
                        piece = piece[os.write(out.fileno(), piece) :]
                    if done - synced >= SYNC_EVERY:
                        os.fdatasync(out.fileno())
                        synced = done
                    teller.say(True, step="copying", at=done, of=size, name=name)
                os.fsync(out.fileno())
            os.fsync(folder)
        except OSError:
            with suppress(OSError):
                os.unlink(name, dir_fd=folder)
            raise
        return name, digest.hexdigest()
    finally:
        os.close(folder)


def _new_file(folder: int, request: Request) -> tuple[str, int]:
    """Create a new file; never open an existing file or link of that name."""
    for number in range(1, MAX_NAMES + 1):
        name = stick_name(request, number)
        with suppress(FileExistsError):
            return name, os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o644, dir_fd=folder)
    raise StickWriteError(NAMES)


def stick_name(request: Request, number: int = 1) -> str:
    """Return the file's name on a stick, with the table's name made safe.

    >>> stick_name(Request("", 12, "Pit 4/../é"), 1), stick_name(Request("", 12, ""), 2)
    ('feltwatch-Pit-4-hand-12.zip', 'feltwatch-hand-12-2.zip')
    """
    table = re.sub(r"[^A-Za-z0-9]+", "-", request.table)[:20].strip("-")
    parts = ("feltwatch", table, "hand", str(request.hand), str(number) if number > 1 else "")
    return "-".join(filter(None, parts)) + ".zip"


def _read_back(at: Path, name: str, size: int, teller: Teller) -> str:
    """Return the SHA-256 of the file, read from the stick and not from the cache."""
    handle = os.open(at / name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK)
    with closing(os.fdopen(handle, "rb", buffering=0)) as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size != size:
            raise StickWriteError(UNLIKE)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        digest = hashlib.sha256()
        done = 0
        while piece := file.read(PIECE):
            digest.update(piece)
            done += len(piece)
            teller.say(True, at=done)
        return digest.hexdigest()


def _full(free: int, size: int) -> Message:
    megabytes = {"free": free // 1_000_000, "needed": -(-(size + SPARE) // 1_000_000)}
    return Message(
        "The stick is full: %(free)s MB are free, %(needed)s MB are needed. Use another stick.", **megabytes
    )


def _why(error: OSError) -> Message:
    if error.errno in _GONE:
        return GONE
    if error.errno == errno.EROFS:
        return PROTECTED
    if error.errno in _FULL:
        return Message("The stick is full. Use another stick.")
    return Message("The stick cannot be written: %(why)s.", why=error)
