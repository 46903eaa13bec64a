"""Strengths of many rows at once, for audits and benchmarks. Needs NumPy; the core never imports this module.

The tables are those of `strength.Scale`, as arrays.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from firmware.rules.cards import CARDS, RANK_KEYS, SUIT_BITS, SUIT_KEYS, Card
from firmware.rules.strength import Wheel, scale

_INDEX = {card: index for index, card in enumerate(CARDS)}
_KEYS = np.array([card.key for card in CARDS], dtype=np.int32)
_SUIT_MASK = (1 << SUIT_BITS) - 1
_CHUNK = 1 << 16  # rows that fit into the processor's cache


class _Tables(NamedTuple):
    """Strengths by the sum of the ranks' keys; 0 where no cards have that sum."""

    plain: NDArray[np.uint16]
    suited: NDArray[np.uint16]
    one_suit: NDArray[np.bool_]
    """Whether it is a flush, by the sum of the suits' keys."""


@lru_cache(maxsize=8)
def _tables(size: int, wheel: Wheel) -> _Tables:
    highest = size * RANK_KEYS[-1]
    tables = _Tables(
        plain=np.zeros(highest + 1, np.uint16),
        suited=np.zeros(highest + 1, np.uint16),
        one_suit=np.zeros(_SUIT_MASK + 1, np.bool_),
    )
    for strength, ranks, suited in scale(wheel).all_ranks(size):
        (tables.suited if suited else tables.plain)[sum(RANK_KEYS[rank] for rank in ranks)] = strength
    if size == 5:
        tables.one_suit[[size * suit_key for suit_key in SUIT_KEYS]] = True
    return tables


def card_indices(cards: Iterable[Card]) -> NDArray[np.uint8]:
    """Return cards as input of `strengths`: their indices in `CARDS`."""
    return np.array([_INDEX[card] for card in cards], dtype=np.uint8)


def strengths(cards: NDArray[np.uint8], wheel: Wheel = "lowest") -> NDArray[np.uint16]:
    """Return the strength of every row.

    `cards` has a column for each row: shape (3, n) or (5, n), indices in `CARDS`. Duplicate cards are not detected.
    Raises ValueError for another shape or number.

    >>> from firmware.rules import parse_cards
    >>> int(strengths(card_indices(parse_cards("As Ks Qs Js Ts"))[:, None])[0])
    7917
    """
    if cards.ndim != 2 or len(cards) not in (3, 5):
        raise ValueError(f"cards have the shape {cards.shape}; give (3, n) or (5, n)")
    if cards.size and int(cards.max()) >= len(CARDS):
        raise ValueError(f"{int(cards.max())} is no card; cards are numbered 0 to {len(CARDS) - 1}")
    tables = _tables(len(cards), wheel)
    found = np.empty(cards.shape[1], np.uint16)
    scratch = np.empty((2, min(_CHUNK, len(found))), np.int32)
    for begin in range(0, len(found), _CHUNK):
        chunk = slice(begin, begin + _CHUNK)
        _fill(found[chunk], cards[:, chunk], tables, scratch)
    return found


def _fill(
    found: NDArray[np.uint16], cards: NDArray[np.uint8], tables: _Tables, scratch: NDArray[np.int32]
) -> None:
    """Write the strengths of one chunk."""
    keys, ranks = scratch[:, : len(found)]
    # Checked above, so no value is clipped: the mode only saves NumPy a check and a copy.
    np.take(_KEYS, cards[0], out=keys, mode="clip")
    for column in cards[1:]:
        keys += np.take(_KEYS, column, out=ranks, mode="clip")
    np.right_shift(keys, SUIT_BITS, out=ranks)
    np.take(tables.plain, ranks, out=found, mode="clip")
    keys &= _SUIT_MASK
    flushes = np.flatnonzero(tables.one_suit[keys])
    found[flushes] = tables.suited[ranks[flushes]]
