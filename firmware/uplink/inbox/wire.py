"""What pit and table say to one another of files that go down: what is asked for, and how far it is.

The pit's answer to an offer of rows lists what the table is asked to fetch (`Asked`, all that is open). The table's
offer says how far each is (`Told`). A request has a number of its own: the same file may be asked for again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, get_args

from firmware.messages import Message
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
MOST_NAME: Final = 80
"""Characters of a file's name, and of a release's."""
MOST_WHY: Final = 600
"""Bytes of a reason, as JSON."""
_SIGNATURE: Final = 128


@dataclass(frozen=True)
class Asked:
    """A file that a table is asked to fetch. `number` is the request's; `by` offered the file.

    `version` is the name of a release, "" for other kinds. `signature` is the house's over `signed_text`, hex; "" for
    releases: they carry the release key's.
    """

    number: int
    sha256: str
    kind: str
    name: str
    version: str
    size: int
    by: str
    signature: str

    def as_json(self) -> dict[str, Any]:
        """Return it as the pit sends it."""
        return asdict(self)


@dataclass(frozen=True)
class Told:
    """How far a request is at the table, and why it is no further."""

    number: int
    state: str
    why: Message | None = None

    def as_json(self) -> dict[str, Any]:
        """Return it as the table sends it."""
        why = self.why.as_json() if self.why is not None else None
        if why is not None and len(json.dumps(why)) > MOST_WHY:
            why = {"message": "The reason is too long to be sent; look at the table.", "args": {}}
        return {"number": self.number, "state": self.state, "why": why}


def signed_text(kind: str, name: str, sha256: str, size: int, by: str) -> bytes:
    """Return what the house's key signs of a file: no file can be taken for one of another kind or name."""
    return b"feltwatch file 1\n" + json.dumps([kind, name, sha256, size, by]).encode()


def asked_of(values: object) -> tuple[Asked, ...] | None:
    """Return the requests in a pit's answer; None where it says nothing of them. What no pit asks is left out."""
    if not isinstance(values, list):
        return None
    found: dict[int, Asked] = {}
    for one in map(_asked, values[:MOST_OPEN]):
        if one is not None:
            found.setdefault(one.number, one)  # a number names one request
    return tuple(found.values())


def _asked(value: object) -> Asked | None:
    try:
        one = Asked(**value) if isinstance(value, dict) else None
    except TypeError:
        return None
    return one if one is not None and _is_whole(one) else None


def _is_whole(one: Asked) -> bool:
    texts = (one.kind, one.name, one.version, one.by, one.signature)
    numbers = (one.number, one.size)
    return (
        all(isinstance(text, str) and text.isprintable() for text in texts)
        and all(type(number) is int and 0 <= number <= HIGHEST for number in numbers)
        and is_hash(one.sha256)
        and 0 < len(one.name) <= MOST_NAME
        and max(len(one.kind), len(one.version), len(one.by)) <= MOST_NAME
        and (not one.signature or _is_signature(one.signature))
    )


def _is_signature(text: str) -> bool:
    return len(text) == _SIGNATURE and set(text) <= set("0123456789abcdef")


def told_of(values: object) -> tuple[Told, ...]:
    """Return how far a table's requests are. A later release's states are kept as they are. Raises WireError."""
    if not isinstance(values, list) or len(values) > MOST_OPEN:
        raise WireError("The body does not say how far the table's files are.")
    return tuple(map(_told, values))


def _told(value: object) -> Told:
    match value:
        case {"number": number, "state": str(state), "why": why} if type(number) is int:
            try:
                if (
                    0 <= number <= HIGHEST
                    and len(state) <= MOST_NAME
                    and len(json.dumps(why)) <= MOST_WHY
                    and "\\u0000" not in json.dumps([state, why])
                    and not _has_half_a_pair([state, why])
                ):
                    return Told(number, state, None if why is None else Message.from_json(why))
            except (ValueError, TypeError, KeyError, RecursionError):
                pass
    raise WireError("The body does not say how far the table's files are.")


def _has_half_a_pair(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    return False
