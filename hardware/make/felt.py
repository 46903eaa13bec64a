"""The felt to print, from a layout; the board for the lens; cards to try the table with."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from hardware.make.sheet import PAPERS, Sheet
from vision.base.arrays import Image
from vision.felt.layout import TableLayout
from vision.felt.lens import BOARD_SQUARE_MM, BOARD_SQUARES, board_picture
from vision.felt.markers import dictionary
from vision.reading.cards import CARDS
from vision.synthetic.deck import HEIGHT_MM, WIDTH_MM, card_picture
from vision.synthetic.drawing import Path as Curve
from vision.synthetic.printed_felt import CLOTH_BGR, LINE_BGR, LINE_MM, ZONE_CORNER_MM

INK, PAPER = "#1c1c1c", "#f5f5f5"
LETTER_MM: Final = 7.0
"""Small enough that no letter is taken for something that lies on the felt (4 cm²)."""
CARD_PX_PER_MM: Final = 10.0


def felt_sheet(layout: TableLayout, *, ground: bool = True) -> Sheet:
    """Draw the felt: zones, their places' letters, markers. Without ground, for paper, only what has ink."""
    sheet = Sheet(f"Feltwatch felt {layout.sha256[:8]}", layout.width_mm, layout.height_mm)
    line = _hex(LINE_BGR)
    if ground:
        sheet.rect(0, 0, layout.width_mm, layout.height_mm, _hex(CLOTH_BGR))
    for zone in layout.zones:
        inset = LINE_MM / 2
        border = Curve.rounded(inset, inset, zone.width_mm - inset, zone.height_mm - inset, ZONE_CORNER_MM)
        points = zone.to_felt(border.contours()[0])
        sheet.outline([(float(x), float(y)) for x, y in points], line, LINE_MM)
    for place in layout.places:
        front = layout.zone(place, "front")
        x, y = front.to_felt(np.array([[-LETTER_MM, front.height_mm / 2]]))[0]
        sheet.text(float(x), float(y) + LETTER_MM * 0.36, place, LETTER_MM, line)
    for marker in layout.markers.at:
        _marker(sheet, layout, marker.id)
    return sheet


def _marker(sheet: Sheet, layout: TableLayout, marker_id: int) -> None:
    markers = layout.markers
    words = dictionary(markers.dictionary)
    cells = words.markerSize + 2  # the black border is one cell wide
    code = np.asarray(cv2.aruco.generateImageMarker(words, marker_id, cells, borderBits=1), np.uint8)
    (marker,) = (m for m in markers.at if m.id == marker_id)
    half, cell = markers.side_mm / 2, markers.side_mm / cells
    around = half + markers.quiet_mm
    sheet.rect(marker.x_mm - around, marker.y_mm - around, 2 * around, 2 * around, PAPER)
    _cells(sheet, code, (marker.x_mm - half, marker.y_mm - half), cell)


def _cells(sheet: Sheet, code: Image, at: tuple[float, float], cell: float) -> None:
    """Draw a code's black cells; equal rows below each other and each run in them are one piece.

    Pieces overlap the next row by a hair where it is black too, so that no viewer's smoothing shows seams.
    """
    seam = 0.02
    black = code == 0
    boxes: list[tuple[float, float, float, float]] = []
    starts = np.flatnonzero(np.concatenate([[True], (black[1:] != black[:-1]).any(axis=1)]))
    for top, bottom in zip(starts, [*starts[1:], len(black)], strict=True):
        row = black[top]
        edges = np.flatnonzero(np.diff(np.concatenate([[0], row.astype(int), [0]])))
        for first, end in edges.reshape(-1, 2).tolist():
            below = bottom < len(black) and bool(black[bottom, first:end].all())
            height = (bottom - top) * cell + (seam if below else 0)
            boxes.append(
                (at[0] + first * cell, at[1] + float(top) * cell, (end - first) * cell, float(height))
            )
    sheet.rects(boxes, INK)


def board_sheet() -> Sheet:
    """Draw the ChArUco board that measures the lens, on A3 lying."""
    width, height = PAPERS["a3"][::-1]
    sheet = Sheet("Feltwatch lens board", width, height)
    cells = np.asarray(board_picture(1.0))  # every edge of the board lies on a whole millimetre
    left = (width - BOARD_SQUARES[0] * BOARD_SQUARE_MM) / 2
    top = (height - BOARD_SQUARES[1] * BOARD_SQUARE_MM) / 2
    _cells(sheet, cells, (left, top), 1.0)
    sheet.text(
        width / 2, height - 5, "print at 100 %, glue on something flat; squares of 38 mm", 4, "#777777"
    )
    return sheet


def card_pages(path: Path, codes: tuple[str, ...] = CARDS) -> int:
    """Write a PDF of cards of our own deck at their true size, nine on an A4 page; return the pages."""
    across, down = PAPERS["a4"]
    canvas = Canvas(str(path), pagesize=(across * mm, down * mm), invariant=1)
    canvas.setTitle("Feltwatch test cards")
    left, top = (across - 3 * WIDTH_MM) / 2, (down - 3 * HEIGHT_MM) / 2
    pages = [codes[i : i + 9] for i in range(0, len(codes), 9)]
    for page in pages:
        for i, code in enumerate(page):
            x, y = left + i % 3 * WIDTH_MM, top + i // 3 * HEIGHT_MM
            canvas.drawImage(
                _png(card_picture(code, CARD_PX_PER_MM)),
                x * mm,
                (down - y - HEIGHT_MM) * mm,
                WIDTH_MM * mm,
                HEIGHT_MM * mm,
            )
        canvas.setFont("Helvetica", 7)
        canvas.drawCentredString(across / 2 * mm, 6 * mm, "print at 100 % on card; a card is 63.5 mm wide")
        canvas.showPage()
    canvas.save()
    return len(pages)


def _png(picture: Image) -> ImageReader:
    _, packed = cv2.imencode(".png", picture)
    return ImageReader(BytesIO(packed.tobytes()))


def _hex(bgr: tuple[int, int, int]) -> str:
    blue, green, red = bgr
    return f"#{red:02x}{green:02x}{blue:02x}"
