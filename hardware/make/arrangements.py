"""Other felts: the standard one's measures, its places arranged otherwise, for cards of another size."""

import math
from dataclasses import dataclass
from typing import Final

from hardware.make.tables import HardwareError, fill
from vision.felt.layout import TableLayout
from vision.felt.optics import cameras

NAMES: Final = ("square", "pinwheel", "row")
APART_MM: Final = 5.0
"""Between sets of zones that touch nothing else."""
SPARE: Final = 0.3
"""How much higher than just high enough the camera hangs: room for every tolerance (`CameraModel.window_mm`)."""

Spot = tuple[float, float]


@dataclass(frozen=True)
class _Plan:
    width: float
    height: float
    markers: tuple[Spot, ...]
    places: tuple[tuple[float, float, float], ...]


def arrange(name: str, card_width_mm: float | None = None, camera: str | None = None) -> str:
    """Write a `table.toml` for four places: `square` (2 × 2), `pinwheel` or `row`.

    Without a camera it is the reference build's; the standard felt keeps its own. Bridge cards are 57 mm wide. What
    `vision.felt.layout` refuses is refused when it is loaded.

    Raises:
        HardwareError: there is no such arrangement or camera.
    """
    base = TableLayout.load()
    card_width = card_width_mm or base.card.width_mm
    back = base.zone("A", "back")
    wide = back.width_mm + back.capacity * (card_width - base.card.width_mm)
    front = base.zone("A", "front")
    high = abs(back.y_mm - front.y_mm) + back.height_mm
    known = cameras()
    eye = known.get(camera or next(iter(known)))
    if eye is None or name not in NAMES:
        raise HardwareError(
            f"known are the arrangements {', '.join(NAMES)} and the cameras {', '.join(known)}"
        )
    plan = {"square": _square, "pinwheel": _pinwheel, "row": _row}[name](base, wide, high)
    own = base.camera
    if name == "square" and card_width == base.card.width_mm and camera is None:
        sees = (own.name, own.width_px, own.height_px, own.horizontal_fov_deg, own.height_mm)
    else:
        hangs = math.ceil(eye.lowest_mm(plan.width, plan.height) * (1 + SPARE) / 10) * 10
        sees = (eye.name, eye.width_px, eye.height_px, round(eye.ideal_fov_deg[0], 1), float(hangs))
    rows, margin = (front, base.zone("A", "middle"), back), (back.height_mm - base.card.height_mm) / 2
    facts = {"card_width": card_width, "rows": rows, "margin": margin, "sees": sees}
    return fill("table.toml", name=name, base=base, plan=plan, natural=base.natural_marker, **facts)


def _edge(base: TableLayout) -> float:
    """Half a marker with its border, and some cloth around it."""
    return base.markers.side_mm / 2 + base.markers.quiet_mm + 4


def _square(base: TableLayout, wide: float, high: float) -> _Plan:
    """Two and two, with the standard felt's own distances between and around them."""
    first, third = base.zone("A", "middle"), base.zone("C", "middle")
    back = base.zone("A", "back")
    set_high = abs(back.y_mm - base.zone("A", "front").y_mm) + back.height_mm
    side, top = first.x_mm - back.width_mm / 2, first.y_mm - set_high / 2
    between = third.x_mm - first.x_mm - back.width_mm, third.y_mm - first.y_mm - set_high
    left, right = side + wide / 2, side + wide * 1.5 + between[0]
    far, near = top + high / 2, top + high * 1.5 + between[1]
    width, height = right + wide / 2 + side, near + high / 2 + top
    edge = _edge(base)
    across, down = (edge, width / 2, width - edge), (edge, height - edge)
    markers = tuple((x, down[0]) for x in across) + tuple((x, down[1]) for x in reversed(across))
    places = ((left, far, 180), (right, far, 180), (right, near, 0), (left, near, 0))
    return _Plan(width, height, markers, places)


def _pinwheel(base: TableLayout, wide: float, high: float) -> _Plan:
    """One at each side, the front rows around an empty square; markers in the corners."""
    edge = _edge(base)
    side = wide + 2 * (high + APART_MM + edge)
    middle, out = side / 2, edge + high / 2
    inner = (side - wide) / 2 - edge - APART_MM
    markers = (
        (edge, edge), (side - edge, edge), (side - edge, side - edge), (edge, side - edge),
        (inner, inner), (side - inner, side - inner),
    )  # fmt: skip
    at = side - out
    places = ((middle, out, 180.0), (at, middle, 270.0), (middle, at, 0.0), (out, middle, 90.0))
    return _Plan(side, side, markers, places)


def _row(base: TableLayout, wide: float, high: float) -> _Plan:
    """Four side by side before one long edge, their fronts away from the players; markers between and at the ends."""
    edge = _edge(base)
    end = 2 * edge
    width = 4 * wide + 2 * end + end + 2 * APART_MM
    top, bottom = 3 * APART_MM, APART_MM  # a little off the middle: the front rows are the nearer ones
    height = high + top + bottom
    first = end + wide / 2
    at = (first, first + wide + APART_MM, width - first - wide - APART_MM, width - first)
    markers = tuple((x, y) for y in (edge, height - edge) for x in (edge, width / 2, width - edge))
    y = top + high / 2
    return _Plan(width, height, markers, tuple((x, y, 0) for x in at))
