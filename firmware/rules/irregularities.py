"""Irregularities, which stop a settlement without being a foul: the dealer must resolve them first."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from firmware.rules.cards import UNREAD, Card
from firmware.rules.rows import Rows

SeatRows = Sequence[tuple[int, Rows | None]]
"""The seats of a hand, each with its rows if it has any."""

What = Literal["wrong_number_of_cards", "card_twice", "unread_card"]
"""The kind of irregularity; also the name of the option for the house's handling."""


class Irregularity(NamedTuple):
    """One irregularity in one row."""

    seat: int
    row: str
    what: What
    cards: tuple[Card, ...]
    """The cards concerned: the whole row if their number is wrong."""


def find_irregularities(seats: SeatRows) -> tuple[Irregularity, ...]:
    """Return all irregularities, by seat and row, each with the cards concerned."""
    return () if _is_regular(seats) else tuple(_irregularities(seats))


def _is_regular(seats: SeatRows) -> bool:
    """Return whether every row given is complete and read, and no card is duplicated."""
    cards: list[Card] = []
    for _, rows in seats:
        if rows is not None:
            front, middle, back = rows
            if len(front) != 3 or len(middle) != 5 or len(back) != 5:
                return False
            cards += front
            cards += middle
            cards += back
    different = set(cards)
    return len(different) == len(cards) and UNREAD not in different


def _irregularities(seats: SeatRows) -> Iterator[Irregularity]:
    named = [
        (seat, name, cards, size)
        for seat, rows in seats
        if rows is not None
        for name, cards, size in rows.named()
    ]
    times = Counter(card for _, _, cards, _ in named for card in cards if card is not UNREAD)
    for seat, name, cards, size in named:
        if len(cards) != size:
            yield Irregularity(seat, name, "wrong_number_of_cards", cards)
        if twice := tuple(dict.fromkeys(card for card in cards if times[card] > 1)):
            yield Irregularity(seat, name, "card_twice", twice)
        if unread := tuple(card for card in cards if card is UNREAD):
            yield Irregularity(seat, name, "unread_card", unread)
