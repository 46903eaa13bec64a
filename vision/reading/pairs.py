"""Which two indices are one card's: where the table's scale is known, by how this deck's indices stand to one another.

How far a deck's two indices stand apart is learnt from the table itself: opposite indices that name the same card are
nearly always one card's, and most cards show both. Where too few do, it is what the cards' size lets expect.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.reading.network import Floats, Indices

Rows = NDArray[np.intp]

_OPPOSITE = -0.85  # cosine below which two indices read in opposite directions
_TURN = math.radians(22)  # what the network may err by in how both of a card's indices are turned
_SLIM = 0.17  # half an index's least width, in its heights
_REACH_MM = (40.0, 100.0)  # from one index of a card to the other, whatever the deck
_STEEP = (
    math.radians(30),
    math.radians(68),
)  # how steep the way is; straight down lies an ace's fourth index
_ONE_NAME = math.log(
    0.5
)  # log-probability that two indices name the same card, above which they are one card's
_OTHER_NAME = math.log(0.002)  # below which they must lie very exactly to be one card's, one of them misread
_TWO_CARDS = -13.0  # nats below which they are two cards', however they lie
_ENOUGH = 5  # pairs from which a deck's geometry is learnt
_SURELY_MM, _SURELY_TURN = 2.5, math.radians(17)  # how exactly
_EXPECTED_MM, _LEARNT_MM = 8.0, 4.0  # how far off two indices may stand


@dataclass(frozen=True)
class Stance:
    """How a card's second index stands to its first: millimetres along the card's width and down its height."""

    across: float
    down: float

    @property
    def apart(self) -> float:
        """How far the two stand apart."""
        return math.hypot(self.across, self.down)


def index_inset_mm(size_mm: Floats) -> Floats:
    """Return how far an index's middle stands from its card's side and top, n × 2 mm, by the index's height (n).

    Measured on Bicycle, jumbo and drawn decks; right to about 2 mm.
    """
    return np.stack([np.maximum(5.5, 0.34 * size_mm), 4.0 + size_mm / 2], axis=-1)


def log_agreement(a: Floats, b: Floats) -> Floats:
    """Return the log of the probability that both name the same card; along the last axis."""
    return np.asarray(np.logaddexp.reduce(a + b, axis=-1))


@dataclass(frozen=True)
class _Candidates:
    """Pairs of indices that may be one card's: rows, distance, way as the first one reads (radians), agreement."""

    first: Rows
    second: Rows
    apart: Floats
    steep: Floats
    opposite: NDArray[np.bool_]
    agreement: Floats

    @classmethod
    def of(cls, indices: Indices) -> _Candidates:
        step = indices.places[None] - indices.places[:, None]
        apart = np.hypot(step[..., 0], step[..., 1])
        first, second = np.nonzero(np.triu((apart > _REACH_MM[0]) & (apart < _REACH_MM[1]), 1))
        u = indices.directions
        text = u[first] - u[second]
        way = step[first, second]
        steep = np.arctan2(way[:, 1], way[:, 0]) - np.arctan2(text[:, 1], text[:, 0])
        return cls(
            first,
            second,
            apart[first, second],
            np.asarray((steep + np.pi) % (2 * np.pi) - np.pi),
            np.asarray((u[first] * u[second]).sum(axis=1) < _OPPOSITE),
            log_agreement(indices.logp[first], indices.logp[second]),
        )


def learnt_stance(indices: Indices) -> Stance | None:
    """Learn from a table how its cards' indices stand to one another; None where too few cards show both."""
    seen = _Candidates.of(indices)
    one = seen.opposite & (seen.agreement > _ONE_NAME) & (seen.steep > _STEEP[0]) & (seen.steep < _STEEP[1])
    if one.sum() < _ENOUGH:
        return None
    apart, steep = float(np.median(seen.apart[one])), float(np.median(seen.steep[one]))
    if (np.abs(seen.apart[one] - apart) < _LEARNT_MM).sum() < _ENOUGH:
        return None
    return Stance(apart * math.cos(steep), apart * math.sin(steep))


def exact_pairs(
    indices: Indices, card_mm: tuple[float, float], stance: Stance | None = None
) -> list[tuple[int, ...]]:
    """Pair the indices that lie as the two of one card, to within what turning and measuring may add, the best first.

    Without a stance learnt from the table, the card's width and height let expect one. Two that clearly name different
    cards are no pair: a card lies on another.
    """
    if len(indices) < 2:
        return []
    seen = _Candidates.of(indices)
    far, steep, slack = *_off_the_expected(indices, seen, card_mm), _EXPECTED_MM
    if stance is not None:
        far, slack = np.abs(seen.apart - stance.apart), _LEARNT_MM
        steep = np.full(len(far), math.atan2(stance.down, stance.across))
    turn = np.abs((seen.steep - steep + np.pi) % (2 * np.pi) - np.pi)
    fits = seen.opposite & (turn < _TURN)
    # where the network errs in how an index is turned, two of one name are one card all the same
    pair = (far < slack) & (fits | (seen.agreement > _ONE_NAME)) & (seen.agreement > _TWO_CARDS)
    if stance is not None:
        pair &= (seen.agreement > _OTHER_NAME) | ((far < _SURELY_MM) & (turn < _SURELY_TURN))
    odd = far / slack + turn / _TURN + np.where(fits, 0, 2) + np.minimum(-seen.agreement, 6.0) / 3
    rows = np.flatnonzero(pair)
    return best_first([(float(odd[k]), int(seen.first[k]), int(seen.second[k])) for k in rows])


def _off_the_expected(
    indices: Indices, seen: _Candidates, card_mm: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Say how far pairs stand off what the cards' size lets expect, and how steep their way should be."""
    inset = index_inset_mm(indices.sizes)
    expected = np.array(card_mm) - inset[seen.first] - inset[seen.second]
    edge = np.stack([_SLIM * indices.sizes, indices.sizes / 2], axis=-1)  # printed to the card's very edge
    widest = np.array(card_mm) - edge[seen.first] - edge[seen.second]
    far = np.maximum(np.hypot(*expected.T) - seen.apart, seen.apart - np.hypot(*widest.T))
    return np.maximum(far, 0.0), np.arctan2(expected[:, 1], expected[:, 0])


def best_first(scored: list[tuple[float, int, int]]) -> list[tuple[int, ...]]:
    """Take the pairs with the lowest scores, each index once."""
    used: set[int] = set()
    pairs: list[tuple[int, ...]] = []
    for _, i, j in sorted(scored):
        if i not in used and j not in used:
            used |= {i, j}
            pairs.append((i, j))
    return pairs
