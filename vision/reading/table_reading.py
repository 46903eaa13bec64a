"""Reads the table: from one overhead frame to the cards of every zone, each sure or unsure.

Markers give the homography from the felt to the frame. Every zone is cut out at a fixed scale and passed to the
network. The results are merged in felt millimetres, so that a card seen in two zones' pictures is one card. All cards
are named together. A card belongs to the zone of its centre.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image, Matrix, Points
from vision.felt.felt_view import FeltView
from vision.felt.geometry import find_felt
from vision.felt.layout import TableLayout, Zone
from vision.felt.lens import Lens
from vision.felt.quality import SMALL_PX_PER_MM, PictureVerdict, judge
from vision.felt.resample import as_grey
from vision.reading.card_places import CardPlace, cards_on, homes
from vision.reading.cards import CARDS, SUITS
from vision.reading.deck_print import black_cards, inverted, judge_deck
from vision.reading.decode import Cluster, NamedCluster, fuse, is_whole_deck
from vision.reading.memory import FELT_ALIKE, Look, Looks, TableMemory
from vision.reading.network import Calibration, CardReader, Floats, Indices
from vision.reading.objects import KnownCard, Other, find_others, look_down
from vision.reading.paper import judge_paper
from vision.reading.pips import COUNTS, DIFFERS, NOTHING, cut_out, neighbours, scores
from vision.reading.signs import PX_PER_MM as SIGN_PX_PER_MM
from vision.reading.signs import cut_signs
from vision.reading.suits import judge_suits, part_suits

_PlacedCard = tuple["ReadCard", CardPlace, Zone | None]
_ScaledPicture = tuple[Image, Callable[[Points], Points]]
_Whole = tuple[_ScaledPicture, _ScaledPicture]
"""Pictures in which whole cards and their large signs are looked at, and what brings millimetres of the felt there."""

PX_PER_MM = 1.5
"""The scale at which zones are read first: more costs time and gains nothing where all is clear (measured)."""
LEARN_PX_PER_MM = 2.0
"""The scale at which a deck is learnt: between those at which it is then read."""

NEEDED = ("resolution", "light", "colour")
"""The verdicts without which nothing read may be taken without asking."""

_NEARLY = 0.95  # of the scale that is wanted: less is not read from a picture that was averaged already
_AGAIN_PX = 45.0
"""How high an index is where it is read again. Measured: 11 wrong names became 2; at 52 px 7 were left."""
_AGAIN_PX_PER_MM = (1.3, 3.0)  # the limits of that scale
_CLEARLY_WHOLE, _CLEARLY_PART = 4.5, 9.0
"""Nats, with all 52 cards named and with fewer: what is named by less is read again, sure or not."""
_AROUND_MM = 10.0  # a card next to its slot shows its index outside the zone
_LOOKED_AT_MM = (
    4.0  # of that, what is looked at for changes: the cards of the next zone lie 5 mm beyond the edge
)
_INDEX_MM = (9.0, 60.0)  # heights of a card's index, from small to jumbo


@dataclass(frozen=True)
class ReadCard:
    """One card as read.

    Attributes:
        card: its code, the best guess.
        margin: nats by which that name beats every other.
        evidence: nats that speak for there being a card at all.
        confidence: 0 … 1, the probability that the name is right.
        sure: whether it may be used without asking.
        candidates: codes from likely to unlikely, the card itself first.
        corners: 4 × 2, the card's corners in the frame's pixels, from the index's corner on clockwise.
        denied: its index names it surely, but its pips favour another card.
    """

    card: str
    margin: float
    evidence: float
    confidence: float
    sure: bool
    candidates: tuple[str, ...]
    corners: Points
    denied: bool = False


@dataclass(frozen=True)
class ZoneReading:
    """The cards of one zone, from the player's left to right."""

    place: str
    row: str
    cards: tuple[ReadCard, ...]


@dataclass(frozen=True)
class TableReading:
    """The reading of one frame.

    Attributes:
        size: width and height of the frame in pixels.
        markers: ids of the felt markers found.
        zones: one per zone of the layout, in its order.
        others: cards outside the zones, and objects that are not cards (`objects.py`). They do not change whether a
            card in a zone is sure.
        verdicts: how good the picture is, each with its figure; where one of `NEEDED` fails, no card of the zones that
            it names is sure (of none, if it names no zone); where `suits` does, none of the suits it names.
        seen: the verdicts on the picture as a whole, before the cards were judged.
        ms: milliseconds per stage.
        view: where the felt lies in the frame.
    """

    size: tuple[int, int]
    markers: tuple[int, ...]
    zones: tuple[ZoneReading, ...]
    others: tuple[Other, ...] = ()
    verdicts: dict[str, PictureVerdict] = field(default_factory=dict)
    seen: dict[str, PictureVerdict] = field(default_factory=dict, repr=False, compare=False)
    ms: dict[str, float] = field(default_factory=dict)
    view: FeltView | None = field(default=None, repr=False, compare=False)

    @property
    def fit(self) -> bool:
        """Whether the picture lets at least some cards be taken without asking."""
        return all(self.verdicts[name].lets_read for name in NEEDED)

    def to_json(self) -> dict[str, Any]:
        """Return the reading as plain data, as printed by `feltwatch read --json`."""
        return {
            "size": list(self.size),
            "markers": list(self.markers),
            "zones": [
                {"place": z.place, "row": z.row, "cards": [card_json(c) for c in z.cards]} for z in self.zones
            ],
            "others": [{"what": o.what, "corners": _round(o.corners)} for o in self.others],
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
        "corners": _round(card.corners),
    }


def _round(points: Points) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points]


def read_card(
    named: NamedCluster, corners: Points, worth: Calibration, *, fit: bool = True, soft: float = 1.0
) -> ReadCard:
    """Judge whether a named card is sure; in a picture that is not good enough to read, none is.

    `soft`: how much the picture's sharpness falls short; the required margin grows by as much.
    """
    return ReadCard(
        card=named.card,
        margin=named.margin,
        evidence=named.cluster.evidence,
        confidence=worth.confidence(named.margin, named.cluster.evidence),
        sure=fit and worth.sure(named.margin / soft, named.cluster.evidence),
        candidates=named.candidates,
        corners=corners,
    )


def denied_or(card: ReadCard, named: NamedCluster) -> ReadCard:
    """Return the card, without a margin and not sure where what the whole card shows favours another one."""
    return replace(card, margin=0.0, sure=False, denied=card.sure) if named.denied > DIFFERS else card


def read(
    frame: Image,
    layout: TableLayout,
    reader: CardReader,
    *,
    lens: Lens | None = None,
    px_per_mm: float = PX_PER_MM,
    reference: Matrix | None = None,
    memory: TableMemory | None = None,
    dealt: bool = True,
) -> TableReading:
    """Read every zone of the layout in a BGR frame (h × w × 3, uint8); `lens` undoes its distortion.

    A zone with an unsure card is read once more, at another scale. With `reference`, the homography of the setup, a
    moved camera is detected. With `memory` of earlier frames, only zones that changed or showed an unclear card are
    read. `dealt`: the cards were dealt at random, not laid out in the order of a deck.

    Raises:
        MarkersError: the felt's markers do not say where the felt is.
    """
    clock, memory = _Clock(), memory or TableMemory()
    deck = reader.deck.sha256 if reader.deck else ""
    at = None if reference is None else reference.tobytes()
    small = memory.recall(frame, layout, (lens, at, reader.sha256, deck, px_per_mm, dealt))
    grey = None
    if small is None:
        grey = as_grey(frame)
        view = find_felt(frame, layout, lens, grey=grey)
        small = view.smaller(frame, SMALL_PX_PER_MM)
        memory.found(view, small, layout)
    assert memory.view is not None
    view, last, memory.last = memory.view, memory.last, None
    clock.lap("markers")
    level = as_grey(small[0])
    changed = [
        zone
        for zone in layout.zones
        if not memory.is_alike(zone, small[1].rectify(level, _around(zone, _LOOKED_AT_MM), PX_PER_MM))
        or zone in memory.unclear
    ]
    above = look_down(*small, layout)
    if memory.is_alike(*above, FELT_ALIKE) and not changed and last:
        clock.lap("zones")
        memory.last = replace(last, ms=clock.ms)
        return memory.last
    clock.lap("zones")
    near = small if small[1].px_per_mm >= _NEARLY * px_per_mm else (frame, view)
    for zone in changed:
        memory.parts[zone] = [observe_area(*near, zone, reader, px_per_mm, clock)]
    still = memory.looks_in([_around(zone, _LOOKED_AT_MM) for zone in layout.zones if zone not in changed])
    before = last.seen if last else None
    seen = judge(frame, view, layout, reference, grey=grey, small=small, level=level, before=before)
    clock.lap("verdicts")

    def judged() -> tuple[list[_PlacedCard], dict[str, PictureVerdict]]:
        parts = [part for zone in layout.zones for part in memory.parts[zone]]
        whole = whole_pictures(frame, view, small)
        memory.looks = dict(still)
        return judge_cards(parts, layout, reader, whole, seen, dealt=dealt, looks=memory.looks)

    found, verdicts = judged()
    memory.unclear = _unclear(found)
    fit = all(verdicts[name].lets_read for name in NEEDED)
    again = [zone for zone in memory.unclear if fit and len(memory.parts[zone]) == 1]
    if again:
        clock.lap("decode")
        closer = closer_scale([memory.parts[zone][0] for zone in layout.zones])
        for zone in again:
            memory.parts[zone].append(observe_area(frame, view, zone, reader, closer, clock))
        found, verdicts = judged()
        memory.unclear = _unclear(found)
    cards: dict[tuple[str, str], list[tuple[float, ReadCard]]] = {(z.place, z.row): [] for z in layout.zones}
    astray: list[Other] = []
    known: list[KnownCard] = []
    corners = [place.corners for _, place, _ in found]
    outlines = view.to_image(np.concatenate(corners)).reshape(-1, 4, 2) if found else ()
    for (card, place, home), outline in zip(found, outlines, strict=True):
        known.append(KnownCard(card.card, card.sure or card.denied, place.corners))
        in_frame = replace(card, corners=outline)
        if home is None:
            astray.append(Other("foreign", in_frame.corners))
        else:
            across = float(home.from_felt(place.middle[None])[0, 0])
            cards[home.place, home.row].append((across, in_frame))
    clock.lap("decode")
    others = find_others(frame, view, layout, known, above=above[1])
    clock.lap("others")
    if len(others) > len(found):

        def inverse() -> list[Cluster]:
            turned = inverted(frame)
            parts = [observe_area(turned, view, zone, reader, px_per_mm, clock) for zone in layout.zones]
            return [named.cluster for named, _ in cards_on(_fitting(fuse(Indices.joined(parts))), layout)]

        count = black_cards(frame, others, inverse)
        verdicts["deck"] = judge_deck([], count) if count else verdicts["deck"]
    h, w = frame.shape[:2]
    memory.last = TableReading(
        size=(w, h),
        markers=tuple(m.id for m in view.markers),
        zones=tuple(ZoneReading(z.place, z.row, _in_order(cards[z.place, z.row], z)) for z in layout.zones),
        others=(*astray, *others),
        verdicts=verdicts,
        seen=seen,
        ms=clock.ms,
        view=view,
    )
    return memory.last


def _in_order(cards: list[tuple[float, ReadCard]], zone: Zone) -> tuple[ReadCard, ...]:
    """Order a zone's cards along it. If there are more cards than the zone holds, none is sure: one of them is print.

    Seen on a deck whose pictures hold signs that look like indices.
    """
    ordered = (card for _, card in sorted(cards, key=lambda at: at[0]))
    return tuple(ordered if len(cards) <= zone.capacity else (replace(card, sure=False) for card in ordered))


def clearly_named(card: ReadCard) -> bool:
    """Return whether a card is sure, and named clearly where it may be one of few."""
    return card.sure and card.margin >= _CLEARLY_PART


def _unclear(found: Sequence[_PlacedCard]) -> list[Zone]:
    """Return the zones with an unsure or not clearly named card."""
    every = len({card.card for card, _, _ in found}) == len(CARDS)
    clearly = _CLEARLY_WHOLE if every else _CLEARLY_PART
    again = [home for card, _, home in found if not card.sure or card.margin < clearly]
    return list(dict.fromkeys(home for home in again if home is not None))


def judge_cards(
    parts: list[Indices],
    layout: TableLayout,
    reader: CardReader,
    whole: _Whole,
    seen: dict[str, PictureVerdict],
    *,
    dealt: bool = True,
    looks: Looks | None = None,
) -> tuple[list[_PlacedCard], dict[str, PictureVerdict]]:
    """Name all cards, judge and locate each; return the verdicts too, from those on the picture (`seen`, if any).

    A card whose indices and whole card disagree has no margin. `looks`: as for `_whole_cards`.
    """

    def look(places: Sequence[CardPlace], names: Sequence[str]) -> Floats:
        shown, _ = _whole_cards(whole, places, names, reader, looks)
        return scores(shown, reader.deck.pips if reader.deck else None)

    indices = _fitting(fuse(Indices.joined(parts)))
    laid = cards_on(indices, layout, look if reader.pips else None)
    names = [named for named, _ in laid]
    doubted = {place.seen for named, place in laid if named.denied > 0}
    looks = {} if looks is None else looks
    for key in [key for key in looks if key[1] in doubted]:
        del looks[key]  # to be looked at in every frame
    worth = reader.calibrations.whole if is_whole_deck(names) else reader.calibrations.part
    where = homes([place for _, place in laid], layout)
    suits, clear = judge_suits(names, [zone.name if zone else "" for zone in where], dealt=dealt)
    if dealt:
        names = part_suits(names, clear)
        laid = [(named, place) for named, (_, place) in zip(names, laid, strict=True)]
    by_paper: dict[str, PictureVerdict] = {}
    fit = [True] * len(laid)
    if seen:
        cards = [(named.card, place, zone) for (named, place), zone in zip(laid, where, strict=True)]
        by_paper, fit = judge_paper(*whole[0], cards, seen)
    read = [
        read_card(named, place.corners, worth, fit=fit[k] and clear[k], soft=_softness(seen, where[k]))
        for k, (named, place) in enumerate(laid)
    ]
    judged = [denied_or(card, named) for card, named in zip(read, names, strict=True)]
    found = zip(judged, laid, where, strict=True)
    deck = judge_deck([(named.cluster, card.sure) for named, card in zip(names, judged, strict=True)], 0)
    verdicts = {**seen, **by_paper, suits.name: suits, deck.name: deck}
    return [(card, place, home) for card, (named, place), home in found if not named.second], verdicts


def _softness(seen: dict[str, PictureVerdict], zone: Zone | None) -> float:
    """Return by how much the picture's sharpness falls short in a zone; without a zone, anywhere."""
    if "sharpness" not in seen:
        return 1.0
    sharpness = seen["sharpness"]
    return max(1.0, sharpness.by_zone.get(zone.name if zone else "", sharpness.figure) / sharpness.limit)


def read_zone(picture: Image, zone: Zone, layout: TableLayout, reader: CardReader) -> tuple[ReadCard, ...]:
    """Read the upright picture of one zone, as `FeltView.rectify` cuts it out, at any scale; from left to right.

    Corners are in the picture's pixels. A card over the zone's edge may be visible only in part.
    """

    def seen(px_per_mm: float) -> Indices:
        times = px_per_mm * zone.width_mm / picture.shape[1]
        way = cv2.INTER_AREA if times < 1 else cv2.INTER_LINEAR
        scaled = np.asarray(cv2.resize(picture, None, fx=times, fy=times, interpolation=way), np.uint8)
        return _on_felt(reader.indices(scaled), zone, px_per_mm)

    def in_picture(places: Points) -> Points:
        return np.asarray(zone.from_felt(places) * (picture.shape[1] / zone.width_mm) - 0.5)

    parts, whole = [seen(PX_PER_MM)], ((picture, in_picture),) * 2
    found, _ = judge_cards(parts, layout, reader, whole, {})
    if _unclear(found):
        parts.append(seen(closer_scale(parts)))
        found, _ = judge_cards(parts, layout, reader, whole, {})
    px_per_mm = picture.shape[1] / zone.width_mm
    cards = [replace(card, corners=zone.from_felt(place.corners) * px_per_mm) for card, place, _ in found]
    return _in_order([(float(card.corners[:, 0].mean()), card) for card in cards], zone)


def observe(
    frame: Image, layout: TableLayout, reader: CardReader, lens: Lens | None = None
) -> tuple[FeltView, Indices]:
    """Find the felt and all card indices on it, the latter in felt millimetres.

    Raises:
        MarkersError: the felt's markers do not say where the felt is.
    """
    view = find_felt(frame, layout, lens)
    parts = [observe_area(frame, view, zone, reader, LEARN_PX_PER_MM) for zone in layout.zones]
    return view, _fitting(fuse(Indices.joined(parts)))


def observe_whole(
    frame: Image, view: FeltView, indices: Indices, layout: TableLayout, reader: CardReader
) -> tuple[Points, Floats]:
    """Look at the whole cards of these indices: their middles (n × 2 mm on the felt) and their pips' readings."""
    named = cards_on(indices, layout)
    places = [place for _, place in named]
    whole = whole_pictures(frame, view)
    seen, enough = _whole_cards(whole, places, [one.card for one, _ in named], reader)
    return np.array([place.middle for place in places]).reshape(-1, 2)[enough], seen[enough]


def whole_pictures(frame: Image, view: FeltView, small: tuple[Image, FeltView] | None = None) -> _Whole:
    """Return a frame as whole cards are looked at in it; `small` is it at `SMALL_PX_PER_MM`, if the caller has it."""
    pictures = small or view.smaller(frame, SMALL_PX_PER_MM), view.smaller(frame, SIGN_PX_PER_MM)
    (far, through_far), (near, through_near) = pictures
    return (far, through_far.to_image), (near, through_near.to_image)


def _whole_cards(
    whole: _Whole,
    places: Sequence[CardPlace],
    names: Sequence[str],
    reader: CardReader,
    looks: Looks | None = None,
) -> tuple[Floats, NDArray[np.bool_]]:
    """Return what cards of these names show apart from their indices, and which show enough of themselves.

    `looks` are those that need not be looked at again; new ones are added.
    """
    assert reader.pips is not None
    small, near = whole
    looks = {} if looks is None else looks
    corners, hidden, ranks = [p.corners for p in places], [p.indices for p in places], [n[0] for n in names]
    beside = neighbours(np.array(corners).reshape(-1, 4, 2))
    keys: list[tuple[str | bytes, ...]] = [
        (rank, place.seen, *(places[n].seen for n in np.flatnonzero(near).tolist()))
        for rank, place, near in zip(ranks, places, beside, strict=True)
    ]
    known = [looks.get(key) for key in keys]
    new = [k for k, look in enumerate(known) if look is None or not look.lies_at(corners[k])]
    if new:
        cards, enough = cut_out(*small, corners, hidden, new)
        readings = np.where(enough[:, None], reader.pips.readings(cards), NOTHING)
        suits = readings[:, len(COUNTS) :]
        # a court's picture differs from deck to deck
        suits[np.array([ranks[k] in "JQK" for k in new])] = 1 / len(SUITS)
        suits *= reader.signs.suits(*cut_signs(*near, corners, hidden, ranks, new), new)
        suits /= suits.sum(axis=1, keepdims=True)
        looks |= {keys[k]: Look(corners[k], readings[n], bool(enough[n])) for n, k in enumerate(new)}
    seen = [looks[key] for key in keys]
    rows = np.array([look.reading for look in seen]).reshape(len(seen), len(NOTHING))
    return rows, np.array([look.enough for look in seen], bool)


def _around(zone: Zone, by_mm: float = _AROUND_MM) -> Zone:
    """Return the area in which a zone's cards and their indices lie."""
    return replace(zone, width_mm=zone.width_mm + 2 * by_mm, height_mm=zone.height_mm + 2 * by_mm)


def observe_area(
    frame: Image,
    view: FeltView,
    zone: Zone,
    reader: CardReader,
    px_per_mm: float,
    clock: _Clock | None = None,
) -> Indices:
    """Return the indices in and around a zone, seen at a scale, in felt millimetres."""
    area, clock = _around(zone), clock or _Clock()
    crop = view.rectify(frame, area, px_per_mm)
    clock.lap("zones")
    seen = _on_felt(reader.indices(crop), area, px_per_mm)
    clock.lap("network")
    return seen


def closer_scale(parts: list[Indices]) -> float:
    """Return the scale at which this table's indices have the best height for covered or large cards."""
    usual = float(np.median(np.concatenate([part.sizes for part in parts])))
    return min(max(_AGAIN_PX / usual, _AGAIN_PX_PER_MM[0]), _AGAIN_PX_PER_MM[1])


def _fitting(indices: Indices) -> Indices:
    """Drop indices of impossible height."""
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
    """Map indices from the upright picture of an area to millimetres on the felt."""
    origin = area.to_felt(np.zeros((1, 2)))
    return replace(
        indices,
        places=area.to_felt((indices.places + 0.5) / px_per_mm),
        directions=area.to_felt(indices.directions) - origin,
        sizes=indices.sizes / px_per_mm,
    )
