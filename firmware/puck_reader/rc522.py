"""An antenna with an MFRC522 on SPI, at register level. Written to NXP's data sheet, rev. 3.9; UNTESTED on hardware.

The chip is held in reset except during a scan: so at most one field is on, and a chip that hung in the previous scan is
restarted. All tags in the field are found: each is selected and halted, until none answers.
"""

from . import iso14443
from .puckd import Reader, ReaderFault

COMMAND, COM_IRQ, ERROR, FIFO_DATA, FIFO_LEVEL = 0x01, 0x04, 0x06, 0x09, 0x0A
CONTROL, BIT_FRAMING, COLL, MODE, TX_CONTROL, TX_ASK = 0x0C, 0x0D, 0x0E, 0x11, 0x14, 0x15
RF_CFG, T_MODE, T_PRESCALER, T_RELOAD_H, T_RELOAD_L, VERSION = 0x26, 0x2A, 0x2B, 0x2C, 0x2D, 0x37
IDLE, TRANSCEIVE = 0x00, 0x0C
TIMER_IRQ, ERROR_IRQ, IDLE_IRQ, RX_IRQ = 0x01, 0x02, 0x10, 0x20
COLLISION, BROKEN = 0x08, 0x17
"""ErrorReg: a collision; a buffer overflow, a wrong CRC, parity or protocol."""
SETTINGS = (
    (T_MODE, 0x80),  # the timer starts at the end of sending ...
    (T_PRESCALER, 0xA9),  # ... counts 25 us steps ...
    (T_RELOAD_H, 0x00),
    (T_RELOAD_L, 0xC8),  # ... and gives up after 200 of them, 5 ms
    (TX_ASK, 0x40),  # 100 % ASK, as type A requires
    (MODE, 0x3D),  # CRC from 6363
    (RF_CFG, 0x40),  # 33 dB: the maximum gain makes two stacked disks unreadable
    (COLL, 0x00),  # bits after a collision are cleared
)
START_MS = 5
"""Milliseconds after reset: the oscillator starts within one; a tag without field loses its state after five."""
FIELD_MS = 6
"""Milliseconds of field before a tag answers; the standard allows it 5."""
POLLS = 200
"""Polls of the chip's flags before it counts as hung: at 1 MHz more than 10 ms, twice as long as it waits itself."""
MAX_TAGS = 6


class Silence(Exception):
    """No tag answered: a valid result, not a fault."""


class GarbledAnswer(Exception):
    """Invalid answer: a tag at the field's edge, or one that was just taken away."""


class Rc522(Reader):
    """`spi` with write_readinto(out, into); `select` and `reset` as machine.Pin; `sleep_ms` as time.sleep_ms."""

    def __init__(self, spi, select, reset, sleep_ms) -> None:  # type: ignore[no-untyped-def]
        self._spi = spi
        self._select = select
        self._reset = reset
        self._sleep_ms = sleep_ms
        select.value(1)
        reset.value(0)

    def scan(self) -> set[str]:
        """Return the tags in the field; see `Reader.scan`."""
        self._reset.value(1)
        try:
            self._sleep_ms(START_MS)
            if self._read(VERSION) in (0x00, 0xFF):
                raise ReaderFault("no chip answers")
            for register, value in SETTINGS:
                self._write(register, value)
            self._write(TX_CONTROL, self._read(TX_CONTROL) | 0x03)  # both driver pins: the field is on
            self._sleep_ms(FIELD_MS)
            if self._read(TX_CONTROL) & 0x03 != 0x03:
                raise ReaderFault("the field does not go on")
            return self._tags()
        finally:
            self._reset.value(0)

    def _tags(self) -> set[str]:
        tags = set()
        for _ in range(MAX_TAGS):
            try:
                self._exchange(iso14443.REQA, 7)
            except Silence:
                break
            except GarbledAnswer:
                pass  # the answers of several tags may well garble this
            try:
                tags.add("".join([f"{byte:02X}" for byte in self._select_one()]))
            except (Silence, GarbledAnswer):
                continue
            try:
                self._exchange(iso14443.with_crc(iso14443.HALT))
            except (Silence, GarbledAnswer):
                pass  # a tag sends no answer when it is halted
        return tags

    def _select_one(self) -> bytes:
        """Select one of the tags in the field; return its id."""
        tag = b""
        for level in iso14443.CASCADE:
            part = self._anticollision(level)
            answer, bits = self._exchange(
                iso14443.with_crc(bytes((level, 0x70)) + part + bytes((iso14443.check_byte(part),)))
            )
            if len(answer) != 3 or bits or iso14443.crc_a(answer[:1]) != answer[1:]:
                raise GarbledAnswer
            if not answer[0] & iso14443.MORE_LEVELS:
                return tag + part
            if part[0] != iso14443.CASCADE_TAG:
                raise GarbledAnswer
            tag += part[1:]
        raise GarbledAnswer

    def _anticollision(self, level: int) -> bytes:
        """Return four bytes of one tag's id at this cascade level; after a collision, tags with a 1 there continue.

        The position of the first collision is taken from the chip. Sources disagree whether later ones count from the
        start of the frame or of the id, so the rest of the id is found bit by bit; two disks never get that far.
        """
        known, bits, guessed = bytearray(5), 0, False
        for _ in range(70):
            full_bytes, odd_bits = bits // 8, bits % 8
            question = bytes((level, 0x20 + (full_bytes << 4) + odd_bits)) + bytes(
                known[: full_bytes + (odd_bits > 0)]
            )
            try:
                answer, _last, collided_at = self._transceive(question, odd_bits, odd_bits)
            except Silence:
                if not guessed:
                    raise
                known[(bits - 1) // 8] ^= 1 << (bits - 1) % 8  # no tag has a 1 there
                guessed = False
                continue
            if len(answer) > 5 - full_bytes or (len(answer) < 5 - full_bytes and collided_at is None):
                raise GarbledAnswer
            for number, byte in enumerate(answer):
                # the low bits are those that were sent
                mask = 0xFF << odd_bits & 0xFF if number == 0 else 0xFF
                known[full_bytes + number] = known[full_bytes + number] & ~mask & 0xFF | byte & mask
            if collided_at is None:
                part = bytes(known[:4])
                if iso14443.check_byte(part) != known[4]:
                    raise GarbledAnswer
                return part
            bits = collided_at if bits == 0 else bits + 1
            if bits > 32:
                raise GarbledAnswer
            at, bit = (bits - 1) // 8, (bits - 1) % 8
            known[at] = known[at] & ((1 << bit) - 1) | 1 << bit
            guessed = True
        raise GarbledAnswer

    def _exchange(self, data: bytes, last_bits: int = 0) -> tuple[bytes, int]:
        """Send bytes (`last_bits` of the last one); return the answer. Raises Silence, GarbledAnswer, ReaderFault."""
        answer, bits, collided_at = self._transceive(data, last_bits, 0)
        if collided_at is not None:
            raise GarbledAnswer
        return answer, bits

    def _transceive(self, data: bytes, last_bits: int, align: int) -> tuple[bytes, int, int | None]:
        """As `_exchange`; also return the bit (1 to 32) where answers collided, or None.

        `align`: the position in its byte of the answer's first bit.
        """
        self._write(COMMAND, IDLE)
        self._write(COM_IRQ, 0x7F)
        self._write(FIFO_LEVEL, 0x80)  # empty it
        for byte in data:
            self._write(FIFO_DATA, byte)
        self._write(BIT_FRAMING, align << 4 | last_bits)
        self._write(COMMAND, TRANSCEIVE)
        self._write(BIT_FRAMING, 0x80 | align << 4 | last_bits)  # send
        for _ in range(POLLS):
            irq = self._read(COM_IRQ)
            if irq & (RX_IRQ | IDLE_IRQ | ERROR_IRQ | TIMER_IRQ):
                break
        else:
            raise ReaderFault("the chip hangs")
        self._write(BIT_FRAMING, 0)
        error = self._read(ERROR)
        if not irq & (RX_IRQ | IDLE_IRQ | ERROR_IRQ):
            raise Silence
        if error & BROKEN:
            raise GarbledAnswer
        answer = bytes([self._read(FIFO_DATA) for _ in range(self._read(FIFO_LEVEL) & 0x7F)])
        collided_at = None
        if error & COLLISION:
            coll = self._read(COLL)
            if coll & 0x20:  # the position is not valid
                raise GarbledAnswer
            collided_at = coll & 0x1F or 32
        return answer, self._read(CONTROL) & 0x07, collided_at

    def _write(self, register: int, value: int) -> None:
        self._swap(bytes((register << 1 & 0x7E, value)))

    def _read(self, register: int) -> int:
        return self._swap(bytes((register << 1 & 0x7E | 0x80, 0)))[1]

    def _swap(self, out: bytes) -> bytearray:
        into = bytearray(len(out))
        self._select.value(0)
        try:
            self._spi.write_readinto(out, into)
        finally:
            self._select.value(1)
        return into
