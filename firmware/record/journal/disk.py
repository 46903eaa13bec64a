"""Durable file operations, file modes and owners, files of others, and free disk space."""

import errno
import math
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

MB: Final = 1_000_000
RESERVE: Final = 64 * MB
"""Bytes that must be free for a hand to open, so that it can always be finished (≤ 10 MB a hand)."""
RESERVE_FILES: Final = 1000
"""Inodes that must be free for a hand to open: each picture is a file."""
FILE_MODE: Final = 0o640
FOLDER_MODE: Final = 0o750
"""The page runs as another user of the same group and must be able to read, whatever the writer's umask is."""
NO_LINK: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file of somebody else is opened: no link is followed, and no pipe is waited for."""


def sync_folder(folder: Path) -> None:
    """Make new and renamed entries of a folder durable. Raises OSError."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    """Create a folder that the group may read, and its parents, durably. Raises OSError."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    folder.chmod(FOLDER_MODE | folder.stat().st_mode & 0o2000)  # a parent's set-group-id bit was inherited
    sync_folder(folder.parent)


def make_file(path: Path) -> None:
    """Create an empty file that the group may read, if there is none. Raises OSError."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE)
    except FileExistsError:
        return
    try:
        os.fchmod(handle, FILE_MODE)  # whatever the umask is
    finally:
        os.close(handle)


def give_to_owner(path: Path) -> None:
    """Give a file that root created to its folder's owner, so that the table can use it. Raises OSError."""
    if os.geteuid() == 0:
        owner = path.parent.stat()
        if path.lstat().st_uid != owner.st_uid:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def give_tree(top: Path, owner: os.stat_result) -> None:
    """Change the owner of a file, or of a folder and its content, folder last. Follows no links. Raises OSError."""
    if top.is_dir() and not top.is_symlink():
        for _, _, names, at in os.fwalk(top, topdown=False):
            for name in names:
                os.chown(name, owner.st_uid, owner.st_gid, dir_fd=at, follow_symlinks=False)
            os.fchown(at, owner.st_uid, owner.st_gid)
    else:
        os.chown(top, owner.st_uid, owner.st_gid, follow_symlinks=False)


class NotPlain(OSError):
    """What has the name of a file is a link, a folder, a pipe or a device, or larger than any such file (EFBIG)."""


def read_plain(path: Path | str, most: int, folder: int | None = None) -> bytes:
    """Return the bytes of a file that another user may have put there.

    Raises OSError: NotPlain, also for a file of more than `most` bytes.

    `folder`: the open folder that `path` is a name in.
    """
    try:
        handle = os.open(path, os.O_RDONLY | NO_LINK, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):
            raise NotPlain(error.errno, "it is no plain file", str(path)) from error
        raise
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise NotPlain(errno.EINVAL, "it is no plain file", str(path))
        data = file.read(min(most, found.st_size) + 1)
    if len(data) > most:
        raise NotPlain(errno.EFBIG, "it is too large", str(path))
    return data


def write_private(
    path: Path, data: bytes, *, mode: int = 0o600, owner: tuple[int, int] | None = None
) -> None:
    """Write a file for its owner alone, atomically and durably, whatever the umask is. Raises OSError.

    No link is followed, also if another user put it there. `owner`: user and group, if not this process's.
    """
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        if owner is not None:
            os.fchown(file.fileno(), *owner)
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    part.rename(path)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically: afterwards it has the new content or the old. Raises OSError."""
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a pipe or a device cannot be replaced
        return
    path = path.resolve()
    part = path.with_name(f".{path.name}.part")
    try:
        part.unlink(missing_ok=True)
        with part.open("xb") as file:  # a new one: no link that lies there is followed
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
    """Return the free bytes of a folder's file system, for an unprivileged user. Raises OSError."""
    left = os.statvfs(folder)
    return left.f_bavail * left.f_frsize


def free_files(folder: Path) -> float:
    """Return the free inodes of a folder's file system; infinity if it sets no limit. Raises OSError."""
    left = os.statvfs(folder)
    return left.f_favail if left.f_files else math.inf
