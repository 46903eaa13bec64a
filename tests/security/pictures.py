"""Pictures that mean harm."""

from __future__ import annotations

import struct
import zlib


def png_that_says(width: int, height: int, lines: int = 4) -> bytes:
    """A PNG of a few hundred bytes that says that it is this large."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    pixels = zlib.compress(bytes((width * 3 + 1) * min(lines, height)))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
