"""A row of the journal, its hash, and the hash of content."""

import hashlib
from json.encoder import encode_basestring
from typing import Any, Final, NamedTuple

from firmware.table.event import Event, canonical, parse


class Entry(NamedTuple):
    """A row of the journal; its fields are in the order of the columns.

    `previous` is the hash of the row before it ("" for the first), `hash` covers all other fields (`seal`). `command`
    is the sender's id for its command, "" without one; it identifies a command that is sent again.
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
        """Return the correct value of `hash`."""
        return seal(self[:-1])


COLUMNS: Final = ", ".join(Entry._fields)
"""The journal's columns as SQL names them, in the order of `Entry`."""
MARKS: Final = ", ".join("?" * len(Entry._fields))
MAX_PAYLOAD: Final = 480 << 10
"""Bytes of a payload. A command has 256 kB at most, a reading some 20 kB. The pit takes any one row of this length."""
_TEXT: Final = encode_basestring
"""Encodes a string as `canonical` does."""


def seal(row: tuple[Any, ...]) -> str:
    """Return the SHA-256 (hex) of a row without its hash: of a line of JSON, `previous` first, and then the payload.

    The payload is hashed as stored, without a second JSON encoding: this makes verification 1.5 times as fast.
    """
    seq, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type_name, payload, previous = row
    try:
        line = (
            f"[{_TEXT(previous)},{seq},{hand},{_TEXT(boot)},{monotonic_ns},{wall_ms},"
            f"{_TEXT(clock)},{_TEXT(actor)},{_TEXT(command)},{_TEXT(type_name)}]"
        )
    except TypeError:  # a value of another type, possible in a foreign file
        line = ""
    if not line or not type(seq) is type(hand) is type(monotonic_ns) is type(wall_ms) is int:
        line = canonical([previous, *row[:-2]])  # the same text for valid rows, but twice as slow
    return hashlib.sha256(f"{line}\n{payload}".encode()).hexdigest()


def content_hash(data: bytes) -> str:
    """Return the SHA-256 (hex) that identifies content in the content table and in events."""
    return hashlib.sha256(data).hexdigest()
