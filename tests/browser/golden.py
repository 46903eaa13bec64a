"""The golden pictures: every state of every page as it is meant to look, and the contact sheet made of them.

    python -m tests.browser.golden [NAME...]     take them anew; look at each before you commit it

They are 400 by 240: half of the kiosk's screen. A picture may differ a little where a browser draws letters another
way; a button that moved, a colour that changed or a line that is gone is more than a little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import click
import cv2
import numpy as np
import PIL.Image
from playwright.sync_api import sync_playwright

from tests.browser import pictures
from tests.browser.chrome import launched
from tests.browser.states import STATES
from tests.browser.visits import Visitor, small
from vision.arrays import Image

FOLDER: Final = Path(__file__).parent / "golden"
SHEET: Final = Path(__file__).parents[2] / "docs" / "screens.png"
FAR: Final = 40
"""Levels of 255 by which a pixel differs."""
MOST: Final = 0.001
"""The share of pixels that may."""
COLUMNS: Final = 6
SHEET_COLOURS: Final = 40
TITLE_PX: Final = 22
GAP_PX: Final = 8


def different(seen: Image, meant: Image) -> float:
    """Return the share of pixels in which two pictures differ; 1 where their sizes do.

    A pixel may lie one further: letters are placed by fractions of a pixel.
    """
    if seen.shape != meant.shape:
        return 1.0
    kernel = np.ones((3, 3), np.uint8)
    darkest, lightest = cv2.erode(meant, kernel), cv2.dilate(meant, kernel)
    beyond = np.maximum(cv2.subtract(seen, lightest), cv2.subtract(darkest, seen))
    return float((beyond.max(axis=2) > FAR).mean())


def keep(path: Path, picture: Image) -> None:
    """Write a picture, with few colours: they are many and in the repository."""
    few = (picture // 16 * 16 + 8).astype(np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), few, [cv2.IMWRITE_PNG_COMPRESSION, 9])


def keep_sheet(path: Path, picture: Image) -> None:
    """Write the contact sheet with a palette: it is large, and has few colours."""
    whole = PIL.Image.fromarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))
    whole.quantize(SHEET_COLOURS, dither=PIL.Image.Dither.NONE).save(path, optimize=True)


def load(path: Path) -> Image:
    """Read a picture."""
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        raise FileNotFoundError(f"{path} is no picture")
    return picture.astype(np.uint8)


def sheet(named: Iterable[tuple[str, Image]]) -> Image:
    """Return all pictures on one, each beneath its name."""
    pictures = list(named)
    height, width = pictures[0][1].shape[:2]
    rows = math.ceil(len(pictures) / COLUMNS)
    whole = np.full(
        (rows * (height + TITLE_PX + GAP_PX) + GAP_PX, COLUMNS * (width + GAP_PX) + GAP_PX, 3), 24, np.uint8
    )
    for number, (name, picture) in enumerate(pictures):
        top = GAP_PX + number // COLUMNS * (height + TITLE_PX + GAP_PX)
        left = GAP_PX + number % COLUMNS * (width + GAP_PX)
        cv2.putText(
            whole, name, (left, top + 15), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (220, 220, 220), 1, cv2.LINE_AA
        )
        whole[top + TITLE_PX : top + TITLE_PX + height, left : left + width] = picture
    return whole


@click.command()
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...]) -> None:
    """Take the golden pictures of the states NAMES, or of all, those of the book, and the contact sheet."""
    unknown = set(names) - {state.name for state in STATES}
    if unknown:
        raise click.UsageError(f"There is no state {', '.join(sorted(unknown))}.")
    in_the_book = pictures.shown()
    with sync_playwright() as playwright, launched(playwright) as browser:
        visitor = Visitor(browser)
        for state in STATES:
            if not names or state.name in names:
                seen = visitor.visit(state).picture
                keep(FOLDER / state.file, small(seen))
                if state.file in in_the_book:
                    pictures.keep(pictures.FOLDER / state.file, seen)
                click.echo(state.name)
        visitor.close()
    if not names:
        for stale in {path.name for path in FOLDER.glob("*.png")} - {state.file for state in STATES}:
            (FOLDER / stale).unlink()
    taken = (state for state in STATES if (FOLDER / state.file).exists())
    keep_sheet(SHEET, sheet((state.name, load(FOLDER / state.file)) for state in taken))


if __name__ == "__main__":
    main()
