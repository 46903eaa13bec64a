"""What a file system needs to be told before a name outlives a power cut; who may read; and how much room is left."""

from __future__ import annotations

import math
import os
from contextlib import suppress
from pathlib import Path
from typing import Final

MB: Final = 1_000_000
RESERVE: Final = 64 * MB
"""Bytes that must be free for a hand to open: what is open is always played to its end (≤ 10 MB a hand)."""
RESERVE_FILES: Final = 1000
"""Files that the file system must have room for (its inodes), so that a hand opens: each picture is one."""
FILE_MODE: Final = 0o640
FOLDER_MODE: Final = 0o750
"""The page runs as another user of the same group: it reads the record whatever the writer's umask is."""


def sync_folder(folder: Path) -> None:
    """Make new and changed names in a folder durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Make a folder that the group may read, and its parents; each name durable. Raises OSError."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(FOLDER_MODE | folder.stat().st_mode & 0o2000)  # a parent's set-group-id bit was inherited
    sync_folder(folder.parent)


def make_file(path: Path) -> None:
    """Make an empty file that the group may read, where there is none. Raises OSError."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except FileExistsError:
        return
    try:
        os.fchmod(handle, FILE_MODE)  # whatever the umask is
    finally:
        os.close(handle)


def give_to_owner(path: Path) -> None:
    """Give what root made in passing to whom its folder belongs: the table must be able to use it. Raises OSError."""
    if os.geteuid() == 0:
        owner = path.parent.stat()
        if path.lstat().st_uid != owner.st_uid:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def give_tree(top: Path, owner: os.stat_result) -> None:
    """Give a file or a folder with all in it to an owner, the folder last: no link is followed. Raises OSError."""
    if top.is_dir() and not top.is_symlink():
        for _, _, names, at in os.fwalk(top, topdown=False):
            for name in names:
                os.chown(name, owner.st_uid, owner.st_gid, dir_fd=at, follow_symlinks=False)
            os.fchown(at, owner.st_uid, owner.st_gid)
    else:
        os.chown(top, owner.st_uid, owner.st_gid, follow_symlinks=False)


def write_whole(path: Path, data: bytes) -> None:
    """Write what somebody asked for into a file of his: it is there whole, or as it was. Raises OSError."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device: there is nothing to put in its place
        return
    path = path.resolve()
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def free_bytes(folder: Path) -> int:
    """Return the bytes that the file system of a folder has left for us. Raises OSError."""
    left = os.statvfs(folder)
    return left.f_bavail * left.f_frsize


def free_files(folder: Path) -> float:
    """Return how many more files the file system of a folder has room for; infinity where it sets no limit.

    Raises OSError.
    """
    left = os.statvfs(folder)
    return left.f_favail if left.f_files else math.inf
