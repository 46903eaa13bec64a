"""The events between hands: the table's settings, the seating, and the players' stacks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import JsonValue

from firmware.rules import Currency
from firmware.table.events.base import Event
from firmware.table.settings import HouseSeat


@dataclass(frozen=True)
class HouseSet(Event):
    """Settings of the table were changed, with the reason; None: unchanged.

    Names as in `HouseSettings`. `profile`, `profile_hash` and `options` come together. `seats` are all seats: a player
    who is not among them has left with his stack.
    """

    type: ClassVar[str] = "house_set"
    reason: str
    table: str | None = None
    language: str | None = None
    profile: str | None = None
    profile_hash: str | None = None
    options: dict[str, JsonValue] | None = None
    unit: int | None = None
    currency: Currency | None = None
    seats: tuple[HouseSeat, ...] | None = None


@dataclass(frozen=True)
class PlayerSeated(Event):
    """A player takes a free seat: a new one with a stack in cents (None: uncapped), or one who changes seats."""

    type: ClassVar[str] = "player_seated"
    seat: int
    player: str
    place: str = ""
    stack: int | None = None


@dataclass(frozen=True)
class PlayerLeft(Event):
    """A player left the game with the whole stack, in cents (None: not tracked)."""

    type: ClassVar[str] = "player_left"
    player: str
    stack: int | None = None


@dataclass(frozen=True)
class PlayerRenamed(Event):
    """A player has a new name; his stack, seat and debts are unchanged."""

    type: ClassVar[str] = "player_renamed"
    player: str
    name: str


@dataclass(frozen=True)
class BoughtIn(Event):
    """A player without chips bought in for `amount` cents; `stack` is his stack afterwards."""

    type: ClassVar[str] = "bought_in"
    player: str
    amount: int
    stack: int


@dataclass(frozen=True)
class AddedOn(Event):
    """A player added `amount` cents to his stack; `stack` is his stack afterwards."""

    type: ClassVar[str] = "added_on"
    player: str
    amount: int
    stack: int


@dataclass(frozen=True)
class StackCounted(Event):
    """Between hands a player's chips were counted: the stack in cents, None for uncapped."""

    type: ClassVar[str] = "stack_counted"
    player: str
    stack: int | None
    reason: str


@dataclass(frozen=True)
class SeatingChanged(Event):
    """Between hands: a player sits out or passes the next round; two players play two hands each (no `player`)."""

    type: ClassVar[str] = "seating_changed"
    what: Literal["sits_out", "passes", "two_hands"]
    on: bool
    player: str = ""
