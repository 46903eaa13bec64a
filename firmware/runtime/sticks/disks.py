"""The USB stick, and its file system in a private mount.

A stick is untrusted: its own description is not believed, and no program on it is ever run. Mounting its file system
relies on the kernel (docs/security.md). UNTESTED on a real stick.
"""

import errno
import logging
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from firmware.messages import Message, MessageError

log = logging.getLogger(__name__)

KINDS: Final = "vfat,exfat,ext4"
OPTIONS: Final = "nosuid,nodev,noexec,nosymfollow"
MOUNT_S: Final = 60.0

SEVERAL: Final = Message("There is more than one stick in the box. Leave one in, and try again.")
PROTECTED: Final = Message("The stick is write-protected. Slide its switch, or use another stick.")
NO_FORMAT: Final = Message(
    "The stick has no file system that this box can write. Use one with FAT, exFAT or ext4."
)
GONE: Final = Message(
    "The stick was taken out too early, or it fails: the file on it is not whole. Put it in again, "
    "and try again."
)


class StickWriteError(MessageError):
    """The file is not on the stick, and why."""


class Stick(Protocol):
    """A target to write to."""

    def mounted(self, *, write: bool) -> AbstractContextManager[Path]:
        """Return its folder while the context is open. Raises StickWriteError."""


@dataclass(frozen=True)
class FolderStick:
    """A folder instead of a stick, for a machine without one."""

    folder: Path

    @contextmanager
    def mounted(self, *, write: bool) -> Iterator[Path]:
        """Return the folder."""
        yield self.folder


@dataclass(frozen=True)
class BlockStick:
    """The partitions of a disk, or the disk itself if it has none."""

    nodes: tuple[Path, ...]

    @contextmanager
    def mounted(self, *, write: bool) -> Iterator[Path]:
        """Mount the first file system of a supported type."""
        with tempfile.TemporaryDirectory(prefix="stick-") as folder:
            _mount(self.nodes, folder, write)
            try:
                yield Path(folder)
            finally:
                if _run("umount", folder).returncode:
                    _run("umount", "--lazy", folder)  # a removed stick may look busy


def _mount(nodes: tuple[Path, ...], folder: str, write: bool) -> None:
    problems = ""
    for node in nodes:
        options = f"{'rw' if write else 'ro'},{OPTIONS}"
        done = _run("mount", "--types", KINDS, "--options", options, str(node), folder)
        if done.returncode == 0:
            return
        problems += done.stderr
    log.warning("the stick cannot be mounted: %s", problems.strip())
    if not write:  # it was writable a moment ago
        raise StickWriteError(GONE)
    raise StickWriteError(PROTECTED if "write-protected" in problems else NO_FORMAT)


def _run(*command: str) -> subprocess.CompletedProcess[str]:
    plain = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False, timeout=MOUNT_S, env=plain
        )
    except subprocess.TimeoutExpired as error:
        raise StickWriteError(GONE) from error


def find_stick(
    disks: Path = Path("/sys/block"), nodes: Path = Path("/dev"), *, write: bool = True
) -> BlockStick | None:
    """Return the one stick that is plugged in; None where there is none. `write`: it is to be written to.

    Raises StickWriteError.

    A stick is a disk on USB, or one marked as removable, with a medium in it, of which nothing is in use: the box
    itself may run from such a disk.
    """
    sticks: list[Path] = []
    for disk in sorted(disks.glob("sd*")):
        on_usb = any(part.startswith("usb") for part in disk.resolve().parts)
        if (on_usb or _attribute(disk, "removable") == "1") and _attribute(disk, "size") not in ("", "0"):
            try:  # without O_CREAT: refused if the kernel has it mounted anywhere
                os.close(os.open(nodes / disk.name, os.O_RDONLY | os.O_EXCL | os.O_CLOEXEC))
            except OSError as error:
                if error.errno == errno.EBUSY:
                    log.info("%s is in use", disk.name)
            else:
                sticks.append(disk)
    if len(sticks) > 1:
        raise StickWriteError(SEVERAL)
    if not sticks:
        return None
    if write and _attribute(sticks[0], "ro") == "1":
        raise StickWriteError(PROTECTED)
    parts = sorted(path.parent.name for path in sticks[0].glob("*/partition"))
    return BlockStick(tuple(nodes / name for name in parts or [sticks[0].name]))


def _attribute(disk: Path, what: str) -> str:
    try:
        return (disk / what).read_text().strip()
    except OSError:
        return ""
