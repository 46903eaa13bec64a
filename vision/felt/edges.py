"""A marker's four edges, black on white, sampled across: their position and their sharpness.

The grey levels are sampled along short lines across an edge. The edge is at the steepest rise; the width of the rise is
the blur. A straight line through many such places is accurate to a few hundredths of a pixel, and a corner is the
intersection of two lines.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image, Points

Flags = NDArray[np.bool_]

SAMPLES = 32
"""Lines across each edge."""

_ALONG = np.linspace(0.1, 0.9, SAMPLES)

REACH = 0.11
"""How far a line reaches to either side, by the marker's side: less than its black border (1/6) and than the
white one (6 of 40 mm)."""

STEP_PX = 0.25
MIN_GOOD = 10
"""With fewer clean lines than this an edge is not measured: something lies on it."""

MIN_RISE = 12.0
"""The least rise from black to white that counts as an edge, grey levels: several times the noise."""


def refine_corners(grey: Image, corners: Points) -> Points:
    """Move a marker's corners, 4×2 pixels, to the intersections of its edges; next to a hidden edge they stay."""
    for _ in range(2):  # the second pass starts nearby, with lines at right angles
        found = [place for place in find_corners(grey, corners) if place is not None]
        if len(found) < len(corners):
            return corners
        corners = np.array(found)
    return corners


def find_corners(grey: Image, corners: Points) -> list[Points | None]:
    """Return the intersections of a marker's edges near its corners, 4×2 pixels; None next to a hidden edge."""
    offsets, levels = _across(grey, corners)
    ends = np.roll(corners, -1, axis=0)
    lines = [
        _line(start, end, place, good)
        for start, end, (good, place) in zip(corners, ends, _edges(offsets, levels), strict=True)
    ]
    found: list[Points | None] = []
    for before, after in zip(lines[-1:] + lines[:-1], lines, strict=True):
        if before is None or after is None:
            found.append(None)
            continue
        (p, along), (q, other) = before, after
        found.append(p + along * _meeting(along, other, q - p))
    return found


def edge_spread_px(grey: Image, corners: Points) -> float | None:
    """Measure the width of the rise from 10 to 90 % across a marker's edges, in pixels; None if they are unclear.

    It is the median of the clean lines, and includes the quarter pixel of the sampling.
    """
    widths: list[float] = []
    offsets, sides = _across(grey, corners, reach=0.14)
    for levels, (good, place) in zip(sides, _edges(offsets, sides), strict=True):
        if good.sum() < MIN_GOOD:
            continue
        # aligned at their own edge, the lines average the noise away
        common = _shift(levels[good], place[good] / STEP_PX).mean(axis=0)
        first, last = int(np.argmin(common)), int(np.argmax(common))
        if first >= last:
            continue
        rise = np.maximum.accumulate((common - common[first]) / (common[last] - common[first]))[
            first : last + 1
        ]
        at = offsets[first : last + 1]
        widths.append(float(np.interp(0.9, rise, at) - np.interp(0.1, rise, at)))
    return float(np.median(widths)) if widths else None


def _shift(lines: Points, steps: Points) -> Points:
    """Shift each line of samples to the left by its own number of steps, interpolated; the end values are repeated."""
    at = np.clip(np.arange(lines.shape[1]) + steps[:, None], 0, lines.shape[1] - 1)
    before = np.minimum(at.astype(int), lines.shape[1] - 2)
    rows = np.arange(len(lines))[:, None]
    low, high = lines[rows, before], lines[rows, before + 1]
    return np.asarray(low + (at - before) * (high - low))


def _across(grey: Image, corners: Points, reach: float = REACH) -> tuple[Points, Points]:
    """Sample lines across all four edges, from the black inside to the white outside.

    Returns:
        offsets (n) and grey levels (4 × SAMPLES × n).
    """
    sides = corners[[1, 2, 3, 0]] - corners
    lengths = np.hypot(sides[:, 0], sides[:, 1])
    outward = np.stack([sides[:, 1], -sides[:, 0]], axis=1) / lengths[:, None]  # clockwise in the picture
    far = max(2.0, reach * float(lengths.mean()))
    offsets = np.arange(-far, far + STEP_PX / 2, STEP_PX)
    starts = corners[:, None] + _ALONG[:, None] * sides[:, None]
    x, y = (
        (starts[..., k, None] + offsets * outward[:, None, k, None])
        .astype(np.float32)
        .reshape(-1, len(offsets))
        for k in (0, 1)
    )
    levels = cv2.remap(grey, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return offsets, np.asarray(levels, float).reshape(4, SAMPLES, -1)


def _edges(offsets: Points, levels: Points) -> list[tuple[Flags, Points]]:
    """Find the edge on each side's lines: which lines are clean, and the offset of the rise's middle."""
    rise = levels[..., 1:] - levels[..., :-1]
    total = levels[..., -4:].mean(axis=2) - levels[..., :4].mean(axis=2)
    rise = np.where(rise > 0.15 * rise.max(axis=2, keepdims=True), rise, 0)
    middles = (offsets[1:] + offsets[:-1]) / 2
    weight = rise.sum(axis=2)
    place = (rise @ middles) / np.maximum(weight, 1e-9)
    good = (total > MIN_RISE) & (weight < 1.6 * np.maximum(total, 1e-9))
    return list(zip(good, place, strict=True))


def _meeting(along: Points, other: Points, step: Points) -> float:
    """Return how far along a line, in units of its direction, it meets another that begins a step away."""
    return float((step[0] * other[1] - step[1] * other[0]) / (along[0] * other[1] - along[1] * other[0]))


def _line(start: Points, end: Points, place: Points, good: Flags) -> tuple[Points, Points] | None:
    """Fit a straight line through the edge places without the outliers: a point and a direction.

    None if too few are good.
    """
    if good.sum() < MIN_GOOD:
        return None
    side = end - start
    outward = np.array([side[1], -side[0]]) / np.hypot(*side)
    for _ in range(3):
        slope, height = _fit(_ALONG[good], place[good])
        off = np.abs(place - (slope * _ALONG + height))
        closer = good & (off <= max(0.15, 2.5 * _median(off[good])))
        if closer.sum() < MIN_GOOD:
            return None
        if (closer == good).all():
            break
        good = closer
    return start + outward * height, side + outward * slope


def _median(values: Points) -> float:
    """Return the median, which NumPy takes ten times as long for."""
    ordered = np.sort(values)
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def _fit(x: Points, y: Points) -> tuple[float, float]:
    """Fit a straight line by least squares: its slope, and its height at zero."""
    middle, level = float(x.mean()), float(y.mean())
    off = x - middle
    slope = float(off @ y) / float(off @ off)
    return slope, level - slope * middle
