"""The inbox: a folder that the uplink writes and the table process reads. Nothing else passes between the two.

`LIST` names every open request with how far it is; a whole file lies in `TARGETS` under its SHA-256, and beside them
the metadata that the uplink has verified, of the house and of the maker. What is half fetched ends in `PART`. The table
answers with `NOTES`, a file in the record's folder, which the uplink only reads. Each side treats the other's files as
untrusted input.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message
from firmware.record.journal.disk import FILE_MODE, write_whole
from firmware.update.files import read_plain
from firmware.update.house import HouseFile, house_file
from firmware.update.release import TARGETS
from firmware.uplink.inbox.wire import Progress, is_number
from firmware.uplink.wire import is_hash

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
    """A request, and how far it is: `asked`, `fetched` or `refused` by the uplink; then what the table says.

    `file` is what the house's repository says of it; None while that is not known.
    """

    number: int
    sha256: str
    state: str = "asked"
    why: Message | None = None
    file: HouseFile | None = None

    @property
    def progress(self) -> Progress:
        """The same for the pit."""
        return Progress(self.number, self.state, self.why)

    @property
    def key(self) -> tuple[int, str]:
        """Which request it is."""
        return self.number, self.sha256


def place(folder: Path, sha256: str) -> Path:
    """Return where a whole file lies in an inbox."""
    return folder / TARGETS / sha256


def read_list(path: Path) -> tuple[Item, ...]:
    """Return the requests in a file of either side, in order; none where it is missing or is of no release."""
    try:
        values = json.loads(read_plain(path, MOST_LIST))
    except (OSError, ValueError, RecursionError):
        return ()
    found: dict[int, Item] = {}
    for one in map(_item, values if isinstance(values, list) else []):
        if one is not None:
            found.setdefault(one.number, one)  # no two can be taken for one another
    return tuple(found.values())


def write_list(path: Path, items: Iterable[Item]) -> None:
    """Replace a file of either side, for the other user of the group. Raises OSError."""
    values = [asdict(one) | {"why": one.why and one.why.to_json()} for one in items]
    write_whole(path, json.dumps(values).encode())
    path.chmod(FILE_MODE)


def _item(value: Any) -> Item | None:
    match value:
        case {"number": int(number), "sha256": str(digest), "state": str(state), "why": why, "file": file}:
            try:
                known = house_file(HouseFile(**file).target) if file is not None else None
                text = Message.from_json(why) if why is not None else None
            except (ValueError, TypeError, LookupError):
                return None
            if is_number(number) and is_hash(digest):
                return Item(number, digest, state, text, known)
    return None
