"""A file that a table is asked to fetch: the same for pit, uplink, table process and page.

The pit's answer to an offer of rows lists all requests that are open, by number and SHA-256. The house's signed
repository says what these files are. A request has a number of its own: the same file may be asked for again.

The inbox is a folder that the uplink writes and the table process reads. `LIST` holds the requests with how far each
is; files lie in `TARGETS` under their SHA-256, and are whole once the list says so; beside them is the metadata
that the uplink has verified, of the house and of the maker. The table answers with `NOTES`, a file in the record's
folder, which the uplink only reads; the table's offer says the same to the pit. Each of the three treats what the
others write as untrusted input.
"""

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from firmware.messages import Message
from firmware.record.journal.disk import FILE_MODE, write_whole
from firmware.update.files import read_plain
from firmware.update.house import NOT_KNOWN, HouseFile, house_file
from firmware.update.release import TARGETS
from firmware.uplink.wire import HIGHEST, WireError, is_hash

FROM_TABLE: Final = frozenset({"asked", "fetched", "refused", "waiting", "in_force"})
"""States that a table gives, the last two by its own process alone. `asked` with a reason: it is tried again."""
OVER: Final = frozenset({"in_force", "refused", "withdrawn"})
"""States that end a request. `withdrawn` comes from the pit, the others from uplink and table."""
WITHDRAWN: Final = Message("It was withdrawn at the pit.")
MAX_OPEN_REQUESTS: Final = 20
"""Requests of one table that are open at a time: all of them are in each answer."""
MAX_REASON, MAX_REPORT = 600, 780
"""Bytes of a reason and of a whole request, as JSON, in what a table says to the pit."""
FOLDER: Final = Path("var/lib/feltwatch-inbox")
"""Where the service keeps the inbox, from the root of the file system."""
LIST: Final = "requests.json"
NOTES: Final = "inbox.json"
MAX_LIST: Final = 256 << 10
"""Bytes of either list that are read: 30 requests with the longest names, reasons and escapes are 150 kB."""


@dataclass(frozen=True)
class FileRequest:
    """A request, its progress, and what stops it.

    `file` is what the house's repository says of it; `NOT_KNOWN` until it does.
    """

    number: int
    sha256: str
    state: str = "asked"
    why: Message | None = None
    file: HouseFile = NOT_KNOWN

    @property
    def key(self) -> tuple[int, str]:
        """What identifies it. Its number is not enough: a pit with a new database counts from one again."""
        return self.number, self.sha256

    @property
    def is_over(self) -> bool:
        """Whether it has ended."""
        return self.state in OVER

    @property
    def title(self) -> str:
        """What people call the file."""
        return self.file.title or self.sha256

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON-able data."""
        why = self.why.to_json() if self.why is not None else None
        file = vars(self.file) if self.file != NOT_KNOWN else None
        return {"number": self.number, "sha256": self.sha256, "state": self.state, "why": why, "file": file}

    def report(self) -> dict[str, Any]:
        """Return what the table says of it to the pit."""
        why = self.why
        if why is not None and len(json.dumps(why.to_json())) > MAX_REASON:
            why = Message("The reason is too long to be sent; look at the table.")
        return FileRequest(*self.key, self.state, why).to_json()

    @classmethod
    def from_json(cls, value: Any) -> Self:
        """Return what `to_json` or the pit wrote. Raises ValueError for anything else."""
        match value:
            case {"number": int(number), "sha256": str(sha256)} if (
                type(number) is int and 0 <= number <= HIGHEST and is_hash(sha256)
            ):
                state, why, file = value.get("state", "asked"), value.get("why"), value.get("file")
                with suppress(TypeError, LookupError, RecursionError):
                    text = None if why is None else Message.from_json(why)
                    known = house_file(HouseFile(**file).target) if file else NOT_KNOWN
                    if isinstance(state, str):
                        return cls(number, sha256, state, text, known)
        raise ValueError("this is no request")


def requests_of(values: object) -> tuple[FileRequest, ...]:
    """Return the requests in another program's list, in order: the first of each number. Anything else is left out."""
    found: dict[int, FileRequest] = {}
    for value in values if isinstance(values, list) else ():
        with suppress(ValueError):
            one = FileRequest.from_json(value)
            found.setdefault(one.number, one)
    return tuple(found.values())


def requests_from_table(values: object) -> list[FileRequest]:
    """Return what a table's offer says of its requests. A later release's states are kept. Raises WireError."""
    with suppress(ValueError, RecursionError):  # half of a surrogate pair is not valid text
        if isinstance(values, list) and len(values) <= MAX_OPEN_REQUESTS:
            texts = [json.dumps(value, ensure_ascii=False) for value in values]
            if all(len(text.encode()) <= MAX_REPORT and "\\u0000" not in text for text in texts):
                return [FileRequest.from_json(value) for value in values]
    raise WireError("The body does not say how far the table's files are.")


def inbox_path(folder: Path, sha256: str) -> Path:
    """Return where a file lies in an inbox, or as much of it as was fetched."""
    return folder / TARGETS / sha256


def read_list(path: Path) -> tuple[FileRequest, ...]:
    """Return the requests in `LIST` or `NOTES`, in order; none if the file is missing, or no release wrote it."""
    try:
        return requests_of(json.loads(read_plain(path, MAX_LIST)))
    except (OSError, ValueError, RecursionError):
        return ()


def write_list(path: Path, requests: Iterable[FileRequest]) -> None:
    """Replace `LIST` or `NOTES`; the other program's user may read it, by their group. Raises OSError."""
    write_whole(path, json.dumps([one.to_json() for one in requests]).encode())
    path.chmod(FILE_MODE)
