"""Hands as profiles name them: a category, or its hands of one rank only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from firmware.messages import Message, MessageError, Term, Word
from firmware.rules.cards import RANKS
from firmware.rules.lowball import BEST
from firmware.rules.strength import HIGHS, LOWS, WHEEL, Category
from firmware.rules.words import HIGH, ONE, SEVERAL

LONGEST_QUOTE: Final = 120


class NotAllowedError(MessageError, ValueError):
    """A value that an option does not allow; the message states what is allowed."""


class EntriesNotAllowedError(NotAllowedError):
    """A list with entries that are not allowed: `entries` are their positions from 0."""

    def __init__(self, entries: Mapping[int, NotAllowedError]) -> None:
        self.entries: Final = entries
        super().__init__(next(iter(entries.values())).sentence)


def quote(value: object) -> str:
    """Return a value as quoted in a sentence: on one line, whatever its length, depth or size.

    >>> quote([1, "2"])
    "[1, '2']"
    >>> quote({"full_house": 3, "by_rank": False})
    '{ full_house = 3, by_rank = false }'
    """
    try:
        text = _toml(value)
    except (ValueError, RecursionError):  # a number with thousands of digits, or thousands of nested tables
        return "(something beyond all measure)"
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _toml(value: object) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{key} = {_toml(one)}" for key, one in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    return repr(value).lower() if isinstance(value, bool) else repr(value)


def suggestion(name: str, names: Iterable[str]) -> Message | str:
    """Return a hint with the most similar name; "" without one."""
    from difflib import get_close_matches  # slow to import and needed only after a mistake

    close = get_close_matches(name, names, n=1)
    return Message("; did you mean %(name)s?", name=close[0]) if close else ""


_SAME: Final = {2: Category.ONE_PAIR, 3: Category.THREE_OF_A_KIND, 4: Category.FOUR_OF_A_KIND}
"""Categories of one rank, named by it: "QQ", "QQQ", "QQQQ"."""
BEST_LOW: Final = "7-5-4-3-2"
"""The best low from deuce to seven."""
_FRONT: Final = (Category.ONE_PAIR, Category.THREE_OF_A_KIND)
_FIRST_RANKS: Final = {
    **dict.fromkeys(_SAME.values(), range(13)),
    Category.TWO_PAIRS: range(1, 13),
    Category.STRAIGHT: range(3, 13),
    Category.FLUSH: range(5, 13),
    Category.FULL_HOUSE: range(13),
    Category.STRAIGHT_FLUSH: range(3, 12),
    Category.DEUCE_TO_SEVEN: range(12, 4, -1),
    Category.ACE_TO_FIVE: range(11, 2, -1),
}
"""The possible first ranks of a category: of a straight its high card, of a full house its three."""


@dataclass(frozen=True, slots=True)
class Target:
    """A hand as named in a bonus table: a category, or its hands of one rank ("QQ", "QQQQ", "full_house:Q").

    A rank is the hand's first: of a straight or flush the highest card, of a full house the three, of two pairs the
    higher one.
    """

    category: Category
    rank: int | None

    @classmethod
    def parse(cls, text: object, *, front: bool) -> Target:
        """Return the hand from its name in a table. Raises NotAllowedError.

        >>> Target.parse("full_house:Q", front=False)
        Target(category=<Category.FULL_HOUSE: 6>, rank=10)
        """
        if isinstance(text, str):
            name, colon, rank = text.partition(":")
            category = (HIGHS if front else {**HIGHS, **LOWS}).get(name)
            if not colon and (category in _FRONT or (category and not front)):
                assert category is not None
                return cls(category, None)
            if name == BEST_LOW and not front:
                return cls(Category.DEUCE_TO_SEVEN, BEST)
            if colon and category and not front and category not in _SAME.values() and len(rank) == 1:
                of_rank = cls(category, RANKS.find(rank))
                if of_rank.rank in _FIRST_RANKS.get(category, ()):
                    return of_rank
            if text and text[0] in RANKS and text == text[0] * len(text) and len(text) in _SAME:
                of_rank = cls(_SAME[len(text)], RANKS.index(text[0]))
                if not front or of_rank.category in _FRONT:
                    return of_rank
        raise NotAllowedError(
            "%(hand)s is no hand here; allowed: %(allowed)s%(hint)s",
            hand=quote(text),
            allowed=_allowed(front=front),
            hint=suggestion(str(text)[:LONGEST_QUOTE], _named(front=front)),
        )

    @classmethod
    def ranked(cls, category: Category, *, second_highest: bool = False) -> tuple[Target, ...]:
        """Return a category's hands of each rank from low to high; `second_highest`: where 5-4-3-2-A ranks so."""
        ranks = list(_FIRST_RANKS.get(category, ()))
        if second_highest and category in (Category.STRAIGHT, Category.STRAIGHT_FLUSH):
            ranks.remove(WHEEL[0])
            ranks.insert(ranks.index(12) if 12 in ranks else len(ranks), WHEEL[0])
        return tuple(cls(category, rank) for rank in ranks)

    @property
    def height(self) -> tuple[int, int]:
        """A key to sort by, the highest hand last; a category without a rank is above its ranks."""
        if self.category in LOWS.values():
            return self.category, -(len(RANKS) if self.rank is None else self.rank)
        return self.category, len(RANKS) if self.rank is None else self.rank

    @property
    def words(self) -> Message:
        """The hand in words."""
        if self.rank is None:
            return self.category.words
        if self.rank == BEST:
            return Message(BEST_LOW)
        if self.category in LOWS.values():
            return Term("%(rank)s low", rank=ONE[self.rank])
        high, ranks = HIGH[self.rank], SEVERAL[self.rank]
        match self.category:
            case Category.ONE_PAIR:
                return Message("pair of %(ranks)s", ranks=ranks)
            case Category.TWO_PAIRS:
                return Message("two pairs, %(ranks)s the higher", ranks=ranks)
            case Category.THREE_OF_A_KIND:
                return Message("three %(ranks)s", ranks=ranks)
            case Category.STRAIGHT:
                return Term("straight, %(rank)s high", rank=high)
            case Category.FLUSH:
                return Term("flush, %(rank)s high", rank=high)
            case Category.FULL_HOUSE:
                return Message("full house with three %(ranks)s", ranks=ranks)
            case Category.FOUR_OF_A_KIND:
                return Message("four %(ranks)s", ranks=ranks)
            case _:
                return Term("straight flush, %(rank)s high", rank=high)


def _named(*, front: bool) -> list[str]:
    return [name for name, category in HIGHS.items() if (category in _FRONT if front else category)]


def _allowed(*, front: bool) -> Word:
    if front:
        return Message('one_pair, three_of_a_kind, or a pair or trips of one rank such as "QQ" or "QQQ"')
    return Message(
        '%(categories)s, or one rank of a hand, such as "QQ", "QQQ", "QQQQ", "full_house:Q" or "straight:5"',
        categories=", ".join(_named(front=False)),
    )
