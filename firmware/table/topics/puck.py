"""The puck as a condition of the next hand: it lies at the seat that is due, or the dealer says where it counts."""

from dataclasses import replace
from typing import Final, Literal

from firmware.messages import Message
from firmware.table.checks import need_antenna
from firmware.table.command import Command, Context
from firmware.table.dealing import button_due, need_puck
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, apply, fold, stays
from firmware.table.house import House
from firmware.table.people import AT_TABLE
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import State
from firmware.table.topics.ending import HandArchived
from firmware.table.topics.opening import open_hand

BEFORE_NEXT: Final = stays(BETWEEN_HANDS | {Phase.SETTLED})


class ButtonKept(Event, leads=BEFORE_NEXT):
    """The dealer's word about the next hand's puck: it counts at this seat, wherever it is due.

    A reading of the puck at another seat ends it.
    """

    type = "button_kept"
    title = Message("Puck kept")
    seat: int

    def apply(self, state: State) -> State:
        need_antenna(self.seat)
        _need_end(state)
        return replace(state, button_kept=self.seat)


class PuckAwaited(Event, leads=BEFORE_NEXT):
    """White asked for the next hand while the puck was missing at `seat`: the hand opens once the puck lies right."""

    type = "puck_awaited"
    title = Message("Puck awaited")
    seat: int

    def apply(self, state: State) -> State:
        need_antenna(self.seat)
        _need_end(state)
        return replace(state, puck_awaited=True)


class KeepButton(Command, roles=AT_TABLE):
    """Say where the puck counts for the next hand. If white has asked for that hand, it opens."""

    do: Literal["keep_button"] = "keep_button"
    seat: int

    def decide(self, context: Context) -> tuple[Event, ...]:
        kept = ButtonKept(self.seat)
        return (kept, *opening_when_right(apply(context.state, kept), context.house))


class OpenHand(Command, roles=AT_TABLE):
    """Open the next hand even if paybacks are open. The puck must lie right."""

    do: Literal["open_hand"] = "open_hand"

    def decide(self, context: Context) -> tuple[Event, ...]:
        need_puck(context.state, context.house)
        return (open_hand(context.state, context.house),)


def ask_for_next(state: State, house: House) -> tuple[Event, ...]:
    """Return what follows when white asks for the next hand: its opening, or that the puck is awaited.

    Raises CommandRefused if no hand can be dealt, or if the puck is awaited already.
    """
    opens = next_hand(state, house)
    if isinstance(opens, Message):
        raise CommandRefused(opens)
    due = button_due(state, house)
    if due is None:
        return opens
    if state.puck_awaited:
        need_puck(state, house)
    return (PuckAwaited(due),)


def opening_when_right(state: State, house: House) -> tuple[Event, ...]:
    """Return the opening for which white has asked, once the puck lies right; otherwise nothing."""
    if not state.puck_awaited or button_due(state, house) is not None:
        return ()
    opens = next_hand(state, house)
    return () if isinstance(opens, Message) else opens


def next_hand(state: State, house: House) -> tuple[Event, ...] | Message:
    """Return the events that close a paid hand, if it is still open, and open the next; or why none can be dealt."""
    ends = (HandArchived(),) if state.phase is Phase.SETTLED else ()
    try:
        return (*ends, open_hand(fold(ends, state), house))
    except CommandRefused as error:
        return error.sentence


def _need_end(state: State) -> None:
    if state.phase is Phase.SETTLED and not state.is_paid:
        raise CommandRefused("Payments are still open; the next hand comes after them.")
