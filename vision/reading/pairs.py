"""Finds the two indices of one card by their relative position, where the table's scale is known.

The relative position of a deck's two indices is learnt from the table itself: opposite indices that name the same card
are nearly always one card's, and most cards show both. With too few such pairs, the card's size gives an estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vision.reading.network import Floats, Indices

Rows = NDArray[np.intp]

_OPPOSITE = -0.85  # cosine below which two indices read in opposite directions
_TURN = math.radians(22)  # the network's error in the direction of each of a card's indices
_SLIM = 0.17  # half of an index's least width, in its heights
_REACH_MM = (40.0, 100.0)  # from one index of a card to the other, whatever the deck
_STEEP = math.radians(30), math.radians(68)
"""The steepness of that line; an ace's fourth index is straight below."""
_ONE_NAME = math.log(0.5)  # log-probability of naming the same card, above which two indices are one card's
_OTHER_NAME = math.log(0.002)  # below which they must match the stance very exactly: one of them was misread
_TWO_CARDS = -13.0  # nats below which they are two cards', wherever they lie
_ENOUGH = 5  # the least number of pairs to learn a deck's geometry
_SURELY_MM, _SURELY_TURN = 2.5, math.radians(17)  # for an exact match
_EXPECTED_MM, _LEARNT_MM = 8.0, 4.0  # for a loose match


@dataclass(frozen=True)
class Stance:
    """The position of a card's second index relative to its first: millimetres along the card's width and height."""

    across: float
    down: float

    @property
    def apart(self) -> float:
        """The distance between the two."""
        return math.hypot(self.across, self.down)


def index_inset_mm(size_mm: Floats) -> Floats:
    """Return the distance of an index's centre from its card's side and top, n × 2 mm, by the index's height (n).

    Measured on Bicycle, jumbo and drawn decks; accurate to about 2 mm.
    """
    return np.stack([np.maximum(5.5, 0.34 * size_mm), 4.0 + size_mm / 2], axis=-1)


def log_agreement(a: Floats, b: Floats) -> Floats:
    """Return the log-probability that both name the same card, along the last axis."""
    return np.asarray(np.logaddexp.reduce(a + b, axis=-1))


@dataclass(frozen=True)
class _Candidates:
    """Pairs of indices that may be one card's: rows, distance, direction by the first one (radians), agreement."""

    first: Rows
    second: Rows
    apart: Floats
    steep: Floats
    opposite: NDArray[np.bool_]
    agreement: Floats

    @classmethod
    @lru_cache(maxsize=2)
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
    """Learn the relative position of the cards' indices from a table; None if too few cards show both."""
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
    """Pair the indices placed like the two of one card, within the tolerance of direction and measurement, the best
    first.

    Without a learnt stance, the card's width and height give an estimate. Two that clearly name different cards are no
    pair: one card is on top of another.
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
    # despite the network's error in direction, two of one name are one card
    pair = (far < slack) & (fits | (seen.agreement > _ONE_NAME)) & (seen.agreement > _TWO_CARDS)
    if stance is not None:
        pair &= (seen.agreement > _OTHER_NAME) | ((far < _SURELY_MM) & (turn < _SURELY_TURN))
    odd = far / slack + turn / _TURN + np.where(fits, 0, 2) + np.minimum(-seen.agreement, 6.0) / 3
    rows = np.flatnonzero(pair)
    return best_first([(float(odd[k]), int(seen.first[k]), int(seen.second[k])) for k in rows])


def _off_the_expected(
    indices: Indices, seen: _Candidates, card_mm: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return the distance of pairs from the estimate by the cards' size, and the expected steepness."""
    inset = index_inset_mm(indices.sizes)
    expected = np.array(card_mm) - inset[seen.first] - inset[seen.second]
    edge = np.stack([_SLIM * indices.sizes, indices.sizes / 2], axis=-1)  # printed up to the card's edge
    widest = np.array(card_mm) - edge[seen.first] - edge[seen.second]
    far = np.maximum(np.hypot(*expected.T) - seen.apart, seen.apart - np.hypot(*widest.T))
    return np.maximum(far, 0.0), np.arctan2(expected[:, 1], expected[:, 0])


def best_first(scored: list[tuple[float, int, int]]) -> list[tuple[int, ...]]:
    """Select the pairs with the lowest scores, each index once."""
    used: set[int] = set()
    pairs: list[tuple[int, ...]] = []
    for _, i, j in sorted(scored):
        if i not in used and j not in used:
            used |= {i, j}
            pairs.append((i, j))
    return pairs


def lie_as_one(indices: Indices, rows: Rows, stance: Stance) -> NDArray[np.bool_]:
    """Return for each two of these indices whether they lie as the two of one card do (n × n).

    They may name different cards, if not two quite clearly. A card under another one, turned the other way and a little
    farther out, would show its index beside that place.
    """
    seen = _Candidates.of(indices.take(rows))
    turn = np.abs((seen.steep - math.atan2(stance.down, stance.across) + np.pi) % (2 * np.pi) - np.pi)
    fits = seen.opposite & (turn < _TURN) & (np.abs(seen.apart - stance.apart) < _LEARNT_MM)
    fits &= seen.agreement > _TWO_CARDS
    one = np.zeros((len(rows), len(rows)), bool)
    one[seen.first[fits], seen.second[fits]] = True
    return one | one.T
