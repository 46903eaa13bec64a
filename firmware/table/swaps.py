"""Swaps: if the camera mistook two cards for each other, correcting one of them corrects both.

Only if all 52 names are on the table, because then no other name is left for the second card. If cards are missing, or
if a person named the second card, the dealer is asked about it instead. A swap can always be undone, because both of
its cards are known.
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
    lies: Card

    @property
    def card(self) -> str:
        """Its name."""
        return str(self.lies.card)


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
    """Return this position and that of the card `code`, if the two cards may be swapped; otherwise None."""
    lie = spots(state)
    here = next((one for one in lie if (one.seat, one.row, one.index) == (seat, row, index)), None)
    named = [one for one in lie if one.card == code]
    if here is None or not named:
        return None
    changed = next((one for one in named if _cross(here, one)), None)
    if changed is not None:
        return here, changed  # undoes a swap, even if another card has one of these names
    there = named[0]
    both_read = here.lies.as_read and there.lies.as_read and here.card != code
    return (here, there) if both_read and is_whole(lie) else None


def is_whole(lie: Sequence[Spot]) -> bool:
    """Whether these are all 52 cards, each once."""
    return len(lie) == len({one.card for one in lie}) == len(CARDS)


def swaps_made(state: State) -> tuple[tuple[Spot, Spot], ...]:
    """Return the pairs of cards that a person has swapped."""
    lie = [one for one in spots(state) if not one.lies.as_read]
    return tuple((one, other) for one, other in combinations(lie, 2) if _cross(one, other))


def _cross(one: Spot, other: Spot) -> bool:
    return one.card != other.card and (one.lies.seen, other.lies.seen) == (other.card, one.card)
