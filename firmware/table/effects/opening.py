"""Effects of the events from a hand's opening to its showdown, and of the devices' events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.messages import Message
from firmware.table import events as ev
from firmware.table.checks import (
    back_to_review,
    need_antenna,
    need_no_payment,
    need_no_trial,
    need_seat,
    with_seat,
)
from firmware.table.errors import CommandRefused
from firmware.table.events import Event, Puck
from firmware.table.phase import BUTTON_FOLLOWS_PUCK, Phase
from firmware.table.state import Seat, State
from firmware.table.streets import not_complete


def _table_started(state: State, event: ev.TableStarted) -> State:
    house = state.house if event.house is None else state.house.under(event.house)
    return replace(_puck(state, Puck()), faults={}, house=house, on_trial=False)


def _device_fault(state: State, event: ev.DeviceFault) -> State:
    return replace(state, faults={**state.faults, event.device: event.detail})


def _device_recovered(state: State, event: ev.DeviceRecovered) -> State:
    return replace(state, faults={name: why for name, why in state.faults.items() if name != event.device})


def _puck(state: State, puck: Puck) -> State:
    follows = state.phase in BUTTON_FOLLOWS_PUCK and not state.button_keyed
    kept = state.button_kept if puck.seat in (None, state.button_kept) else None
    return replace(state, puck=puck, button=puck.seat if follows else state.button, button_kept=kept)


def _puck_seen(state: State, event: ev.PuckSeen) -> State:
    if event.state == "seat":
        need_antenna(event.seat)
    elif event.seat is not None:
        raise CommandRefused("A puck that is %(puck)s lies at no seat.", puck=event.state)
    return _puck(state, Puck(event.state, event.seat, event.detail))


def _button_keyed(state: State, event: ev.ButtonKeyed) -> State:
    need_antenna(event.seat)
    keyed = replace(state, button=event.seat, button_keyed=True)
    if state.phase is not Phase.SETTLED:
        return keyed
    need_no_payment(state)
    return back_to_review(keyed)


def _hand_opened(state: State, event: ev.HandOpened) -> State:
    if event.hand != state.next_hand and state.opened is not None:
        raise CommandRefused(
            "Hand %(hand)s cannot follow hand %(last)s.", hand=event.hand, last=state.next_hand - 1
        )
    need_no_trial(state)
    if not 2 <= len(event.seats) <= 4:
        raise CommandRefused("Two to four seats play a hand, not %(count)s.", count=len(event.seats))
    if len({seat.seat for seat in event.seats}) != len(event.seats):
        raise CommandRefused("One seat is given to two hands; give each its own.")
    if len({seat.place for seat in event.seats}) != len(event.seats):
        raise CommandRefused("One place is given to two hands; give each its own.")
    for seat in event.seats:
        need_antenna(seat.seat)
    if event.button is not None:
        need_antenna(event.button)
    return State(
        phase=Phase.DEALING,
        hand=event.hand,
        opened=event,
        seats=tuple(Seat(s.seat, s.player, s.place, s.stack, s.open, s.fantasyland) for s in event.seats),
        button=event.button,
        puck=event.puck,
        stacks={**event.stacks, **{s.player: s.stack for s in event.seats}},
        faults=event.faults,
        people=event.people,
        set_up=True,
        dealer=event.dealer,
        down=event.down,
        fantasyland=frozenset(event.fantasyland),
        sits_out=frozenset(event.sits_out),
        two_hands=event.two_hands,
        paybacks=event.paybacks,
        house=event.house,
        calibrations=event.calibrations,
        disputed=frozenset(event.disputed),
        recent=event.recent,
    )


def _phase_advanced(state: State, event: ev.PhaseAdvanced) -> State:
    match state.phase, event.to:
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
    return replace(state, phase=event.to, dismissed=frozenset())


def _natural_declared(state: State, event: ev.NaturalDeclared) -> State:
    seat = need_seat(state, event.seat)
    if seat.surrenders:
        raise CommandRefused("Seat %(seat)s has surrendered; it cannot declare a natural.", seat=event.seat)
    if seat.declares:
        raise CommandRefused("Seat %(seat)s has already declared.", seat=event.seat)
    seats = with_seat(state, event.seat, declares=True, confirmed=False, acted=_next_act(state))
    return replace(state, seats=seats)


def _natural_withdrawn(state: State, event: ev.NaturalWithdrawn) -> State:
    seat = need_seat(state, event.seat)
    if not seat.declares:
        raise CommandRefused("Seat %(seat)s has not declared a natural.", seat=event.seat)
    if seat.confirmed:
        raise CommandRefused(
            "Seat %(seat)s's natural is confirmed; take the confirmation back first.", seat=event.seat
        )
    return replace(state, seats=with_seat(state, event.seat, declares=False, acted=None))


def _surrendered(state: State, event: ev.Surrendered) -> State:
    seat = need_seat(state, event.seat)
    if seat.declares:
        raise CommandRefused("Seat %(seat)s has declared a natural; it cannot surrender.", seat=event.seat)
    if seat.surrenders:
        raise CommandRefused("Seat %(seat)s has already surrendered.", seat=event.seat)
    return replace(state, seats=with_seat(state, event.seat, surrenders=True, acted=_next_act(state)))


def _surrender_withdrawn(state: State, event: ev.SurrenderWithdrawn) -> State:
    if not need_seat(state, event.seat).surrenders:
        raise CommandRefused("Seat %(seat)s has not surrendered.", seat=event.seat)
    return replace(state, seats=with_seat(state, event.seat, surrenders=False, acted=None))


def _next_act(state: State) -> int:
    """Return the position of the next declaration or surrender among those of the hand."""
    return 1 + max((seat.acted or 0 for seat in state.seats), default=0)


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.TableStarted: _table_started,
    ev.DeviceFault: _device_fault,
    ev.DeviceRecovered: _device_recovered,
    ev.PuckSeen: _puck_seen,
    ev.HandOpened: _hand_opened,
    ev.ButtonKeyed: _button_keyed,
    ev.PhaseAdvanced: _phase_advanced,
    ev.NaturalDeclared: _natural_declared,
    ev.NaturalWithdrawn: _natural_withdrawn,
    ev.Surrendered: _surrendered,
    ev.SurrenderWithdrawn: _surrender_withdrawn,
}
