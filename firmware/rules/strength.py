"""The strength of a row: one dense scale from 1 (5-4-2 in front) to 7,917 (a royal flush), for both 3 and 5 cards.

A foul check and a comparison between players are then comparisons of two integers. The tables are built here, in a few
milliseconds, once for each variant of the wheel (5-4-3-2-A).
"""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cache, cached_property
from itertools import combinations
from typing import Literal, NamedTuple, get_args

from firmware.messages import Term
from firmware.rules.cards import RANK_KEYS, SUIT_BITS, SUIT_KEYS, Card
from firmware.rules.words import RowWords, row_words

Wheel = Literal["lowest", "second_highest", "not_a_straight"]
"""The rank of 5-4-3-2-A: the lowest straight, the one below A-K-Q-J-T, or no straight at all."""

WHEEL = (3, 2, 1, 0, 12)
"""The ranks of 5-4-3-2-A, its high card first."""


class Category(IntEnum):
    """The kinds of poker hands, low to high."""

    ACE_TO_FIVE = -2
    DEUCE_TO_SEVEN = -1
    """Five different ranks in a lowball middle; the others keep their names there."""
    HIGH_CARD = 0
    ONE_PAIR = 1
    TWO_PAIRS = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    ROYAL_FLUSH = 9

    @cached_property
    def label(self) -> str:
        """The name used in profiles and JSON: "one_pair"."""
        return self.name.lower()

    @property
    def words(self) -> Term:
        """The name in words: "one pair", with a capital letter where it is translated."""
        words = self.label.replace("_", " ")
        return Term(words.capitalize(), english=words)


CATEGORIES = {category.label: category for category in Category}
LOWS = {"ace_to_five": Category.ACE_TO_FIVE, "deuce_to_seven": Category.DEUCE_TO_SEVEN}
"""The categories that only a lowball middle has."""
HIGHS = {label: category for label, category in CATEGORIES.items() if label not in LOWS}


class Kind(NamedTuple):
    """The meaning of a strength: all rows that are equal to each other."""

    category: Category
    ranks: tuple[int, ...]
    """Sorted by number of cards, then by height. A straight's first is its high card."""


# How often the ranks of a category occur: (times, ranks) for the most frequent ones, then for the rest.
_SHAPES = {
    3: {
        Category.HIGH_CARD: ((1, 3), (1, 0)),
        Category.ONE_PAIR: ((2, 1), (1, 1)),
        Category.THREE_OF_A_KIND: ((3, 1), (1, 0)),
    },
    5: {
        Category.HIGH_CARD: ((1, 5), (1, 0)),
        Category.ONE_PAIR: ((2, 1), (1, 3)),
        Category.TWO_PAIRS: ((2, 2), (1, 1)),
        Category.THREE_OF_A_KIND: ((3, 1), (1, 2)),
        Category.FULL_HOUSE: ((3, 1), (2, 1)),
        Category.FOUR_OF_A_KIND: ((4, 1), (1, 1)),
    },
}
_HIGH_TO_LOW = range(12, -1, -1)


_Entry = tuple[Category, tuple[int, ...], tuple[int, ...], int, int]
"""One strength before it has its number: category, height in it, ranks, number of cards, sum of the ranks' keys.

Sorting entries sorts hands. A front's height is shorter than that of a five-card hand with the same first ranks, and so
lower.
"""


def _entries(size: int, wheel: Wheel) -> Iterator[_Entry]:
    keys = RANK_KEYS
    for category, ((most, heads), (least, kickers)) in _SHAPES[size].items():
        for head in combinations(_HIGH_TO_LOW, heads):
            head_key = most * sum([keys[rank] for rank in head])
            for tail in combinations([rank for rank in _HIGH_TO_LOW if rank not in head], kickers):
                ranks = head + tail
                key = head_key + least * sum([keys[rank] for rank in tail])
                if len(ranks) < 5:
                    yield category, ranks, ranks, size, key
                else:
                    yield from _five_ranks(ranks, key, wheel)


def _five_ranks(ranks: tuple[int, ...], key: int, wheel: Wheel) -> Iterator[_Entry]:
    """Yield the entries of five different ranks: unsuited and suited."""
    plain, suited, height = Category.HIGH_CARD, Category.FLUSH, ranks
    if ranks[0] - ranks[4] == 4:
        plain, suited, height = Category.STRAIGHT, Category.STRAIGHT_FLUSH, ranks[:1]
    elif ranks == (12, 3, 2, 1, 0) and wheel != "not_a_straight":
        plain, suited, ranks = Category.STRAIGHT, Category.STRAIGHT_FLUSH, WHEEL
        # (11, 0) lies between a king-high (11,) and an ace-high (12,) straight.
        height = (3,) if wheel == "lowest" else (11, 0)
    if suited is Category.STRAIGHT_FLUSH and height == (12,):
        suited = Category.ROYAL_FLUSH
    yield plain, height, ranks, 5, key
    yield suited, height, ranks, 5, key


_FLUSHES = frozenset({Category.FLUSH, Category.STRAIGHT_FLUSH, Category.ROYAL_FLUSH})
_STRAIGHTS_AND_FLUSHES = _FLUSHES | {Category.STRAIGHT}
_SUIT_MASK = (1 << SUIT_BITS) - 1
_ONE_SUIT = frozenset(5 * suit_key for suit_key in SUIT_KEYS)
"""The suits' part of the key of five cards of one suit."""


class _Words(dict[int, RowWords]):
    """Strengths in words; made on first use."""

    def __init__(self, kinds: Sequence[Kind]) -> None:
        super().__init__()
        self._kinds = kinds

    def __missing__(self, strength: int) -> RowWords:
        category, ranks = self._kinds[strength]
        words = self[strength] = row_words(category.label, ranks)
        return words


def by_suits(flushes: dict[int, int], others: dict[int, int]) -> list[dict[int, int]]:
    """Return the strengths of five cards by the suits' part of their key."""
    return [flushes if suits in _ONE_SUIT else others for suits in range(_SUIT_MASK + 1)]


class Scale:
    """Every strength for one variant of the wheel. Use `scale()` to get one; they are built once.

    >>> from firmware.rules.cards import parse_cards
    >>> lowest = scale("lowest")
    >>> front, middle = parse_cards("As Ah Kd"), parse_cards("Ac Ad Kh 3c 2d")
    >>> lowest.strength(front) < lowest.strength(middle)  # the missing kicker counts lowest
    True
    >>> lowest.text(lowest.strength(front))
    'pair of aces, king'
    """

    def __init__(self, wheel: Wheel) -> None:
        self.wheel = wheel
        kinds = [Kind(Category.HIGH_CARD, (-1,))]  # strength 0 is unused
        self._threes: dict[int, int] = {}
        fives: dict[int, int] = {}
        flushes: dict[int, int] = {}
        entries = sorted([*_entries(3, wheel), *_entries(5, wheel)])
        for strength, (category, _, ranks, cards, rank_key) in enumerate(entries, start=1):
            kinds.append(Kind(category, ranks))
            if cards == 3:
                self._threes[rank_key] = strength
            elif category in _FLUSHES:
                flushes[rank_key] = strength
            else:
                fives[rank_key] = strength
        self._fives = by_suits(flushes, fives)
        """The strengths of five cards, by the suits' part of their key, then by the ranks'."""
        self._kinds: tuple[Kind, ...] = ()
        self.know(kinds)

    def know(self, kinds: Sequence[Kind]) -> None:
        """Add what the next strengths mean."""
        self._kinds += tuple(kinds)
        self.words = _Words(self._kinds)

    @property
    def size(self) -> int:
        """The highest strength: 7,917."""
        return len(self._kinds) - 1

    def three(self, cards: Sequence[Card]) -> int:
        """Return the strength of a front row. Raises KeyError or ValueError unless it is three known cards."""
        a, b, c = cards
        return self._threes[(a.key + b.key + c.key) >> SUIT_BITS]

    def five(self, cards: Sequence[Card]) -> int:
        """Return the strength of a middle or back row. Raises KeyError or ValueError unless it is five known cards."""
        a, b, c, d, e = cards
        key = a.key + b.key + c.key + d.key + e.key
        return self._fives[key & _SUIT_MASK][key >> SUIT_BITS]

    def rows(
        self, front: Sequence[Card], middle: Sequence[Card], back: Sequence[Card]
    ) -> tuple[int, int, int]:
        """Return the strengths of a whole hand's rows. Raises as `three` and `five` do."""
        a, b, c = front
        d, e, f, g, h = middle
        i, j, k, m, n = back
        in_middle = d.key + e.key + f.key + g.key + h.key
        in_back = i.key + j.key + k.key + m.key + n.key
        return (
            self._threes[(a.key + b.key + c.key) >> SUIT_BITS],
            self._fives[in_middle & _SUIT_MASK][in_middle >> SUIT_BITS],
            self._fives[in_back & _SUIT_MASK][in_back >> SUIT_BITS],
        )

    def strength(self, cards: Sequence[Card]) -> int:
        """Return the strength of three or five cards, 1 to 7,917; the stronger row has the higher one."""
        return self.three(cards) if len(cards) == 3 else self.five(cards)

    def of_row(self, row: int, cards: Sequence[Card]) -> int:
        """Return the strength of the cards of a row; 0 is the front."""
        return self.strength(cards)

    def row_ranks(self, row: int) -> Iterator[tuple[int, tuple[int, ...], bool]]:
        """Yield every strength of a row, weakest first: its cards' ranks, and whether they are suited."""
        return self.all_ranks(5 if row else 3)

    def kind(self, strength: int) -> Kind:
        """Return the category and ranks of a strength."""
        return self._kinds[strength]

    def at_least(self, category: Category, rank: int | None = None) -> int:
        """Return the lowest strength of a category, or of those of its hands whose first rank is `rank` or higher."""
        return next(
            strength
            for strength, kind in enumerate(self._kinds)
            if kind.category > category or (kind.category == category and kind.ranks[0] >= (rank or 0))
        )

    def all_ranks(self, size: int) -> Iterator[tuple[int, tuple[int, ...], bool]]:
        """Yield every strength of three or five cards, weakest first: its cards' ranks, and whether they are suited."""
        once = {} if size == 3 else dict.fromkeys(_STRAIGHTS_AND_FLUSHES, ((1, 5), (1, 0)))
        shapes = _SHAPES[size] | once
        for strength, (category, ranks) in enumerate(self._kinds):
            if category in shapes:
                (most, heads), (least, kickers) = shapes[category]
                if len(ranks) == heads + kickers:
                    yield strength, most * ranks[:heads] + least * ranks[heads:], category in _FLUSHES

    def text(self, strength: int) -> str:
        """Return a strength in English, kickers included: "pair of aces, king"."""
        return str(self.words[strength].full)


@cache
def scale(wheel: Wheel = "lowest") -> Scale:
    """Return the scale for a variant of the wheel."""
    assert wheel in get_args(Wheel)
    return Scale(wheel)
