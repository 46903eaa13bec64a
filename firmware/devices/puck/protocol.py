"""The host's side of the puck reader's line protocol, version 1. Pure. It is specified in this folder's README.md."""

import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass

from firmware.devices.puck.reading import SAYS_NOTHING, Disks, PuckReading, PuckState, Sweep, Tracker
from firmware.messages import Message, Text

VERSION = "1"
ASK = b"?\n"
ASK_EVERY = 0.5
"""Seconds between two requests until the reader has identified itself."""
LONGEST = 512
"""Bytes of the longest frame; five antennas with three tags each need less than 300."""

_FRAME = re.compile(rb"\$([A-Z]+(?:,[0-9A-Za-z:+]*)*)\*([0-9A-F]{4})\r")
_NUMBER = re.compile(r"[0-9]{1,15}")
_ANTENNA = re.compile(r"([1-9][0-9]?):((?:[0-9A-F]{2}){4,10}(?:\+(?:[0-9A-F]{2}){4,10})*)?")
_BITMAP = re.compile(r"[0-9A-Fa-f]{1,8}")


def checksum(text: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 1021, start FFFF; ``123456789`` gives 29B1."""
    return binascii.crc_hqx(text, 0xFFFF)


def encode(kind: str, *fields: object) -> bytes:
    """Return one frame, ready to send."""
    text = ",".join([kind, *map(str, fields)]).encode("ascii")
    return b"$%s*%04X\r\n" % (text, checksum(text))


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame with a valid checksum."""

    kind: str
    fields: tuple[str, ...]


class FrameParser:
    """Splits the received bytes into frames. Never raises, never holds more than `LONGEST`."""

    def __init__(self) -> None:
        self._rest = b""
        self.damaged = 0
        """Lines dropped so far: noise, incomplete frames, wrong checksums."""

    def feed(self, data: bytes) -> list[Frame]:
        """Return every complete frame in the bytes received so far, in order."""
        *lines, rest = (self._rest + data).split(b"\n")
        start = rest.rfind(b"$")
        self._rest = rest[start:] if start >= 0 and len(rest) - start <= LONGEST else b""
        frames = []
        for line in lines:
            frame = _frame(line)
            if frame is None:
                self.damaged += 1
            else:
                frames.append(frame)
        return frames

    def clear(self) -> None:
        """Drop an incomplete frame."""
        self._rest = b""


def _frame(line: bytes) -> Frame | None:
    start = line.rfind(b"$")  # noise in front, or a frame cut off by the start of the next one
    if start < 0 or len(line) - start > LONGEST:
        return None
    match = _FRAME.fullmatch(line, start)
    if match is None or checksum(match[1]) != int(match[2], 16):
        return None
    kind, *fields = match[1].decode("ascii").split(",")
    return Frame(kind, tuple(fields))


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A decoded STATE frame."""

    uptime_ms: int
    sweep: Sweep


def snapshot(frame: Frame) -> Snapshot | None:
    """Decode a STATE frame; None if any part of it is invalid."""
    if frame.kind != "STATE" or len(frame.fields) < 4:
        return None
    seq, uptime, *antennas, bitmap = frame.fields
    if not (_NUMBER.fullmatch(seq) and _NUMBER.fullmatch(uptime) and _BITMAP.fullmatch(bitmap)):
        return None
    tags: set[tuple[int, str]] = set()
    listed: list[int] = []
    for antenna in antennas:
        match = _ANTENNA.fullmatch(antenna)
        if match is None:
            return None
        listed.append(int(match[1]))
        tags.update((listed[-1], tag) for tag in (match[2] or "").split("+") if tag)
    ok = frozenset(bit + 1 for bit in range(32) if int(bitmap, 16) >> bit & 1)
    if listed != sorted(set(listed)) or not ok <= set(listed) or not {seat for seat, _ in tags} <= ok:
        return None
    return Snapshot(int(uptime), Sweep(frozenset(tags), ok))


class PuckLine:
    """The connection to the reader: bytes in, requests out, and the current reading. Pure: times are passed in."""

    baud = 115200  # no effect on USB, but a serial port requires one

    def __init__(self, disks: Disks, seats: Iterable[int]) -> None:
        self._parser = FrameParser()
        self._tracker = Tracker(disks, seats)
        self._version: str | None = None
        self._ask_at = 0.0
        self._uptime_ms: int | None = None
        self._why: Text = ""
        self.reader_id: str | None = None
        """The reader's own number, once it has sent it."""
        self.forget(Message("The puck reader was not opened yet."))

    def use(self, disks: Disks) -> None:
        """Use these disks from now on; see `Link.use`."""
        self._tracker.use(disks)

    def opened(self, now: float) -> None:
        """Start a new connection: nothing is known; request the identification (the banner may be lost)."""
        self.forget(
            SAYS_NOTHING
            if self._why == SAYS_NOTHING
            else Message("The puck reader is connected and starting.")
        )
        self._ask_at = now

    def forget(self, why: Text) -> None:
        """End the connection; `why` is the message for the dealer."""
        self._parser.clear()
        self._tracker.forget()
        self._version = self._uptime_ms = self.reader_id = None
        self._why = why

    def feed(self, data: bytes, now: float) -> bool:
        """Process received bytes. Return True if they hold a frame: the reader is alive."""
        frames = self._parser.feed(data)
        for frame in frames:
            if frame.kind == "HELLO" and len(frame.fields) == 3 and frame.fields[0] == "puckd":
                _, self._version, self.reader_id = frame.fields
            elif self._version == VERSION and (shot := snapshot(frame)) is not None:
                self._take(shot, now)
        return bool(frames)

    def _take(self, shot: Snapshot, now: float) -> None:
        if shot.uptime_ms == self._uptime_ms:
            return  # a repeat proves nothing: the sweep may hang while the line still works
        self._uptime_ms = shot.uptime_ms
        self._why = SAYS_NOTHING  # used at the next silence
        if self._tracker.receive(shot.sweep, now):
            self._ask_at = now

    def due(self, now: float) -> bytes:
        """Return the bytes to send now; usually empty."""
        if now < self._ask_at:
            return b""
        self._ask_at = now + ASK_EVERY if self._version is None else float("inf")
        return ASK

    def reading(self, now: float) -> PuckReading:
        """Return the current reading."""
        if self._version not in (None, VERSION):
            detail = Message(
                "The puck reader speaks version %(version)s, we speak %(ours)s: load its firmware again.",
                version=self._version,
                ours=VERSION,
            )
            return PuckReading(PuckState.FAULT, None, detail, frozenset(), now)
        return self._tracker.reading(now, self._why)
