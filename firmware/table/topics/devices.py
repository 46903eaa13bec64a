"""The table's start, its devices, and the puck's seat, which the reader tells or the dealer keys."""

from dataclasses import replace
from typing import Literal

from firmware.messages import Message, Text
from firmware.table.checks import back_to_review, need_antenna, need_no_payment
from firmware.table.command import Command
from firmware.table.errors import CommandRefused
from firmware.table.event import EVERY_PHASE, Event, leads_to, stays
from firmware.table.people import AT_TABLE
from firmware.table.phase import BUTTON_FOLLOWS_PUCK, OPEN, Phase
from firmware.table.settings import HouseSettings
from firmware.table.state import State
from firmware.table.values import Puck, PuckState


class TableStarted(Event, leads=EVERY_PHASE, in_doubt=True):
    """The table process started; earlier device states are no longer valid. `house` is the configuration.

    `without`: what the table has not, by its configuration; see `LastingState`.
    """

    type = "table_started"
    title = Message("Table started")
    software: str = ""
    house: HouseSettings | None = None
    without: tuple[str, ...] = ()

    def apply(self, state: State) -> State:
        house = state.house if self.house is None else state.house.over(self.house)
        return replace(
            with_puck(state, Puck()),
            faults={},
            house=house,
            without=self.without,
            on_trial=False,
            puck_awaited=False,
        )


class PuckSeen(Event, leads=EVERY_PHASE, in_doubt=True):
    """The puck reader's state changed. `seat` is set only when `state` is "seat"."""

    type = "puck_seen"
    title = Message("Puck seen")
    state: PuckState
    seat: int | None = None
    detail: Text = ""

    def apply(self, state: State) -> State:
        if self.state == "seat":
            need_antenna(self.seat)
        elif self.seat is not None:
            raise CommandRefused("A puck that is %(puck)s lies at no seat.", puck=self.state)
        return with_puck(state, Puck(self.state, self.seat, self.detail))


class DeviceFault(Event, leads=EVERY_PHASE, in_doubt=True):
    """A device failed; `detail` is a message for the dealer."""

    type = "device_fault"
    title = Message("Device fault")
    device: str
    detail: Text

    def apply(self, state: State) -> State:
        return replace(state, faults={**state.faults, self.device: self.detail})


class DeviceRecovered(Event, leads=EVERY_PHASE, in_doubt=True):
    """A device works again."""

    type = "device_recovered"
    title = Message("Device recovered")
    device: str

    def apply(self, state: State) -> State:
        return replace(state, faults={name: why for name, why in state.faults.items() if name != self.device})


class ButtonKeyed(Event, leads=stays(OPEN) | leads_to({Phase.SETTLED}, Phase.REVIEW)):
    """The dealer keyed the puck's seat."""

    type = "button_keyed"
    title = Message("Puck keyed")
    seat: int

    def apply(self, state: State) -> State:
        need_antenna(self.seat)
        keyed = replace(state, button=self.seat, button_keyed=True)
        if state.phase is not Phase.SETTLED:
            return keyed
        need_no_payment(state)
        return back_to_review(keyed)


class KeyButton(Command, roles=AT_TABLE, causes=ButtonKeyed):
    """Set the puck's seat."""

    do: Literal["key_button"] = "key_button"
    seat: int


def with_puck(state: State, puck: Puck) -> State:
    """Return the state with the puck as it is seen now; the button follows it until the cards are out."""
    follows = state.phase in BUTTON_FOLLOWS_PUCK and not state.button_keyed
    kept = state.button_kept if puck.seat in (None, state.button_kept) else None
    return replace(state, puck=puck, button=puck.seat if follows else state.button, button_kept=kept)
