"""Effects of the events between hands: the table's settings, the seating, and the players' stacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.messages import Message
from firmware.rules.currency import is_symbol
from firmware.table import events as ev
from firmware.table.checks import need_antenna, need_reason
from firmware.table.errors import CommandRefused
from firmware.table.events import Event, HouseSeat, HouseSettings
from firmware.table.people import check_name
from firmware.table.state import State

PLACES: Final = "ABCD"
RECENT: Final = 8
"""How many players who left are remembered."""


def _house_set(state: State, event: ev.HouseSet) -> State:
    need_reason(event.reason, Message("Say why the table is set otherwise."))
    of_profile = (event.profile, event.profile_hash, event.options)
    if (event.profile is None) != (event.profile_hash is None) or (event.options is None and any(of_profile)):
        raise CommandRefused("A profile comes with its text and its options.")
    named = ("table", "language", "profile", "profile_hash", "options", "unit", "currency", "seats")
    values = {name: value for name in named if (value := getattr(event, name)) is not None}
    if not values:
        raise CommandRefused("Nothing is set; name what is to be otherwise.")
    if event.unit is not None and event.unit < 1:
        raise CommandRefused("A point is worth 1 cent or more.")
    if event.currency is not None:
        need_symbol(event.currency.symbol)
    settings = ("profile" if name in ("profile_hash", "options") else name for name in values)
    house = replace(state.house, **values).saying(*settings)
    if event.seats is None:
        return replace(state, house=house)
    need_seats(event.seats)
    gone = {seat.player for seat in state.house.seats} - {seat.player for seat in event.seats}
    return replace(_without(state, gone), house=house)


def need_symbol(symbol: str) -> None:
    """Raise CommandRefused for an invalid currency symbol."""
    if not is_symbol(symbol):
        raise CommandRefused(
            "A currency's symbol is 1 to 4 letters or signs such as € and HK$, without figures or spaces."
        )


def need_seats(seats: Iterable[HouseSeat]) -> None:
    """Raise CommandRefused for an invalid set of seats."""
    seats = list(seats)
    for seat in seats:
        need_antenna(seat.seat)
        need_place(seat.place)
        if check_name(seat.player) != seat.player:
            raise CommandRefused("A name has no spaces before, after or twice within it.")
        if seat.stack is not None and seat.stack < 0:
            raise CommandRefused("A stack is 0 cents or more.")
    if twice := [number for number, times in Counter(seat.seat for seat in seats).items() if times > 1]:
        raise CommandRefused("Two players are at seat %(seat)s; give each one of their own.", seat=twice[0])
    if len({(seat.player, seat.stack) for seat in seats}) > len({seat.player for seat in seats}):
        raise CommandRefused("One player has two different stacks; give the same at both seats.")
    if len(seats) <= len(PLACES):
        _need_own_places(seats)


def _need_own_places(seats: Iterable[HouseSeat]) -> None:
    places = Counter(seat.place for seat in seats if seat.place)
    if twice := [place for place, times in places.items() if times > 1]:
        raise CommandRefused("Two seats share place %(place)s; give each its own.", place=twice[0])


def need_place(place: str) -> None:
    """Raise CommandRefused for a place that no felt has; "" means any free place."""
    if place and (len(place) != 1 or place not in PLACES):
        raise CommandRefused("There is no place %(place)s; places are A to D.", place=place)


def need_player(state: State, player: str) -> None:
    """Raise CommandRefused if this is not a player of the table."""
    if not state.house.of(player):
        raise CommandRefused("%(player)s is no player of this table.", player=player)


def _player_seated(state: State, event: ev.PlayerSeated) -> State:
    was = state.house.of(event.player)
    if len(was) > 1:
        raise CommandRefused("%(player)s has two seats; leave and sit down again.", player=event.player)
    stays = tuple(seat for seat in state.house.seats if seat not in was)
    for seat in stays:
        if seat.seat == event.seat:
            raise CommandRefused("%(player)s sits at seat %(seat)s.", player=seat.player, seat=event.seat)
    if was and event.stack is not None:
        raise CommandRefused("%(player)s has a stack already; add to it or count it.", player=event.player)
    came = was[0].stack if was else event.stack
    seats = (*stays, HouseSeat(event.seat, event.player, event.place, came))
    need_seats(seats)
    stacks = dict(state.stacks) if was else {**state.stacks, event.player: event.stack}
    return replace(state, house=_seated(state, seats), stacks=stacks)


def _seated(state: State, seats: Iterable[HouseSeat]) -> HouseSettings:
    ordered = tuple(sorted(seats, key=lambda seat: seat.seat))
    return replace(state.house, seats=ordered).saying("seats")


def _player_left(state: State, event: ev.PlayerLeft) -> State:
    need_player(state, event.player)
    if event.stack != stack_of(state, event.player):
        raise CommandRefused("%(player)s leaves with another stack than that.", player=event.player)
    seats = (seat for seat in state.house.seats if seat.player != event.player)
    return replace(_without(state, {event.player}), house=_seated(state, seats))


def _without(state: State, gone: Iterable[str]) -> State:
    """Return the state without the players who left; paybacks to and from them remain."""
    names = frozenset(gone)
    return replace(
        state,
        recent=(*sorted(names), *(name for name in state.recent if name not in names))[:RECENT],
        stacks={player: stack for player, stack in state.stacks.items() if player not in names},
        fantasyland=state.fantasyland - names,
        sits_out=state.sits_out - names,
        passes=state.passes - names,
    )


def _player_renamed(state: State, event: ev.PlayerRenamed) -> State:
    need_player(state, event.player)
    if event.name in {*state.stacks, *(seat.player for seat in state.house.seats)}:
        raise CommandRefused("There is a %(player)s at this table already.", player=event.name)

    def called(player: str) -> str:
        return event.name if player == event.player else player

    seats = tuple(replace(seat, player=called(seat.player)) for seat in state.house.seats)
    need_seats(seats)
    return replace(
        state,
        house=_seated(state, seats),
        stacks={called(player): stack for player, stack in state.stacks.items()},
        fantasyland=frozenset(map(called, state.fantasyland)),
        sits_out=frozenset(map(called, state.sits_out)),
        passes=frozenset(map(called, state.passes)),
        paybacks=tuple(
            replace(back, payer=called(back.payer), winner=called(back.winner)) for back in state.paybacks
        ),
    )


def stack_of(state: State, player: str) -> int | None:
    """Return a player's stack in cents; before his first hand, the stack he came with. None: not tracked."""
    came = next((seat.stack for seat in state.house.of(player)), None)
    return state.stacks.get(player, came)


def _chips(state: State, event: ev.BoughtIn | ev.AddedOn) -> State:
    need_player(state, event.player)
    has = stack_of(state, event.player)
    if isinstance(event, ev.BoughtIn) and has:
        raise CommandRefused("%(player)s has chips already; add to them.", player=event.player)
    if isinstance(event, ev.AddedOn) and has is None:
        raise CommandRefused("No stack is kept of %(player)s; buy in.", player=event.player)
    if event.amount < 1 or event.stack != (has or 0) + event.amount:
        raise CommandRefused("That does not add up to the stack.")
    return replace(state, stacks={**state.stacks, event.player: event.stack})


def _stack_counted(state: State, event: ev.StackCounted) -> State:
    need_reason(event.reason, Message("Say why the stack is another."))
    if event.stack is not None and event.stack < 0:
        raise CommandRefused("A stack is 0 cents or more.")
    return replace(state, stacks={**state.stacks, event.player: event.stack})


def _seating_changed(state: State, event: ev.SeatingChanged) -> State:
    if event.what == "two_hands":
        return replace(state, two_hands=event.on)
    if not event.player:
        raise CommandRefused("Say which player.")
    names = state.sits_out if event.what == "sits_out" else state.passes
    if (event.player in names) == event.on:
        raise CommandRefused("That is so already for %(player)s.", player=event.player)
    changed = names | {event.player} if event.on else names - {event.player}
    return replace(state, sits_out=changed) if event.what == "sits_out" else replace(state, passes=changed)


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.HouseSet: _house_set,
    ev.PlayerSeated: _player_seated,
    ev.PlayerLeft: _player_left,
    ev.PlayerRenamed: _player_renamed,
    ev.BoughtIn: _chips,
    ev.AddedOn: _chips,
    ev.StackCounted: _stack_counted,
    ev.SeatingChanged: _seating_changed,
}
"""Permitted only between hands."""
