"""Read files that another program wrote: only regular files, and at most one byte more than the announced size.

The one byte more shows that a file is larger than announced: its hash is then a different one.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Final

from firmware.record.journal.disk import sync_folder

PIECE: Final = 1 << 20
"""Bytes that are read at a time."""


def open_plain(path: Path) -> BufferedReader:
    """Open a regular file for reading, without following a link or waiting for a pipe. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(f"{path} is no plain file")
    return os.fdopen(handle, "rb")


def read_plain(path: Path, most: int) -> bytes:
    """Return the first `most` bytes of a regular file. Raises OSError."""
    with open_plain(path) as file:
        return file.read(most)


def sha256_of(path: Path, size: int | None = None) -> str:
    """Return the SHA-256 of a regular file in hex; with an announced `size`, of its first `size` + 1 bytes.

    Raises OSError.
    """
    digest = hashlib.sha256()
    with open_plain(path) as file:
        for piece in _pieces(file, size):
            digest.update(piece)
    return digest.hexdigest()


def copy_plain(source: Path, to: Path, size: int) -> str:
    """Copy up to `size` + 1 bytes of a regular file durably; return the SHA-256 of the copy, in hex.

    The source may change during the copying. Raises OSError.
    """
    digest = hashlib.sha256()
    with open_plain(source) as file, to.open("xb") as copy:
        for piece in _pieces(file, size):
            digest.update(piece)
            copy.write(piece)
        copy.flush()
        os.fsync(copy.fileno())
    sync_folder(to.parent)
    return digest.hexdigest()


def _pieces(file: BufferedReader, size: int | None) -> Iterator[bytes]:
    left = size + 1 if size is not None else os.fstat(file.fileno()).st_size
    while left and (piece := file.read(min(left, PIECE))):
        yield piece
        left -= len(piece)
