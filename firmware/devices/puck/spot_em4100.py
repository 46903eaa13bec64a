"""A single 125 kHz reader as a spot for the dealer disk: RDM6300 and ID-2LA/12LA/20LA, 9600 8N1, pure.

Such a reader sends only while a tag lies on it, so it can prove that the disk is there but never that it is absent:
silence means unknown. Two tags in one field disturb each other, so it suits a house that uses the dealer disk only.
UNTESTED on hardware: written to the data sheets' frames.
"""

import re
from dataclasses import replace

from firmware.devices.puck.reading import Disks, PuckReading, PuckState, Sweep, Tracker
from firmware.messages import Message, Text

# 02, ten hex digits (a version byte and four of the id), two of checksum, 0D 0A for an ID-xxLA, 03
_FRAME = re.compile(rb"\x02([0-9A-F]{10})([0-9A-F]{2})(?:\r\n)?\x03")
_LONGEST = 16
_NO_TAG = "0000000000"  # an RDM6300 reads this from noise, with a valid checksum


class TagFrames:
    """Splits the received bytes into tag ids. Never raises, never holds more than a frame."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[str]:
        """Return the tag ids, ten hex digits each, of every complete frame received so far."""
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
        """Drop an incomplete frame."""
        self._rest = b""


def _xor(data: bytes) -> int:
    value = 0
    for byte in data:  # all five: leaving the version byte out rejects good tags
        value ^= byte
    return value


class Em4100Spot:
    """A `Link` to a 125 kHz reader under one seat.

    `repeats`: the reader repeats a tag that stays (an RDM6300 does, every 50 ms); then two readings must agree. An
    ID-xxLA sends each tag once, when it is laid: the seat is known briefly and then unknown again.
    """

    baud = 9600

    def __init__(self, disks: Disks, seat: int, repeats: bool = True) -> None:
        self._frames = TagFrames()
        self._tracker = Tracker(disks, [seat])
        self._seat = seat
        self._repeats = repeats
        self._why: Text = ""

    def use(self, disks: Disks) -> None:
        """Use these disks from now on; see `Link.use`."""
        self._tracker.use(disks)

    def opened(self, now: float) -> None:
        """Start a new connection; see `Link.opened`."""
        self.forget(
            Message("The reader says nothing: no disk lies on it, or it does not work. Key the seat.")
        )

    def forget(self, why: Text) -> None:
        """End the connection; see `Link.forget`."""
        self._frames.clear()
        self._tracker.forget()
        self._why = why

    def feed(self, data: bytes, now: float) -> bool:
        """Process received bytes; see `Link.feed`. Silence is normal here and never reopens the port."""
        for tag in self._frames.feed(data):
            sweep = Sweep(frozenset({(self._seat, tag)}), frozenset({self._seat}))
            if self._tracker.receive(sweep, now) and not self._repeats:
                self._tracker.receive(sweep, now)
        return True

    def due(self, now: float) -> bytes:
        """Return nothing: this reader only sends."""
        return b""

    def reading(self, now: float) -> PuckReading:
        """Return the current reading. An unknown tag may hide ours: two in one field read as a third."""
        reading = self._tracker.reading(now, self._why)
        return replace(reading, state=PuckState.UNKNOWN) if reading.state is PuckState.NONE else reading
