"""Two cards that the camera took for one another: a correction by a name that lies elsewhere changes both.

Only where all 52 names lie: then no other name is left for the second card. Where cards are missing, and for what a
person has named, the second card is asked about instead. To take a change back both are always known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from firmware.rules import CARDS
from firmware.table.events import Row
from firmware.table.state import Card, State


@dataclass(frozen=True)
class Spot:
    """A sure card, and where it lies; `index` from 0."""

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
    """Return a place and the one where `code` lies, where their cards may change places; else None."""
    lie = spots(state)
    here = next((one for one in lie if (one.seat, one.row, one.index) == (seat, row, index)), None)
    named = [one for one in lie if one.card == code]
    if here is None or not named:
        return None
    changed = next((one for one in named if _crossed(here, one)), None)
    if changed is not None:
        return here, changed  # taken back, whatever else claims one of their names
    there = named[0]
    both_read = here.lies.as_read and there.lies.as_read and here.card != code
    return (here, there) if both_read and is_whole(lie) else None


def is_whole(lie: Sequence[Spot]) -> bool:
    """Whether each card of the deck is one of these, once."""
    return len(lie) == len({one.card for one in lie}) == len(CARDS)


def swapped(state: State) -> tuple[tuple[Spot, Spot], ...]:
    """Return the pairs of cards that changed places on somebody's word."""
    lie = [one for one in spots(state) if not one.lies.as_read]
    return tuple((one, other) for one, other in combinations(lie, 2) if _crossed(one, other))


def _crossed(one: Spot, other: Spot) -> bool:
    return one.card != other.card and (one.lies.seen, other.lies.seen) == (other.card, one.card)
