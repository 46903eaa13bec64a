"""Commands to a tag: the part of ISO/IEC 14443-3 type A that finds tags and halts them."""

REQA = b"\x26"  # seven bits: wakes the tags that are not halted
HALT = b"\x50\x00"
CASCADE = (0x93, 0x95, 0x97)
CASCADE_TAG = 0x88
MORE_LEVELS = 0x04
"""Bit of a tag's SAK: its id continues at the next cascade level."""


def crc_a(data: bytes) -> bytes:
    """Return a command's checksum, low byte first: polynomial 8408 reflected, start 6363; 0000 gives A01E."""
    crc = 0x6363
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ 0x8408 if crc & 1 else crc >> 1
    return bytes((crc & 0xFF, crc >> 8))


def with_crc(data: bytes) -> bytes:
    """Return the command with its checksum."""
    return data + crc_a(data)


def check_byte(part: bytes) -> int:
    """Return the check byte (BCC) of four bytes of an id."""
    return part[0] ^ part[1] ^ part[2] ^ part[3]
