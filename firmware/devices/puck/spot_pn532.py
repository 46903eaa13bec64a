"""A single PN532 on its serial line (HSU, 115200 8N1), under the spot where both disks lie. Pure.

The chip detects two tags in its field: those of dealer disk and action disk. It is polled for them; each answer is a
sweep, and no answer means unknown. UNTESTED on hardware: written to the NXP user manual UM0701 and frames recorded by
its users.
"""

from dataclasses import replace
from enum import Enum

from firmware.devices.puck.reading import SAYS_NOTHING, Disks, PuckReading, PuckState, Sweep, Tracker
from firmware.messages import Text

TO_CHIP, FROM_CHIP = 0xD4, 0xD5
ACK = bytes.fromhex("0000FF00FF00")
WAKE = b"\x55\x55" + bytes(14)
"""The chip sleeps with its oscillator off; a start bit and these dummy bytes give it time to wake."""
SAM_CONFIGURATION = bytes([0x14, 0x01, 0x17, 0x00])
"""Normal mode, no SAM, no interrupt line."""
TRY_TWICE = bytes([0x32, 0x05, 0xFF, 0x01, 0x01])
"""RFConfiguration, MaxRetries: give up on an empty field after a second try instead of waiting for ever."""
LIST_TWO = bytes([0x4A, 0x02, 0x00])
"""InListPassiveTarget: at most two tags, 106 kbit/s type A."""
ASK_EVERY_S = 0.15
"""Between two sweeps."""
ANSWER_WITHIN_S = 0.5
"""The time after which an unanswered chip is woken again."""
_LONGEST = 262  # a normal frame: preamble, start, length, 255 bytes, checksums


def encode(data: bytes, sender: int = TO_CHIP) -> bytes:
    """Return a normal information frame around a command or an answer of up to 254 bytes."""
    body = bytes([sender]) + data
    return (
        b"\x00\x00\xff" + bytes([len(body), -len(body) & 0xFF]) + body + bytes([-sum(body) & 0xFF]) + b"\x00"
    )


class ChipFrames:
    """Splits the received bytes into the chip's answers. Never raises, holds one frame at most."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payload of every complete frame (without the D5), in order; b"" for acknowledgements."""
        line, payloads = self._rest + data, []
        while (start := line.find(b"\x00\xff")) >= 0:
            line = line[start:]
            if len(line) < 4:
                break
            length = line[2]
            if (length, line[3]) == (0, 0xFF):
                payloads.append(b"")
                line = line[4:]
            elif (length + line[3]) & 0xFF or not length:
                line = line[1:]
            elif len(line) < 4 + length + 1:
                break
            else:
                body = line[4 : 4 + length]
                if sum(line[4 : 4 + length + 1]) & 0xFF or body[0] != FROM_CHIP:
                    line = line[1:]
                else:
                    payloads.append(body[1:])
                    line = line[4 + length + 1 :]
        self._rest = line[-_LONGEST:] if start >= 0 else line[-1:]
        return payloads

    def clear(self) -> None:
        """Drop an incomplete frame."""
        self._rest = b""


def tags_of(answer: bytes) -> frozenset[str] | None:
    """Return the tag ids in an answer to LIST_TWO (4B, count, then each target); None if it is invalid."""
    if len(answer) < 2 or answer[0] != LIST_TWO[0] + 1:
        return None
    count, rest, tags = answer[1], answer[2:], set()
    for number in range(1, count + 1):
        # Tg, SENS_RES (2), SEL_RES, length of the id, the id; then an ATS if the tag speaks ISO 14443-4
        if len(rest) < 5 or rest[0] != number or rest[4] not in (4, 7, 10) or len(rest) < 5 + rest[4]:
            return None
        speaks_4, rest, tag = rest[3] & 0x20, rest[5 + rest[4] :], rest[5 : 5 + rest[4]]
        tags.add(tag.hex().upper())
        if speaks_4:
            if not rest or not 1 <= rest[0] <= len(rest):
                return None
            rest = rest[rest[0] :]
    return frozenset(tags) if count <= 2 and not rest else None


class _Step(Enum):
    """The last command sent to the chip; the value is the answer that ends the step."""

    WAKE = SAM_CONFIGURATION[0] + 1
    CONFIGURE = TRY_TWICE[0] + 1
    LIST = LIST_TWO[0] + 1


_COMMANDS = {
    _Step.WAKE: WAKE + encode(SAM_CONFIGURATION),
    _Step.CONFIGURE: encode(TRY_TWICE),
    _Step.LIST: encode(LIST_TWO),
}


class Pn532Spot:
    """A `Link` to a PN532 under one seat's spot."""

    baud = 115200

    def __init__(self, disks: Disks, seat: int) -> None:
        self._frames = ChipFrames()
        self._tracker = Tracker(disks, [seat])
        self._seat = seat
        self._why: Text = ""
        self._step = _Step.WAKE
        self._send_at = 0.0
        self._answer_by: float | None = None

    def use(self, disks: Disks) -> None:
        """Use these disks from now on; see `Link.use`."""
        self._tracker.use(disks)

    def opened(self, now: float) -> None:
        """Start a new connection and wake the chip; see `Link.opened`."""
        self.forget(SAYS_NOTHING)
        self._next(_Step.WAKE, now)

    def forget(self, why: Text) -> None:
        """End the connection; see `Link.forget`."""
        self._frames.clear()
        self._tracker.forget()
        self._why = why
        self._answer_by = None

    def feed(self, data: bytes, now: float) -> bool:
        """Process received bytes; see `Link.feed`."""
        answers = self._frames.feed(data)
        for answer in answers:
            if not answer or answer[0] != self._step.value or self._answer_by is None:
                continue
            if self._step is not _Step.LIST:
                self._next(_Step.CONFIGURE if self._step is _Step.WAKE else _Step.LIST, now)
                continue
            tags = tags_of(answer)
            if tags is not None:
                sweep = Sweep(frozenset((self._seat, tag) for tag in tags), frozenset({self._seat}))
                self._tracker.receive(sweep, now)
            self._next(_Step.LIST, now + ASK_EVERY_S)
        return bool(answers)

    def _next(self, step: _Step, at: float) -> None:
        self._step, self._send_at, self._answer_by = step, at, None

    def due(self, now: float) -> bytes:
        """Return the next command once the last one is answered or has timed out."""
        if self._answer_by is not None and now > self._answer_by:
            self._next(_Step.WAKE, now)
        if self._answer_by is not None or now < self._send_at:
            return b""
        self._answer_by = now + ANSWER_WITHIN_S
        return _COMMANDS[self._step]

    def reading(self, now: float) -> PuckReading:
        """Return the current reading.

        The chip lists two tags. If neither is the dealer disk, that disk may still lie there as a third: unknown.
        """
        reading = self._tracker.reading(now, self._why)
        if reading.state is PuckState.NONE and len(reading.strangers) + len(reading.action_at) >= 2:
            return replace(reading, state=PuckState.UNKNOWN)
        return reading
