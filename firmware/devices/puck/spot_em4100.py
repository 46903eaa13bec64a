"""A single 125 kHz reader as a spot for the dealer disk: RDM6300 and ID-2LA/12LA/20LA, 9600 8N1, pure.

A reader of this kind only ever speaks while a tag lies on it, so it can prove that the disk is here and never that it
is not: its silence is unknown. Two tags in one field spoil each other, so it serves a house with the dealer disk
alone. UNTESTED on hardware: written to the data sheets' frames.
"""

from __future__ import annotations

import re
from dataclasses import replace

from firmware.devices.puck.reading import Disks, PuckReading, PuckState, Sweep, Tracker

# 02, ten hex digits (a version byte and four of the id), two of checksum, 0D 0A at an ID-xxLA, 03
_FRAME = re.compile(rb"\x02([0-9A-F]{10})([0-9A-F]{2})(?:\r\n)?\x03")
_LONGEST = 16
_NO_TAG = "0000000000"  # what an RDM6300 makes of noise; its checksum holds


class TagFrames:
    """Cuts tag ids out of whatever comes down the line. Never raises, never holds more than a frame."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """The tag ids, ten hex digits each, of every whole frame in what came so far."""
        line = self._rest + data
        tags, end = [], 0
        for match in _FRAME.finditer(line):
            end = match.end()
            tag = match[1].decode("ascii")
            if _xor(bytes.fromhex(tag)) == int(match[2], 16) and tag != _NO_TAG:
                tags.append(tag)
        self._rest = line[end:][-_LONGEST:]
        return tags

    def clear(self) -> None:
        """Forget a half-heard frame."""
        self._rest = b""


def _xor(data: bytes) -> int:
    value = 0
    for byte in data:  # all five: leaving the version byte out rejects good tags
        value ^= byte
    return value


class Em4100Spot:
    """A `Link` to a 125 kHz reader under one seat.

    `repeats` says whether the reader repeats a tag that stays (an RDM6300 does, every 50 ms): then two readings must
    agree. An ID-xxLA tells each tag once, when it is laid: the seat is known for a moment and then unknown again.
    """

    baud = 9600

    def __init__(self, disks: Disks, seat: int, repeats: bool = True) -> None:
        self._frames = TagFrames()
        self._tracker = Tracker(disks, [seat])
        self._seat = seat
        self._repeats = repeats
        self._why = ""

    def use(self, disks: Disks) -> None:
        """Go by these disks from now on; see `Link.use`."""
        self._tracker.use(disks)

    def opened(self, now: float) -> None:
        """A new conversation; see `Link.opened`."""
        self.forget("The reader says nothing: no disk lies on it, or it does not work. Key the seat.")

    def forget(self, why: str) -> None:
        """The conversation broke off; see `Link.forget`."""
        self._frames.clear()
        self._tracker.forget()
        self._why = why

    def feed(self, data: bytes, now: float) -> bool:
        """Take in what came; see `Link.feed`. Silence is this reader's way, so it is never opened again for it."""
        for tag in self._frames.feed(data):
            sweep = Sweep(frozenset({(self._seat, tag)}), frozenset({self._seat}))
            if self._tracker.receive(sweep, now) and not self._repeats:
                self._tracker.receive(sweep, now)
        return True

    def due(self, now: float) -> bytes:
        """Nothing: this reader only talks."""
        return b""

    def reading(self, now: float) -> PuckReading:
        """What is known now. A strange tag is no proof that ours is absent: two in one field read as a third."""
        reading = self._tracker.reading(now, self._why)
        return replace(reading, state=PuckState.UNKNOWN) if reading.state is PuckState.NONE else reading
