"""The inbox: a folder that the uplink writes and the table process reads. Nothing else passes between the two.

`LIST` names every open request with how far it is; a whole file lies beside it under its SHA-256, checked. What is
half fetched ends in `PART`. The table answers with `NOTES`, a file in the record's folder, which the uplink only reads.
Each side treats the other's file as untrusted input.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message
from firmware.record.journal.disk import FILE_MODE, write_whole
from firmware.uplink.inbox.wire import Asked, Told, asked_of

FOLDER: Final = Path("var/lib/feltwatch-inbox")
"""Where the service keeps it, from the root of the file system."""
LIST: Final = "requests.json"
PART: Final = ".part"
NOTES: Final = "inbox.json"
FROM_UPLINK: Final = frozenset({"asked", "fetched", "refused"})
"""States that the uplink gives; all others are the table's."""
MOST_LIST: Final = 256 << 10
"""Bytes of either list that are read: 30 requests with the longest names, reasons and escapes are 150 kB."""


@dataclass(frozen=True)
class Item:
    """A request, and how far it is: `asked`, `fetched` or `refused` by the uplink; then what the table says."""

    asked: Asked
    state: str = "asked"
    why: Message | None = None

    @property
    def told(self) -> Told:
        """The same for the pit."""
        return Told(self.asked.number, self.state, self.why)


def read_list(path: Path) -> tuple[Item, ...]:
    """Return the requests in a file of either side, in order; none where it is missing or is of no release."""
    try:
        values = json.loads(_read(path))
    except (OSError, ValueError, RecursionError):
        return ()
    return tuple(one for one in map(_item, values if isinstance(values, list) else []) if one is not None)


def write_list(path: Path, items: Iterable[Item]) -> None:
    """Replace a file of either side, for the other user of the group. Raises OSError."""
    values = [
        {"asked": asdict(one.asked), "state": one.state, "why": one.why and one.why.as_json()}
        for one in items
    ]
    write_whole(path, json.dumps(values).encode())
    path.chmod(FILE_MODE)


def _item(value: Any) -> Item | None:
    match value:
        case {"asked": asked, "state": str(state), "why": why}:
            try:
                found = asked_of([asked])
                return (
                    Item(found[0], state, Message.from_json(why) if why is not None else None)
                    if found
                    else None
                )
            except (ValueError, TypeError, LookupError):
                return None
    return None


def _read(path: Path) -> bytes:
    """Return a small file's bytes; follow no link and wait for no pipe. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b""
        return file.read(MOST_LIST)


def read_file(folder: Path, one: Asked) -> bytes:
    """Return the bytes of a small file in the inbox, cut where its request says that it ends. Raises OSError."""
    handle = os.open(folder / one.sha256, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        return file.read(one.size + 1) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
