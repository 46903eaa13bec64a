"""One row of the journal, its hash, and how content is named."""

from __future__ import annotations

import hashlib
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple

from firmware.table.events import Event, canonical, parse


class Entry(NamedTuple):
    """One row, its values in the order of the journal's columns.

    `previous` is the hash of the row before it ("" for the first), `hash` covers the rest (`seal`). `command` is the id
    that the sender gave its command, "" where it gave none: the same command sent again is recognised by it.
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
        return seal(self[:-1])


COLUMNS: Final = ", ".join(Entry._fields)
"""The journal's columns as SQL names them, in the order of `Entry`."""
MARKS: Final = ", ".join("?" * len(Entry._fields))
_TEXT: Final = encode_basestring
"""A text as `canonical` writes it."""


def seal(row: tuple[Any, ...]) -> str:
    """Return the SHA-256, in hex, of a row without its hash: of a line of JSON, `previous` first, then the payload.

    The payload stands as it is stored, not once more as JSON: a long record is verified half as fast again.
    """
    seq, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type_name, payload, previous = row
    try:
        line = (
            f"[{_TEXT(previous)},{seq},{hand},{_TEXT(boot)},{monotonic_ns},{wall_ms},"
            f"{_TEXT(clock)},{_TEXT(actor)},{_TEXT(command)},{_TEXT(type_name)}]"
        )
    except TypeError:  # no text: a foreign file holds anything
        line = ""
    if not line or not type(seq) is type(hand) is type(monotonic_ns) is type(wall_ms) is int:
        line = canonical([previous, *row[:-2]])  # for sound rows the same text as above, and twice as slow
    return hashlib.sha256(f"{line}\n{payload}".encode()).hexdigest()


def content_hash(data: bytes) -> str:
    """Return the SHA-256, in hex, by which the content table and the events name this content."""
    return hashlib.sha256(data).hexdigest()
