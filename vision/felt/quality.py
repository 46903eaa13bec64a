"""Judges whether a picture is good enough to read. Each verdict has a measured figure, its limit, and a sentence.

Nothing here depends on the cards' faces. Sharpness and light are measured on the felt's own markers, which are always
black on white; glare and banding on the felt. A verdict that concerns only some zones names them.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import cv2
import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.base.errors import N_
from vision.felt.edges import edge_spread_px
from vision.felt.faults import ALIKE, FLICKERS, FOGGED, MIN_CONTRAST, STRIPED, even_stripes
from vision.felt.felt_view import FeltView
from vision.felt.layout import TableLayout
from vision.felt.resample import as_grey, project, reduce_picture

# The limits, each with its reason.

MAX_EDGE_MM = 1.3
"""An edge may take no more than the stroke of an ordinary index is wide (1.1 to 1.7 mm): beyond, strokes run into
one another and 6, 8 and 9 grow alike."""

MIN_PX_PER_MM = 1.2
"""Of 100 cards the prototype read 79 at 1.0 px/mm, and 98 at 1.3 px/mm."""

MIN_WHITE = 70.0
"""Below, red ink (a third of white) and black (a tenth) are closer than 20 of 255 grey levels, and the sensor's
noise at such light is 3 to 5 of them."""

MAX_WHITE = 249.0
"""Above, white paper is burnt out: thin strokes shrink, and glare can no longer be told from paper."""

BURNT = 250
"""Grey levels from here on count as glare: well-lit white paper stays below."""

MAX_GLARE_MM2 = 60.0
"""Half the area of an ordinary index with its suit: less cannot hide one."""

MAX_BANDING = 0.04
"""A share of the light. Above, a lamp's flicker shows as stripes, and readings differ between frames."""

MAX_MOVED_MM = 3.0
"""Only a knock moves the camera so far; a change of temperature moves it less. Markers are found within 0.1 mm, and
a zone's margin is 5 mm."""

NEAR_MM = 500.0
"""The sharpness of a zone is measured on the markers at most this far from its middle. On the build's felt these are
the two markers beside it for an outer zone, and the markers of both sides for an inner one."""

MIN_COLOUR = 8.0
"""The spread of colour, in levels of 255, that a picture with red pips or a coloured felt exceeds several times
over; a grey one, tinted or not, stays below 4."""

SMALL_PX_PER_MM = 1.0
"""The picture at this scale serves for glare, stripes and colour: half an index is still 60 pixels."""


LIGHT_IS_RIGHT = N_("The light is right.")


@dataclass(frozen=True)
class PictureVerdict:
    """One verdict: the figure measured and its limit in ``unit``, whether it is well, and what to do if not.

    ``where`` names the zones concerned, joined by commas, if it is not the whole picture. ``by_zone`` are the figures
    of zones, as far as they have their own.
    """

    name: str
    ok: bool
    figure: float
    limit: float
    unit: str
    text: str
    where: str = ""
    by_zone: Mapping[str, float] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(
        cls, name: str, ok: bool, figure: float, limit: float, unit: str, well: str, ill: str, where: str = ""
    ) -> Self:
        """Return a verdict that says `well` or `ill`; `where` are the zones concerned if it is ill."""
        return cls(name, ok, figure, limit, unit, well if ok else ill, "" if ok else where)

    @property
    def lets_read(self) -> bool:
        """Whether it leaves at least some zones to be read."""
        return self.ok or bool(self.where)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as JSON values."""
        return {
            "ok": self.ok,
            "figure": round(self.figure, 3),
            "limit": self.limit,
            "unit": self.unit,
            "text": self.text,
            **({"where": self.where} if self.where else {}),
        }


def judge(
    frame: Image,
    view: FeltView,
    layout: TableLayout,
    reference: Matrix | None = None,
    *,
    grey: Image | None = None,
    small: tuple[Image, FeltView] | None = None,
    level: Image | None = None,
    before: Mapping[str, PictureVerdict] | None = None,
) -> dict[str, PictureVerdict]:
    """Judge a picture in which the felt was found.

    Args:
        frame: the picture, height × width × 3 BGR (or one channel), 8 bits.
        view: where the felt lies in it.
        layout: the felt.
        reference: the homography of the day's set-up; with it, whether the camera moved is judged too.
        grey: the picture in grey, where the caller has it.
        small: the picture shrunk to `SMALL_PX_PER_MM` or a little more, where the caller has it; `level` is it in grey.
        before: the verdicts of an earlier frame in which the markers looked the same. Only glare and colour are then
            judged again, because cards can change these.

    Returns:
        Verdicts by name: ``sharpness``, ``resolution``, ``light``, ``glare``, ``banding``, ``colour`` and, with
        a reference, ``camera``.
    """
    shrunk, near = small or view.smaller(frame, SMALL_PX_PER_MM)
    level = as_grey(shrunk) if level is None else level
    if before is not None:
        # once in colour, a camera stays so
        coloured = before["colour"] if before["colour"].ok else colour(shrunk)
        return {**before, "glare": _glare(level, near, layout), "colour": coloured}
    grey = as_grey(frame) if grey is None else grey
    verdicts = [_sharpness(grey, view, layout), _resolution(view, layout), _light(grey, view, layout)]
    verdicts += [_glare(level, near, layout), _banding(level, near, layout), colour(shrunk)]
    if reference is not None:
        verdicts.append(_camera(view, layout, reference))
    return {verdict.name: verdict for verdict in verdicts}


def colour(frame: Image) -> PictureVerdict:
    """Judge whether any picture has colours; without them the suits cannot be read by their ink."""
    figure = 0.0
    if frame.ndim == 3:
        small, _ = reduce_picture(frame, 320)
        luma, red, blue = np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2YCrCb), float).reshape(-1, 3).T
        # colour that depends on brightness is a tint, as of an old photograph: it is removed
        basis = np.column_stack([np.ones_like(luma), luma / 255, (luma / 255) ** 2])
        figure = float(np.percentile(_off_the_tint(basis, np.column_stack([red, blue])), 99.9))
    well = N_("The picture has colours.")
    ill = N_("No colour in this picture: set the camera to colour.")
    return PictureVerdict.of("colour", figure >= MIN_COLOUR, figure, MIN_COLOUR, "levels", well, ill)


def _sharpness(grey: Image, view: FeltView, layout: TableLayout) -> PictureVerdict:
    """Take the worst marker; for each zone, the worst near it: a tilted lens is sharp on one side only."""
    spreads: dict[int, float] = {}
    for marker in view.markers:
        corners = view.lens.distort(marker.corners) if view.lens else marker.corners
        spread = edge_spread_px(grey, corners)
        if spread is not None:
            spreads[marker.id] = spread * layout.markers.side_mm / marker.side_px
    figure = max(spreads.values(), default=math.inf)
    at = {marker.id: np.array([marker.x_mm, marker.y_mm]) for marker in layout.markers.at}
    by_zone = {}
    for zone in layout.zones:
        near = [number for number in at if math.dist(at[number], (zone.x_mm, zone.y_mm)) < NEAR_MM]
        # where one of them is not measured, nobody knows whether it would be the worst
        by_zone[zone.name] = max(spreads[n] for n in near) if near and spreads.keys() >= {*near} else figure
    soft = [name for name, spread in by_zone.items() if spread > MAX_EDGE_MM]
    well = N_("The picture is sharp.")
    ill = N_("The picture is out of focus: clean the lens and set the focus.")
    if figure > MAX_EDGE_MM and _contrast(grey, view, layout) < MIN_CONTRAST:
        ill = FOGGED
    where = "" if len(soft) == len(by_zone) else ", ".join(soft)
    verdict = PictureVerdict.of(
        "sharpness", figure <= MAX_EDGE_MM, figure, MAX_EDGE_MM, "mm", well, ill, where
    )
    return replace(verdict, by_zone=by_zone)


def _resolution(view: FeltView, layout: TableLayout) -> PictureVerdict:
    """Take the zone that is farthest from the camera."""
    figure = math.inf
    for zone in layout.zones:
        box = project(view.homography, zone.corners_mm)
        area = cv2.contourArea(box.astype(np.float32)) / (zone.width_mm * zone.height_mm)
        figure = min(figure, math.sqrt(area))
    well = N_("The cards are large enough.")
    ill = N_("The cards are too small: hang the camera lower or use its full resolution.")
    return PictureVerdict.of("resolution", figure >= MIN_PX_PER_MM, figure, MIN_PX_PER_MM, "px/mm", well, ill)


def _light(grey: Image, view: FeltView, layout: TableLayout) -> PictureVerdict:
    """Take the white of the darkest marker; or that of the brightest, if it is overexposed."""
    whites = _marker_levels(grey, view, layout)
    if max(whites) > MAX_WHITE:
        text = N_("The picture is overexposed: shorten the exposure or dim the lamps.")
        return PictureVerdict("light", False, max(whites), MAX_WHITE, "levels", text)
    ill = N_("The picture is too dark: turn the lamps up or lengthen the exposure.")
    return PictureVerdict.of(
        "light", min(whites) >= MIN_WHITE, min(whites), MIN_WHITE, "levels", LIGHT_IS_RIGHT, ill
    )


def _marker_levels(grey: Image, view: FeltView, layout: TableLayout, percentile: float = 85) -> list[float]:
    """Return a percentile of the grey levels of each marker and half its border: 85 is its white, 15 its black."""
    markers = layout.markers
    grid = np.linspace(-0.5, 0.5, 48) * (markers.side_mm + markers.quiet_mm)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    places = np.concatenate([markers.marker(marker.id).to_felt(points) for marker in view.markers])
    at = view.to_image(places).astype(np.float32).reshape(len(view.markers), -1, 2)
    levels = cv2.remap(grey, at[..., 0], at[..., 1], cv2.INTER_LINEAR)
    return [float(level) for level in np.percentile(levels, percentile, axis=1)]


def _contrast(grey: Image, view: FeltView, layout: TableLayout) -> float:
    """Return how much darker the palest marker's black is than its white, as a share of the white."""
    black, white = (_marker_levels(grey, view, layout, percentile) for percentile in (15, 85))
    return min(1 - low / max(high, 1.0) for low, high in zip(black, white, strict=True))


def _glare(grey: Image, view: FeltView, layout: TableLayout) -> PictureVerdict:
    """Find the largest overexposed patch in any zone."""
    worst, where = 0.0, ""
    for zone in layout.zones if grey.max() >= BURNT else ():
        small = view.rectify(grey, zone, SMALL_PX_PER_MM)
        burnt = (small >= BURNT).astype(np.uint8)
        if np.count_nonzero(burnt) <= worst * SMALL_PX_PER_MM**2:
            continue
        _, _, stats, _ = cv2.connectedComponentsWithStats(burnt)
        area = float(np.asarray(stats)[1:, cv2.CC_STAT_AREA].max(initial=0)) / SMALL_PX_PER_MM**2
        if area > worst:
            worst, where = area, zone.name
    ill = N_("Glare: move or shade the lamp that is mirrored there.")
    return PictureVerdict.of(
        "glare", worst <= MAX_GLARE_MM2, worst, MAX_GLARE_MM2, "mm²", N_("No glare."), ill, where
    )


def _banding(grey: Image, view: FeltView, layout: TableLayout) -> PictureVerdict:
    """Measure stripes along the picture's rows, on the felt outside zones and markers."""
    small, shrink = reduce_picture(grey, 800)
    bare = _bare_felt(view, layout, (small.shape[1], small.shape[0]), shrink)
    figure, alike = _stripes(small, bare)
    well = N_("No stripes.")
    ill = FLICKERS if alike else STRIPED
    return PictureVerdict.of("banding", figure <= MAX_BANDING, figure, MAX_BANDING, "of the light", well, ill)


def _bare_felt(view: FeltView, layout: TableLayout, size: tuple[int, int], shrink: float) -> Image:
    """Mark the felt between zones and markers, well away from both: cards may lie outside, and throw shadows."""
    mask = np.zeros((size[1], size[0]), np.uint8)
    away = 12.0

    def fill(box_mm: Points, value: int) -> None:
        points = (view.to_image(box_mm) + 0.5) / shrink - 0.5
        cv2.fillConvexPoly(mask, np.round(points).astype(np.int32), value)

    unit = np.array([[0.0, 0.0], [1, 0], [1, 1], [0, 1]])
    fill(away + unit * (layout.width_mm - 2 * away, layout.height_mm - 2 * away), 255)
    for zone in layout.zones:
        grown = np.array([zone.width_mm, zone.height_mm]) + 2 * away
        fill(zone.to_felt(unit * grown - away), 0)
    side = layout.markers.side_mm + 2 * (layout.markers.quiet_mm + away / 2)
    for marker in layout.markers.at:
        fill(marker.box_mm(side), 0)
    return mask


def _stripes(grey: Image, bare: Image) -> tuple[float, bool]:
    """Return the amplitude of the strongest even stripes, as a share of the light, and whether they run along rows."""
    counts = np.count_nonzero(bare, axis=1)
    seen = np.flatnonzero(counts >= 10)
    height, width = grey.shape
    if len(seen) < height // 3:
        return 0.0, True
    # about fifty pixels of each row are enough, evenly spaced over the bare ones
    some = (np.linspace(0, 1, 49, endpoint=False) * counts[seen, None]).astype(int)
    places = np.flatnonzero(bare)[(np.cumsum(counts) - counts)[seen, None] + some]
    light = np.log(grey.ravel()[places].astype(float) + 1)
    x, y = places % width / width - 0.5, places // width / height - 0.5
    basis = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y, y * y * y, x * y * y, x * x * y], -1)
    known, wanted = basis[:, ::7].reshape(-1, 9), light[:, ::7].ravel()
    slope = np.linalg.lstsq(known.T @ known, known.T @ wanted, rcond=None)[0]
    rest = light - np.einsum("ijk,k->ij", basis, slope)
    line = np.median(rest, axis=1, keepdims=True)  # the median, so that a stray card does not count
    return even_stripes(line, seen / height)[0], even_stripes(rest, seen / height)[1] >= ALIKE


def _off_the_tint(basis: Points, hues: Points) -> Points:
    """Return how far each pixel's hue is from the common tint of pixels of its brightness."""
    some_basis, some_hues = basis[::7], hues[::7]
    weights = np.ones(len(some_basis))
    for _ in range(4):  # outliers get lower weights each time (Huber's weights)
        scaled = some_basis * weights[:, None]
        tint = np.linalg.lstsq(scaled.T @ some_basis, scaled.T @ some_hues, rcond=None)[0]
        weights = 1 / np.maximum(1, np.hypot(*(some_hues - some_basis @ tint).T))
    # einsum stays on this thread: for so little work, BLAS's threads cost more than they save
    return np.asarray(np.hypot(*(hues - np.einsum("nk,kc->nc", basis, tint)).T))


def _camera(view: FeltView, layout: TableLayout, reference: Matrix) -> PictureVerdict:
    """Measure how far the felt's corners have moved in the picture, in millimetres on the felt."""
    box = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) * (layout.width_mm, layout.height_mm)
    back = project(np.asarray(np.linalg.inv(reference)), project(view.homography, box))
    figure = float(np.linalg.norm(back - box, axis=1).max())
    well = N_("The camera is where it was.")
    ill = N_("The camera or the felt has moved since it was calibrated: fasten it and calibrate the felt.")
    return PictureVerdict.of("camera", figure <= MAX_MOVED_MM, figure, MAX_MOVED_MM, "mm", well, ill)
