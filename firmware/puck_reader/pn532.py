"""An antenna with a PN532 on SPI. Written to NXP's user manual UM0701 and data sheet; UNTESTED on hardware.

The chip stays awake, because waking it is slow, but its field is on only during a scan. It detects two tags in one
field: the two disks. After a fault it is reset and configured again.
"""

from .puckd import Reader, ReaderFault

WRITE, STATUS, READ = 0x01, 0x02, 0x03
"""The first byte of a transfer: its type."""
TO_CHIP, FROM_CHIP = 0xD4, 0xD5
ACK = b"\x00\x00\xff\x00\xff\x00"
SAM_CONFIGURATION = b"\x14\x01\x17\x00"
TRY_TWICE = b"\x32\x05\xff\x01\x01"
FIELD_OFF = b"\x32\x01\x00"
LIST_TWO = b"\x4a\x02\x00"
LONGEST_ANSWER = 48
"""Bytes that are read of an answer: two tags with ten-byte ids need 41 with their frame."""
ANSWER_MS = 60
"""Timeout of the chip in milliseconds; two tries in an empty field take about 20."""
RESET_MS, START_MS = 1, 5

_MIRRORED = bytes([int("".join(reversed(f"{value:08b}")), 2) for value in range(256)])


class Pn532(Reader):
    """`spi` with write_readinto(out, into), most significant bit first; pins as machine.Pin; time.sleep_ms."""

    def __init__(self, spi, select, reset, sleep_ms) -> None:  # type: ignore[no-untyped-def]
        self._spi = spi
        self._select = select
        self._reset = reset
        self._sleep_ms = sleep_ms
        self._ready = False
        select.value(1)
        reset.value(0)

    def scan(self) -> set[str]:
        """Return the tags in the field; see `Reader.scan`."""
        try:
            if not self._ready:
                self._start()
            tags = _tags_of(self._ask(LIST_TWO))
            self._ask(FIELD_OFF)
        except ReaderFault:
            self._ready = False
            self._reset.value(0)  # this also switches the field off
            raise
        return tags

    def _start(self) -> None:
        self._reset.value(0)
        self._sleep_ms(RESET_MS)
        self._reset.value(1)
        self._sleep_ms(START_MS)
        self._swap(bytes((STATUS, 0)))  # selecting it wakes it
        self._sleep_ms(START_MS)
        for command in (SAM_CONFIGURATION, TRY_TWICE, FIELD_OFF):
            self._ask(command)
        self._ready = True

    def _ask(self, command: bytes) -> bytes:
        """Send a command; return the answer from its code on. Raises ReaderFault."""
        self._swap(bytes((WRITE,)) + frame(command))
        if self._receive(len(ACK)) != ACK:
            raise ReaderFault("the chip does not acknowledge")
        answer = unframe(self._receive(LONGEST_ANSWER))
        if answer is None or answer[0] != command[0] + 1:
            raise ReaderFault("the chip answers wrongly")
        return answer

    def _receive(self, count: int) -> bytes:
        for _ in range(ANSWER_MS):
            if self._swap(bytes((STATUS, 0)))[1] & 1:
                return bytes(self._swap(bytes((READ,)) + bytes(count))[1:])
            self._sleep_ms(1)
        raise ReaderFault("the chip does not answer")

    def _swap(self, out: bytes) -> bytes:
        """Do one transfer. The chip sends the least significant bit first, the bus the most significant."""
        into = bytearray(len(out))
        self._select.value(0)
        try:
            self._spi.write_readinto(mirror_bits(out), into)
        finally:
            self._select.value(1)
        return mirror_bits(bytes(into))


def mirror_bits(data: bytes) -> bytes:
    """Return the bytes with their bits in reverse order."""
    return bytes([_MIRRORED[byte] for byte in data])


def frame(command: bytes) -> bytes:
    """Return a normal information frame to the chip."""
    body = bytes((TO_CHIP,)) + command
    return b"\x00\x00\xff" + bytes((len(body), -len(body) & 0xFF)) + body + bytes((-sum(body) & 0xFF, 0))


def unframe(line: bytes) -> bytes | None:
    """Return the payload of a frame from the answer's code on; None if the frame is invalid."""
    start = line.find(b"\x00\xff")
    if start < 0 or len(line) < start + 6:
        return None
    length = line[start + 2]
    body = line[start + 4 : start + 4 + length]
    whole = len(line) >= start + 5 + length and length >= 2 and not (length + line[start + 3]) & 0xFF
    if not whole or (sum(body) + line[start + 4 + length]) & 0xFF or body[0] != FROM_CHIP:
        return None
    return body[1:]


def _tags_of(answer: bytes) -> set[str]:
    """Return the ids in the answer to LIST_TWO. Raises ReaderFault."""
    tags: set[str] = set()
    rest = answer[2:]
    for _ in range(answer[1] if len(answer) > 1 else 0):
        # target, SENS_RES (2), SEL_RES, length of the id, the id; then an ATS if the tag speaks ISO 14443-4
        if len(rest) < 5 or rest[4] not in (4, 7, 10) or len(rest) < 5 + rest[4]:
            raise ReaderFault("the chip lists a tag wrongly")
        tags.add("".join([f"{byte:02X}" for byte in rest[5 : 5 + rest[4]]]))
        ats = rest[5 + rest[4]] if rest[3] & 0x20 and len(rest) > 5 + rest[4] else 0
        rest = rest[5 + rest[4] + ats :]
    return tags
