"""The players' chips between hands: buy-ins, add-ons, counted stacks, and the house's limits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from firmware.messages import Message
from firmware.rules import Profile, RulesError, paying_in
from firmware.rules.chips import add_on, buy_in
from firmware.table.checks import need_reason
from firmware.table.command import Command, Context, Player, Reason
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, stays
from firmware.table.house import House
from firmware.table.people import AT_TABLE
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.state import State

Cents = Annotated[int, Field(ge=0, le=10**12)]
_Result = TypeVar("_Result")


class BoughtIn(Event, leads=stays(BETWEEN_HANDS)):
    """A player without chips bought in for `amount` cents; `stack` is their stack afterwards."""

    type = "bought_in"
    title = Message("Bought in")
    player: str
    amount: int
    stack: int

    def apply(self, state: State) -> State:
        need_player(state, self.player)
        if state.stack_of(self.player):
            raise CommandRefused("%(player)s has chips already; add to them.", player=self.player)
        return _with_chips(state, self)


class AddedOn(Event, leads=stays(BETWEEN_HANDS)):
    """A player added `amount` cents to their stack; `stack` is their stack afterwards."""

    type = "added_on"
    title = Message("Added on")
    player: str
    amount: int
    stack: int

    def apply(self, state: State) -> State:
        need_player(state, self.player)
        if state.stack_of(self.player) is None:
            raise CommandRefused("No stack is kept of %(player)s; buy in.", player=self.player)
        return _with_chips(state, self)


class StackCounted(Event, leads=stays(BETWEEN_HANDS)):
    """Between hands a player's chips were counted: the stack in cents, None for uncapped."""

    type = "stack_counted"
    title = Message("Stack counted")
    player: str
    stack: int | None
    reason: str

    def apply(self, state: State) -> State:
        need_reason(self.reason, Message("Say why the stack is another."))
        if self.stack is not None and self.stack < 0:
            raise CommandRefused("A stack is 0 cents or more.")
        return replace(state, stacks={**state.stacks, self.player: self.stack})


class Chips(Command, roles=AT_TABLE):
    """Buy in for a player without chips, or add on for one with chips; `amount` in cents."""

    do: Literal["buy_in", "add_on"]
    player: Player
    amount: Annotated[int, Field(ge=1, le=10**12)]

    def decide(self, context: Context) -> tuple[Event, ...]:
        need_player(context.state, self.player)
        stack, house = context.state.stack_of(self.player) or 0, context.house
        if self.do == "buy_in":
            after = limits(house, lambda: buy_in(self.amount, house.unit, house.rules))
            return (BoughtIn(self.player, self.amount, after),)
        after = limits(house, lambda: add_on(stack, self.amount, house.unit, house.rules))
        return (AddedOn(self.player, self.amount, after),)


class CountStack(Command, roles=AT_TABLE):
    """Set a player's stack in cents, as counted between hands."""

    do: Literal["count_stack"] = "count_stack"
    player: Player
    stack: int = Field(ge=0)
    reason: Reason

    def decide(self, context: Context) -> tuple[Event, ...]:
        need_seated(self.player, context.house)
        return (StackCounted(self.player, self.stack, self.reason),)


def need_seated(player: str, house: House) -> None:
    """Raise CommandRefused if this player has no seat in the next hand's settings."""
    if player not in {seat.player for seat in house.seats}:
        raise CommandRefused("%(player)s is no player of this table.", player=player)


def need_player(state: State, player: str) -> None:
    """Raise CommandRefused if this is not a player of the table."""
    if not state.house.seats_of(player):
        raise CommandRefused("%(player)s is no player of this table.", player=player)


def _with_chips(state: State, event: BoughtIn | AddedOn) -> State:
    if event.amount < 1 or event.stack != (state.stack_of(event.player) or 0) + event.amount:
        raise CommandRefused("That does not add up to the stack.")
    return replace(state, stacks={**state.stacks, event.player: event.stack})


def came_with(stack: int | None, house: House, unit: int, rules: Profile) -> int | None:
    """Return the stack with which a player comes. Raises CommandRefused outside the house's limits."""
    return None if stack is None else limits(house, lambda: buy_in(stack, unit, rules))


def limits(house: House, check: Callable[[], _Result]) -> _Result:
    """Return `check()`, and convert the rules core's errors, in the house's currency, to CommandRefused."""
    try:
        with paying_in(house.currency):
            return check()
    except RulesError as error:
        raise CommandRefused("The house's limits: %(error)s.", error=error) from error
