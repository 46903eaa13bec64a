"""Naturals (clean sweeps): which of the ten kinds thirteen cards hold, exactly.

Everything is computed from one number, the sum of the cards' packs (see `cards.RANK_COUNTS`): the count of each rank
and suit. There is no search during play; the tables are built once from all partitions.
"""

from collections.abc import Sequence
from enum import IntFlag
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Literal

from firmware.messages import Message
from firmware.rules.cards import RANK_COUNTS, Card
from firmware.rules.strength import Wheel

By = Literal["cards", "rows"]
"""Whether three straights and three flushes may be arranged from the 13 cards, or must be in the rows as set."""


class Natural(IntFlag):
    """The ten kinds of naturals. A hand may fit several at once."""

    ALL_ONE_SUIT = 1
    DRAGON = 2
    SUPER_DRAGON = 4
    ALL_ONE_COLOR = 8
    TWELVE_ONE_SUIT = 16
    TWELVE_ONE_COLOR = 32
    SIX_PAIRS = 64
    FIVE_PAIRS_TRIPS = 128
    THREE_STRAIGHTS = 256
    THREE_FLUSHES = 512

    @property
    def label(self) -> str:
        """The name of one kind in profiles and JSON: "six_pairs"."""
        return (self.name or "").lower()


NATURALS: dict[str, Natural] = {kind.label: kind for kind in Natural}
"""The kinds by name."""

NATURAL_WORDS: dict[str, Message] = {
    "all_one_suit": Message("thirteen cards of one suit"),
    "dragon": Message("dragon (one card of every rank)"),
    "super_dragon": Message("super dragon (a dragon in one suit)"),
    "all_one_color": Message("thirteen cards of one color"),
    "twelve_one_suit": Message("exactly twelve cards of one suit"),
    "twelve_one_color": Message("exactly twelve cards of one color"),
    "six_pairs": Message("six pairs"),
    "five_pairs_trips": Message("five pairs and three of a kind"),
    "three_straights": Message("three straights"),
    "three_flushes": Message("three flushes"),
}
"""The kinds in a dealer's words."""

_SUIT_MASK = (1 << RANK_COUNTS) - 1
_ONE_OF_EACH_RANK = sum(1 << 3 * rank for rank in range(13))
# As plain ints: one operation on an IntFlag is slower than a whole lookup.
_PAIRS = int(Natural.SIX_PAIRS)
_PAIRS_AND_TRIPS = int(Natural.SIX_PAIRS | Natural.FIVE_PAIRS_TRIPS)
_STRAIGHTS = int(Natural.THREE_STRAIGHTS)
_FLUSHES = int(Natural.THREE_FLUSHES)


def _straights(size: int, wheel: Wheel) -> list[int]:
    """Return the rank counts of every straight of three or five cards."""
    # From the ace below the deuce (rank -1, the same card as rank 12) to the ace above the king.
    lowest = 0 if wheel == "not_a_straight" else -1
    return [sum(1 << 3 * (rank % 13) for rank in range(low, low + size)) for low in range(lowest, 14 - size)]


@cache
def _three_straights(wheel: Wheel) -> set[int]:
    """Return the rank counts of all 13 cards with three straights: 589 if the wheel is a straight."""
    pairs = [sum(pair) for pair in combinations_with_replacement(_straights(5, wheel), 2)]
    return {front + pair for front in _straights(3, wheel) for pair in pairs}


def _three_flushes() -> set[int]:
    """Return the suit counts of all 13 cards with three flushes: each suit has whole rows of 3, 5 and 5."""
    suits = range(0, RANK_COUNTS, 4)
    return {(3 << front) + (5 << middle) + (5 << back) for front, middle, back in product(suits, repeat=3)}


def _suit_naturals(clubs: int, diamonds: int, hearts: int, spades: int) -> Natural:
    """Return the kinds that depend on suit counts, except three flushes."""
    most, red = max(clubs, diamonds, hearts, spades), diamonds + hearts
    kinds = Natural(0)
    if most == 13:
        kinds |= Natural.ALL_ONE_SUIT | Natural.SUPER_DRAGON
    if most == 12:
        kinds |= Natural.TWELVE_ONE_SUIT
    if red in (0, 13):
        kinds |= Natural.ALL_ONE_COLOR
    if red in (1, 12):
        kinds |= Natural.TWELVE_ONE_COLOR
    return kinds


@cache
def _by_suits() -> dict[int, int]:
    """Return the kinds for each of the 560 suit counts of 13 cards."""
    flushes = _three_flushes()
    table = {}
    for clubs in range(14):
        for diamonds in range(14 - clubs):
            for hearts in range(14 - clubs - diamonds):
                spades = 13 - clubs - diamonds - hearts
                counts = clubs | diamonds << 4 | hearts << 8 | spades << 12
                kinds = _suit_naturals(clubs, diamonds, hearts, spades)
                table[counts] = int(kinds | Natural.THREE_FLUSHES if counts in flushes else kinds)
    return table


class NaturalFinder:
    """Finds every natural in a hand. Use `natural_finder()` to get one.

    >>> from firmware.rules.cards import parse_cards
    >>> front, middle, back = parse_cards("As 2s 3s"), parse_cards("4s 5s 6s 7s 8s"), parse_cards("9h Ts Js Qs Ks")
    >>> natural_finder("cards").find(front, middle, back)
    <Natural.DRAGON|TWELVE_ONE_SUIT|TWELVE_ONE_COLOR|THREE_STRAIGHTS: 306>
    """

    def __init__(self, by: By, wheel: Wheel) -> None:
        self._set_rows = by == "rows"
        self._by_suits = _by_suits()
        self._by_ranks = dict.fromkeys(_three_straights(wheel), _STRAIGHTS)
        self._by_ranks[_ONE_OF_EACH_RANK] = int(Natural.THREE_STRAIGHTS | Natural.DRAGON)
        self._straight_rows = frozenset(_straights(3, wheel) + _straights(5, wheel))
        self._flush_rows = frozenset(cards << suit for cards in (3, 5) for suit in range(0, RANK_COUNTS, 4))

    def find(self, front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]) -> Natural:
        """Return all kinds in 3, 5 and 5 known, different cards."""
        return Natural(self.bits(front, middle, back))

    def bits(self, front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]) -> int:
        """Return the same as a plain int, for the settlement's inner loop."""
        a, b, c = front
        d, e, f, g, h = middle
        i, j, k, m, n = back
        front_pack = a.pack + b.pack + c.pack
        middle_pack = d.pack + e.pack + f.pack + g.pack + h.pack
        back_pack = i.pack + j.pack + k.pack + m.pack + n.pack
        kinds = self.counted(front_pack + middle_pack + back_pack)
        if self._set_rows and kinds & (_STRAIGHTS | _FLUSHES):
            kinds &= ~(_STRAIGHTS | _FLUSHES)
            kinds |= self._as_set((front_pack, middle_pack, back_pack))
        return kinds

    def counted(self, pack: int) -> int:
        """Return every kind that follows from the sum of thirteen cards' packs, in any arrangement of the rows."""
        ranks = pack >> RANK_COUNTS
        kinds = self._by_suits[pack & _SUIT_MASK] | self._by_ranks.get(ranks, 0)
        # 13 cards are six pairs and an odd card if exactly one rank's count is odd.
        odd = ranks & _ONE_OF_EACH_RANK
        if not odd & (odd - 1):
            kinds |= _PAIRS_AND_TRIPS if ranks & (odd << 1) else _PAIRS
        return kinds

    def _as_set(self, packs: tuple[int, int, int]) -> int:
        """Return three straights and three flushes if the rows as set are such."""
        kinds = 0
        if all(pack >> RANK_COUNTS in self._straight_rows for pack in packs):
            kinds |= _STRAIGHTS
        if all(pack & _SUIT_MASK in self._flush_rows for pack in packs):
            kinds |= _FLUSHES
        return kinds


@cache
def natural_finder(by: By = "cards", wheel: Wheel = "lowest") -> NaturalFinder:
    """Return the finder for one variant of the rules; its tables are built once."""
    return NaturalFinder(by, wheel)
