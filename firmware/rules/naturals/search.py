"""Finds a house's own naturals in thirteen cards.

Most conditions are decided by counting ranks and suits. Rows that may be made of any of the cards are searched for:
each straight or flush is tried for the first row, each one among the remaining cards for the next, until the cards that
then remain have the pairs, trips and quads.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Final

from firmware.rules.cards import RANKS, SUITS, Card
from firmware.rules.naturals.conditions import Conditions, RowHand
from firmware.rules.naturals.kinds import By, Natural, NaturalFinder
from firmware.rules.rows import ROW_SIZES
from firmware.rules.strength import Wheel

FIRST_OWN_BIT: Final = 2 * int(max(Natural))
"""The bit in `bits` for the first of a house's own naturals; each further one has the next bit."""
_RANKS: Final = len(RANKS)
_SUITS: Final = len(SUITS)
_RED: Final = tuple(map(SUITS.index, "dh"))

Cards = Sequence[Card]


class OwnNaturalFinder(NaturalFinder):
    """Finds the ten kinds, and a house's own by their conditions.

    >>> from firmware.rules.cards import parse_cards
    >>> finder = OwnNaturalFinder("cards", "lowest", [Conditions(quads=3), Conditions(ranks="89TJQKA")])
    >>> cards = parse_cards("Ts Th Td Tc 9s 9h 9d 9c Ks Kh Kd Kc Ad")
    >>> finder.bits(cards[:3], cards[3:8], cards[8:]) // FIRST_OWN_BIT  # both
    3
    """

    def __init__(self, by: By, wheel: Wheel, own: Sequence[Conditions]) -> None:
        super().__init__(by, wheel)
        self._own = tuple((FIRST_OWN_BIT << number, needs) for number, needs in enumerate(own))
        lowest = 0 if wheel == "not_a_straight" else -1
        self._straights = {
            size: tuple(
                tuple(rank % _RANKS for rank in range(low, low + size))
                for low in range(lowest, _RANKS + 1 - size)
            )
            for size in set(ROW_SIZES)
        }
        self._straight_ranks = {frozenset(ranks) for found in self._straights.values() for ranks in found}

    def bits(self, front: Cards, middle: Cards, back: Cards) -> int:
        """Return all kinds that 13 known, different cards hold, as a number with a bit for each."""
        found = super().bits(front, middle, back)
        cards = (*front, *middle, *back)
        ranks, suits = count_ranks(cards), [0] * _SUITS
        for card in cards:
            suits[card.suit] += 1
        for bit, needs in self._own:
            if (
                _counts_fit(needs, ranks, suits)
                and _groups_fit(needs, ranks)
                and self._rows_fit(needs, (front, middle, back), cards)
            ):
                found |= bit
        return found

    def _rows_fit(self, needs: Conditions, rows: Sequence[Cards], cards: Cards) -> bool:
        named = needs.named_rows
        if not named:
            return True
        if needs.by == "cards":
            return self._can_be_arranged(needs, [(size, hand) for _, size, hand in named], cards)
        others = [card for row, held in enumerate(rows) if not needs.rows[row] for card in held]
        return _groups_fit(needs, count_ranks(others)) and all(
            self._is_row(hand, rows[row]) for row, _size, hand in named
        )

    def _is_row(self, hand: RowHand, row: Cards) -> bool:
        """Return whether a row is such a hand: a straight, a flush, or both at once."""
        ranks = frozenset(card.rank for card in row)
        is_straight = len(ranks) == len(row) and ranks in self._straight_ranks
        is_flush = len({card.suit for card in row}) == 1
        return (is_straight or hand == "flush") and (is_flush or hand == "straight")

    def _can_be_arranged(self, needs: Conditions, wanted: list[tuple[int, RowHand]], cards: Cards) -> bool:
        """Return whether the cards make these rows, and the remaining cards the pairs, trips and quads."""
        if not wanted:
            return _groups_fit(needs, count_ranks(cards))
        (size, hand), *others = wanted
        return any(
            self._can_be_arranged(needs, others, [card for card in cards if card not in row])
            for row in self._rows_in(size, hand, cards)
        )

    def _rows_in(self, size: int, hand: RowHand, cards: Cards) -> Iterator[Cards]:
        """Yield every row of this size and hand that can be made of the cards."""
        if hand == "flush":
            for suit in range(_SUITS):
                yield from combinations([card for card in cards if card.suit == suit], size)
            return
        by_rank: list[list[Card]] = [[] for _ in RANKS]
        for card in cards:
            by_rank[card.rank].append(card)
        for ranks in self._straights[size]:
            for row in product(*[by_rank[rank] for rank in ranks]):
                if hand == "straight" or len({card.suit for card in row}) == 1:
                    yield row


def count_ranks(cards: Cards) -> list[int]:
    """Return how many cards there are of each rank."""
    counts = [0] * _RANKS
    for card in cards:
        counts[card.rank] += 1
    return counts


def _counts_fit(needs: Conditions, ranks: Sequence[int], suits: Sequence[int]) -> bool:
    if needs.ranks and sum(ranks[RANKS.index(rank)] for rank in needs.ranks) < needs.cards:
        return False
    red = sum(suits[suit] for suit in _RED)
    return (
        max(suits) >= needs.one_suit
        and max(red, sum(suits) - red) >= needs.one_color
        and _RANKS - ranks.count(0) >= needs.different_ranks
    )


def _groups_fit(needs: Conditions, ranks: Sequence[int]) -> bool:
    """Return whether the cards hold all quads, trips and pairs that are needed, each card in one of them.

    Trips are taken from three of a kind first, then from quads; what remains counts as pairs.
    """
    fours, threes, twos = ranks.count(4), ranks.count(3), ranks.count(2)
    fours -= needs.quads
    threes_left = threes - needs.trips
    fours += min(threes_left, 0)
    pairs = twos + max(threes_left, 0) + fours * (2 if needs.quads_as_pairs else 1)
    return fours >= 0 and pairs >= needs.pairs
