"""What stops a settlement without being a foul (RULES §2.2): the dealer has to resolve it first."""

from __future__ import annotations

from collections import Counter
from typing import Literal, NamedTuple

from firmware.rules.cards import UNREAD, Card
from firmware.rules.hand import Hand

What = Literal["wrong_number_of_cards", "card_twice", "unread_card"]
"""What is irregular; also the name of the option that says how the house handles it."""


class Irregularity(NamedTuple):
    """One thing that is wrong in one row."""

    seat: int
    row: str
    what: What
    cards: tuple[Card, ...]
    """The cards concerned: all of the row where their number is wrong."""


def is_regular(hand: Hand) -> bool:
    """Return whether every row given is complete and read, and no card is there twice."""
    cards: list[Card] = []
    for seat in hand.seats:
        if seat.rows is not None:
            front, middle, back = seat.rows
            if len(front) != 3 or len(middle) != 5 or len(back) != 5:
                return False
            cards += front
            cards += middle
            cards += back
    different = set(cards)
    return len(different) == len(cards) and UNREAD not in different


def find_irregularities(hand: Hand) -> tuple[Irregularity, ...]:
    """Return everything that is irregular, by seat and row, each with the cards concerned."""
    rows = [
        (seat.seat, name, cards, size)
        for seat in hand.seats
        if seat.rows is not None
        for name, cards, size in seat.rows.named()
    ]
    times = Counter(card for _, _, cards, _ in rows for card in cards if card is not UNREAD)
    found = []
    for seat, name, cards, size in rows:
        if len(cards) != size:
            found.append(Irregularity(seat, name, "wrong_number_of_cards", cards))
        if twice := tuple(dict.fromkeys(card for card in cards if times[card] > 1)):
            found.append(Irregularity(seat, name, "card_twice", twice))
        if unread := tuple(card for card in cards if card is UNREAD):
            found.append(Irregularity(seat, name, "unread_card", unread))
    return tuple(found)
