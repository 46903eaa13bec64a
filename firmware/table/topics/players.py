"""Players between hands: seats, names and absences."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, Literal

from firmware.messages import Message
from firmware.rules.chips import take_off
from firmware.rules.hand import MAX_HANDS
from firmware.table.checks import CLOTH, PLACES, need_antenna
from firmware.table.command import Command, Context, Player
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, stays
from firmware.table.people import AT_TABLE, check_name
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.settings import HouseSeat, HouseSettings
from firmware.table.state import State
from firmware.table.topics.chips import Cents, came_with, limits, need_player, need_seated

Place = Literal["", "A", "B", "C", "D"]

RECENT: Final = 8
"""How many players who left are remembered."""


class PlayerSeated(Event, leads=stays(BETWEEN_HANDS)):
    """A player takes a free seat: a new one with a stack in cents (None: uncapped), or one who changes seats."""

    type = "player_seated"
    title = Message("Player seated")
    seat: int
    player: str
    place: str = ""
    stack: int | None = None

    def apply(self, state: State) -> State:
        was = state.house.seats_of(self.player)
        if len(was) > 1:
            raise CommandRefused("%(player)s has two seats; leave and sit down again.", player=self.player)
        others = tuple(seat for seat in state.house.seats if seat not in was)
        for seat in others:
            if seat.seat == self.seat:
                raise CommandRefused("%(player)s sits at seat %(seat)s.", player=seat.player, seat=self.seat)
        if was and self.stack is not None:
            raise CommandRefused("%(player)s has a stack already; add to it or count it.", player=self.player)
        came = was[0].stack if was else self.stack
        seats = (*others, HouseSeat(self.seat, self.player, self.place, came))
        need_seats(seats)
        stacks = dict(state.stacks) if was else {**state.stacks, self.player: self.stack}
        return replace(state, house=_seat(state, seats), stacks=stacks)


class PlayerLeft(Event, leads=stays(BETWEEN_HANDS)):
    """A player left the game with the whole stack, in cents (None: not tracked)."""

    type = "player_left"
    title = Message("Player left")
    player: str
    stack: int | None = None

    def apply(self, state: State) -> State:
        need_player(state, self.player)
        if self.stack != state.stack_of(self.player):
            raise CommandRefused("%(player)s leaves with another stack than that.", player=self.player)
        seats = (seat for seat in state.house.seats if seat.player != self.player)
        return replace(without(state, {self.player}), house=_seat(state, seats))


class PlayerRenamed(Event, leads=stays(BETWEEN_HANDS)):
    """A player has a new name; their stack, seat and debts are unchanged."""

    type = "player_renamed"
    title = Message("Player renamed")
    player: str
    name: str

    def apply(self, state: State) -> State:
        need_player(state, self.player)
        if self.name in at_table(state):
            raise CommandRefused("There is a %(player)s at this table already.", player=self.name)

        def called(player: str) -> str:
            return self.name if player == self.player else player

        seats = tuple(replace(seat, player=called(seat.player)) for seat in state.house.seats)
        need_seats(seats)
        return replace(
            state,
            house=_seat(state, seats),
            stacks={called(player): stack for player, stack in state.stacks.items()},
            fantasyland={called(player): cards for player, cards in state.fantasyland.items()},
            sits_out=frozenset(map(called, state.sits_out)),
            passes=frozenset(map(called, state.passes)),
            paybacks=tuple(
                replace(back, payer=called(back.payer), winner=called(back.winner)) for back in state.paybacks
            ),
        )


class SeatingChanged(Event, leads=stays(BETWEEN_HANDS)):
    """Between hands: a player sits out or passes the next round; two players play two hands each (no `player`)."""

    type = "seating_changed"
    title = Message("Seating changed")
    what: Literal["sits_out", "passes", "two_hands"]
    on: bool
    player: str = ""

    def apply(self, state: State) -> State:
        if self.what == "two_hands":
            return replace(state, two_hands=self.on)
        if not self.player:
            raise CommandRefused("Say which player.")
        names: frozenset[str] = getattr(state, self.what)
        if (self.player in names) == self.on:
            raise CommandRefused("That is so already for %(player)s.", player=self.player)
        changed: dict[str, Any] = {self.what: names ^ {self.player}}
        return replace(state, **changed)


class SeatPlayer(Command, roles=AT_TABLE):
    """Seat a player at a free seat with a buy-in of `stack` cents; a player who has a seat moves with their chips.

    `comes`: the player must be new at the table, so that a name entered twice moves nobody.
    """

    do: Literal["seat_player"] = "seat_player"
    seat: int
    player: Player
    stack: Cents | None = None
    place: Place | None = None
    comes: bool = False

    def decide(self, context: Context) -> tuple[Event, ...]:
        name = check_name(self.player, sorted(at_table(context.state)))
        if self.comes and (sits := context.state.house.seats_of(name)):
            raise CommandRefused(
                "%(player)s sits at seat %(seat)s already. Move the player from there, or key another name.",
                player=name,
                seat=sits[0].seat,
            )
        place = _place(context.state, self.seat, name) if self.place is None else self.place
        house = context.house
        return (PlayerSeated(self.seat, name, place, came_with(self.stack, house, house.unit, house.rules)),)


class LeaveSeat(Command, roles=AT_TABLE):
    """Remove a player from the table, with the whole stack."""

    do: Literal["leave_seat"] = "leave_seat"
    player: Player

    def decide(self, context: Context) -> tuple[Event, ...]:
        need_player(context.state, self.player)
        stack, house = context.state.stack_of(self.player), context.house
        if stack:
            limits(house, lambda: take_off(stack, stack, house.rules, leaves=True))
        return (PlayerLeft(self.player, stack),)


class RenamePlayer(Command, roles=AT_TABLE):
    """Change a player's name."""

    do: Literal["rename_player"] = "rename_player"
    player: Player
    name: Player

    def decide(self, context: Context) -> tuple[Event, ...]:
        others = at_table(context.state) - {self.player}
        return (PlayerRenamed(self.player, check_name(self.name, sorted(others))),)


class Sit(Command, roles=AT_TABLE):
    """Set whether a player sits out or passes the next round."""

    do: Literal["sit_out", "pass_round"]
    player: Player
    on: bool = True

    def decide(self, context: Context) -> tuple[Event, ...]:
        need_seated(self.player, context.house)
        what: Literal["sits_out", "passes"] = "sits_out" if self.do == "sit_out" else "passes"
        return (SeatingChanged(what, self.on, self.player),)


class TwoHands(Command, roles=AT_TABLE):
    """Set whether two players play two hands each."""

    do: Literal["two_hands"] = "two_hands"
    on: bool = True

    def decide(self, context: Context) -> tuple[Event, ...]:
        if self.on and context.house.rules.limits.players < MAX_HANDS:
            raise CommandRefused(
                "These rules are played by %(players)s players at most: nobody plays two hands.",
                players=context.house.rules.limits.players,
            )
        return (SeatingChanged("two_hands", self.on),)


def at_table(state: State) -> frozenset[str]:
    """Return the names of all players at the table."""
    return frozenset((*state.stacks, *(seat.player for seat in state.house.seats)))


def need_seats(seats: Iterable[HouseSeat]) -> None:
    """Raise CommandRefused for an invalid set of seats."""
    seats = list(seats)
    for seat in seats:
        need_antenna(seat.seat)
        need_place(seat.place)
        if not seat.player or " ".join(seat.player.split()) != seat.player:
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


def _seat(state: State, seats: Iterable[HouseSeat]) -> HouseSettings:
    ordered = tuple(sorted(seats, key=lambda seat: seat.seat))
    return replace(state.house, seats=ordered).marked_as_set("seats")


def without(state: State, gone: Iterable[str]) -> State:
    """Return the state without the players who left; paybacks to and from them remain."""
    names = frozenset(gone)
    return replace(
        state,
        recent=(*sorted(names), *(name for name in state.recent if name not in names))[:RECENT],
        stacks={player: stack for player, stack in state.stacks.items() if player not in names},
        fantasyland={player: cards for player, cards in state.fantasyland.items() if player not in names},
        sits_out=state.sits_out - names,
        passes=state.passes - names,
    )


def _place(state: State, number: int, name: str) -> str:
    """Return the seat's own place on the cloth if it is free, else any free one, else "": five players share four."""
    taken = {seat.place for seat in state.house.seats if seat.player != name}
    own = CLOTH.get(number, "C")
    free = [place for place in PLACES if place not in taken]
    return own if own in free else next(iter(free), "")
