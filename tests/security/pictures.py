"""Pictures that mean harm."""

from __future__ import annotations

import io
import struct
import zlib

from PIL import Image


def chunk(kind: bytes, data: bytes) -> bytes:
    """Return a part of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png_that_says(
    width: int, height: int, lines: int = 4, *, notes: bytes = b"", after: bytes = b""
) -> bytes:
    """A PNG of a few hundred bytes that says that it is this large; with parts before its pixels and after them."""
    pixels = zlib.compress(bytes((width * 3 + 1) * min(lines, height)))
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + notes + chunk(b"IDAT", pixels) + after + chunk(b"IEND", b"")


def segment(marker: int, data: bytes) -> bytes:
    """Return a part of a JPEG."""
    return struct.pack(">BBH", 255, marker, len(data) + 2) + data


def jpeg_in_scans(side: int, scans: int) -> bytes:
    """A grey JPEG that shows itself bit by bit: each scan goes over every block, and most say nothing new."""
    blocks = (-(-side // 8)) ** 2
    tables = segment(0xDB, bytes(1) + b"\1" * 64)
    tables += segment(0xC2, struct.pack(">BHHB", 8, side, side, 1) + b"\1\x11\0")
    tables += segment(0xC4, b"\0\1" + bytes(16))
    tables += segment(0xC4, b"\x10\0\2" + bytes(14) + b"\xe0\0")
    first = segment(0xDA, b"\1\1\0\0\0\0") + bytes(-(-blocks // 8))
    again = segment(0xDA, b"\1\1\0\1\x3f\0") + bytes(2 * (blocks // 16384 + 1))  # runs of 16384 empty blocks
    return b"\xff\xd8" + tables + first + again * scans + b"\xff\xd9"


def jpeg_with(parts: bytes) -> bytes:
    """A sound small JPEG with more parts before its pixels."""
    out = io.BytesIO()
    Image.new("L", (400, 300)).save(out, "JPEG")
    return out.getvalue()[:2] + parts + out.getvalue()[2:]
