"""Finds what is on the felt and was not read as a card: cards face down, a joker, the natural's marker, hands, chips.

The print and the read cards are known; everything else must look like bare cloth, or it is an object. The look of bare
cloth is learnt from the picture itself: its colour between the zones, fitted over the felt by a smooth surface, so that
lamps, tints and shadows are not objects. The markers' white gives the brightness of paper. Everything is computed at 2
mm per pixel, seen from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image, Points
from vision.felt.felt_view import FeltView
from vision.felt.layout import CardSize, NaturalMarker, TableLayout, Zone

Mask = NDArray[np.uint8]
Surface = NDArray[np.float64]
Pixels = tuple[NDArray[np.intp], NDArray[np.intp]]

PX_PER_MM = 0.5
"""The scale at which objects are looked for: the smallest is still 100 pixels."""

MIN_AREA_MM2 = 400.0
"""Less is a crumb or a fold. A coin of two euros has 520 mm²."""

MIN_WIDTH_MM = 10.0
"""Narrower is the rim of a card that was read: its corners are known to 3 mm from two indices, to 8 mm from one
(measured on six decks under the grid's ordinary conditions; the widest rim left was 8 mm). A card hidden up to so
narrow a strip shows its index or nothing."""

FELT_HUE = 0.14
"""How far a pixel's colour may be off the cloth's, by the cloth's brightness; noise and weave stay below 0.07."""

FELT_LIGHT = (0.38, 1.5)
"""How much darker (shadows) or brighter than the smooth surface the cloth may be; paper is 2.4 times as bright as
green cloth, black plastic 0.2 times."""

PAPER = 165
"""A level, of 255 for the markers' white, that paper reaches in every channel and no ink, skin or back does."""


def _disk(across_mm: float) -> Mask:
    return np.asarray(
        cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (round(across_mm * PX_PER_MM),) * 2), np.uint8
    )


_RIM_MM = 4.0  # the felt's edge, where the table may be visible
_LINE_MM = 6.0  # a printed line, and the felt's largest offset from its markers
_NEXT = np.ones((3, 3), np.uint8)
_ACROSS = np.ones((7, 7), np.uint8)  # growing both sides by this much rejoins a thing across a line
_NARROW = _disk(MIN_WIDTH_MM)
_PIP = _disk(26.0)  # larger than any pip of a number card
_SKIN = ((3, 45, 50), (20, 175, 255))  # hue 6 to 40 degrees, neither grey nor garish
_LIKE_THE_MARKER = 45  # levels of 255
_PLAIN = frozenset("23456789T")  # ranks whose face is paper and pips
_BRIDGE = _disk(18.0)  # parts joined by less than this are two things
_MIDDLE_MM = 30.0
_ARM_MM = 70.0  # a sleeve's least width at the felt's edge; a card's short side is less
_MOSTLY, _SOME = 0.4, 0.25  # shares of a region
_WHOLE = 0.8  # the share of its rectangle that a card covers
_CARD_SLACK = 0.15  # the error of a card's measured sides


@dataclass(frozen=True, eq=False)
class Other:
    """An object other than a card of a zone: `what` is back, joker, marker, hand or foreign.

    `corners` are 4 × 2, a rectangle around it in the frame's pixels.
    """

    what: str
    corners: Points


@dataclass(frozen=True, eq=False)
class KnownCard:
    """A card that was read: its code, whether that is sure, and its corners on the felt, 4 × 2 mm."""

    card: str
    sure: bool
    corners_mm: Points


def find_others(
    frame: Image,
    view: FeltView,
    layout: TableLayout,
    known: Sequence[KnownCard],
    *,
    above: Image | None = None,
) -> tuple[Other, ...]:
    """Find everything on the felt except bare cloth, print and the cards that were read.

    A face that was not read is a joker if it lies free in a zone, else foreign. On top of read cards, the natural's
    marker is found, and on sure number cards everything larger than a pip.

    Args:
        frame: the picture, h × w × 3 BGR, 8 bits.
        view: where the felt lies in it.
        layout: the felt.
        known: all cards that were read, in and outside the zones.
        above: the felt's picture by `look_down`, where the caller has it.
    """
    plan = _Plan.of(layout)
    above = look_down(frame, view, layout)[1] if above is None else above
    seen = _reflectance(above, plan, [m.id for m in view.markers])
    paper = np.asarray(cv2.inRange(seen, (PAPER,) * 3, (255,) * 3), np.uint8)
    skin = np.asarray(cv2.inRange(cv2.cvtColor(seen, cv2.COLOR_BGR2HSV), *_SKIN), np.uint8)
    found: list[tuple[str, Points]] = []
    taken = np.zeros_like(plan.print)
    if layout.natural_marker is not None:
        for box in _natural_markers(seen, layout.natural_marker):
            found.append(("marker", box))
            _fill(taken, box, 255)
    strange = _strange(seen, plan) & ~(taken | _out_of_view(view, plan))
    strange &= ~_explain(paper, known)
    # a back may have the cloth's colour within its rim
    loose = _fill_holes(strange & ~plan.print, layout.card.height_mm)
    rest = _open(loose, _NARROW)
    # restore what a printed line cut off, except for the line itself
    rest = _open(_grown(rest, _ACROSS) & (loose | strange), _NEXT)
    for window, region in _regions(rest | _beyond(skin, rest), MIN_AREA_MM2):
        layers = _Layers(
            paper[window], skin[window], plan.zones[window], plan.rim[window], plan.print[window]
        )
        corner = (window[1].start, window[0].start)
        found += [(what, box + corner) for what, box in _name_region(region, layers, layout.card)]
    return tuple(Other(what, view.to_image((box + 0.5) / PX_PER_MM)) for what, box in found)


def look_down(frame: Image, view: FeltView, layout: TableLayout) -> tuple[Zone, Image]:
    """Return the whole felt as an area, and its picture from above at `PX_PER_MM`."""
    area = _Plan.of(layout).area
    shrunk, near = view.smaller(frame, PX_PER_MM)
    return area, near.rectify(shrunk, area, PX_PER_MM)


@dataclass(frozen=True, eq=False)
class _Plan:
    """The layout's geometry in the felt's picture from above, computed once.

    Attributes:
        area: the whole felt as a zone, to cut it out.
        bare: pixels between the zones, where the cloth is measured.
        cloth: for those, the smooth surfaces that light is made of: n × 10.
        coarse: the same for every eighth pixel of the picture: rows × columns × 10.
        whites: by marker, pixels on its white border, and the surfaces there.
        print: where zone lines, markers and the felt's rim are: 255.
        zones: where cards belong: 255.
        rim: a line along the felt's edges, over which hands come in: 255.
    """

    area: Zone
    bare: Pixels
    cloth: Surface
    coarse: Surface
    whites: dict[int, tuple[Pixels, Surface]]
    print: Mask
    zones: Mask
    rim: Mask

    @classmethod
    @lru_cache(maxsize=4)
    def of(cls, layout: TableLayout) -> _Plan:
        """Compute a layout's plan."""
        w, h = layout.width_mm, layout.height_mm
        shape = (round(h * PX_PER_MM), round(w * PX_PER_MM))
        printed, busy, zones, rim = (np.full(shape, level, np.uint8) for level in (255, 255, 0, 0))
        box = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
        inside, well_inside = (
            _px(np.array([w, h]) / 2 + box * (w / 2 - far, h / 2 - far)) for far in (_RIM_MM, 1.5 * _RIM_MM)
        )
        for mask in (printed, busy):
            _fill(mask, inside, 0)
        cv2.polylines(rim, [_fix(well_inside)], True, 255, 1, cv2.LINE_8, 4)
        for zone in layout.zones:
            corners = _px(zone.corners_mm)
            for mask in (busy, zones):
                _fill(mask, corners, 255)
            for mask in (printed, busy):
                cv2.polylines(mask, [_fix(corners)], True, 255, round(_LINE_MM * PX_PER_MM), cv2.LINE_8, 4)
        whites = {}
        ring = np.concatenate([[(t, -1), (t, 1), (-1, t), (1, t)] for t in np.linspace(-1, 1, 20)])
        for marker in layout.markers.at:
            side = layout.markers.side_mm / 2 + layout.markers.quiet_mm
            for mask in (printed, busy):
                _fill(mask, _px(marker.to_felt(box * (side + _LINE_MM / 2))), 255)
            border = _px(marker.to_felt(ring * (side - layout.markers.quiet_mm / 2)))
            x, y = np.round(border).astype(np.intp).T
            whites[marker.id] = ((y, x), _surfaces(x, y, shape))
        rows, columns = (5 * n for n in np.nonzero(busy[::5, ::5] == 0))
        middles = [(np.arange(-(-n // 8)) + 0.5) * 8 - 0.5 for n in shape]
        y, x = np.meshgrid(*middles, indexing="ij")
        return cls(
            area=Zone("felt", "", w / 2, h / 2, w, h, 0.0, 0),
            bare=(rows, columns),
            cloth=_surfaces(columns, rows, shape),
            coarse=_surfaces(x, y, shape),
            whites=whites,
            print=printed,
            zones=zones,
            rim=rim,
        )


def _surfaces(x: NDArray[np.intp] | Points, y: NDArray[np.intp] | Points, shape: tuple[int, int]) -> Surface:
    """Return the polynomials of up to the third degree at some pixels: … × 10."""
    u, v = 2 * x / shape[1] - 1, 2 * y / shape[0] - 1
    one = np.ones_like(u)
    return np.stack([one, u, v, u * u, u * v, v * v, u**3, u * u * v, u * v * v, v**3], axis=-1)


def _out_of_view(view: FeltView, plan: _Plan) -> Mask:
    """Mark the felt that the picture does not show: 255."""
    width, height = view.size
    corners = view.to_image(plan.area.corners_mm)
    if (corners >= 0).all() and (corners <= np.array([width - 1, height - 1])).all():
        return np.zeros_like(plan.print)
    shown = view.rectify(np.full((height, width), 255, np.uint8), plan.area, PX_PER_MM)
    return _grown(~shown, _NEXT)


_LOG = np.log(np.arange(256) + 1.0)


def _reflectance(picture: Image, plan: _Plan, markers: Sequence[int]) -> Image:
    """Remove the light from the felt's picture: in every channel the markers' white becomes 255."""
    levels = _LOG[picture[plan.bare]]
    off = levels - np.median(levels, axis=0)
    slopes = np.zeros((plan.cloth.shape[1], 3))
    for _ in range(4):  # pixels that are not cloth get lower weights each time (Geman and McClure's weights)
        light = off.mean(axis=1, keepdims=True)
        far = ((light / 0.35) ** 2)[:, 0] + (((off - light) / 0.15) ** 2).sum(axis=1)
        weighed = plan.cloth * ((1 + far) ** -2)[:, None]
        slopes = np.linalg.lstsq(weighed.T @ plan.cloth, weighed.T @ levels, rcond=None)[0]
        off = levels - plan.cloth @ slopes
    whites = [plan.whites[number] for number in markers]
    ratios = np.percentile([_LOG[picture[pixels]] - light @ slopes for pixels, light in whites], 75, axis=1)
    gain = 255 / np.exp(plan.coarse @ slopes + np.median(ratios, axis=0))
    h, w = picture.shape[:2]
    size = (gain.shape[1] * 8, gain.shape[0] * 8)
    full = cv2.resize(gain.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)[:h, :w]
    return np.asarray(cv2.multiply(picture, full, dtype=cv2.CV_8U), np.uint8)


def _strange(seen: Image, plan: _Plan) -> Mask:
    """Mark pixels without the cloth's colour: 255."""
    cloth = np.median(seen[plan.bare], axis=0) + 0.5
    bright = float(np.linalg.norm(cloth))
    axes = np.linalg.svd(cloth[None])[2][1:]  # the two directions perpendicular to the cloth's colour
    across = seen[plan.bare] @ axes.T / bright
    limit = max(FELT_HUE, 5 * float(np.median(np.abs(across))))
    # brightness in hundredths of the cloth's, hue in hundredths around 128
    turned = np.vstack([cloth / bright**2, axes / bright]) * 100
    measured = cv2.transform(seen, np.column_stack([turned, [0, 128, 128]]))
    hue = (128 - 100 * limit, 128 + 100 * limit)
    low, high = ((100 * light, tint, tint) for light, tint in zip(FELT_LIGHT, hue, strict=True))
    return np.asarray(cv2.bitwise_not(cv2.inRange(measured, low, high)), np.uint8)


def _explain(paper: Mask, known: Sequence[KnownCard]) -> Mask:
    """Mark the cards that were read, except for things on number cards that are larger than a pip: 255."""
    mask, plain = np.zeros_like(paper), np.zeros_like(paper)
    for card in sorted(known, key=_is_plain, reverse=True):
        outline = _fix(_px(card.corners_mm))
        cv2.fillConvexPoly(mask, outline, 255, cv2.LINE_8, 4)
        cv2.fillConvexPoly(plain, outline, 255 if _is_plain(card) else 0, cv2.LINE_8, 4)
    covered = np.asarray(cv2.erode(plain, _NEXT), np.uint8) & ~paper
    # a chip's light middle belongs to the chip; the inside of a printed frame does not belong to the frame
    covered = _fill_holes(covered, _MIDDLE_MM)
    return _grown(mask, _NEXT) & ~_open(covered, _PIP)


def _is_plain(card: KnownCard) -> bool:
    return card.sure and card.card[0] in _PLAIN


def _beyond(skin: Mask, rest: Mask) -> Mask:
    """Extend a hand, whose unexplained parts are on the felt, over the cards below it."""
    if not rest.any():
        return rest
    count, labels = cv2.connectedComponents(_open(skin, _NARROW))
    touched = np.zeros(count, np.uint8)
    touched[labels[rest > 0]] = 255
    touched[0] = 0
    return np.asarray(touched[labels])


def _natural_markers(seen: Image, marker: NaturalMarker) -> Iterator[Points]:
    """Find patches of the marker's colour, shape and size anywhere: their rectangles, 4 × 2 pixels."""
    low, high = (tuple(level + way * _LIKE_THE_MARKER for level in marker.bgr) for way in (-1, 1))
    alike = _open(np.asarray(cv2.inRange(seen, low, high), np.uint8), _NARROW)
    full = marker.width_mm * marker.height_mm * (np.pi / 4 if marker.shape == "disk" else 1)
    wanted = sorted((marker.width_mm, marker.height_mm))
    for window, region in _regions(alike, 0.6 * full):
        box, sides = _rectangle(region)
        if _area(region) < 1.3 * full and np.allclose(sides, wanted, rtol=0.2, atol=2):
            yield box + (window[1].start, window[0].start)


def _regions(mask: Mask, least_mm2: float) -> Iterator[tuple[tuple[slice, slice], Mask]]:
    """Split a mask into its connected regions above a size: each one's window, slightly enlarged, and mask."""
    if not mask.any():
        return
    count, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    for number in range(1, count):
        x, y, w, h, area = (int(value) for value in stats[number])
        if area >= least_mm2 * PX_PER_MM**2:
            window = (slice(max(0, y - 5), y + h + 5), slice(max(0, x - 5), x + w + 5))
            yield window, np.asarray(labels[window] == number, np.uint8)


def _area(region: Mask) -> float:
    """Return a region's size in square millimetres."""
    return float(np.count_nonzero(region)) / PX_PER_MM**2


def _rectangle(region: Mask) -> tuple[Points, tuple[float, float]]:
    """Return the smallest rectangle around a region, 4 × 2 pixels, and its short and long side in millimetres."""
    outlines, _ = cv2.findContours(region, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    middle, size, turned = cv2.minAreaRect(np.concatenate(outlines))
    size = (size[0] + 1, size[1] + 1)  # outlines run through the centres of the outermost pixels
    box = np.asarray(cv2.boxPoints((middle, size, turned)), float)
    short, long = sorted(side / PX_PER_MM for side in size)
    return box, (short, long)


@dataclass(frozen=True, eq=False)
class _Layers:
    """A region's window of paper, skin, the zones, the line along the felt's edges and the print: 255 each."""

    paper: Mask
    skin: Mask
    zones: Mask
    rim: Mask
    print: Mask


def _name_region(region: Mask, layers: _Layers, card: CardSize) -> Iterator[tuple[str, Points]]:
    """Classify a region, card by card if several lie side by side: names and rectangles, 4 × 2 pixels."""
    box, _ = _rectangle(region)
    if _area(region & layers.rim) * PX_PER_MM > _ARM_MM and _share(layers.paper, region) < _SOME:
        yield "hand", box
        return
    ways = (region, _open(region & ~layers.print, _NEXT))
    found = ([one for part in _parts(way, card) for one in _row(part, card)] for way in ways)
    cards = max(found, key=lambda cards: sum(whole for _, whole in cards))
    if not all(whole for _, whole in cards) and _share(layers.skin, region) > _MOSTLY:
        yield "hand", box
        return
    for one, whole in cards:
        if not whole:
            yield "foreign", one
            continue
        middle = one.mean(axis=0)
        face = np.zeros_like(region)
        _fill(face, middle + 0.8 * (one - middle), 1)  # a back's rim is white too
        x, y = middle.round().astype(int)
        if _share(layers.paper, face) < _SOME:
            yield "back", one
        else:
            yield ("joker" if layers.zones[y, x] else "foreign"), one


def _parts(region: Mask, card: CardSize) -> Iterator[Mask]:
    """Split a region larger than a card where it is joined by corners and short edges only."""
    left = region.copy()
    if _area(region) > 1.3 * card.width_mm * card.height_mm:
        cores = np.asarray(cv2.erode(region, _BRIDGE), np.uint8)
        # a pixel near two cards belongs to the nearer one
        _, nearest = cv2.distanceTransformWithLabels(
            np.asarray(cores == 0, np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_CCOMP
        )
        for window, core in _regions(cores, 0.0):
            part = np.zeros_like(region)
            part[window] = core
            own = np.asarray(nearest == nearest[part > 0][0], np.uint8)
            part = _grown(part, _BRIDGE) & region & own
            left &= ~part
            yield part
        left = _open(left, _NEXT)
    for window, rest in _regions(left, MIN_AREA_MM2):
        part = np.zeros_like(region)
        part[window] = rest
        yield part


def _row(part: Mask, card: CardSize) -> Iterator[tuple[Points, bool]]:
    """Split a long rectangle into a row's touching cards; return each one's rectangle, and whether it is a card's."""
    (a, b, c, d), (short, long) = _rectangle(part)
    count = 1
    for across, along, gap in (
        (card.height_mm, card.width_mm, card.gap_mm),
        (card.width_mm, card.height_mm, card.row_gap_mm),
    ):
        if abs(short / across - 1) < _CARD_SLACK and long > 1.4 * along:
            count = round((long + gap) / (along + gap))
    if np.linalg.norm(b - a) < np.linalg.norm(c - b):
        a, b, c, d = b, c, d, a  # a to b is a long side
    first, second = sorted((short, long / count))
    # a card's sides, or those of a card partly under its neighbour
    sized = abs(second / card.height_mm - 1) < _CARD_SLACK and 0.7 < first / card.width_mm < 1 + _CARD_SLACK
    for k in range(count):
        start, end = k / count, (k + 1) / count
        one = np.array([a + (b - a) * start, a + (b - a) * end, d + (c - d) * end, d + (c - d) * start])
        inside = np.zeros_like(part)
        _fill(inside, one, 1)
        yield one, sized and _area(part & inside) > _WHOLE * first * second


def _share(mask: Mask, region: Mask) -> float:
    return float(cv2.mean(mask, region)[0]) / 255


def _open(mask: Mask, kernel: Mask) -> Mask:
    """Remove everything narrower than the kernel."""
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, kernel), np.uint8)


def _fill_holes(mask: Mask, widest_mm: float) -> Mask:
    """Fill the holes up to this width and height."""
    outlines, nesting = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    full = mask.copy()
    for hole in np.flatnonzero(nesting[0][:, 3] >= 0).tolist() if outlines else ():
        if max(cv2.boundingRect(outlines[hole])[2:]) <= widest_mm * PX_PER_MM:
            cv2.fillPoly(full, [outlines[hole]], 255)
    return full


def _grown(mask: Mask, kernel: Mask) -> Mask:
    return np.asarray(cv2.dilate(mask, kernel), np.uint8)


def _px(points_mm: Points) -> Points:
    """Map n × 2 millimetres of the felt to pixels of its picture."""
    return np.asarray(np.asarray(points_mm) * PX_PER_MM - 0.5)


def _fix(points_px: Points) -> NDArray[np.int32]:
    return np.round(points_px * 16).astype(np.int32)  # in OpenCV's fixed point: sixteenths of a pixel


def _fill(mask: Mask, corners_px: Points, value: int) -> None:
    cv2.fillConvexPoly(mask, _fix(corners_px), value, cv2.LINE_8, 4)
