"""The reader's side of the line protocol, version 1, as specified in firmware/devices/README.md."""

VERSION = 1
_LONGEST_QUESTION = 32


def crc16(data: bytes) -> int:
    """CRC-16/CCITT-FALSE: polynomial 1021, start FFFF; `123456789` gives 29B1."""
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
        crc &= 0xFFFF
    return crc


def sentence(kind: str, *fields: object) -> bytes:
    """Return one frame, ready to send."""
    text = ",".join([kind] + [str(field) for field in fields])
    return f"${text}*{crc16(text.encode()):04X}\r\n".encode()


def state(number: int, uptime_ms: int, antennas: list[tuple[int, list[str]]], ok: set[int]) -> bytes:
    """Return the full snapshot: tags by antenna in the order of seats, and the antennas that answer."""
    fields = [f"{seat}:" + "+".join(sorted(tags)) for seat, tags in sorted(antennas)]
    bitmap = 0
    for seat in ok:
        bitmap |= 1 << (seat - 1)
    return sentence("STATE", number, uptime_ms, *fields, f"{bitmap:x}")


class Questions:
    """Detects the host's `?`. Any other input (a modem probe, noise) is ignored."""

    def __init__(self) -> None:
        self._line = b""

    def feed(self, data: bytes) -> bool:
        """Return whether the bytes received so far hold a request."""
        asked = False
        for byte in data:
            if byte in (10, 13):
                asked = asked or self._line.strip() == b"?"
                self._line = b""
            elif len(self._line) < _LONGEST_QUESTION:
                self._line += bytes((byte,))
        return asked
