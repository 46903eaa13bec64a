"""Pictures of the book and of the README: states of the page in the size of the kiosk. `make golden` takes them, too.

A picture is known by its file's name, which is that of its state's golden picture: nothing is listed twice.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Final

from PIL import Image

DOCS: Final = Path(__file__).parents[2] / "docs"
FOLDER: Final = DOCS / "pictures"
COLOURS: Final = 64
_SHOWN: Final = re.compile(r"pictures/([\w-]+\.png)")


def shown() -> set[str]:
    """Return the names of the files that the book shows."""
    pages = (DOCS.parent / "README.md", *DOCS.rglob("*.md"))
    return {name for page in pages for name in _SHOWN.findall(page.read_text(encoding="utf-8"))}


def keep(path: Path, png: bytes) -> None:
    """Write a picture with few colours: they are many and in the repository."""
    few = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    path.parent.mkdir(parents=True, exist_ok=True)
    few.save(path, optimize=True)
