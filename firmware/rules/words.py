"""Hands and rows in words, as messages: their English here, other languages in the page's catalogues."""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, lru_cache
from operator import itemgetter
from typing import Final, NamedTuple, TypeVar

from firmware.messages import Term
from firmware.rules.cards import RANKS

T = TypeVar("T")
Say = Callable[..., T]
"""What makes a sentence of a template and its arguments: `Message`, or `english`."""

ROW_NAMES: Final = ("front", "middle", "back")
ROWS: Final = tuple(Term(name, context="row") for name in ROW_NAMES)

_RANKS: Final = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king", "ace"),
)
_SEVERAL: Final = [f"{name}es" if name == "six" else f"{name}s" for name in _RANKS]
ONE: Final = tuple(Term(name, context="rank") for name in _RANKS)
"""A rank's name."""
SEVERAL: Final = tuple(Term(name, context="ranks") for name in _SEVERAL)
"""A rank's name for several of it: "queens"."""
HIGH: Final = tuple(Term(name, context="high card") for name in _RANKS)
"""A rank's name as the highest of a straight or a flush."""
SUITS: Final = {name[0]: Term(name, context="suit") for name in ("clubs", "diamonds", "hearts", "spades")}


_POINT, _POINTS = "%(num)s point", "%(num)s points"


def points_of(number: int) -> Term:
    """Return a number of points in words."""
    return Term(_POINT, plural=_POINTS, num=number)


_PLURALS: Final = frozenset({"two_pairs", "three_of_a_kind", "four_of_a_kind"})
_TWO_RANKS: Final = frozenset({"two_pairs", "full_house"})
"""Categories that are named by two ranks."""


class RowWords(NamedTuple):
    """A row in words."""

    short: Term
    """Without kickers: "pair of aces"."""
    full: Term
    """With every card that counts: "pair of aces, king"."""
    is_plural: bool
    """Whether it is plural: "three aces beat"."""


def row_words(category: str, ranks: tuple[int, ...]) -> RowWords:
    """Return a row in words.

    `ranks` is ordered by how often a rank occurs, then by height; a straight's first rank is its high card.

    >>> str(row_words("two_pairs", (11, 3, 12)).full)
    'two pairs, kings and fives, ace'
    """
    short = _short(category, ranks[: 2 if category in _TWO_RANKS else 1])
    return RowWords(short, _full(short, category, ranks), category in _PLURALS)


@cache
def _short(category: str, ranks: tuple[int, ...]) -> Term:
    """Return the same object for the same words."""
    first, second = ranks[0], ranks[-1]
    match category:
        case "deuce_to_seven" if RANKS[first] == "A":  # "ace low" would read as the best
            return Term("%(rank)s high", rank=ONE[first])
        case "ace_to_five" | "deuce_to_seven":
            return Term("%(rank)s low", rank=ONE[first])
        case "royal_flush":
            return Term("royal flush")
        case "straight_flush":
            return Term("straight flush, %(rank)s high", rank=HIGH[first])
        case "flush":
            return Term("flush, %(rank)s high", rank=HIGH[first])
        case "straight":
            return Term("straight, %(rank)s high", rank=HIGH[first])
        case "four_of_a_kind":
            return Term("four %(ranks)s", ranks=SEVERAL[first])
        case "full_house":
            return Term("full house, %(ranks)s over %(others)s", ranks=SEVERAL[first], others=SEVERAL[second])
        case "three_of_a_kind":
            return Term("three %(ranks)s", ranks=SEVERAL[first])
        case "two_pairs":
            return Term("two pairs, %(ranks)s and %(others)s", ranks=SEVERAL[first], others=SEVERAL[second])
        case "one_pair":
            return Term("pair of %(ranks)s", ranks=SEVERAL[first])
        case _:
            return Term("%(rank)s high", rank=ONE[first])


def _full(short: Term, category: str, ranks: tuple[int, ...]) -> Term:
    match category:
        case "royal_flush" | "straight_flush" | "straight" | "full_house":
            kickers: tuple[int, ...] = ()
        case "two_pairs":
            kickers = ranks[2:]
        case _:
            kickers = ranks[1:]
    words = short
    for rank in kickers:
        words = Term("%(one)s, %(other)s", one=words, other=ONE[rank])
    return words


def ranks_of(category: str, cards: str) -> tuple[int, ...]:
    """Return a row's ranks by how often they occur, then by height; the wheel's first is its five.

    >>> ranks_of("two_pairs", "5s 9h 5d As 9c"), ranks_of("straight", "As 2c 3d 4h 5s")[0]
    ((7, 3, 12), 3)
    """
    count = Counter(RANKS.index(code[0]) for code in cards.split())
    ranks = sorted(count, key=lambda rank: (-count[rank], -rank))
    ace_is_low = category in ("straight", "straight_flush") and ranks == [12, 3, 2, 1, 0]
    if ace_is_low or (category == "ace_to_five" and ranks[0] == 12):
        return (*ranks[1:], ranks[0])
    return tuple(ranks)


@lru_cache(maxsize=1024)
def row_called(category: str, cards: str) -> RowWords:
    """Return a row in words, from its category and its cards' codes."""
    return row_words(category, ranks_of(category, cards))


def unlike(one: RowWords, other: RowWords) -> tuple[Term, Term]:
    """Return two different rows in words, with kickers only if they are needed to distinguish them."""
    if one.short.english != other.short.english:
        return one.short, other.short
    return one.full, other.full


def beats(_: Say[T], won: RowWords, lost: RowWords) -> T:
    """Say how one row beats another, with kickers only if they decide: "three aces beat pair of twos"."""
    winner, loser = unlike(won, lost)
    if won.is_plural:
        return _("%(winner)s beat %(loser)s", winner=winner, loser=loser)
    return _("%(winner)s beats %(loser)s", winner=winner, loser=loser)


def english(template: str, /, **args: object) -> str:
    """Return a sentence in English: as `str(Message(...))`, in half the time."""
    text, values = _compile(template)
    return text % values(args) if values else text


@cache
def _compile(template: str) -> tuple[str, Callable[[dict[str, object]], object] | None]:
    """Return a template with its places by position, and what takes their values from the arguments."""
    names = _PLACE.findall(template)
    return _PLACE.sub("%s", template), itemgetter(*names) if names else None


_PLACE: Final = re.compile(r"%\((\w+)\)s")
