"""The witness file: number and hash of the record's last row, stored outside the database.

SQLite drops the end of a `-wal` file from the first damaged frame on. The record is then consistent, but shorter. This
file shows where its end was. It is written and synced after each commit, before anything is acknowledged.

It has two slots of 64 bytes, written in turn, so that a torn write leaves the other slot valid. A slot holds a magic
number, a write counter, `seq` and `hash` of the last row, and the first bytes of the SHA-256 of these four.
"""

import hashlib
import os
import struct
from pathlib import Path
from typing import Final, Self

from firmware.record.journal.disk import FILE_MODE, give_to_owner, sync_folder

FILE: Final = "journal.head"
_MAGIC: Final = b"FWH1"
_BODY: Final = struct.Struct(">4sQQ32s")
_SLOT: Final = 64
_APART: Final = 4096
"""Bytes from one slot to the next: no disk writes both in one block."""

Head = tuple[int, str]
"""Number and hash (hex) of a row; 0 and "" where there is none."""


class Witness:
    """The witness file, opened by the record's one writer. All methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        """Open the file, or create it."""
        path = folder / FILE
        new = not path.exists()
        self._times = 0
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_DSYNC | os.O_NOFOLLOW, FILE_MODE)
        try:
            if new:
                os.fchmod(self._handle, FILE_MODE)
                # its size never changes later, so a write is one block
                os.ftruncate(self._handle, 2 * _APART)
                give_to_owner(path)
                sync_folder(folder)
            self._times = max((times for times, _ in _slots(self._handle)), default=0)
        except BaseException:
            os.close(self._handle)
            raise

    def write(self, head: Head) -> None:
        """Write a head durably."""
        times = self._times + 1
        if os.pwrite(self._handle, _pack(times, head), times % 2 * _APART) != _SLOT:
            raise OSError("the witness of the record's end was written in part")
        self._times = times

    def close(self) -> None:
        """Close the file. May be called twice."""
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(folder: Path) -> Head | None:
    """Return the last head that was written; None without a file or a valid slot. Raises OSError."""
    try:
        handle = os.open(folder / FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    try:
        slots = _slots(handle)
    finally:
        os.close(handle)
    return max(slots)[1] if slots else None


def _pack(times: int, head: Head) -> bytes:
    seq, digest = head
    body = _BODY.pack(_MAGIC, times, seq, bytes.fromhex(digest).ljust(32, b"\0"))
    return body + _check(body)


def _slots(handle: int) -> list[tuple[int, Head]]:
    """Return the valid slots: each one's write counter and head."""
    slots = []
    for at in (0, _APART):
        raw = os.pread(handle, _SLOT, at)
        body = raw[: _BODY.size]
        if len(raw) == _SLOT and body.startswith(_MAGIC) and raw[_BODY.size :] == _check(body):
            _, times, seq, digest = _BODY.unpack(body)
            slots.append((times, (seq, digest.hex() if seq else "")))
    return slots


def _check(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()[: _SLOT - _BODY.size]
