"""`feltwatch felt`: the four marker sheets as a PDF, to print and to lay at the corners of any table."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.command_options import FILE
from firmware.terminal import say

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas

PAPERS_MM: Final[Mapping[str, tuple[float, float]]] = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
CORNERS: Final = ("far left", "far right", "near right", "near left")
"""Clockwise, as in `vision.felt.layout.SHEETS`."""
STEPS: Final = (
    'Print all four sheets at 100 % ("actual size"), on white, matt paper. Measure the bar: it must be 100 mm long.',
    "Lay each flat at its corner of the table, whole in the camera's picture. It may be turned a little.",
    "Leave at least 35 cm between left and right for two hands, 75 cm for four; between far and near 20 cm.",
    'Then look at the page of "feltwatch try": it draws where the cards go.',
)
RULER_MM: Final = 100
TOP_MM: Final = 40.0
"""From the paper's upper edge to the marker."""


@click.command("felt")
@click.option("--paper", type=click.Choice([*PAPERS_MM]), default="a4", help="What the printer holds.")
@click.option("--out", type=FILE, help="The PDF to write.  [default: sheets-PAPER.pdf, here]")
def command(paper: str, out: Path | None) -> None:
    """Write the four marker sheets that stand for the printed felt, as a PDF of four pages.

    They lie at the corners of any table, under any camera (`feltwatch try`). Print them at 100 %: each has a bar to
    measure.
    """
    from firmware.record.journal.disk import write_whole

    path = out or Path(f"sheets-{paper}.pdf")
    try:
        write_whole(path, sheets(paper))
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from error
    say(f"Four sheets are in {path}: print them at 100 %, and lay each at its corner.")


def sheets(paper: str) -> bytes:
    """Return the PDF; the same paper gives the same bytes."""
    from reportlab.lib.units import mm
    from reportlab.pdfgen.canvas import Canvas

    width, height = PAPERS_MM[paper]
    made = BytesIO()
    canvas = Canvas(made, pagesize=(width * mm, height * mm), invariant=1)
    canvas.setTitle("Feltwatch: four marker sheets")
    canvas.setViewerPreference("PrintScaling", "None")
    for number in range(len(CORNERS)):
        canvas.scale(mm, mm)  # from here on in millimetres
        _sheet(canvas, number, width, height)
        canvas.showPage()
    canvas.save()
    return made.getvalue()


def _sheet(canvas: Canvas, number: int, width: float, height: float) -> None:
    from vision.felt.sheets import QUIET_MM, SIDE_MM

    left, bottom = (width - SIDE_MM) / 2, height - TOP_MM - SIDE_MM
    canvas.setFillGray(0.1)
    for x, y, wide, high in _black(number):
        canvas.rect(left + x, bottom + y, wide, high, stroke=0, fill=1)
    canvas.setFillGray(0.45)
    canvas.setFont("Helvetica", 5)
    canvas.drawCentredString(width / 2, height - 14, "^ far side of the table")
    foot = bottom - QUIET_MM
    canvas.setFont("Helvetica-Bold", 9)
    canvas.drawString(left, foot - 6, f"Sheet {number + 1} of 4: {CORNERS[number]}")
    canvas.setFont("Helvetica", 3.2)
    lines = [line for step, words in enumerate(STEPS, start=1) for line in _wrapped(f"{step}. {words}")]
    for row, line in enumerate(lines):
        canvas.drawString(left, foot - 15 - 5 * row, line)
    _ruler(canvas, left, 18)
    _plan(canvas, number, width - 52, 12)


def _black(number: int) -> list[tuple[float, float, float, float]]:
    """Return a marker's black cells as (x, y, width, height), from its lower left corner."""
    import cv2
    import numpy as np

    from vision.felt.layout import SHEETS, TableLayout
    from vision.felt.markers import dictionary
    from vision.felt.sheets import SIDE_MM

    words = dictionary(TableLayout.load().markers.dictionary)
    cells = words.markerSize + 2  # the black border is one cell wide
    code: Any = np.flipud(cv2.aruco.generateImageMarker(words, SHEETS[number], cells, borderBits=1))
    cell, seam = SIDE_MM / cells, 0.02  # pieces overlap by a hair, so that no viewer shows seams
    return [
        (x * cell, y * cell, cell + (seam if x + 1 < cells else 0), cell + (seam if y + 1 < cells else 0))
        for y, x in np.argwhere(code == 0).tolist()
    ]


def _wrapped(words: str, most: int = 84) -> list[str]:
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) >= most:
            lines.append("   ")
        lines[-1] = f"{lines[-1]} {word}".rstrip() if lines[-1] else word
    return lines


def _ruler(canvas: Canvas, x: float, y: float) -> None:
    """Draw a bar of 100 mm with a stroke at every ten."""
    canvas.setStrokeGray(0.2)
    canvas.setLineWidth(0.3)
    canvas.line(x, y, x + RULER_MM, y)
    for at in range(0, RULER_MM + 1, 10):
        canvas.line(x + at, y - (2 if at % 50 else 4), x + at, y)
    canvas.setFont("Helvetica", 3.2)
    canvas.drawString(x, y + 2, f"{RULER_MM} mm: measure it")


def _plan(canvas: Canvas, number: int, x: float, y: float) -> None:
    """Draw the table from above with its four sheets, this one filled."""
    canvas.setStrokeGray(0.45)
    canvas.rect(x, y, 36, 26, stroke=1, fill=0)
    for i, (dx, dy) in enumerate(((2, 17), (29, 17), (29, 2), (2, 2))):
        canvas.setFillGray(0.45 if i == number else 1.0)
        canvas.rect(x + dx, y + dy, 5, 7, stroke=1, fill=1)
        canvas.setFillGray(1.0 if i == number else 0.45)
        canvas.setFont("Helvetica-Bold", 4)
        canvas.drawCentredString(x + dx + 2.5, y + dy + 2.2, str(i + 1))
