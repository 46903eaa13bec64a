"""The dealer calls a floor person. A call blocks nothing; it stays open until somebody ends it at the table."""

from dataclasses import replace
from typing import Literal

from firmware.messages import Message
from firmware.table.command import Command
from firmware.table.errors import CommandRefused
from firmware.table.event import EVERY_PHASE, Event
from firmware.table.people import AT_TABLE
from firmware.table.state import State


class FloorCalled(Event, leads=EVERY_PHASE, in_doubt=True):
    """Somebody at the table calls a floor person; the row's actor says who."""

    type = "floor_called"
    title = Message("Floor called")

    def apply(self, state: State) -> State:
        if state.floor_called:
            raise CommandRefused("The floor is called already.")
        return replace(state, floor_called=True)


class FloorCallEnded(Event, leads=EVERY_PHASE, in_doubt=True):
    """The call is over. `answered`: a floor person has come; else it was taken back."""

    type = "floor_call_ended"
    title = Message("Floor call ended")
    answered: bool

    def apply(self, state: State) -> State:
        if not state.floor_called:
            raise CommandRefused("The floor is not called.")
        return replace(state, floor_called=False)


class CallFloor(Command, roles=AT_TABLE, causes=FloorCalled):
    """Call a floor person to the table."""

    do: Literal["call_floor"] = "call_floor"


class EndFloorCall(Command, roles=AT_TABLE, causes=FloorCallEnded):
    """End the call: a floor person has come (`answered`), or it is taken back."""

    do: Literal["end_floor_call"] = "end_floor_call"
    answered: bool
