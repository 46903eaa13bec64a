"""`feltwatch read`: reads the cards in photos and in folders of photos."""

import json
import sys
import time
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
import cv2
import numpy as np
from rich.console import Console
from rich.progress import track

from vision.base.arrays import Image, Points
from vision.base.errors import NoMarkersError, VisionError
from vision.base.files import write_whole
from vision.base.pictures import load_picture, picture_files
from vision.cli.options import ANY_PATH, FILE, LAYOUT, THREADS, one_line
from vision.felt.layout import TableLayout
from vision.reading.loose_cards import read_photograph
from vision.reading.network import CardReader
from vision.reading.profile_files import load_profile
from vision.reading.table_reading import ReadCard, card_json, read

# Colours of the outlines, BGR.
_SURE, _UNSURE, _OTHER = (80, 200, 60), (30, 160, 255), (200, 120, 200)


@click.command(name="read")
@click.argument("paths", nargs=-1, required=True, type=ANY_PATH, metavar="PATH...")
@LAYOUT
@click.option("--loose", is_flag=True, help="Read any photo: no felt, no zones, every visible card.")
@click.option(
    "--draw",
    "out",
    type=ANY_PATH,
    help="Draw what was read: to a file for one photo, to a folder for several.",
)
@click.option("--deck", type=FILE, help="The file of the enrolled deck (feltwatch enrol).")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON line for each photo.")
@THREADS
def command(
    paths: tuple[Path, ...],
    layout_file: Path | None,
    loose: bool,
    out: Path | None,
    deck: Path | None,
    is_json: bool,
    threads: int,
) -> None:
    """Read the cards in photos and folders of photos.

    With the felt's markers in the picture, every card is given with its zone. With --loose every visible card of any
    photo is given, assuming one deck of 52. A card marked "?" is not sure: a person must look at it.
    """
    if loose and layout_file:
        raise click.UsageError("--loose reads without a felt; leave --layout out.")
    files = list(picture_files(paths))
    if not files:
        raise click.UsageError("There is no picture in the folders named.")
    drawings = {} if out is None else _drawings(files, out)
    reader = CardReader(threads=threads, deck=load_profile(deck) if deck else None)
    layout = None if loose else TableLayout.load(layout_file)
    read_picture = partial(_loose, reader) if layout is None else partial(_on_table, layout, reader)
    failed = False
    for file in _track(files):
        try:
            picture = load_picture(file)
            result, outlines = read_picture(picture)
        except VisionError as error:
            failed = True
            why = str(error)
            if isinstance(error, NoMarkersError):
                why = f"{why.rstrip('.')}; for a photo without the felt use --loose."
            click.echo(f"Error: {_add_name(file, why)}", err=True)
            if is_json:
                click.echo(json.dumps({"image": str(file), "error": why}))
            continue
        click.echo(json.dumps({"image": str(file), **result}) if is_json else _in_words(file, result))
        if file in drawings:
            _draw(picture, outlines, drawings[file])
    if failed:
        sys.exit(2)


ColouredOutline = tuple[str, tuple[int, int, int], Points]
"""What `--draw` draws for one object: its text, its colour (BGR) and its corners."""
Answer = tuple[dict[str, Any], list[ColouredOutline]]
"""What is read in one picture, as JSON, and the outlines to draw."""


def _add_name(file: Path, message: str) -> str:
    """Return a message on one line, with the file's name in it."""
    return one_line(message if str(file) in message else f"{file}: {message}")


def _track(files: list[Path]) -> Iterable[Path]:
    """Show a progress bar for three or more files, on a terminal only. It goes to standard error."""
    console = Console(stderr=True)
    if len(files) < 3 or not console.is_terminal:
        return files
    return track(files, "reading", console=console)


def _on_table(layout: TableLayout, reader: CardReader, picture: Image) -> Answer:
    reading = read(picture, layout, reader)
    cards = [card for zone in reading.zones for card in zone.cards]
    others = ((other.what, _OTHER, other.corners) for other in reading.others)
    return reading.to_json(), [*map(_card_outline, cards), *others]


def _card_outline(card: ReadCard) -> ColouredOutline:
    return (card.card, _SURE, card.corners) if card.sure else (card.card + "?", _UNSURE, card.corners)


def _loose(reader: CardReader, picture: Image) -> Answer:
    start = time.perf_counter()
    cards, verdicts = read_photograph(picture, reader)
    h, w = picture.shape[:2]
    result = {
        "size": [w, h],
        "cards": [card_json(c) for c in cards],
        "others": [],
        "verdicts": {name: verdict.to_json() for name, verdict in verdicts.items()},
        "ms": {"total": round(1000 * (time.perf_counter() - start), 1)},
    }
    return result, [_card_outline(card) for card in cards]


def _in_words(file: Path, result: dict[str, Any]) -> str:
    """Return the reading as text: one line for each zone, with a question mark after each unsure card."""
    lines = [str(file)]
    if "zones" in result:
        lines += [f"  {z['place']} {z['row']:<6} {_cards(z['cards'])}" for z in result["zones"]]
        others = Counter(other["what"] for other in result["others"])
        lines += [f"  also there: {what} ({count})" for what, count in sorted(others.items())]
    else:
        cards = result["cards"]
        unsure = sum(not c["sure"] for c in cards)
        noun = "card" if len(cards) == 1 else "cards"
        lines += [f"  {_cards(cards)}", f"  {len(cards)} {noun}, {unsure} to ask about"]
    failed = [verdict for verdict in result["verdicts"].values() if not verdict["ok"]]
    lines += [f"  ! {one['text']}" + (f" Where: {one['where']}." if "where" in one else "") for one in failed]
    return "\n".join(map(one_line, lines))


def _cards(cards: list[dict[str, Any]]) -> str:
    return " ".join(c["card"] + ("" if c["sure"] else "?") for c in cards) or "-"


def _drawings(files: list[Path], out: Path) -> dict[Path, Path]:
    """Return the file that each photo is drawn to.

    Raises click.UsageError if a drawing would replace a photo or another drawing.
    """
    in_folder = len(files) > 1 or out.is_dir()
    drawings = {file: out / f"{file.stem}.png" if in_folder else out for file in files}
    photos = {file.resolve() for file in files}
    drawn: dict[Path, Path] = {}
    for file, drawing in drawings.items():
        if drawing.resolve() in photos:
            raise click.UsageError(
                f"The drawing would replace the photo {drawing}; name another place for it."
            )
        if (other := drawn.setdefault(drawing, file)) != file:
            raise click.UsageError(
                f"{other} and {file} would both be drawn to {drawing}; read them with two commands."
            )
    return drawings


def _draw(picture: Image, outlines: list[ColouredOutline], path: Path) -> None:
    """Write a copy of the picture with the outlines of the reading, whole or not at all.

    Raises click.ClickException if it cannot be written.
    """
    canvas = picture.copy()
    line = max(1, round(max(canvas.shape[:2]) / 900))
    for text, ink, corners in outlines:
        shape = np.round(corners).astype(np.int32)
        cv2.polylines(canvas, [shape], True, ink, line, cv2.LINE_AA)
        x, y = (int(v) for v in shape.mean(axis=0))
        for stroke, width in (((0, 0, 0), 4 * line), (ink, 2 * line)):
            cv2.putText(canvas, text, (x - 12 * line, y), 0, 0.8 * line, stroke, width, cv2.LINE_AA)
    try:
        _, drawing = cv2.imencode(path.suffix, canvas)
    except cv2.error:
        raise click.UsageError(
            f"{path} cannot be written; name a file ending in .png or .jpg, or a folder."
        ) from None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, drawing.tobytes())
    except OSError as error:
        raise click.ClickException(f"{path} cannot be written: {error.strerror}.") from error
