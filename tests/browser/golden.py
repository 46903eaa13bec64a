"""The golden pictures: every state of every page as it is meant to look, and the contact sheet made of them.

    python -m tests.browser.golden [NAME...]     take them again; look at each before you commit it
    python -m tests.browser.golden --look es     every state in Spanish at both screens' sizes, into build/look

They are 400 pixels wide: half of the kiosk's screen. Those that say most are there in three languages and at the size
of a desk's screen, too. A picture may differ a little where a browser draws letters another
way; a button that moved, a colour that changed or a line that is gone is more than a little.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
import cv2
import numpy as np
import PIL.Image
from playwright.sync_api import sync_playwright

from tests.browser import pictures
from tests.browser.chrome import launched
from tests.browser.state import State
from tests.browser.states import STATES
from tests.browser.visits import Visitor, small
from vision.base.arrays import Image

FOLDER: Final = Path(__file__).parent / "golden"
LOOKED_AT: Final = Path(__file__).parents[2] / "build" / "look"
SCREENS: Final = ("kiosk", "desk")
LANGUAGES: Final = ("en", "es", "zh_Hans")
GUIDED: Final = frozenset(
    {
        *("setting", "puck dead", "placing", "unsure card", "natural waiting", "natural not verified"),
        *("no cards yet", "reading", "settled with a foul", "all paid", "between hands", "large sums"),
        *("hand seen bare", "hand seen", "strong hands"),
    }
)
"""States that have a picture in each of these languages at both screens' sizes."""
SHEET: Final = Path(__file__).parents[2] / "docs" / "screens.png"
FAR: Final = 40
"""Levels of 255 by which a pixel differs."""
MAX_DIFFERENCE: Final = 0.001
"""The share of pixels that may differ."""
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


def golden(state: State, language: str, size: str) -> Path:
    """Return where a state's picture in a language and a size lies."""
    usual = language == "en" and size == "kiosk"
    return FOLDER / state.file if usual else FOLDER / language / size / state.file


def keep(path: Path, picture: Image, palettes: Iterable[int] = (pictures.COLOURS, 256)) -> None:
    """Write a picture with few colours, they are many and in the repository: as few as still show it."""
    whole = PIL.Image.fromarray(cv2.cvtColor(picture, cv2.COLOR_BGR2RGB))
    path.parent.mkdir(parents=True, exist_ok=True)
    for colours in palettes:
        whole.quantize(colours, dither=PIL.Image.Dither.NONE).save(path, optimize=True)
        if different(picture, load(path)) < MAX_DIFFERENCE / 2:
            break


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


def look(visitor: Visitor, state: State, language: str) -> None:
    """Keep a state as it is in a language, at both screens' sizes, and say what of it does not fit."""
    visit = visitor.visit(replace(state, language=language), SCREENS)
    for size, png in visit.pictures.items():
        path = LOOKED_AT / language / size / state.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(png)
        for misfit in visit.misfits[size]:
            click.echo(f"{state.name}, {size}: {misfit}")


def take(visitor: Visitor, state: State, in_the_book: frozenset[str]) -> None:
    """Take a state's golden pictures, and the book's."""
    seen = visitor.visit(state).pictures["kiosk"]
    keep(FOLDER / state.file, small(seen))
    if state.file in in_the_book:
        pictures.keep(pictures.FOLDER / state.file, seen)
    for spoken in LANGUAGES if state.name in GUIDED else ():
        for size, png in visitor.visit(replace(state, language=spoken), SCREENS).pictures.items():
            keep(golden(state, spoken, size), small(png))


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--look", "language", metavar="LANGUAGE", help="Change nothing; write pictures into build/look."
)
def main(names: tuple[str, ...], language: str | None) -> None:
    """Take the golden pictures of the states NAMES, or of all, those of the book, and the contact sheet."""
    unknown = set(names) - {state.name for state in STATES}
    if unknown:
        raise click.UsageError(f"There is no state {', '.join(sorted(unknown))}.")
    by_name = {state.name: state for state in STATES}
    chosen = [state for state in STATES if not names or state.name in names]
    in_the_book = frozenset(pictures.shown())
    with (
        sync_playwright() as playwright,
        launched(playwright) as browser,
        closing(Visitor(browser)) as visitor,  # an open window would hold the end up
    ):
        for state in chosen:
            try:
                if language:
                    look(visitor, state, language)
                else:
                    take(visitor, state, in_the_book)
                    click.echo(state.name)
            except Exception as error:
                error.add_note(f"This was the state {state.name!r}.")
                raise
        if not language and not pictures.SCENES.keys().isdisjoint(state.name for state in chosen):
            scenes = (visitor.visit(by_name[name]) for name in pictures.SCENES)
            pictures.keep_film([scene.pictures["kiosk"] for scene in scenes])
    if language:
        return
    if not names:
        for stale in {path.name for path in FOLDER.glob("*.png")} - {state.file for state in STATES}:
            (FOLDER / stale).unlink()
    taken = (state for state in STATES if (FOLDER / state.file).exists())
    keep(SHEET, sheet((state.name, load(FOLDER / state.file)) for state in taken), (SHEET_COLOURS,))


if __name__ == "__main__":
    main()
