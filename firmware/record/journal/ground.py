"""What a record lies on: its files are plain files, and its file system outlives a power cut.

Behind a link SQLite keeps the `-wal` where nobody looks for it. In memory nothing is durable, whatever is synced.
"""

import re
import stat
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.record.journal.captures import FOLDER as CAPTURES
from firmware.record.journal.witness import FILE as WITNESS

MEMORY: Final = frozenset({"tmpfs", "ramfs", "devtmpfs"})
"""File systems that hold their files in memory."""
_OF_MEMORY: Final = re.compile(r"\b(boot=overlay|overlayroot=tmpfs|systemd\.volatile=\w+)")
"""Words on the kernel's command line by which a system puts an overlay with its upper layer in memory over its root."""
_UPPER: Final = re.compile(r"(?:^|,)upperdir=([^,]+)")


def find_links(folder: Path, journal: str) -> Message | None:
    """Return what is wrong if a part of the record in a folder is a link, or a file with a second name."""
    for name in (journal, f"{journal}-wal", f"{journal}-shm", WITNESS, CAPTURES):
        path = folder / name
        try:
            found = path.lstat()
        except OSError:  # not there yet, or anyone who opens it says why
            continue
        if stat.S_ISLNK(found.st_mode):
            return Message(
                "%(path)s is a link, and no part of a record may be one: a part of what is written would be elsewhere. "
                "Put the whole folder where the link leads to, and name that folder.",
                path=str(path),
            )
        if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
            return Message(
                "%(path)s has a second name (a hard link), and no part of a record may have one. "
                "Remove the other name.",
                path=str(path),
            )
    return None


def find_memory(folder: Path, root: Path = Path("/")) -> Message | None:
    """Return what is wrong if a folder lies in memory: on a RAM file system, or on an overlay whose upper layer does.

    None also where that cannot be found out: without /proc, or on an overlay whose upper layer is not seen from here.
    `root`: where /proc is looked for.
    """
    kind, options = _mount(folder, root)
    if kind == "overlay" and (upper := _UPPER.search(options)):
        layer = Path(upper[1])
        if layer.exists():
            kind = _mount(layer, root)[0]
        elif _OF_MEMORY.search(_text(root / "proc/cmdline")):
            kind = "tmpfs"
    if kind not in MEMORY:
        return None
    return Message(
        "%(path)s lies in memory (%(kind)s): a power cut would take all of the record. "
        "Put it on a disk or a card; on a Raspberry Pi, turn the overlay file system off (raspi-config).",
        path=str(folder),
        kind=kind,
    )


def _mount(folder: Path, root: Path) -> tuple[str, str]:
    """Return the type and the options of the file system that a folder is on; empty where nothing says it."""
    where = folder.resolve()
    best, kind, options = -1, "", ""
    for line in _text(root / "proc/self/mountinfo").splitlines():
        fields, _, more = line.partition(" - ")
        point = Path(fields.split(" ")[4].replace("\\040", " "))
        of = more.split(" ")
        if where.is_relative_to(point) and len(point.parts) >= best:  # a later mount hides an earlier one
            best, kind, options = len(point.parts), of[0], of[2] if len(of) > 2 else ""
    return kind, options


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
