"""The layout of the 52 cards for enrolment: the page's own drawing of `vision.reading.enrolment.spread`."""

from __future__ import annotations

from itertools import islice
from typing import Final

from firmware.table.events import ROWS

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
PLACES: Final = "ABCD"

Spread = dict[str, dict[str, list[str]]]


def spread() -> Spread:
    """Return the codes by place and row, from each player's left.

    >>> spread()["A"]["front"]
    ['2c', '3c', '4c']
    """
    laid: Spread = {}
    for place, suit in zip(PLACES, SUITS, strict=True):
        ranks = iter(RANKS)
        laid[place] = {row: [rank + suit for rank in islice(ranks, count)] for row, count in ROWS.items()}
    return laid
