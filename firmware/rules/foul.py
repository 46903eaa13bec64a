"""Rows in the wrong order."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from firmware.rules.cards import SUITS, Card
from firmware.rules.profiles.profile import Profile
from firmware.rules.rows import Rows
from firmware.rules.strength import WHEEL, Category

Strengths = tuple[int, int, int]
"""The strengths of front, middle and back."""


class Fault(StrEnum):
    """Why a hand is a foul."""

    FRONT_ABOVE_MIDDLE = "front_above_middle"
    MIDDLE_ABOVE_BACK = "middle_above_back"
    MIDDLE_EQUALS_BACK = "middle_equals_back"
    MIDDLE_SUIT_ABOVE_BACK = "middle_suit_above_back"
    FRONT_ABOVE_BACK = "front_above_back"
    MIDDLE_NOT_LOW = "middle_not_low"
    FALSE_DECLARATION = "false_declaration"


_STRAIGHTS = frozenset({Category.STRAIGHT, Category.STRAIGHT_FLUSH})
_ORDERED_BY_SUIT = _STRAIGHTS | {Category.FLUSH, Category.ROYAL_FLUSH}


def foul(rows: Rows, profile: Profile) -> Fault | None:
    """Return why complete rows are a foul, or None. Raises KeyError or ValueError for a missing or unread card.

    >>> from firmware.rules import load_profile
    >>> foul(Rows.parse("Kc Kd Ac / Kh Ks 9c 5d 4h / Qc Qd Qh 2s 3s"), load_profile("washington-1-unit"))
    <Fault.FRONT_ABOVE_MIDDLE: 'front_above_middle'>
    """
    return order_fault(profile.scale.rows(*rows), rows, profile)


def order_fault(strengths: Strengths, rows: Rows, profile: Profile) -> Fault | None:
    """Return why rows of these strengths are a foul, or None."""
    front, middle, back = strengths
    if profile.hands.middle != "high":
        if front > back:
            return Fault.FRONT_ABOVE_BACK
        return Fault.MIDDLE_NOT_LOW if middle < profile.low_floor else None
    if front > middle:
        return Fault.FRONT_ABOVE_MIDDLE
    return middle_fault(middle, back, rows, profile)


def middle_fault(middle: int, back: int, rows: Rows, profile: Profile) -> Fault | None:
    """Return why a middle row of this strength is a foul with the back row, or None."""
    if middle != back:
        return Fault.MIDDLE_ABOVE_BACK if middle > back else None
    suits = profile.foul.suit_tiebreak
    if suits and profile.scale.kind(middle).category in _ORDERED_BY_SUIT:
        category = profile.scale.kind(middle).category
        above = leading_suit(rows.middle, category, suits) < leading_suit(rows.back, category, suits)
        return Fault.MIDDLE_SUIT_ABOVE_BACK if above else None
    return Fault.MIDDLE_EQUALS_BACK if profile.foul.equal_rows == "foul" else None


def leading_suit(cards: tuple[Card, ...], category: Category, order: Sequence[str]) -> int:
    """Return the place of a row's leading suit in an order from high to low; 0 is the highest.

    The leading card is of the rank that most of the row's cards share, and of these the highest: the 5 of a wheel,
    whatever the wheel's rank. Where several cards are of it, as in a pair, the highest of their suits counts.
    """
    ace = WHEEL[-1]
    is_wheel = category in _STRAIGHTS and {card.rank for card in cards} == set(WHEEL)
    count = Counter(card.rank for card in cards)
    lead = max(count, key=lambda rank: (count[rank], -1 if is_wheel and rank == ace else rank))
    return min(order.index(SUITS[card.suit]) for card in cards if card.rank == lead)
