"""Stored pictures. A table may lie, so one is opened only if its parts are as few as those of a camera's picture.

Each part costs a decoder time, however short it is: thousands of scans or notes in a few megabytes take many minutes.
"""

import re
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Final

from PIL import Image

FORMATS: Final = ("JPEG", "PNG")
MAX_PIXELS: Final = 1 << 25
"""Pixels of a picture: twice as many as the largest camera has."""
HEAD: Final = 1 << 16
"""Bytes in which a picture must have said its size; a camera's says it in the first thousand."""
MAX_MARKERS: Final = 200
"""Markers of a JPEG; a camera's has a dozen, one that shows itself bit by bit three dozen."""
MAX_CHUNKS: Final = 1 << 14
"""Chunks of a PNG; each holds 8 kB of the pixels, or more."""
_MARKER: Final = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")


def open_picture(data: bytes) -> Image.Image | None:
    """Return a picture as RGB, without its file's notes; None if it is none, or would take much time or memory."""
    size = stated_size(data[:HEAD])
    if size is None or size[0] * size[1] > MAX_PIXELS or not _has_few_parts(data):
        return None
    try:
        with Image.open(BytesIO(data), formats=FORMATS) as picture:
            plain = picture.convert("RGB")
    except Exception:  # a damaged picture can make Pillow raise almost anything
        return None
    plain.info.clear()  # a note would be written on into other files, or be too long for them
    return plain


def size_of(path: Path) -> tuple[int, int] | None:
    """Return a stored picture's width and height; None if the file holds no picture. Raises OSError."""
    with path.open("rb") as file:
        return stated_size(file.read(HEAD))


def stated_size(head: bytes) -> tuple[int, int] | None:
    """Return the width and height that the head of a file says; None if it says none."""
    try:
        with Image.open(BytesIO(head), formats=FORMATS) as picture:
            return picture.size
    except Exception:  # as above
        return None


def _has_few_parts(data: bytes) -> bool:
    if data.startswith(b"\xff"):
        return not any(islice(_MARKER.finditer(data), MAX_MARKERS, None))
    at = 8
    for _ in range(MAX_CHUNKS):
        if at >= len(data):
            return True
        at += 12 + int.from_bytes(data[at : at + 4])
    return False
