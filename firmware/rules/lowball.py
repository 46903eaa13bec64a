"""A lowball middle: the lower row wins it, by deuce to seven or by ace to five.

The middle's strengths stand above all others of the scale, so that no strength means two things.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final, Literal

from firmware.rules.cards import RANK_KEYS, SUIT_BITS, Card
from firmware.rules.strength import Category, Kind, Scale, Wheel, by_suits, scale

Low = Literal["deuce_to_seven", "ace_to_five"]
MIDDLE: Final = 1
BEST: Final = -1
"""In place of a rank: the best low of all."""
_ACE: Final = 12
_OF_ONE_SUIT: Final = {
    Category.FLUSH: Category.HIGH_CARD,
    Category.STRAIGHT: Category.HIGH_CARD,
    Category.STRAIGHT_FLUSH: Category.HIGH_CARD,
    Category.ROYAL_FLUSH: Category.HIGH_CARD,
}
"""What straights and flushes are where they do not count."""

_LowHand = tuple[Kind, tuple[int, ...], bool]
"""A strength of five cards: its kind, the cards' ranks, and whether they are of one suit."""


def _deuce_to_seven() -> Iterator[list[_LowHand]]:
    """Yield every strength, the worst first: the highest poker hand is the worst, and an ace is never low."""
    high = scale("not_a_straight")
    for strength, ranks, is_flush in reversed(list(high.all_ranks(5))):
        category, by_count = high.kind(strength)
        kind = Category.DEUCE_TO_SEVEN if category is Category.HIGH_CARD else category
        yield [(Kind(kind, by_count), ranks, is_flush)]


def _ace_to_five() -> Iterator[list[_LowHand]]:
    """Yield every strength, the worst first: an ace is the lowest card; straights and flushes do not count."""
    high = scale("not_a_straight")
    found: dict[tuple[Category, tuple[int, ...]], list[_LowHand]] = {}
    for strength, ranks, is_flush in high.all_ranks(5):
        category, by_count = high.kind(strength)
        category = _OF_ONE_SUIT.get(category, category)
        if category is Category.HIGH_CARD:
            by_count, shown = ranks, Category.ACE_TO_FIVE
        else:
            shown = category
        low = tuple(sorted(by_count, key=lambda rank: (ranks.count(rank), _from_ace(rank)), reverse=True))
        height = category, tuple(map(_from_ace, low))
        found.setdefault(height, []).append((Kind(shown, low), ranks, is_flush))
    for height in sorted(found, reverse=True):
        yield found[height]


def _from_ace(rank: int) -> int:
    return 0 if rank == _ACE else rank + 1


class LowMiddleScale(Scale):
    """The strengths of a game with a lowball middle. Use `low_scale()` to get one."""

    def __init__(self, wheel: Wheel, low: Low) -> None:
        super().__init__(wheel)
        self._above = len(self._kinds)
        self._of_middle = list(_deuce_to_seven() if low == "deuce_to_seven" else _ace_to_five())
        flushes: dict[int, int] = {}
        others: dict[int, int] = {}
        for strength, found in enumerate(self._of_middle, start=self._above):
            for _, ranks, is_flush in found:
                (flushes if is_flush else others)[sum(RANK_KEYS[rank] for rank in ranks)] = strength
        self._middles = by_suits(flushes, others)
        self.know([found[0][0] for found in self._of_middle])

    def rows(
        self, front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]
    ) -> tuple[int, int, int]:
        """Return the strengths of a whole hand's rows. Raises KeyError or ValueError for a row that is not complete."""
        return self.three(front), self._middle(middle), self.five(back)

    def of_row(self, row: int, cards: Sequence[Card]) -> int:
        """Return the strength of the cards of a row; 0 is the front."""
        return self._middle(cards) if row == MIDDLE else self.strength(cards)

    def _middle(self, cards: Sequence[Card]) -> int:
        a, b, c, d, e = cards
        key = a.key + b.key + c.key + d.key + e.key
        return self._middles[key & ((1 << SUIT_BITS) - 1)][key >> SUIT_BITS]

    def at_least(self, category: Category, rank: int | None = None) -> int:
        """Return the lowest sufficient strength; of a low, that of its highest card."""
        if category not in (Category.DEUCE_TO_SEVEN, Category.ACE_TO_FIVE):
            return super().at_least(category, rank)
        if rank == BEST:
            return self.size
        return next(
            strength
            for strength in range(self._above, self.size + 1)
            if self.kind(strength).category is category and rank in (None, self.kind(strength).ranks[0])
        )

    def row_ranks(self, row: int) -> Iterator[tuple[int, tuple[int, ...], bool]]:
        """Yield every strength of a row, weakest first: its cards' ranks, and whether they are suited."""
        if row != MIDDLE:
            yield from super().row_ranks(row)
            return
        for strength, found in enumerate(self._of_middle, start=self._above):
            for _, ranks, is_flush in found:
                yield strength, ranks, is_flush


@cache
def low_scale(wheel: Wheel, low: Low) -> LowMiddleScale:
    """Return the scale for a variant of the wheel and of the low."""
    return LowMiddleScale(wheel, low)
