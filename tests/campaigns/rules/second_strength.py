"""Rows, fouls and naturals a second time, written from the documents alone: it shares no code with `firmware.rules`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

ROWS: Final = ("front", "middle", "back")
RANKS: Final = "23456789TJQKA"
ACE: Final = RANKS.index("A")
CATEGORIES: Final = (
    "high_card",
    "one_pair",
    "two_pairs",
    "three_of_a_kind",
    "straight",
    "flush",
    "full_house",
    "four_of_a_kind",
    "straight_flush",
    "royal_flush",
)
ORDERED_BY_SUIT: Final = ("straight", "flush", "straight_flush", "royal_flush")
REPEATED: Final = {
    (2,): "one_pair",
    (2, 2): "two_pairs",
    (3,): "three_of_a_kind",
    (3, 2): "full_house",
    (4,): "four_of_a_kind",
}
"""The category by how often each rank is there that is there more than once."""
Strength = tuple[int, tuple[int, ...]]


class NotCovered(Exception):
    """A rule that none of the eight first profiles has, and that is not written here a second time."""


class Card(NamedTuple):
    """A card: 0 for a two to 12 for an ace, and its suit's letter."""

    rank: int
    suit: str


def cards_of(text: str) -> tuple[Card, ...]:
    """Return the cards of a row's text, such as "As Th 2c"."""
    return tuple(Card(RANKS.index(word[:-1].replace("10", "T")), word[-1]) for word in text.split())


def top_of_straight(ranks: Sequence[int]) -> int | None:
    """Return the highest rank of a straight of three or five; None for other cards. The ace is also below the two."""
    held, size = sorted(set(ranks)), len(ranks)
    if len(held) != size:
        return None
    if held[-1] - held[0] == size - 1:
        return held[-1]
    if held == [*range(size - 1), ACE]:
        return size - 2
    return None


def strength(row: Sequence[Card]) -> Strength:
    """Return a row's category and what decides in it: ranks, those held more often first, then the higher ones.

    A front lacks the last kickers of a middle, so of two that begin alike it is the lower one.
    """
    counts = Counter(card.rank for card in row)
    ranks = tuple(sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True))
    repeated = tuple(counts[rank] for rank in ranks if counts[rank] > 1)
    if repeated:
        return CATEGORIES.index(REPEATED[repeated]), ranks
    if len(row) == len(ROWS):
        return CATEGORIES.index("high_card"), ranks
    one_suit = len({card.suit for card in row}) == 1
    top = top_of_straight(ranks)
    if top is None:
        return CATEGORIES.index("flush" if one_suit else "high_card"), ranks
    category = ("royal_flush" if top == ACE else "straight_flush") if one_suit else "straight"
    return CATEGORIES.index(category), (top,)


def target(name: str) -> Strength:
    """Return the lowest strength of what a profile names, such as "QQ", "222" or "full_house"."""
    if name in CATEGORIES:
        return CATEGORIES.index(name), ()
    return CATEGORIES.index("one_pair" if len(name) == 2 else "three_of_a_kind"), (RANKS.index(name[0]),)


def bonus_of(table: Mapping[str, int], found: Strength) -> int:
    """Return the points that a row's table of bonuses has for it."""
    category, ranks = CATEGORIES[found[0]], found[1]
    exact = RANKS[ranks[0]] * {"one_pair": 2, "three_of_a_kind": 3}.get(category, 0)
    plain = "straight_flush" if category == "royal_flush" else category
    return next((table[name] for name in (exact, category, plain) if name in table), 0)


def is_foul(rows: Sequence[Sequence[Card]], foul: Mapping[str, Any]) -> bool:
    """Return whether rows are set in the wrong order."""
    front, middle, back = map(strength, rows)
    if front > middle or middle > back:
        return True
    if middle < back:
        return False
    if foul["suit_tiebreak"] and CATEGORIES[middle[0]] in ORDERED_BY_SUIT:
        top = middle[1][0]
        in_middle, in_back = (next(card.suit for card in row if card.rank == top) for row in rows[1:])
        return bool(foul["suit_tiebreak"].index(in_middle) < foul["suit_tiebreak"].index(in_back))
    return bool(foul["equal_rows"] == "foul")


def makes_straights(ranks: Sequence[int], sizes: Sequence[int]) -> bool:
    """Return whether ranks can be laid out as straights of these sizes: the lowest one is in one of them."""
    if not sizes:
        return not ranks
    lowest = min(ranks)
    for size in set(sizes):
        for straight in ([*range(lowest, lowest + size)], [ACE, *range(size - 1)]):
            if lowest in straight and all(rank in ranks for rank in straight):
                rest, left = list(ranks), list(sizes)
                left.remove(size)
                for rank in straight:
                    rest.remove(rank)
                if makes_straights(rest, left):
                    return True
    return False


def is_natural(kind: str, rows: Sequence[Sequence[Card]], *, by_rows: bool) -> bool:
    """Return whether a hand is a natural of a kind."""
    cards = [card for row in rows for card in row]
    ranks = Counter(card.rank for card in cards)
    suits = sorted(Counter(card.suit for card in cards).values())
    red = sum(card.suit in "dh" for card in cards)
    counts = sorted(ranks.values())
    match kind:
        case "all_one_suit":
            return suits == [13]
        case "twelve_one_suit":
            return suits == [1, 12]
        case "all_one_color":
            return red in {0, 13}
        case "twelve_one_color":
            return red in {1, 12}
        case "dragon":
            return len(ranks) == 13
        case "super_dragon":
            return len(ranks) == 13 and suits == [13]
        case "six_pairs":
            return sum(count // 2 for count in counts) == 6
        case "five_pairs_trips":
            return [count for count in counts if count % 2] == [3]
        case "three_straights" if by_rows:
            return all(top_of_straight([card.rank for card in row]) is not None for row in rows)
        case "three_straights":
            return makes_straights([card.rank for card in cards], (3, 5, 5))
        case "three_flushes" if by_rows:
            return all(len({card.suit for card in row}) == 1 for row in rows)
        case "three_flushes":
            return suits in ([3, 5, 5], [5, 8], [3, 10], [13])
    raise NotCovered(f"the natural {kind} is not written a second time")
