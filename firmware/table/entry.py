"""One row of the journal, its hash, and how content is named."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, Final

from firmware.table.events import Event, canonical, parse


@dataclass(frozen=True)
class Entry:
    """One row. `previous` is the hash of the row before it ("" for the first), `hash` covers the rest (`seal`).

    `command` is the id that the sender gave its command, "" where it gave none: the same command sent again is
    recognised by it.
    """

    seq: int
    hand: int
    boot: str
    monotonic_ns: int
    wall_ms: int
    clock: str
    actor: str
    command: str
    type: str
    payload: str
    previous: str
    hash: str

    @property
    def event(self) -> Event:
        """The event. Raises UnknownEvent if this release cannot read it."""
        return parse(self.type, self.payload)

    def sealed(self) -> str:
        """Return what `hash` must be."""
        return seal(self.columns()[:-1])

    def columns(self) -> tuple[Any, ...]:
        """Return the row's values, in the order of the fields."""
        values: tuple[Any, ...] = _VALUES(self)
        return values


_NAMES: Final = tuple(field.name for field in fields(Entry))
_VALUES: Final = attrgetter(*_NAMES)
COLUMNS: Final = ", ".join(_NAMES)
"""The journal's columns as SQL names them, in the order of `Entry`."""
MARKS: Final = ", ".join("?" * len(_NAMES))


def seal(row: tuple[Any, ...]) -> str:
    """Return the SHA-256, in hex, of a row without its hash: of a line of JSON, `previous` first, then the payload.

    The payload stands as it is stored, not once more as JSON: a long record is verified half as fast again.
    """
    *head, payload, previous = row
    return hashlib.sha256(f"{canonical([previous, *head])}\n{payload}".encode()).hexdigest()


def content_hash(data: bytes) -> str:
    """Return the SHA-256, in hex, by which the content table and the events name this content."""
    return hashlib.sha256(data).hexdigest()
