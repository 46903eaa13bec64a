"""Shapes drawn once for two outputs: SVG for the page, and pixels for the renderer.

It supports only what our deck needs: filled and stroked paths of straight and cubic pieces. Lengths are millimetres, x
to the right, y down. Pixels come from OpenCV, drawn several times too large and averaged down.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np

from vision.base.arrays import Image, Points

CURVE_STEPS = 12
"""Straight pieces per cubic piece: at a 90 mm card the error stays below 0.05 mm."""
_T = np.linspace(0, 1, CURVE_STEPS + 1)[1:]
_BERNSTEIN = np.stack([(1 - _T) ** 3, 3 * (1 - _T) ** 2 * _T, 3 * (1 - _T) * _T**2, _T**3], axis=1)
"""The points of a cubic piece after its first, by its four control points."""

RASTER_PX_PER_MM = 24.0
"""Pictures are drawn at least this fine before they are averaged down."""

SVG_UNITS_PER_MM = 50
"""SVG coordinates are whole fiftieths of a millimetre: short to write, as fine as print."""

_COUNT = {"M": 2, "L": 2, "C": 6, "Z": 0}
_TOKEN = re.compile(r"[MLCZ]|-?\d*\.?\d+")

Piece = tuple[str, tuple[float, ...]]


@dataclass(frozen=True)
class Path:
    """Contours of pieces: M (move), L (line), C (cubic), Z (close), with absolute coordinates."""

    pieces: tuple[Piece, ...]

    @classmethod
    def parse(cls, text: str) -> Path:
        """Parse the SVG notation's commands M, L, C and Z; a repeated command may be omitted.

        >>> Path.parse("M0,0 L10,0 10,5Z").pieces[2]
        ('L', (10.0, 5.0))
        """
        pieces: list[Piece] = []
        command, numbers = "", list[float]()
        for token in _TOKEN.findall(text):
            if token in _COUNT:
                command = token
                if command == "Z":
                    pieces.append(("Z", ()))
                continue
            numbers.append(float(token))
            if len(numbers) == _COUNT[command]:
                pieces.append((command, tuple(numbers)))
                numbers = []
                command = "L" if command == "M" else command
        return cls(tuple(pieces))

    @classmethod
    def polygon(cls, points: Iterable[tuple[float, float]] | Points) -> Path:
        """Close the polygon through the points."""
        pieces: list[Piece] = [("L", (float(x), float(y))) for x, y in points]
        return cls((("M", pieces[0][1]), *pieces[1:], ("Z", ())))

    @classmethod
    def rect(cls, x0: float, y0: float, x1: float, y1: float) -> Path:
        """Draw the rectangle between two corners."""
        return cls.polygon([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])

    @classmethod
    def ellipse(cls, x: float, y: float, rx: float, ry: float | None = None) -> Path:
        """Draw an ellipse (a circle without ``ry``) by four cubic pieces."""
        ry = rx if ry is None else ry
        k = 0.5523  # the cubic that best approximates a quarter of a circle
        ring = [(1, k, k, 1, 0, 1), (-k, 1, -1, k, -1, 0), (-1, -k, -k, -1, 0, -1), (k, -1, 1, -k, 1, 0)]
        pieces: list[Piece] = [("M", (x + rx, y))]
        for values in ring:
            pieces.append(
                ("C", tuple(c + v * r for v, c, r in zip(values, (x, y) * 3, (rx, ry) * 3, strict=True)))
            )
        return cls((*pieces, ("Z", ())))

    @classmethod
    def rounded(cls, x0: float, y0: float, x1: float, y1: float, radius: float) -> Path:
        """Draw a rectangle with rounded corners."""
        r, k = radius, radius * (1 - 0.5523)
        return cls.parse(
            f"M{x0 + r},{y0} L{x1 - r},{y0} C{x1 - k},{y0} {x1},{y0 + k} {x1},{y0 + r} L{x1},{y1 - r} "
            f"C{x1},{y1 - k} {x1 - k},{y1} {x1 - r},{y1} L{x0 + r},{y1} C{x0 + k},{y1} {x0},{y1 - k} "
            f"{x0},{y1 - r} L{x0},{y0 + r} C{x0},{y0 + k} {x0 + k},{y0} {x0 + r},{y0} Z"
        )

    def __add__(self, other: Path) -> Path:
        """Join the contours of two paths: the even-odd rule leaves a hole where they overlap."""
        return Path(self.pieces + other.pieces)

    def placed(
        self, x: float, y: float, scale: float = 1.0, *, wide: float = 1.0, turned: bool = False
    ) -> Path:
        """Scale (``wide`` widens it), turn upside down if requested, and move the origin to ``x, y``."""
        sx, sy = (-scale * wide, -scale) if turned else (scale * wide, scale)
        return Path(
            tuple(
                (name, tuple(v * (sx, sy)[i % 2] + (x, y)[i % 2] for i, v in enumerate(values)))
                for name, values in self.pieces
            )
        )

    def contours(self) -> list[Points]:
        """Flatten to polygons, n×2 each."""
        done: list[list[tuple[float, ...]]] = []
        for name, values in self.pieces:
            if name == "M":
                done.append([values])
            elif name == "L":
                done[-1].append(values)
            elif name == "C":
                controls = (done[-1][-1], values[:2], values[2:4], values[4:])
                done[-1].extend(map(tuple, (_BERNSTEIN @ controls).tolist()))
        return [np.array(contour) for contour in done]

    def svg(self) -> str:
        """Write the SVG notation with relative integer units, which is the shortest."""
        out, at, start, last = [], (0, 0), (0, 0), ""
        for name, values in self.pieces:
            if name == "Z":
                out.append("z")
                at, last = start, "z"
                continue
            units = [round(v * SVG_UNITS_PER_MM) for v in values]
            if name == "L" and (units[0] == at[0] or units[1] == at[1]):
                level = units[1] == at[1]
                out.append(f"h{units[0] - at[0]}" if level else f"v{units[1] - at[1]}")
                last = ""
            else:
                relative = [v - at[i % 2] for i, v in enumerate(units)]
                command = name.lower()
                numbers = "".join(f"{'' if v < 0 else ' '}{v}" for v in relative)
                out.append(numbers if command == last else command + numbers.lstrip())
                last = "l" if command == "m" else command
            at = (units[-2], units[-1])
            if name == "M":
                start = at
        return "".join(out)


@dataclass(frozen=True)
class Shape:
    """A path and its paint; colours are ``#rrggbb``. Overlapping contours of one shape leave holes."""

    path: Path
    fill: str | None = None
    line: str | None = None
    line_mm: float = 0.0

    @classmethod
    def dots(cls, places: Iterable[tuple[float, float]], radius: float, colour: str) -> Shape:
        """Draw round dots: lines of zero length with round ends, the shortest notation."""
        pieces: list[Piece] = []
        for place in places:
            pieces += [("M", place), ("L", place)]
        return cls(Path(tuple(pieces)), None, colour, 2 * radius)


@dataclass(frozen=True)
class Drawing:
    """Shapes in painting order; those of ``half`` are painted twice, the second time turned by 180°."""

    width_mm: float
    height_mm: float
    under: tuple[Shape, ...]
    half: tuple[Shape, ...] = ()
    over: tuple[Shape, ...] = ()

    def svg(self, name: str, title: str) -> str:
        """Write a standalone SVG document; ``name`` is an identifier that must be unique on a page."""
        w, h = (round(v * SVG_UNITS_PER_MM) for v in (self.width_mm, self.height_mm))
        under, half, over = (_svg(part) for part in (self.under, self.half, self.over))
        twice = (
            f'<g id="{name}">{half}</g><use href="#{name}" transform="rotate(180 {w / 2:g} {h / 2:g})"/>'
            if half
            else ""
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} {h}" role="img">'
            f'<title>{title}</title><g fill-rule="evenodd" stroke-linecap="round" stroke-linejoin="round">'
            f"{under}{twice}{over}</g></svg>"
        )

    def picture(self, px_per_mm: float) -> Image:
        """Paint on white: (height·px_per_mm) × (width·px_per_mm) × 3, rounded to whole pixels, BGR; not writable."""
        fine = px_per_mm * max(2, math.ceil(RASTER_PX_PER_MM / px_per_mm))
        canvas = np.full((round(self.height_mm * fine), round(self.width_mm * fine), 3), 255, np.uint8)
        middle = np.array([self.width_mm, self.height_mm])
        for part, both in ((self.under, False), (self.half, True), (self.over, False)):
            for shape in part:
                _paint(canvas, shape, shape.path.contours(), fine)
            for shape in part if both else ():
                _paint(canvas, shape, [middle - c for c in shape.path.contours()], fine)
        size = (round(self.width_mm * px_per_mm), round(self.height_mm * px_per_mm))
        picture = np.asarray(cv2.resize(canvas, size, interpolation=cv2.INTER_AREA), np.uint8)
        picture.flags.writeable = False
        return picture


def _svg(shapes: tuple[Shape, ...]) -> str:
    """Write shapes as SVG paths; neighbours with the same line share a group, and in it those with the same fill."""
    out = []
    for (line, width), lined in itertools.groupby(shapes, lambda s: (s.line, s.line_mm)):
        units = round(width * SVG_UNITS_PER_MM)
        out.append(f'<g stroke="{line}" stroke-width="{units}">' if line else "<g>")
        for fill, filled in itertools.groupby(lined, lambda s: s.fill or "none"):
            paths = [f'<path d="{shape.path.svg()}"' for shape in filled]
            if len(paths) == 1:
                out.append(f'{paths[0]} fill="{fill}"/>')
            else:
                out.append(f'<g fill="{fill}">{"".join(path + "/>" for path in paths)}</g>')
        out.append("</g>")
    return "".join(out)


_SHIFT = 4  # OpenCV's fixed point: sixteenths of a pixel


def _paint(canvas: Image, shape: Shape, contours: list[Points], px_per_mm: float) -> None:
    fixed = [np.round((c * px_per_mm - 0.5) * (1 << _SHIFT)).astype(np.int32) for c in contours]
    if shape.fill:
        cv2.fillPoly(canvas, fixed, _bgr(shape.fill), shift=_SHIFT)
    if shape.line:
        closed = any(name == "Z" for name, _ in shape.path.pieces)
        thick = max(1, round(shape.line_mm * px_per_mm))
        cv2.polylines(canvas, fixed, closed, _bgr(shape.line), thick, shift=_SHIFT)


def _bgr(colour: str) -> tuple[int, int, int]:
    return int(colour[5:7], 16), int(colour[3:5], 16), int(colour[1:3], 16)
