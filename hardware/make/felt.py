"""The felt to print, from a layout; the board for the lens; cards to try the table with."""

import math
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final

import cv2
import numpy as np
from reportlab.lib.units import mm
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from hardware.make.frame import Frame
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
CIRCLE_MM: Final = 55.0
"""Around a puck of 50 mm, over its antenna's coil."""
SEAT_MM: Final = 22.0
PLACE_MM: Final = 45.0
"""The height of a place's letter: legible from a chair and in the camera's picture. It stands as far beyond the felt,
where the reader does not look."""
PLACE_OUT_MM: Final = 110.0
"""How far a place's letter stands outwards from the middle of its place: no circle lies there."""
CARD_PX_PER_MM: Final = 10.0


def felt_sheet(layout: TableLayout, *, ground: bool = True) -> Sheet:
    """Draw the felt: zones, their places' letters, markers. Without ground, for paper, only what has ink."""
    sheet = Sheet(f"Feltwatch felt {layout.sha256[:8]}", layout.width_mm, layout.height_mm)
    if ground:
        sheet.rect(0, 0, layout.width_mm, layout.height_mm, _hex(CLOTH_BGR))
    _print_felt(sheet, layout, (0.0, 0.0))
    return sheet


def _print_felt(sheet: Sheet, layout: TableLayout, at: tuple[float, float]) -> None:
    """Draw zones, letters and markers, the felt's corner at this point of the sheet."""
    line, (dx, dy) = _hex(LINE_BGR), at
    for zone in layout.zones:
        inset = LINE_MM / 2
        border = Curve.rounded(inset, inset, zone.width_mm - inset, zone.height_mm - inset, ZONE_CORNER_MM)
        points = zone.to_felt(border.contours()[0])
        sheet.outline([(float(x) + dx, float(y) + dy) for x, y in points], line, LINE_MM)
    for place in layout.places:
        front = layout.zone(place, "front")
        x, y = front.to_felt(np.array([[-LETTER_MM, front.height_mm / 2]]))[0]
        sheet.text(float(x) + dx, float(y) + dy + LETTER_MM * 0.36, place, LETTER_MM, line)
    for marker in layout.markers.at:
        _marker(sheet, layout, marker.id, at)


@dataclass(frozen=True)
class Mark:
    """Something on the cloth beyond the felt: its words or a circle, its middle in the felt's millimetres, its size."""

    what: str
    x: float
    y: float
    size: float
    words: str = ""
    turned_deg: float = 0.0


def cloth_marks(frame: Frame) -> list[Mark]:
    """List what the cloth shows beyond the felt: a circle at each coil, seats, places, where it is cut."""
    layout, found = frame.layout, []
    antennas = zip(frame.coils_mm(), frame.sizes["antennas_mm"], strict=True)
    for seat, ((x, y), board) in enumerate(antennas, start=1):
        ix, iy = frame.inward(board)
        beside = CIRCLE_MM / 2 + SEAT_MM * 0.8  # the number stands beside the circle
        found.append(Mark("circle", x, y, CIRCLE_MM))
        turned = 180.0 if iy > 0 else 0.0
        found.append(Mark("seat", x - iy * beside, y + ix * beside, SEAT_MM, str(seat), turned))
    for place in layout.places:
        zone = layout.zone(place, "back")
        y = -PLACE_MM if zone.turned_deg == 180.0 else layout.height_mm + PLACE_MM
        out = math.copysign(PLACE_OUT_MM, zone.x_mm - layout.width_mm / 2)
        found.append(Mark("place", zone.x_mm + out, y, PLACE_MM, place, zone.turned_deg))
    cuts = frame.cut_outs()
    return found + [Mark("cut", x, y, wide, f"cut out, {name}") for name, (x, y, wide) in cuts]


def cloth_sheet(frame: Frame, *, ground: bool = True) -> Sheet:
    """Draw the whole cloth, as large as the table top: the felt in its middle, circles, seats, places, cut-outs."""
    wide, high = frame.sizes["table_mm"]
    left, top = wide / 2 - frame.middle[0], high / 2 - frame.middle[1]
    sheet = Sheet(f"Feltwatch cloth {frame.layout.sha256[:8]}", wide, high)
    line = _hex(LINE_BGR)
    if ground:
        sheet.rect(0, 0, wide, high, _hex(CLOTH_BGR))
    _print_felt(sheet, frame.layout, (left, top))
    for mark in cloth_marks(frame):
        x, y, size, half = mark.x + left, mark.y + top, mark.size, mark.size / 2
        sheet.keep_whole(x - half, y - half, size, size)
        if mark.what == "circle":
            sheet.circle(x, y, size, line, LINE_MM)
        elif mark.what == "cut":
            sheet.circle(x, y, size, line, 0.4)
            sheet.line(x - half, y, x + half, y, line, 0.4)
            sheet.line(x, y - half, x, y + half, line, 0.4)
            sheet.text(x - half - 3, y + 1.5, mark.words, 5, line, "end")
        else:
            around, down = math.radians(mark.turned_deg), size * 0.36  # from the middle to the baseline
            at = x - down * math.sin(around), y + down * math.cos(around)
            sheet.text(*at, mark.words, size, line, turned_deg=mark.turned_deg)
    words = "UNTESTED on hardware: compare the circles with the antennas before you cut"
    # between two circles, so that no tile of paper is needed for these words alone
    between = top + frame.layout.height_mm + PLACE_MM
    sheet.text(wide / 2, between, words, 4, line)
    return sheet


def _marker(sheet: Sheet, layout: TableLayout, marker_id: int, at: tuple[float, float]) -> None:
    markers = layout.markers
    family = dictionary(markers.dictionary)
    cells = family.markerSize + 2  # the black border is one cell wide
    code = np.asarray(cv2.aruco.generateImageMarker(family, marker_id, cells, borderBits=1), np.uint8)
    (marker,) = (m for m in markers.at if m.id == marker_id)
    half, cell = markers.side_mm / 2, markers.side_mm / cells
    around = half + markers.quiet_mm
    x, y = marker.x_mm + at[0], marker.y_mm + at[1]
    sheet.rect(x - around, y - around, 2 * around, 2 * around, PAPER)
    sheet.keep_whole(x - around, y - around, 2 * around, 2 * around)
    _cells(sheet, code, (x - half, y - half), cell)


def _cells(sheet: Sheet, code: Image, at: tuple[float, float], cell: float) -> None:
    """Draw a code's black cells, in rectangles as large as runs of cells in equal neighbouring rows allow.

    A rectangle overlaps the next row by a hair where it is black too, so that no viewer's smoothing shows seams.
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
            height = float(bottom - top) * cell + (seam if below else 0)
            boxes.append((at[0] + first * cell, at[1] + float(top) * cell, (end - first) * cell, height))
    sheet.rects(boxes, INK)


def board_sheet() -> Sheet:
    """Draw the ChArUco board that measures the lens, on A3 in landscape."""
    width, height = PAPERS["a3"][::-1]
    sheet = Sheet("Feltwatch lens board", width, height)
    cells = np.asarray(board_picture(1.0))  # every edge of the board lies on a whole millimetre
    left = (width - BOARD_SQUARES[0] * BOARD_SQUARE_MM) / 2
    top = (height - BOARD_SQUARES[1] * BOARD_SQUARE_MM) / 2
    _cells(sheet, cells, (left, top), 1.0)
    words = "print at 100 %, glue on something flat; squares of 38 mm; UNTESTED on hardware"
    sheet.text(width / 2, height - 5, words, 4, "#777777")
    return sheet


def card_pages(path: Path, codes: tuple[str, ...] = CARDS) -> int:
    """Write a PDF of cards of our own deck at their true size, nine on an A4 page; return the pages."""
    across, down = PAPERS["a4"]
    canvas = Canvas(str(path), pagesize=(across * mm, down * mm), invariant=1)
    canvas.setTitle("Feltwatch test cards")
    wide, high = WIDTH_MM * mm, HEIGHT_MM * mm
    left, top = (across * mm - 3 * wide) / 2, (down * mm + 3 * high) / 2
    words = "print at 100 % on card; a card is 63.5 mm wide; UNTESTED on hardware"
    pages = [codes[i : i + 9] for i in range(0, len(codes), 9)]
    for page in pages:
        for i, code in enumerate(page):
            picture = _png(card_picture(code, CARD_PX_PER_MM))
            canvas.drawImage(picture, left + i % 3 * wide, top - (i // 3 + 1) * high, wide, high)
        canvas.setFont("Helvetica", 7)
        canvas.drawCentredString(across / 2 * mm, 6 * mm, words)
        canvas.showPage()
    canvas.save()
    return len(pages)


def _png(picture: Image) -> ImageReader:
    _, packed = cv2.imencode(".png", picture)
    return ImageReader(BytesIO(packed.tobytes()))


def _hex(bgr: tuple[int, int, int]) -> str:
    blue, green, red = bgr
    return f"#{red:02x}{green:02x}{blue:02x}"
