"""From the deal to the showdown: phases, declared naturals and surrenders."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from firmware.messages import Message
from firmware.table.checks import need_seat, with_seat, without_reading
from firmware.table.command import Command, Context
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, leads_to, stays
from firmware.table.people import AT_TABLE
from firmware.table.phase import DECLARING, SURRENDERING, Phase
from firmware.table.readings import ROWS
from firmware.table.state import State
from firmware.table.streets import not_complete
from firmware.table.topics.settlement import NaturalUnconfirmed


class PhaseAdvanced(
    Event,
    leads=leads_to({Phase.DEALING}, Phase.SETTING, Phase.PLACING)
    | leads_to({Phase.SETTING, Phase.PLACING}, Phase.SHOWDOWN)
    | leads_to({Phase.SHOWDOWN}, Phase.READING, Phase.REVIEW),
):
    """The hand moves to its next phase: setting or placing (cards are dealt), showdown (the signal), or reading.

    A keyed hand moves from the showdown to review.
    """

    type = "phase_advanced"
    title = Message("Phase advanced")
    to: Phase

    def apply(self, state: State) -> State:
        match state.phase, self.to:
            case Phase.DEALING, Phase.SETTING | Phase.PLACING as to:
                opens = any(seat.open for seat in state.seats)
                if opens != (to is Phase.PLACING):
                    raise CommandRefused(
                        Message("This hand is placed face up.")
                        if opens
                        else Message("This hand is set face down.")
                    )
            case Phase.PLACING, Phase.SHOWDOWN if why := not_complete(state):
                raise CommandRefused(why)
            case Phase.SHOWDOWN, Phase.READING if state.keyed:
                raise CommandRefused("This hand is keyed; the camera does not read it.")
            case Phase.SHOWDOWN, Phase.REVIEW if not state.keyed:
                raise CommandRefused("The cards have not been read.")
        return replace(state, phase=self.to, dismissed=frozenset())


class SettingResumed(
    Event, leads=leads_to({Phase.SHOWDOWN, Phase.READING, Phase.REVIEW}, Phase.SETTING, Phase.PLACING)
):
    """The showdown was signalled too early: the players continue setting, and may still declare or surrender."""

    type = "setting_resumed"
    title = Message("Setting resumed")

    def apply(self, state: State) -> State:
        """Go back to setting or placing: the cards of closed seats are dropped, because they will be shown again."""
        if state.reopened:
            raise CommandRefused("A past hand is on the page; its players set it long ago.")
        nothing: dict[str, Any] = dict.fromkeys(ROWS, ())
        seats = tuple(
            replace(seat, found=False, confirmed=False)
            if seat.open
            else replace(seat, found=False, confirmed=False, captures={}, things={}, **nothing)
            for seat in state.seats
        )
        phase = Phase.PLACING if any(seat.open for seat in seats) else Phase.SETTING
        return replace(without_reading(state, phase, seats), dismissed=frozenset())


class NaturalDeclared(Event, leads=stays(DECLARING)):
    """A player declared a natural."""

    type = "natural_declared"
    title = Message("Declaring a natural")
    seat: int

    def apply(self, state: State) -> State:
        seat = need_seat(state, self.seat)
        if seat.surrenders:
            raise CommandRefused(
                "Seat %(seat)s has surrendered; it cannot declare a natural.", seat=self.seat
            )
        if seat.declares:
            raise CommandRefused("Seat %(seat)s has already declared.", seat=self.seat)
        return with_seat(state, self.seat, declares=True, confirmed=False, acted=_next_act(state))


class NaturalWithdrawn(Event, leads=stays(DECLARING)):
    """A declaration was taken back, or had been keyed at the wrong seat."""

    type = "natural_withdrawn"
    title = Message("Natural withdrawn")
    seat: int

    def apply(self, state: State) -> State:
        seat = need_seat(state, self.seat)
        if not seat.declares:
            raise CommandRefused("Seat %(seat)s has not declared a natural.", seat=self.seat)
        if seat.confirmed:
            raise CommandRefused(
                "Seat %(seat)s's natural is confirmed; take the confirmation back first.", seat=self.seat
            )
        return with_seat(state, self.seat, declares=False, acted=None)


class PlayerSurrendered(Event, leads=stays(SURRENDERING)):
    """A player surrendered."""

    type = "surrendered"
    title = Message("Surrendering")
    seat: int

    def apply(self, state: State) -> State:
        seat = need_seat(state, self.seat)
        if seat.declares:
            raise CommandRefused("Seat %(seat)s has declared a natural; it cannot surrender.", seat=self.seat)
        if seat.surrenders:
            raise CommandRefused("Seat %(seat)s has already surrendered.", seat=self.seat)
        return with_seat(state, self.seat, surrenders=True, acted=_next_act(state))


class SurrenderWithdrawn(Event, leads=stays(SURRENDERING)):
    """A surrender was taken back, or had been keyed at the wrong seat."""

    type = "surrender_withdrawn"
    title = Message("Surrender withdrawn")
    seat: int

    def apply(self, state: State) -> State:
        if not need_seat(state, self.seat).surrenders:
            raise CommandRefused("Seat %(seat)s has not surrendered.", seat=self.seat)
        return with_seat(state, self.seat, surrenders=False, acted=None)


class BackToSetting(Command, roles=AT_TABLE, causes=SettingResumed):
    """Go back to setting, because the showdown was signalled too early."""

    do: Literal["back_to_setting"] = "back_to_setting"


class OfSeat(Command, roles=AT_TABLE):
    """A player's declaration or surrender, or its withdrawal; or the confirmation of a natural taken back."""

    do: Literal["declare", "withdraw", "surrender", "withdraw_surrender", "undo_confirm"]
    seat: int

    def decide(self, context: Context) -> tuple[Event, ...]:
        rules = context.rules
        if self.do == "declare" and not rules.naturals.kinds:
            raise CommandRefused("%(title)s has no naturals.", title=rules.title)
        if self.do == "surrender" and not rules.surrender.points:
            raise CommandRefused("%(title)s offers no surrender.", title=rules.title)
        event: Event = _OF_SEAT[self.do](seat=self.seat)
        return (event,)


def _next_act(state: State) -> int:
    """Return the position of the next declaration or surrender among those of the hand."""
    return 1 + max((seat.acted or 0 for seat in state.seats), default=0)


_OF_SEAT: Final[Mapping[str, Any]] = {
    "declare": NaturalDeclared,
    "withdraw": NaturalWithdrawn,
    "surrender": PlayerSurrendered,
    "withdraw_surrender": SurrenderWithdrawn,
    "undo_confirm": NaturalUnconfirmed,
}
