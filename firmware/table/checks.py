"""Shared helpers of the events: checks that raise CommandRefused, and small changes of a state."""

from dataclasses import replace
from typing import Any, Final

from firmware.messages import Message, Text
from firmware.rules import CARDS as DECK
from firmware.rules import SEATS
from firmware.table.errors import CommandRefused
from firmware.table.phase import Phase
from firmware.table.readings import ROWS, Row
from firmware.table.state import Card, Seat, State

CARDS: Final = frozenset(card.code for card in DECK)
PLACES: Final = "ABCD"
"""The places on a felt."""
CLOTH: Final = {1: "A", 2: "B", 4: "C", 5: "D"}
"""The place before each seat, as the cloth prints it (`hardware/mech/mech.toml`). Seat 3 is a fifth player's."""


def need_no_trial(state: State) -> None:
    """Raise CommandRefused while devices are being tried."""
    if state.on_trial:
        raise CommandRefused("Devices are being tried on the set-up page; end that first.")


def need_seat(state: State, number: int) -> Seat:
    """Return the seat. Raises CommandRefused if it does not play."""
    seat = state.seat(number)
    if seat is None:
        raise CommandRefused("Seat %(seat)s does not play this hand.", seat=number)
    return seat


def need_open_seat(state: State, number: int) -> Seat:
    """Return the seat. Raises CommandRefused for a closed seat, whose cards are secret before the showdown."""
    seat = need_seat(state, number)
    if not seat.open:
        raise CommandRefused(
            "Seat %(seat)s's cards lie face down; nothing of them is known before the showdown.", seat=number
        )
    return seat


def need_antenna(number: int | None) -> None:
    """Raise CommandRefused for a seat number that no table has."""
    if number not in SEATS:
        raise CommandRefused(
            "There is no seat %(seat)s; seats are %(first)s to %(last)s.",
            seat=str(number),
            first=SEATS[0],
            last=SEATS[-1],
        )


def need_card(card: str) -> None:
    """Raise CommandRefused for an invalid card."""
    if card not in CARDS:
        raise CommandRefused(
            "%(text)s is no card; cards are a rank of 23456789TJQKA and a suit of cdhs, like Th.",
            text=repr(card),
        )


def need_no_payment(state: State) -> None:
    """Raise CommandRefused if a payment is marked: the settlement behind it must not change."""
    if state.paid:
        raise CommandRefused("A payment is already marked paid; take that mark back first.")


def need_reason(reason: Text, ask: Message) -> None:
    """Raise CommandRefused for an empty reason."""
    if not str(reason).strip():
        raise CommandRefused(ask)


def need_room(seat: Seat, row: Row) -> None:
    """Raise CommandRefused if a row is full."""
    if len(seat.row(row)) >= ROWS[row]:
        raise CommandRefused(
            "Seat %(seat)s's %(row)s row has %(size)s cards and takes no more.",
            seat=seat.seat,
            row=row,
            size=ROWS[row],
        )


def with_seat(state: State, number: int, **changes: Any) -> State:
    """Return the state with one of its seats changed."""
    need_seat(state, number)
    seats = tuple(replace(seat, **changes) if seat.seat == number else seat for seat in state.seats)
    return replace(state, seats=seats)


def with_card(state: State, number: int, row: Row, index: int, *instead: Card, **changes: Any) -> State:
    """Return the state with one card of a seat replaced by `instead`, and `changes` made to that seat."""
    cards = need_seat(state, number).row(row)
    return with_seat(state, number, **{row: (*cards[:index], *instead, *cards[index + 1 :])}, **changes)


def without_reading(state: State, phase: Phase, seats: tuple[Seat, ...]) -> State:
    """Return the state in another phase, with these seats, without what the last reading said of the whole table."""
    return replace(state, phase=phase, seats=seats, frame=None, verdicts={}, reading_failure="", awaited=None)


def back_to_review(state: State) -> State:
    """Return to review (or stay in placing) without the settlement and its payment marks; the journal keeps them."""
    phase = Phase.PLACING if state.phase is Phase.PLACING else Phase.REVIEW
    return replace(without_puck_word(state), phase=phase, settlement=None, paid=frozenset())


def without_puck_word(state: State) -> State:
    """Return the state without the dealer's word about the next hand's puck: the hand before it is not over."""
    return replace(state, button_kept=None, puck_awaited=False)
