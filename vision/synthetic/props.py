"""Other things for rendered tables: chips, a coin, the natural's marker, a hand, a stray card.

A thing consists of convex pieces, painted one over the other, in millimetres around its centre. It is placed on the
felt like a card.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from vision.base.arrays import Image, Points
from vision.felt.layout import NaturalMarker

THINGS = ("chip", "coin", "hand", "marker")

Piece = tuple[Points, tuple[int, int, int]]
"""A convex outline, n×2 mm, and its colour, BGR."""


@dataclass(frozen=True)
class Thing:
    """A thing on the felt, its centre at ``x_mm, y_mm``, turned clockwise.

    ``what`` is one of ``THINGS``, or what a row may hold: a card's code, a card face down, a joker. A hand's centre is
    its palm's; unturned, it reaches in from the bottom of the picture. ``bgr`` recolours chips and hands.
    """

    what: str
    x_mm: float
    y_mm: float
    turned_deg: float = 0.0
    bgr: tuple[int, int, int] | None = None

    def placed(self, points: Points) -> Points:
        """Map n×2 millimetres around the thing's centre to felt millimetres."""
        a = math.radians(self.turned_deg)
        turn = np.array([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]])
        return np.asarray(points @ turn.T + (self.x_mm, self.y_mm))


def pieces(thing: Thing, marker: NaturalMarker | None) -> list[Piece]:
    """Return a thing's pieces in felt millimetres, the lowest first."""
    if thing.what == "chip":
        made = _chip(thing.bgr or (150, 40, 30))
    elif thing.what == "coin":
        made = [(_disk(13.5), (70, 140, 165)), (_disk(10), (175, 178, 180))]
    elif thing.what == "hand":
        made = _hand(thing.bgr or (125, 160, 208))
    else:
        made = _marker(marker) if marker else []
    return [(thing.placed(outline), bgr) for outline, bgr in made]


def paint(frame: Image, shapes: list[Piece], shadow: float, spread_px: float) -> None:
    """Paint pieces, given by their outlines in pixels, on a picture, over a shadow ``spread_px`` wide."""
    if not shapes:
        return
    margin = math.ceil(3 * spread_px) + 2
    every = np.concatenate([outline for outline, _ in shapes])
    low = np.maximum(np.floor(every.min(axis=0)).astype(int) - margin, 0)
    part = frame[low[1] : int(every[:, 1].max()) + margin, low[0] : int(every[:, 0].max()) + margin]
    if part.size == 0:
        return
    fixed = [(np.round((outline - low) * 16).astype(np.int32), bgr) for outline, bgr in shapes]
    dark = np.zeros(part.shape[:2], np.uint8)
    for outline, _ in fixed:
        cv2.fillConvexPoly(dark, outline, 255, cv2.LINE_AA, 4)
    soft = cv2.GaussianBlur(dark, (0, 0), spread_px)
    dim = cv2.merge([cv2.convertScaleAbs(soft, alpha=-shadow, beta=255)] * 3)
    np.copyto(part, cv2.multiply(part, dim, scale=1 / 255))
    for outline, bgr in fixed:
        cv2.fillConvexPoly(part, outline, bgr, cv2.LINE_AA, 4)


def _chip(bgr: tuple[int, int, int]) -> list[Piece]:
    """Make a chip of 39 mm: six white spots on its edge, a ring and a light middle."""
    white = (232, 236, 238)
    spots = []
    for k in range(6):
        a = np.radians(k * 60 + np.array([-9, 9, 8, -8]))
        reach = np.array([19.3, 19.3, 14.5, 14.5])
        spots.append((np.column_stack([np.sin(a), -np.cos(a)]) * reach[:, None], white))
    return [(_disk(19.5), bgr), *spots, (_disk(13.5), white), (_disk(12.5), bgr), (_disk(9), white)]


def _marker(marker: NaturalMarker) -> list[Piece]:
    half = np.array([marker.width_mm, marker.height_mm]) / 2
    if marker.shape == "disk":
        return [(_disk(float(half[0])), marker.bgr)]
    return [(np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * half, marker.bgr)]


def _hand(bgr: tuple[int, int, int]) -> list[Piece]:
    """Make a right hand with spread fingers, its forearm and a dark sleeve behind it."""
    limbs: list[tuple[tuple[float, float], tuple[float, float], float]] = [((0, 20), (0, 170), 31.0)]
    for degrees, length, width in ((-16, 78, 8.5), (-5, 88, 9.0), (6, 84, 9.0), (18, 68, 8.0)):
        a = math.radians(degrees)
        root = (degrees * 2.0, -28.0)
        limbs.append((root, (root[0] + length * math.sin(a), root[1] - length * math.cos(a)), width))
    limbs.append(((-30, 15), (-62, -32), 10.5))
    shade = (int(bgr[0] * 0.82), int(bgr[1] * 0.82), int(bgr[2] * 0.84))
    made: list[Piece] = []
    for colour, inset in ((shade, 0.0), (bgr, 2.5)):
        made += [(_capsule(start, end, width - inset), colour) for start, end, width in limbs]
        made.append((_disk(1.0) * (43.0 - inset, 47.0 - inset), colour))
    return [*made, (_capsule((0, 160), (0, 900), 44.0), (52, 40, 38))]


def _disk(radius: float) -> Points:
    a = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    return np.column_stack([np.cos(a), np.sin(a)]) * radius


def _capsule(start: tuple[float, float], end: tuple[float, float], radius: float) -> Points:
    """Outline a limb: a stroke with round ends."""
    ends = np.concatenate([_disk(radius) + start, _disk(radius) + end]).astype(np.float32)
    return np.asarray(cv2.convexHull(ends), float).reshape(-1, 2)
