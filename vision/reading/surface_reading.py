"""Reads cards that lie on any flat surface, photographed from any side, without markers.

The cards themselves tell how the camera stood: the two indices of each card lie equally far apart. With that plane
known the photograph is read as a table is, in millimetres and seen from straight above, and by a table's limits.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.felt.felt_view import FeltView
from vision.felt.layout import TableLayout, Zone
from vision.felt.quality import MIN_PX_PER_MM, MIN_WHITE, PictureVerdict, colour
from vision.felt.resample import project
from vision.reading.card_places import CardPlace
from vision.reading.decode import CLEARLY_THERE, Cluster, clusters, fuse, name
from vision.reading.loose_cards import check_size, read_at, weigh
from vision.reading.network import CardReader, Floats, Indices
from vision.reading.pairs import index_inset_mm
from vision.reading.paper import DARK
from vision.reading.table_reading import (
    PX_PER_MM,
    ReadCard,
    clearly_named,
    closer_scale,
    judge_cards,
    observe_area,
    whole_pictures,
)

_COARSE_PX = (560, 1050, 1968)  # long sides of the first reading, which finds the plane
_MIN_PAIRS = 5  # cards with both indices from which the plane is found
_TILTS = np.radians(np.arange(0, 61, 4))
_TURNS = np.radians(np.arange(0, 360, 15))
_FOCALS = (0.65, 0.8, 1.0, 1.4)  # times the long side of the picture
_WIDE_OFF = 0.15  # what is off by more is another card's index, and counts no more
_STEEP = math.atan2(63, 50)
_AROUND_MM = 150.0  # how far from a card that was seen at first one may lie that was not
_MAX_READINGS, _MORE_MM = 3, 60.0
_MAX_PIXELS = 9e6
_CARD_MM = 110.0  # the side of the square around a card that is looked at again
_MAX_CARDS_AGAIN = 30


@dataclass(frozen=True)
class SurfaceReading:
    """The cards of a photograph.

    Attributes:
        cards: each with its place on the surface; millimetres, the origin below the camera, y down in the picture.
        verdicts: how good the picture is; where one is not `ok`, the cards concerned are not sure.
        ms: how long it took.
    """

    cards: tuple[tuple[ReadCard, CardPlace], ...]
    verdicts: dict[str, PictureVerdict]
    ms: float


def read_surface(picture: Image, reader: CardReader) -> SurfaceReading:
    """Read the cards in a BGR picture (h × w × 3, uint8). Corners are in its pixels.

    Where fewer than five cards show both of their indices nothing is read.

    Raises:
        PictureError: it is too small, or a panorama.
    """
    start = time.perf_counter()
    check_size(picture)
    seen = colour(picture)
    coarse = _coarse(picture, reader)
    cards_seen = clusters(coarse)
    view = _plane(picture, coarse, cards_seen)
    if view is None:
        return SurfaceReading((), {seen.name: seen}, round(1000 * (time.perf_counter() - start), 1))
    verdicts = {
        "colour": seen,
        "light": PictureVerdict("light", False, 0.0, MIN_WHITE, "levels", DARK),  # judged by the cards' paper
        "resolution": PictureVerdict("resolution", True, view.px_per_mm, MIN_PX_PER_MM, "px/mm", ""),
    }
    at, along = _seen_at(view, coarse, cards_seen)
    for reading in range(_MAX_READINGS):
        area = _area(view, at, along)
        layout = replace(TableLayout.load(), zones=(replace(area, x_mm=1e6),))  # no card lies in a zone
        scale = min(PX_PER_MM, math.sqrt(_MAX_PIXELS / (area.width_mm * area.height_mm)))
        turned = replace(
            area, width_mm=area.height_mm, height_mm=area.width_mm, turned_deg=area.turned_deg + 90
        )
        parts = [observe_area(picture, view, zone, reader, scale) for zone in (area, turned)]
        in_picture = _to_pixels(view, fuse(Indices.joined(parts)))
        cards_seen = clusters(in_picture)
        better = _plane(picture, in_picture, cards_seen)
        at, along = _seen_at(better or view, in_picture, cards_seen)
        # more cards tell the plane better, and where some come to light at the edge there may be more
        grown = _area(better or view, at, along) if len(at) else area
        settled = grown.width_mm + grown.height_mm < area.width_mm + area.height_mm + _MORE_MM
        if reading + 1 == _MAX_READINGS or better is None or (reading and settled) or not len(at):
            break
        view = better
    whole = whole_pictures(picture, view)
    found, judged = judge_cards(parts, layout, reader, whole, verdicts)
    again = [place for card, place, _ in found if not clearly_named(card)][:_MAX_CARDS_AGAIN]
    if again:
        larger = closer_scale(parts)
        parts += [observe_area(picture, view, _around(place), reader, larger) for place in again]
        found, judged = judge_cards(parts, layout, reader, whole, verdicts)
    cards = []
    for card, place, _ in found:
        corners = view.to_image(place.corners)
        px2, mm2 = (cv2.contourArea(outline.astype(np.float32)) for outline in (corners, place.corners))
        large = px2 >= MIN_PX_PER_MM**2 * mm2
        cards.append((replace(card, corners=corners, sure=card.sure and large), place))
    return SurfaceReading(tuple(cards), judged, round(1000 * (time.perf_counter() - start), 1))


def _around(place: CardPlace) -> Zone:
    along = place.corners[1] - place.corners[0]
    turn = math.degrees(math.atan2(along[1], along[0]))
    return Zone("", "", float(place.middle[0]), float(place.middle[1]), _CARD_MM, _CARD_MM, turn, 1)


def _coarse(picture: Image, reader: CardReader) -> Indices:
    """Return the indices of a first reading, in pixels."""
    long_side = max(picture.shape[:2])
    seen = [read_at(picture, reader, target / long_side) for target in _COARSE_PX if target < 2.2 * long_side]
    joined, trust = weigh(seen, 0.45)
    return fuse(joined, trust) if len(joined) else joined


def _to_pixels(view: FeltView, indices: Indices) -> Indices:
    """Return the surface's indices as they lie in the picture."""
    places = view.to_image(indices.places)
    ends = view.to_image(indices.places + indices.directions)
    steps = ends - places
    down = (
        np.stack([-indices.directions[:, 1], indices.directions[:, 0]], axis=1) * indices.sizes[:, None] / 2
    )
    high = np.linalg.norm(view.to_image(indices.places + down) - view.to_image(indices.places - down), axis=1)
    lengths = np.linalg.norm(steps, axis=1, keepdims=True)
    return replace(indices, places=places, directions=steps / np.maximum(lengths, 1e-9), sizes=high)


def _plane(picture: Image, indices: Indices, cards: list[Cluster]) -> FeltView | None:
    """Return where the surface lies, by the cards that the indices are of; None if too few tell."""
    pairs = [
        (c.members[0], other)
        for c in cards
        for other in c.members[1:2]
        if c.evidence > CLEARLY_THERE and indices.directions[c.members[0]] @ indices.directions[other] < 0
    ]
    if len(pairs) < _MIN_PAIRS:
        return None
    first, second = np.array(pairs).T
    height, width = picture.shape[:2]
    middle, long_side = np.array([width - 1, height - 1]) / 2, float(max(picture.shape[:2]))
    step = 0.3 * indices.sizes[:, None] * indices.directions
    along = indices.places, indices.places + step
    ends = tuple((at[rows] - middle) / long_side for at in along for rows in (first, second))
    grid = np.array([(t, a, f) for t in _TILTS for a in _TURNS for f in _FOCALS])
    steps = np.array([math.radians(2), math.radians(8), 0.1])
    best = grid[np.argmin(_unevenness(grid, ends))]
    for _ in range(6):
        moves = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), -1).reshape(-1, 3) * steps
        near = best + moves
        near[:, 2] = near[:, 2].clip(0.5, 2.5)
        best = near[np.argmin(_unevenness(near, ends))]
        steps = steps / 1.7
    centred = np.array([[1, 0, -middle[0]], [0, 1, -middle[1]], [0, 0, long_side]])
    to_plane = _warps(best[None])[0] @ (centred / long_side)
    scale = _mm(to_plane, indices, first, second)
    back = np.linalg.inv(np.diag([scale, scale, 1.0]) @ to_plane)
    mean = project(np.asarray(np.linalg.inv(back)), indices.places[first]).mean(axis=0)
    box = project(back, mean + np.array([[-10.0, -10], [10, -10], [10, 10], [-10, 10]]))
    px_per_mm = math.sqrt(cv2.contourArea(box.astype(np.float32))) / 20
    return FeltView(back, (), (), 0.0, 0.0, 0.0, px_per_mm, (width, height))


def _warps(cameras: Floats) -> Floats:
    """Return the homographies (n × 3 × 3) from the picture to the surface, by tilt, its direction and focal length."""
    tilt, turn, focal = cameras.T
    axis = np.stack([-np.sin(turn), np.cos(turn), 0 * turn], axis=1)
    cross = np.zeros((len(cameras), 3, 3))
    cross[:, 0, 1], cross[:, 0, 2], cross[:, 1, 2] = -axis[:, 2], axis[:, 1], -axis[:, 0]
    cross -= cross.transpose(0, 2, 1)
    sin, cos = (np.asarray(way(tilt))[:, None, None] for way in (np.sin, np.cos))
    spin = np.eye(3) + sin * cross + (1 - cos) * (cross @ cross)
    lens = np.zeros_like(cross)
    lens[:, 0, 0] = lens[:, 1, 1] = 1 / focal
    lens[:, 2, 2] = 1
    return np.asarray(spin @ lens)


def _unevenness(cameras: Floats, ends: tuple[Points, ...]) -> Floats:
    """Return for each camera how much the cards' diagonals and their turns would differ (n)."""
    warps = _warps(cameras)
    on = []
    behind = np.zeros(len(cameras), bool)
    for end in ends:
        at = np.einsum("nij,kj->nki", warps, np.c_[end, np.ones(len(end))])
        behind |= (at[..., 2] <= 0.05).any(axis=1)
        on.append(at[..., :2] / at[..., 2:].clip(0.05))
    step = on[1] - on[0]
    far = np.log(np.hypot(step[..., 0], step[..., 1]) + 1e-9)
    off = np.abs(far - np.median(far, axis=1, keepdims=True)).clip(max=_WIDE_OFF).mean(axis=1)
    text = (on[2] - on[0]) / np.linalg.norm(on[2] - on[0], axis=2, keepdims=True)
    text = text - (on[3] - on[1]) / np.linalg.norm(on[3] - on[1], axis=2, keepdims=True)
    steep = np.arctan2(step[..., 1], step[..., 0]) - np.arctan2(text[..., 1], text[..., 0]) - _STEEP
    steep = (steep + np.pi) % (2 * np.pi) - np.pi
    bent = np.abs(steep - np.median(steep, axis=1, keepdims=True)).clip(max=_WIDE_OFF).mean(axis=1)
    return np.asarray(np.where(behind, np.inf, off + 0.3 * bent))


def _mm(to_plane: Matrix, indices: Indices, first: Floats, second: Floats) -> float:
    """Return how many millimetres a unit of the plane is, by the size of cards and of their indices."""
    a, b = (project(to_plane, indices.places[rows]) for rows in (first, second))
    down = (
        np.stack([-indices.directions[:, 1], indices.directions[:, 0]], axis=1) * indices.sizes[:, None] / 2
    )
    tops, feet = (project(to_plane, (indices.places + sign * down)[first]) for sign in (-1, 1))
    apart = float(np.median(np.hypot(*(a - b).T)))
    size = float(np.median(np.hypot(*(tops - feet).T)))
    scales = np.geomspace(60, 100, 200) / apart
    inset = index_inset_mm(scales * size)
    expected = np.hypot(63.5 - 2 * inset[:, 0], 88.9 - 2 * inset[:, 1])
    return float(scales[np.argmin(np.abs(np.log(expected / (scales * apart))))])


def _seen_at(view: FeltView, indices: Indices, cards: list[Cluster]) -> tuple[Points, Points]:
    """Return where on the surface indices of clear cards are, and along which line each reads."""
    named = name(cards)
    rows = [m for n in named if n.cluster.evidence > CLEARLY_THERE for m in n.cluster.members]
    back = np.asarray(np.linalg.inv(view.homography))
    start, step = indices.places[rows], 0.3 * indices.sizes[rows, None] * indices.directions[rows]
    at = project(back, start)
    return at, project(back, start + step) - at


def _area(view: FeltView, at: Points, along: Points) -> Zone:
    """Return the rectangle of the surface around some places, as far as the picture shows it."""
    # most lie at right angles
    turn = float(np.angle(np.exp(4j * np.arctan2(along[:, 1], along[:, 0])).sum())) / 4
    back = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    turned = at @ back
    low, high = turned.min(axis=0) - _AROUND_MM, turned.max(axis=0) + _AROUND_MM
    width, height = view.size
    warp = np.asarray(np.linalg.inv(view.homography))
    edges = np.array([[0.0, 0, 1], [width, 0, 1], [width, height, 1], [0, height, 1]])
    depths = edges @ warp[2]
    if (depths > 0).all() or (depths < 0).all():  # no horizon in it
        seen = project(warp, edges[:, :2]) @ back
        low, high = np.maximum(low, seen.min(axis=0)), np.minimum(high, seen.max(axis=0))
    middle = back @ ((low + high) / 2)
    (x, y), (wide, long) = middle.tolist(), (high - low).tolist()
    return Zone("", "", x, y, wide, long, math.degrees(turn), 99)
