"""English words for hands and rows. A page in another language has its own."""

from __future__ import annotations

from collections.abc import Sequence

ROW_NAMES = ("front", "middle", "back")

_RANKS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "jack",
    "queen",
    "king",
    "ace",
)
_PLURALS = tuple(f"{name}es" if name == "six" else f"{name}s" for name in _RANKS)


def ranks_word(rank: int) -> str:
    """Return a rank's plural: "queens"."""
    return _PLURALS[rank]


def short_text(category: str, ranks: Sequence[int]) -> str:
    """Return a hand in a dealer's words, without kickers: "pair of aces".

    `ranks` is ordered by how often a rank occurs, then by height; a straight's first rank is its high card.
    """
    first = ranks[0]
    match category:
        case "royal_flush":
            return "royal flush"
        case "straight_flush" | "flush" | "straight":
            return f"{category.replace('_', ' ')}, {_RANKS[first]} high"
        case "four_of_a_kind":
            return f"four {_PLURALS[first]}"
        case "full_house":
            return f"full house, {_PLURALS[first]} over {_PLURALS[ranks[1]]}"
        case "three_of_a_kind":
            return f"three {_PLURALS[first]}"
        case "two_pairs":
            return f"two pairs, {_PLURALS[first]} and {_PLURALS[ranks[1]]}"
        case "one_pair":
            return f"pair of {_PLURALS[first]}"
        case _:
            return f"{_RANKS[first]} high"


def full_text(category: str, ranks: Sequence[int]) -> str:
    """Return a hand with every card that counts: "pair of aces, king".

    >>> full_text("two_pairs", (11, 3, 12))
    'two pairs, kings and fives, ace'
    """
    match category:
        case "royal_flush" | "straight_flush" | "straight" | "full_house":
            kickers: Sequence[int] = ()
        case "two_pairs":
            kickers = ranks[2:]
        case _:
            kickers = ranks[1:]
    return ", ".join([short_text(category, ranks), *(_RANKS[rank] for rank in kickers)])
