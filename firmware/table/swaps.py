"""Swaps: if the camera mistook two cards for each other, correcting one of them corrects both.

A swap is made only if all 52 cards are on the table, because then no other name is left for the second card. If cards
are missing, or if a person named the second card, the dealer is asked about it instead. A swap can always be undone,
because both cards are known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from firmware.rules import CARDS
from firmware.table.readings import Row
from firmware.table.state import Card, State


@dataclass(frozen=True)
class Spot:
    """A sure card and its position; `index` counts from 0."""

    seat: int
    row: Row
    index: int
    card: Card

    @property
    def code(self) -> str:
        """The card's code, such as "As"."""
        return str(self.card.card)


def spots(state: State) -> tuple[Spot, ...]:
    """Return every sure card on the table."""
    return tuple(
        Spot(seat.seat, row, index, card)
        for seat in state.seats
        for row, cards in seat.rows.items()
        for index, card in enumerate(cards)
        if card.sure and card.card
    )


def swap(state: State, seat: int, row: Row, index: int, code: str) -> tuple[Spot, Spot] | None:
    """Return the spot at this position and the spot of the card `code`; None if the two cards may not be swapped."""
    sure = spots(state)
    here = next((spot for spot in sure if (spot.seat, spot.row, spot.index) == (seat, row, index)), None)
    named = [spot for spot in sure if spot.code == code]
    if here is None or not named:
        return None
    swapped = next((spot for spot in named if _is_swapped(here, spot)), None)
    if swapped is not None:
        return here, swapped  # undoes a swap, even if another card has one of these names
    there = named[0]
    both_read = here.card.as_read and there.card.as_read and here.code != code
    return (here, there) if both_read and is_whole(sure) else None


def is_whole(deck: Sequence[Spot]) -> bool:
    """Return whether these are all 52 cards, each once."""
    return len(deck) == len({spot.code for spot in deck}) == len(CARDS)


def swaps_made(state: State) -> tuple[tuple[Spot, Spot], ...]:
    """Return the pairs of cards that a person has swapped."""
    corrected = [spot for spot in spots(state) if not spot.card.as_read]
    return tuple((one, other) for one, other in combinations(corrected, 2) if _is_swapped(one, other))


def _is_swapped(one: Spot, other: Spot) -> bool:
    """Return whether the camera gave each of these cards the other one's name."""
    return one.code != other.code and (one.card.seen, other.card.seen) == (other.code, one.code)
