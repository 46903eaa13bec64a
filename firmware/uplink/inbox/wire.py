"""What pit and table say to one another of files that go down: which are asked for, and how far each is.

The pit's answer to an offer of rows lists what the table is asked to fetch: `[number, sha256]`, all that is open. What
these files are, the house's signed repository says. The table's offer says how far each is (`Progress`). A request has
a number of its own: the same file may be asked for again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from firmware.messages import Message
from firmware.update.house import MOST_NAME
from firmware.uplink.wire import HIGHEST, WireError, is_hash

Kind = Literal["profile", "deck", "release"]
State = Literal["asked", "fetched", "waiting", "in_force", "refused", "withdrawn"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
OVER: Final = frozenset({"in_force", "refused", "withdrawn"})
"""States that end a request."""
SAID_BY_TABLES: Final = frozenset({"asked", "fetched", "waiting", "in_force", "refused"})
"""`asked` with a reason: the file cannot be fetched now, and is tried again."""
MOST_BYTES: Final[Mapping[Kind, int]] = {"profile": 64 << 10, "deck": 1 << 20, "release": 1 << 30}
"""Bytes of a file: a profile as `set_house` takes it, a deck of 120 kB, a release of 200 MB of wheels, with room."""
MOST_OPEN: Final = 20
"""Requests of one table that are open at a time: all of them are in each answer."""
MOST_WHY: Final = 600
"""Bytes of a reason, as JSON."""


@dataclass(frozen=True)
class Progress:
    """How far a request is at the table, and why it is no further."""

    number: int
    state: str
    why: Message | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as the table sends it."""
        why = self.why.to_json() if self.why is not None else None
        if why is not None and len(json.dumps(why)) > MOST_WHY:
            why = {"message": "The reason is too long to be sent; look at the table.", "args": {}}
        return {"number": self.number, "state": self.state, "why": why}


def requests_of(values: object) -> dict[int, str] | None:
    """Return number and SHA-256 of the requests in a pit's answer; None where it says nothing of them.

    What no pit asks for is left out. A number names one request.
    """
    if not isinstance(values, list):
        return None
    found: dict[int, str] = {}
    for value in values[:MOST_OPEN]:
        match value:
            case [int(number), str(digest)] if is_number(number) and is_hash(digest):
                found.setdefault(number, digest)
    return found


def is_number(value: object) -> bool:
    """Return whether a value is a request's number."""
    return type(value) is int and 0 <= value <= HIGHEST


def progress_of(values: object) -> tuple[Progress, ...]:
    """Return how far a table's requests are. A later release's states are kept as they are. Raises WireError."""
    if not isinstance(values, list) or len(values) > MOST_OPEN:
        raise WireError("The body does not say how far the table's files are.")
    return tuple(map(_progress, values))


def _progress(value: object) -> Progress:
    match value:
        case {"number": int(number), "state": str(state), "why": why} if is_number(number):
            try:
                text = json.dumps([state, why], ensure_ascii=False)
                text.encode()  # half of a surrogate pair is no text
                if len(state) <= MOST_NAME and len(json.dumps(why)) <= MOST_WHY and "\\u0000" not in text:
                    return Progress(number, state, None if why is None else Message.from_json(why))
            except (ValueError, TypeError, KeyError, RecursionError):
                pass
    raise WireError("The body does not say how far the table's files are.")
