"""Pictures of the book and of the README: states of the page in the size of the kiosk. `make golden` takes them, too.

A picture is known by its file's name, which is that of its state's golden picture: nothing is listed twice.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from PIL import Image

DOCS: Final = Path(__file__).parents[2] / "docs"
FOLDER: Final = DOCS / "pictures"
COLOURS: Final = 64
FILM: Final = FOLDER / "a-hand.webp"
"""One hand from the deal to the last payment, as a moving picture for the README."""
SCENES: Final = {
    "dealing": 1500,
    "setting": 1500,
    "showdown": 1500,
    "some cards yet": 2000,
    "unsure card": 3500,
    "settled with a foul": 4000,
    "second payment": 2000,
    "third payment": 2000,
    "all paid": 4000,
}
"""The states of the film in their order, each with the milliseconds for which it is shown."""
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


def keep_film(pngs: Sequence[bytes]) -> None:
    """Write the film from the pictures of its scenes."""
    first, *others = (Image.open(io.BytesIO(png)).convert("RGB") for png in pngs)
    shown_ms = list(SCENES.values())
    first.save(FILM, save_all=True, append_images=others, duration=shown_ms, loop=0, quality=60, method=6)
