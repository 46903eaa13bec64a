"""Drawings in millimetres, written as SVG and as PDF at their true size; large ones in tiles for a house's printer."""

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

from reportlab.graphics import renderPDF, renderSVG
from reportlab.graphics.shapes import Drawing, Group, Line, Polygon, Rect, String
from reportlab.graphics.shapes import Path as Shape
from reportlab.lib.colors import HexColor
from reportlab.lib.units import mm
from reportlab.pdfgen.canvas import Canvas

PAPERS: Final = {"a4": (210.0, 297.0), "a3": (297.0, 420.0)}
MARGIN_MM: Final = 10.0
"""What printers leave white at the paper's edge, and some more."""
OVERLAP_MM: Final = 10.0
"""How far neighbouring tiles show the same, for gluing."""
STICKER_GAP_MM: Final = 8.0

Window = tuple[float, float]
"""The first and the last millimetre that a tile shows, along one side of the drawing."""
Box = tuple[float, float, float, float]


class Sheet:
    """A drawing of `width` × `height` millimetres; origin top left, y down."""

    def __init__(self, title: str, width: float, height: float) -> None:
        self.title, self.width, self.height = title, width, height
        self._shapes: list[Rect | Shape | Polygon | String | Line | Group] = []
        self.whole: list[Box] = []

    def rect(self, x: float, y: float, width: float, height: float, fill: str) -> None:
        """Fill a rectangle."""
        box = Rect(x * mm, (self.height - y - height) * mm, width * mm, height * mm)
        box.fillColor, box.strokeColor = HexColor(fill), None
        self._shapes.append(box)

    def rects(self, boxes: Sequence[tuple[float, float, float, float]], fill: str) -> None:
        """Fill many rectangles (x, y, width, height) as one shape: no viewer rounds its edges to whole pixels."""
        shape = Shape(fillColor=HexColor(fill), strokeColor=None)
        for x, y, width, height in boxes:
            top, bottom = (self.height - y) * mm, (self.height - y - height) * mm
            shape.moveTo(x * mm, top)
            for to_x, to_y in ((x + width, top), (x + width, bottom), (x, bottom)):
                shape.lineTo(to_x * mm, to_y)
            shape.closePath()
        self._shapes.append(shape)

    def outline(self, points: Sequence[tuple[float, float]], colour: str, thick: float) -> None:
        """Draw a closed line through these points; `thick` in millimetres."""
        flat = [value for x, y in points for value in (x * mm, (self.height - y) * mm)]
        look: dict[str, Any] = {
            "strokeColor": HexColor(colour),
            "strokeWidth": thick * mm,
            "strokeLineJoin": 1,
        }
        self._shapes.append(Polygon(flat, fillColor=None, **look))

    def line(self, x: float, y: float, to_x: float, to_y: float, colour: str, thick: float = 0.2) -> None:
        """Draw a straight line."""
        ends = x * mm, (self.height - y) * mm, to_x * mm, (self.height - to_y) * mm
        self._shapes.append(Line(*ends, strokeColor=HexColor(colour), strokeWidth=thick * mm))

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        colour: str,
        anchor: Literal["start", "middle", "end"] = "middle",
        turned_deg: float = 0.0,
    ) -> None:
        """Write words on the baseline `y`, turned about the point x, y; `size` is the type's height in millimetres."""
        look: dict[str, Any] = {"fontName": "Helvetica", "fontSize": size * mm, "textAnchor": anchor}
        text = String(0, 0, words, fillColor=HexColor(colour), **look)
        at, around = (x * mm, (self.height - y) * mm), math.radians(-turned_deg)
        cos, sin = math.cos(around), math.sin(around)
        self._shapes.append(Group(text, transform=(cos, sin, -sin, cos, *at)) if around else text)
        text.x, text.y = (0, 0) if around else at

    def circle(self, x: float, y: float, diameter: float, colour: str, thick: float) -> None:
        """Draw a circle's line around x, y."""
        turns = (2 * math.pi * i / 96 for i in range(96))
        points = [(x + diameter / 2 * math.cos(a), y + diameter / 2 * math.sin(a)) for a in turns]
        self.outline(points, colour, thick)

    def drawing(self) -> Drawing:
        """Give the drawing as reportlab has it, in points."""
        return Drawing(self.width * mm, self.height * mm, *self._shapes)

    def svg(self, path: Path) -> None:
        """Write an SVG whose size is in millimetres."""
        drawn = str(renderSVG.drawToString(self.drawing()))
        start = drawn.index("<svg")
        end = drawn.index(">", start)
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{self.width:g}mm" height="{self.height:g}mm"'
            f' viewBox="0 0 {self.width * mm:.4f} {self.height * mm:.4f}">\n<title>{self.title}</title'
        )
        body = drawn[end:].replace("<title>...</title>", "").replace("<desc>...</desc>", "")
        # reportlab cuts the height to whole points where it turns the drawing over
        body = re.sub(r"translate\(0,-\d+\)", f"translate(0,{-self.height * mm:.4f})", body, count=1)
        lines = [line.rstrip() for line in (head + body).splitlines()]
        path.write_text("\n".join(line for line in lines if line) + "\n", encoding="utf-8")

    def pdf(self, path: Path) -> None:
        """Write a PDF of one page, the drawing at its true size."""
        bind(path, self.title, [self])

    def keep_whole(self, x: float, y: float, width: float, height: float) -> None:
        """Say that no seam between tiles may run through this rectangle."""
        self.whole.append((x, y, width, height))

    def tiles(self, path: Path, paper: str) -> int:
        """Write a PDF of tiles for `a4` or `a3` paper, portrait or landscape, whichever takes fewer; return how many.

        Tiles on which nothing is drawn are left out. A rectangle of `keep_whole` lies on one tile, outside the strips
        that neighbours share. If that is not possible, it is drawn whole on a sheet at the end, to be stuck on.
        """
        across, down = min(
            (PAPERS[paper], PAPERS[paper][::-1]),
            key=lambda size: math.prod(len(windows) for windows in self.windows(*size)),
        )
        columns, rows = self.windows(across, down)
        canvas = _canvas(path, f"{self.title}, in tiles", across, down)
        drawing = self.drawing()
        inked = [[value / mm for value in shape.getBounds()] for shape in self._shapes]
        count = 0
        for row, (top, bottom) in enumerate(rows, start=1):
            for column, (left, right) in enumerate(columns, start=1):
                over, below = self.height - top, self.height - bottom
                if not any(x1 < right and x2 > left and y1 < over and y2 > below for x1, y1, x2, y2 in inked):
                    continue  # a white sheet
                count += 1
                corner = (MARGIN_MM, down - MARGIN_MM)
                self._window(canvas, drawing, (left, top, right, bottom), corner)
                which = f"row {row} of {len(rows)}, column {column} of {len(columns)}"
                _marks(canvas, f"{self.title}: {which}; UNTESTED", across, down, (right - left, bottom - top))
                canvas.showPage()
        for sheet in self._stickers(columns, rows, across, down):
            count += 1
            for box, at in sheet:
                self._window(canvas, drawing, box, (at[0], down - at[1]))
            _marks(canvas, f"{self.title}: stick these on, a seam cuts them; UNTESTED", across, down)
            canvas.showPage()
        canvas.save()
        return count

    def windows(self, across: float, down: float) -> tuple[list[Window], list[Window]]:
        """Return what each column of tiles shows of the drawing's width, and each row of its height."""
        return (
            _windows(self.width, across - 2 * MARGIN_MM, [(x, x + wide) for x, _, wide, _ in self.whole]),
            _windows(self.height, down - 2 * MARGIN_MM, [(y, y + high) for _, y, _, high in self.whole]),
        )

    def _stickers(
        self, columns: list[Window], rows: list[Window], across: float, down: float
    ) -> list[list[tuple[Box, tuple[float, float]]]]:
        """Lay what a seam cuts on further sheets: each piece of the drawing and where it lies on its sheet."""
        sheets: list[list[tuple[Box, tuple[float, float]]]] = []
        x = y = high = math.inf
        for left, top, wide, tall in self.whole:
            if _is_whole(left, left + wide, columns) and _is_whole(top, top + tall, rows):
                continue
            if x + wide > across - MARGIN_MM:
                x, y, high = MARGIN_MM, y + high + STICKER_GAP_MM, 0.0
            if y + tall > down - MARGIN_MM:
                x, y, high = MARGIN_MM, MARGIN_MM, 0.0
                sheets.append([])
            sheets[-1].append(((left, top, left + wide, top + tall), (x, y)))
            x, high = x + wide + STICKER_GAP_MM, max(high, tall)
        return sheets

    def _window(self, canvas: Canvas, drawing: Drawing, box: Box, at: tuple[float, float]) -> None:
        """Draw what lies in a box (left, top, right, bottom), its top left corner `at` x, y from the page's foot."""
        left, top, right, bottom = box
        canvas.saveState()
        window = canvas.beginPath()
        window.rect(at[0] * mm, (at[1] - bottom + top) * mm, (right - left) * mm, (bottom - top) * mm)
        canvas.clipPath(window, stroke=0, fill=0)
        renderPDF.draw(drawing, canvas, (at[0] - left) * mm, (at[1] - self.height + top) * mm)
        canvas.restoreState()


def _windows(length: float, room: float, whole: Sequence[Window]) -> list[Window]:
    """Split a length into as few windows of `room` as hold it; neighbours share `OVERLAP_MM`.

    Each shared strip lies where it touches none of `whole`, if there is such a place.
    """
    found: list[Window] = []
    start = 0.0
    while start + room < length:
        last = start + room - OVERLAP_MM
        places = [last, *(begin - OVERLAP_MM for begin, _ in whole if start < begin - OVERLAP_MM < last)]
        cutting = {at for at in places for begin, end in whole if begin < at + OVERLAP_MM and end > at}
        following = max(set(places) - cutting, default=last)
        found.append((start, following + OVERLAP_MM))
        start = following
    return [*found, (start, length)]


def _is_whole(begin: float, end: float, windows: list[Window]) -> bool:
    """Return whether one window alone shows this."""
    return sum(first < end and last > begin for first, last in windows) == 1


def bind(path: Path, title: str, sheets: Sequence[Sheet]) -> None:
    """Write drawings of one size as the pages of one PDF."""
    canvas = _canvas(path, title, sheets[0].width, sheets[0].height)
    for sheet in sheets:
        renderPDF.draw(sheet.drawing(), canvas, 0, 0)
        canvas.showPage()
    canvas.save()


def _canvas(path: Path, title: str, width: float, height: float) -> Canvas:
    canvas = Canvas(str(path), pagesize=(width * mm, height * mm), invariant=1)
    canvas.setTitle(title)
    canvas.setAuthor("Feltwatch")
    canvas.setViewerPreference("PrintScaling", "None")
    return canvas


def _marks(
    canvas: Canvas, words: str, across: float, down: float, window: tuple[float, float] | None = None
) -> None:
    """Mark where to cut, where the next tile begins, and 100 mm to check the printer by."""
    canvas.setStrokeGray(0.4)
    canvas.setLineWidth(0.1 * mm)
    if window is not None:
        ends = MARGIN_MM + window[0], down - MARGIN_MM - window[1]
        for x in (MARGIN_MM, ends[0]):
            for y in (down - MARGIN_MM + 2, ends[1] - MARGIN_MM):
                # not through what is written at the foot
                if y >= MARGIN_MM or x in (MARGIN_MM, across - MARGIN_MM):
                    canvas.line(x * mm, y * mm, x * mm, (y + MARGIN_MM - 2) * mm)
        for y in (down - MARGIN_MM, ends[1]):
            for x in (0.0, ends[0] + 2):
                canvas.line(x * mm, y * mm, (x + MARGIN_MM - 2) * mm, y * mm)
    canvas.setFont("Helvetica", 7)
    canvas.setFillGray(0.3)
    canvas.drawString((MARGIN_MM + 5) * mm, 6.5 * mm, words)  # above the ruler: A4 has no room next to it
    end = across - MARGIN_MM - 5
    canvas.line((end - 100) * mm, 4 * mm, end * mm, 4 * mm)
    for x in (end - 100, end):
        canvas.line(x * mm, 3 * mm, x * mm, 5 * mm)
    canvas.drawRightString((end - 102) * mm, 3 * mm, "100 mm; 10 mm overlap")
