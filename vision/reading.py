"""Reads the table: one overhead frame in, the cards of every zone out, each sure or to be asked about.

Markers give the homography from the felt to the frame; every zone is cut out at a fixed scale and shown to the
network; what it finds is brought together on the felt in millimetres, so that a card seen in two zones' pictures is
one card; all cards are named together; a card belongs to the zone in which its middle lies.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from itertools import permutations
from typing import Any

import cv2
import numpy as np

from vision.arrays import Image, Matrix, Points
from vision.decode import Cluster, Named, clusters, fuse, is_whole_deck, name
from vision.geometry import FeltView, find_felt
from vision.layout import TableLayout, Zone
from vision.lens import Lens
from vision.others import KnownCard, Other, find_others
from vision.pairs import Stance, index_inset_mm, learnt_stance
from vision.reader import Calibration, CardReader, Indices
from vision.suits import told_apart
from vision.verdicts import Verdict, judge

PX_PER_MM = 2.0
"""The scale at which zones are read: more costs time and gains nothing (measured)."""

NEEDED = ("resolution", "light", "colour")
"""The verdicts without which nothing read may be taken without asking."""

_OF_ITS_OWN = 6.0  # nats of evidence: a real card on top of another shows its index as clearly as any
_AROUND_MM = 10.0  # a card laid beside its slot shows its index outside the zone
_CONCENTRIC_MM = 15.0
_STRAY_MM = 12.0  # how far outside its zone a card's middle may lie
_SAME_TURN = 0.85  # cosine: how far the network may be off with a card's direction
_INDEX_MM = (9.0, 60.0)  # heights of a card's index, from small to jumbo


@dataclass(frozen=True)
class ReadCard:
    """One card as read.

    Attributes:
        card: its code, the best guess.
        margin: nats by which that name beats every other.
        evidence: nats that speak for there being a card at all.
        confidence: 0 … 1, the probability that the name is right.
        sure: whether it may be taken without asking.
        candidates: codes from likely to unlikely, the card itself first.
        corners: 4 × 2, the card's corners in the frame's pixels, from the index's corner on clockwise.
    """

    card: str
    margin: float
    evidence: float
    confidence: float
    sure: bool
    candidates: tuple[str, ...]
    corners: Points


@dataclass(frozen=True)
class ZoneReading:
    """The cards of one zone, from the player's left to his right."""

    place: str
    row: str
    cards: tuple[ReadCard, ...]


@dataclass(frozen=True)
class TableReading:
    """What one frame shows.

    Attributes:
        size: width and height of the frame in pixels.
        markers: ids of the felt markers found.
        zones: one per zone of the layout, in its order.
        others: cards outside the zones, and what is no card that was read (`vision.others`); a card keeps its own
            sureness whatever lies beside it.
        verdicts: how good the picture is, each with its figure; where one of `NEEDED` fails, no card is sure; where
            `suits` does, none of the suits it names.
        ms: milliseconds per stage.
    """

    size: tuple[int, int]
    markers: tuple[int, ...]
    zones: tuple[ZoneReading, ...]
    others: tuple[Other, ...] = ()
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    ms: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the reading as plain data, in the form that `feltwatch read --json` prints."""
        return {
            "size": list(self.size),
            "markers": list(self.markers),
            "zones": [
                {"place": z.place, "row": z.row, "cards": [card_json(c) for c in z.cards]} for z in self.zones
            ],
            "others": [{"what": o.what, "corners": _rounded(o.corners)} for o in self.others],
            "verdicts": {name: verdict.to_json() for name, verdict in self.verdicts.items()},
            "ms": self.ms,
        }


def card_json(card: ReadCard) -> dict[str, Any]:
    """Return one card as plain data."""
    return {
        "card": card.card,
        "confidence": round(card.confidence, 4),
        "sure": card.sure,
        "candidates": list(card.candidates),
        "corners": _rounded(card.corners),
    }


def _rounded(points: Points) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points]


def read_card(named: Named, corners: Points, worth: Calibration, *, fit: bool = True) -> ReadCard:
    """Judge a named card: how surely it may be taken; from a picture that is not fit to be read, not at all."""
    return ReadCard(
        card=named.card,
        margin=named.margin,
        evidence=named.cluster.evidence,
        confidence=worth.confidence(named.margin, named.cluster.evidence),
        sure=fit and worth.sure(named.margin, named.cluster.evidence),
        candidates=named.candidates,
        corners=corners,
    )


def read(
    frame: Image,
    layout: TableLayout,
    reader: CardReader,
    *,
    lens: Lens | None = None,
    px_per_mm: float = PX_PER_MM,
    reference: Matrix | None = None,
) -> TableReading:
    """Read every zone of the layout in a BGR frame (h × w × 3, uint8); `lens` undoes its distortion.

    With `reference`, the homography of the set-up, it is judged whether the camera moved since.

    Raises:
        MarkersError: the felt's markers do not say where the felt is.
    """
    clock = _Clock()
    view, indices = observe(frame, layout, reader, lens=lens, px_per_mm=px_per_mm, clock=clock)
    verdicts = judge(frame, view, layout, reference)
    fit = all(verdicts[name].ok for name in NEEDED)
    clock.lap("verdicts")
    cards: dict[tuple[str, str], list[tuple[float, ReadCard]]] = {(z.place, z.row): [] for z in layout.zones}
    astray: list[Other] = []
    known: list[KnownCard] = []
    laid = _cards_on(indices, layout)
    whole = is_whole_deck([named for named, _ in laid])
    worth = reader.calibrations.whole if whole else reader.calibrations.part
    verdicts["suits"], doubtful = told_apart([named for named, _ in laid])
    for named, card in laid:
        corners = view.to_image(card.corners)
        as_read = read_card(named, corners, worth, fit=fit and named.card[1] not in doubtful)
        known.append(KnownCard(named.card, as_read.sure, card.corners))
        home = _zone_of(card.middle, layout)
        if home is None:
            astray.append(Other("foreign", corners))
        else:
            across = float(home.from_felt(card.middle[None])[0, 0])
            cards[home.place, home.row].append((across, as_read))
    clock.lap("decode")
    others = find_others(frame, view, layout, known)
    clock.lap("others")
    h, w = frame.shape[:2]
    return TableReading(
        size=(w, h),
        markers=tuple(m.id for m in view.markers),
        zones=tuple(
            ZoneReading(
                z.place, z.row, tuple(c for _, c in sorted(cards[z.place, z.row], key=lambda at: at[0]))
            )
            for z in layout.zones
        ),
        others=(*astray, *others),
        verdicts=verdicts,
        ms=clock.ms,
    )


def read_zone(picture: Image, zone: Zone, layout: TableLayout, reader: CardReader) -> tuple[ReadCard, ...]:
    """Read the upright picture of one zone, as `FeltView.rectify` cuts it out, at whatever scale; from left to right.

    Corners are in the picture's pixels. Of a card that lies over the zone's edge the picture may show too little.
    """
    scale = PX_PER_MM * zone.width_mm / picture.shape[1]
    scaled = np.asarray(cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
    indices = _fitting(fuse(_on_felt(reader.indices(scaled), zone, PX_PER_MM)))
    found: list[tuple[float, ReadCard]] = []
    cards = _cards_on(indices, layout)
    _, doubtful = told_apart([named for named, _ in cards])
    for named, laid in cards:
        corners = zone.from_felt(laid.corners) * PX_PER_MM / scale
        card = read_card(named, corners, reader.calibrations.part, fit=named.card[1] not in doubtful)
        found.append((float(corners[:, 0].mean()), card))
    return tuple(card for _, card in sorted(found, key=lambda at: at[0]))


def observe(
    frame: Image,
    layout: TableLayout,
    reader: CardReader,
    *,
    lens: Lens | None = None,
    px_per_mm: float = PX_PER_MM,
    clock: _Clock | None = None,
) -> tuple[FeltView, Indices]:
    """Find the felt and all card indices on it, these in felt millimetres.

    Raises:
        MarkersError: the felt's markers do not say where the felt is.
    """
    clock = clock or _Clock()
    view = find_felt(frame, layout, lens)
    clock.lap("markers")
    parts = []
    for zone in layout.zones:
        area = replace(
            zone, width_mm=zone.width_mm + 2 * _AROUND_MM, height_mm=zone.height_mm + 2 * _AROUND_MM
        )
        crop = view.rectify(frame, area, px_per_mm)
        clock.lap("zones")
        parts.append(_on_felt(reader.indices(crop), area, px_per_mm))
        clock.lap("network")
    return view, _fitting(fuse(Indices.joined(parts)))


def _cards_on(indices: Indices, layout: TableLayout) -> list[tuple[Named, _Laid]]:
    """Name all cards whose indices were seen on the felt, and say where each lies."""
    stance = learnt_stance(indices)
    found = clusters(indices, (layout.card.width_mm, layout.card.height_mm), stance)
    laid = [(cluster, _Laid.of(indices, cluster, layout, stance)) for cluster in found]
    hosts = [(cluster, place) for cluster, place in laid if len(cluster.members) > 1]
    where = {c.members: (c, place) for c, place in laid if not _is_print(indices, c, place, hosts)}
    named = name([cluster for cluster, _ in where.values()], conflicts=True)
    return [(one, where[one.cluster.members][1]) for one in named]


def _fitting(indices: Indices) -> Indices:
    """Leave out what no card's index is as high as."""
    return indices.take((indices.sizes > _INDEX_MM[0]) & (indices.sizes < _INDEX_MM[1]))


class _Clock:
    """Adds up the milliseconds of each stage."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self.ms: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.ms[stage] = round(self.ms.get(stage, 0.0) + 1000 * (now - self._last), 2)
        self._last = now


def _on_felt(indices: Indices, area: Zone, px_per_mm: float) -> Indices:
    """Bring indices from the upright picture of an area to millimetres on the felt."""
    if not len(indices):
        return indices
    origin = area.to_felt(np.zeros((1, 2)))
    return replace(
        indices,
        places=area.to_felt((indices.places + 0.5) / px_per_mm),
        directions=area.to_felt(indices.directions) - origin,
        sizes=indices.sizes / px_per_mm,
    )


@dataclass(frozen=True)
class _Laid:
    """Where a card lies on the felt, in millimetres."""

    middle: Points
    corners: Points

    @classmethod
    def of(cls, indices: Indices, cluster: Cluster, layout: TableLayout, stance: Stance | None) -> _Laid:
        """Work out the card's place from its indices: between two opposite ones, else from one."""
        width, height = layout.card.width_mm, layout.card.height_mm
        k = cluster.members[0]
        if stance is None:
            across, over = np.array([width, height]) - 2 * index_inset_mm(indices.sizes[k])
        else:
            across, over = stance.across, stance.down
        middle = None
        for first, m in permutations(cluster.members, 2):
            # two places so far apart say how the card is turned far better than the network does
            step, along = indices.places[m] - indices.places[first], indices.directions[first]
            turned = np.array([[across, over], [-over, across]]) @ step
            turned /= np.linalg.norm(turned) + 1e-9
            longer = np.linalg.norm(step) / np.hypot(across, over)
            larger = indices.sizes[m] / indices.sizes[first]
            if turned @ along > _SAME_TURN and 0.8 < longer < 1.25 and 0.625 < larger < 1.6:
                along, middle = turned, indices.places[first] + step / 2
                break
        else:
            along = indices.directions[k]
        down = np.array([-along[1], along[0]])
        if middle is None:
            middle = indices.places[k] + along * across / 2 + down * over / 2
        u, v = along * width / 2, down * height / 2
        return cls(middle, np.array([middle - u - v, middle + u - v, middle + u + v, middle - u + v]))


def _is_print(indices: Indices, cluster: Cluster, place: _Laid, hosts: list[tuple[Cluster, _Laid]]) -> bool:
    """Tell whether a cluster lies wholly inside a card that shows both of its own indices: its print, and no card.

    What names a card clearly stays: neighbours overlap, and an outline worked out from indices is right to a few
    millimetres only. So does a pair that is not the host's figure, the same both ways up around the host's own middle.
    """
    if cluster.evidence >= _OF_ITS_OWN:
        return False
    at = indices.places[list(cluster.members)].tolist()
    return any(
        host is not cluster
        and all(cv2.pointPolygonTest(under.corners.astype(np.float32), (x, y), False) > 0 for x, y in at)
        and (len(at) == 1 or float(np.hypot(*(under.middle - place.middle))) < _CONCENTRIC_MM)
        for host, under in hosts
    )


def _zone_of(middle: Points, layout: TableLayout) -> Zone | None:
    """Return the zone that a card's middle lies in, or else the nearest one it may have strayed from."""
    best: tuple[float, Zone] | None = None
    for zone in layout.zones:
        half = np.array([zone.width_mm, zone.height_mm]) / 2
        outside = float((np.abs(zone.from_felt(middle[None])[0] - half) - half).clip(0).max())
        # ties between zones that touch go to the one whose middle is nearer
        score = outside + 1e-3 * float(np.linalg.norm(middle - np.array([zone.x_mm, zone.y_mm])))
        if outside <= _STRAY_MM and (best is None or score < best[0]):
            best = (score, zone)
    return best[1] if best else None
