"""Chips and tags as the drivers see them: registers on a bus, and bits in a field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from firmware.puck_reader import iso14443


@dataclass
class Tag:
    """An ISO 14443-3 type A tag of 4, 7 or 10 bytes."""

    uid: bytes
    state: str = "idle"
    level: int = 0

    @property
    def parts(self) -> list[bytes]:
        """What it says at each cascade level: four bytes and their check byte."""
        rest, parts = self.uid, []
        while len(rest) > 4:
            parts.append(b"\x88" + rest[:3])
            rest = rest[3:]
        return [part + bytes([iso14443.check_byte(part)]) for part in [*parts, rest]]

    def hear(self, data: bytes, bits: int) -> list[int] | None:
        """The bits it answers, first bit first; None if it keeps silent."""
        if bits == 7 and data == b"\x26":
            self.state, self.level = ("ready", 0) if self.state == "idle" else (self.state, 0)
            return to_bits(b"\x44\x00") if self.state == "ready" else None
        if self.state == "halted" or (bits % 8 and data[0] not in iso14443.CASCADE):
            return None
        if self.state == "active" and data == iso14443.with_crc(iso14443.HALT):
            self.state = "halted"
            return None
        if self.state != "ready" or data[0] != iso14443.CASCADE[self.level]:
            self.state = "idle" if self.state != "halted" else self.state
            return None
        part = self.parts[self.level]
        if data[1] == 0x70:
            if len(data) != 9 or iso14443.crc_a(data[:7]) != data[7:] or data[2:7] != part:
                self.state = "idle"
                return None
            more = self.level + 1 < len(self.parts)
            self.state, self.level = ("ready", self.level + 1) if more else ("active", 0)
            return to_bits(iso14443.with_crc(bytes([0x04 if more else 0x00])))
        known = (data[1] >> 4) * 8 + (data[1] & 7) - 16
        mine = to_bits(part)
        assert bits == 16 + known, "the number of bits does not fit what was announced"
        return mine[known:] if to_bits(data[2:])[:known] == mine[:known] else None


def to_bits(data: bytes) -> list[int]:
    """Least significant bit first, as it goes over the air."""
    return [byte >> bit & 1 for byte in data for bit in range(8)]


def to_bytes(bits: list[int]) -> bytes:
    """The opposite; the last byte is filled with 0."""
    return bytes(
        sum(bit << at for at, bit in enumerate(bits[start : start + 8])) for start in range(0, len(bits), 8)
    )


class Pin:
    """machine.Pin as an output; anyone who hangs on it is told when it goes low."""

    def __init__(self) -> None:
        self.level = 1
        self.when_low: Callable[[], None] = lambda: None

    def value(self, level: int | None = None) -> int:
        if level is not None:
            self.level = level
            if not level:
                self.when_low()
        return self.level


class Chip:
    """Anything on the bus that is chosen by its select pin and sleeps while its reset pin is low."""

    def __init__(self, *tags: Tag) -> None:
        self.select, self.reset = Pin(), Pin()
        self.reset.when_low = self.forget
        self.tags = list(tags)
        self.fault = ""

    def forget(self) -> None:
        """Reset: the field is gone, and with it what the tags remember."""
        for tag in self.tags:
            tag.state = "idle"

    def has_field(self) -> bool:
        raise NotImplementedError

    def swap(self, out: bytes) -> bytes:
        raise NotImplementedError


class Bus:
    """One SPI bus with several chips. No two fields are ever on at once."""

    def __init__(self, *chips: Chip) -> None:
        self.chips = chips
        self.slept_ms = 0
        self.fields_seen = 0

    def write_readinto(self, out: bytes, into: bytearray) -> None:
        chosen = [chip for chip in self.chips if chip.select.level == 0]
        assert len(chosen) == 1, "one chip is chosen at a time"
        into[:] = chosen[0].swap(bytes(out))
        fields = sum(chip.has_field() for chip in self.chips)
        assert fields <= 1, "two fields are on at once"
        self.fields_seen += fields

    def sleep_ms(self, milliseconds: int) -> None:
        self.slept_ms += milliseconds


class Rc522Chip(Chip):
    """An MFRC522 by its data sheet: the registers that matter, its FIFO, and the air."""

    def __init__(self, *tags: Tag, later_collisions_from: str = "frame") -> None:
        super().__init__(*tags)
        self.later_collisions_from = later_collisions_from
        self.forget()

    def forget(self) -> None:
        super().forget()
        self.registers: dict[int, int] = {0x14: 0x80}
        self.fifo = b""

    def has_field(self) -> bool:
        return bool(self.reset.level) and self.registers.get(0x14, 0) & 3 == 3

    def swap(self, out: bytes) -> bytes:
        if not self.reset.level or self.fault == "absent":
            return b"\xff" * len(out)
        address, value = out
        register = address >> 1 & 0x3F
        if address & 0x80:
            return bytes([0, self._read(register)])
        self._write(register, value)
        return b"\0\0"

    def _read(self, register: int) -> int:
        if register == 0x37:
            return 0x92
        if register == 0x0A:
            return len(self.fifo)
        if register == 0x09:
            first, self.fifo = self.fifo[0], self.fifo[1:]
            return first
        return self.registers.get(register, 0)

    def _write(self, register: int, value: int) -> None:
        if register == 0x0A and value & 0x80:
            self.fifo = b""
        elif register == 0x09:
            self.fifo += bytes([value])
        elif register == 0x14 and self.fault == "no field":
            pass
        else:
            self.registers[register] = value
            if register == 0x04:
                self.registers[0x04] = 0
        if register == 0x14 and not self.has_field():
            for tag in self.tags:
                tag.state = "idle"
        if register == 0x0D and value & 0x80 and self.registers.get(0x01) == 0x0C:
            self._transceive(value & 7, value >> 4 & 7)

    def _transceive(self, last_bits: int, align: int) -> None:
        sent, self.fifo = self.fifo, b""
        bits = len(sent) * 8 - (8 - last_bits if last_bits else 0)
        answers = [answer for tag in self.tags if (answer := tag.hear(sent, bits)) is not None]
        self.registers[0x06] = 0
        if self.fault == "hung":
            return
        if not answers or not self.has_field():
            self.registers[0x04] = 0x01  # the timer
            return
        assert self.registers.get(0x2A) == 0x80, "without its timer the chip waits for ever"
        answer = list(answers[0])
        places = [at for at in range(len(answer)) if len({other[at] for other in answers}) > 1]
        if places:
            answer[places[0] :] = [0] * (len(answer) - places[0])
            before = 0 if self.later_collisions_from == "frame" else bits - 16
            place = places[0] + 1 + before
            self.registers[0x06] = 0x08
            self.registers[0x0E] = place & 0x1F if place <= 32 else 0x20
        if self.fault == "noise":
            self.registers[0x06] |= 0x02
        self.fifo = to_bytes([0] * align + answer)
        self.registers[0x0C] = (align + len(answer)) % 8
        self.registers[0x04] = 0x20


class Pn532Chip(Chip):
    """A PN532 on SPI by its manual: frames, acknowledgements, and a list of at most two tags."""

    def __init__(self, *tags: Tag) -> None:
        super().__init__(*tags)
        self.all_configured: list[bytes] = []
        self.forget()

    def forget(self) -> None:
        super().forget()
        self.configured: list[bytes] = []
        self.waiting: list[bytes] = []
        self.field = False
        self.busy = 0

    def has_field(self) -> bool:
        return bool(self.reset.level) and self.field

    def swap(self, out: bytes) -> bytes:
        heard = self._mirror(out)
        if not self.reset.level or self.fault == "absent":
            return b"\xff" * len(out)
        said = bytes(len(out))
        if heard[0] == 0x01:
            self._take(heard[1:])
        elif heard[0] == 0x02:
            self.busy = max(0, self.busy - 1)
            said = bytes([0, bool(self.waiting) and not self.busy])
        elif heard[0] == 0x03:
            answer = self.waiting.pop(0)
            said = (b"\0" + answer + bytes(len(out)))[: len(out)]
            self.busy = 3
        return self._mirror(said)

    def _take(self, frame: bytes) -> None:
        assert frame[:3] == b"\x00\x00\xff"
        length = frame[3]
        body = frame[5 : 5 + length]
        assert (length + frame[4]) & 0xFF == 0
        assert (sum(body) + frame[5 + length]) & 0xFF == 0
        assert body[0] == 0xD4
        command = body[1:]
        if self.fault == "silent":
            return
        self.busy = 2
        self.waiting = [
            b"\x00\x00\xff\xff\x00\x00" if self.fault == "refuses" else b"\x00\x00\xff\x00\xff\x00"
        ]
        if command[:2] == b"\x32\x01":
            self.field = bool(command[2] & 1)
            answer = b"\x33"
        elif command[0] == 0x4A:
            assert b"\x14\x01\x17\x00" in self.configured, "not configured"
            self.field = True
            listed = self.tags[: command[1]]
            answer = bytes([0x4B, len(listed)]) + b"".join(
                bytes([number, 0, 0x44, 0, len(tag.uid)]) + tag.uid for number, tag in enumerate(listed, 1)
            )
        else:
            self.configured.append(command)
            self.all_configured.append(command)
            answer = bytes([command[0] + 1])
        reply = b"\xd5" + answer
        if self.fault == "noise":
            reply = b"\xd5\x00" + reply
        wire = b"\x00\x00\xff" + bytes([len(reply), -len(reply) & 0xFF]) + reply
        self.waiting.append(wire + bytes([-sum(reply) & 0xFF, 0]))

    @staticmethod
    def _mirror(data: bytes) -> bytes:
        return bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)
