"""The commands between hands: the table's settings, the seating, and buy-ins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from firmware.rules import Currency, Profile, RulesError, load_profile, paying_in, profile_toml
from firmware.rules.chips import add_on, buy_in, take_off, verify_unit
from firmware.table import events as ev
from firmware.table.commands.people import SignedCommand
from firmware.table.effects.house import PLACES, need_player, stack_of
from firmware.table.entry import content_hash
from firmware.table.errors import CommandRefused
from firmware.table.events import Event, HouseSeat
from firmware.table.house import House
from firmware.table.house_profiles import sent_profile
from firmware.table.people import check_name
from firmware.table.state import State

Reason = Annotated[str, Field(min_length=1, max_length=200)]
Player = Annotated[str, Field(min_length=1, max_length=40)]
Cents = Annotated[int, Field(ge=0, le=10**12)]
Place = Literal["", "A", "B", "C", "D"]
HIGHEST_TABLE: Final = 9999
_Made = TypeVar("_Made")


class SeatSetting(BaseModel):
    """One seat of the table; `place` "" for any free one, `stack` in cents or null for uncapped."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    seat: int
    player: Player
    place: Place = ""
    stack: Cents | None = None


class SetHouse(SignedCommand):
    """Change the table's settings. Settings that are not given stay unchanged.

    `profile` is a packaged profile's name, `profile_text` a house's own as TOML (it may extend a packaged one); with
    either, `options` replaces all options (none if not given). `unit` is cents a point. `symbol` is the currency's
    symbol, `symbol_after` whether it follows the figure. `seats` are all seats: a player who is not among them leaves
    with his stack; `stack` is a new player's buy-in.
    """

    do: Literal["set_house"] = "set_house"
    reason: Reason
    table: str | None = Field(default=None, max_length=20)
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}(_[A-Z][a-z]{3})?(_[A-Z]{2})?$")
    profile: str | None = Field(default=None, max_length=80)
    profile_text: str | None = Field(default=None, max_length=60_000)
    options: dict[str, JsonValue] | None = None
    unit: int | None = Field(default=None, ge=1, le=10**9)
    symbol: str | None = Field(default=None, max_length=40)
    symbol_after: bool | None = None
    seats: tuple[SeatSetting, ...] | None = Field(default=None, max_length=5)


class SeatPlayer(SignedCommand):
    """Seat a player at a free seat with a buy-in of `stack` cents; a player who has a seat moves with his chips.

    `comes`: the player must be new at the table, so that a name entered twice moves nobody.
    """

    do: Literal["seat_player"] = "seat_player"
    seat: int
    player: Player
    stack: Cents | None = None
    place: Place | None = None
    comes: bool = False


class LeaveSeat(SignedCommand):
    """Remove a player from the table, with the whole stack."""

    do: Literal["leave_seat"] = "leave_seat"
    player: Player


class RenamePlayer(SignedCommand):
    """Change a player's name."""

    do: Literal["rename_player"] = "rename_player"
    player: Player
    name: Player


class Chips(SignedCommand):
    """Buy in for a player without chips, or add on for one with chips; `amount` in cents."""

    do: Literal["buy_in", "add_on"]
    player: Player
    amount: Annotated[int, Field(ge=1, le=10**12)]


HouseCommand = SetHouse | SeatPlayer | LeaveSeat | RenamePlayer | Chips


def decide_house(state: State, command: HouseCommand, house: House) -> tuple[Event, ...]:
    """Return the events of a command; `house` is what the next hand would open with now.

    Raises CommandRefused. The text of a new profile (`profile_text`) must be in the journal before the event.
    """
    with paying_in(house.currency):
        return _decided(state, command, house)


def _decided(state: State, command: HouseCommand, house: House) -> tuple[Event, ...]:
    match command:
        case SetHouse():
            return (_set(state, command, house),)
        case SeatPlayer():
            return (_seat(state, command, house),)
        case LeaveSeat():
            need_player(state, command.player)
            return (_leaving(state, command.player, house),)
        case RenamePlayer():
            return (ev.PlayerRenamed(command.player, check_name(command.name)),)
        case Chips():
            return (_chips(state, command, house),)


def profile_text(command: SetHouse) -> str | None:
    """Return the complete text of the profile that a command sets, which extends no other; None if it sets none.

    Raises CommandRefused, with the rules core's message, for an invalid profile.
    """
    written = _written(command)
    return profile_toml(written) if written else None


def _written(command: SetHouse) -> Profile | None:
    if command.profile is not None and command.profile_text is not None:
        raise CommandRefused("Give a profile's name or its text, not both.")
    if command.profile_text is not None:
        return sent_profile(command.profile_text)
    if command.profile is None:
        return None
    if command.profile.endswith(".toml") or "/" in command.profile:
        raise CommandRefused("A file cannot be named here; put its whole text in.")
    try:
        return load_profile(command.profile)
    except RulesError as error:
        raise CommandRefused("The profile cannot be used: %(error)s.", error=error) from error


def _set(state: State, command: SetHouse, house: House) -> ev.HouseSet:
    written = _written(command)
    rules = house.rules
    options = command.options
    if written or options is not None:
        written = written or house.written or house.rules
        options = options or {}
        try:
            rules = written.with_options(options)
        except RulesError as error:
            raise CommandRefused("The profile cannot be used: %(error)s.", error=error) from error
    unit = command.unit if command.unit is not None else house.unit
    if written or command.unit is not None:
        _limits(lambda: verify_unit(unit, rules))
    seats = None
    if command.seats is not None:
        seats = tuple(_setting(state, seat, unit, rules) for seat in command.seats)
    return ev.HouseSet(
        reason=command.reason,
        table=None if command.table is None else _table_number(command.table),
        language=command.language,
        profile=written.name if written else None,
        profile_hash=content_hash(profile_toml(written).encode()) if written else None,
        options=options,
        unit=command.unit,
        currency=_currency(command, house.currency),
        seats=seats,
    )


def _currency(command: SetHouse, now: Currency) -> Currency | None:
    if command.symbol is None and command.symbol_after is None:
        return None
    symbol = now.symbol if command.symbol is None else command.symbol
    return Currency(symbol, now.after if command.symbol_after is None else command.symbol_after)


def _table_number(text: str) -> str:
    number = " ".join(text.split())
    if not number.isprintable():
        raise CommandRefused("A table's number is letters and digits.")
    if number.isdecimal() and not 1 <= int(number) <= HIGHEST_TABLE:
        raise CommandRefused("A table's number is 1 to %(highest)s.", highest=HIGHEST_TABLE)
    return number


def _setting(state: State, seat: SeatSetting, unit: int, rules: Profile) -> HouseSeat:
    """Return a seat to store; a player who is already at the table keeps his stack."""
    name = check_name(seat.player)
    was = state.house.of(name)
    if was:
        if seat.stack not in (None, stack_of(state, name)):
            raise CommandRefused("%(player)s has a stack already; add to it or count it.", player=name)
        return HouseSeat(seat.seat, name, seat.place, was[0].stack)
    return HouseSeat(seat.seat, name, seat.place, _came_with(seat.stack, unit, rules))


def _came_with(stack: int | None, unit: int, rules: Profile) -> int | None:
    if stack is not None:
        return _limits(lambda: buy_in(stack, unit, rules))
    return None


def _seat(state: State, command: SeatPlayer, house: House) -> ev.PlayerSeated:
    name = check_name(command.player)
    if command.comes and (sits := state.house.of(name)):
        raise CommandRefused(
            "%(player)s sits at seat %(seat)s already. Move the player from there, or key another name.",
            player=name,
            seat=sits[0].seat,
        )
    return ev.PlayerSeated(
        seat=command.seat,
        player=name,
        place=_place(state, command, name) if command.place is None else command.place,
        stack=_came_with(command.stack, house.unit, house.rules),
    )


def _place(state: State, command: SeatPlayer, name: str) -> str:
    """Return the seat's own place on the felt if it is free, else any free one, else "": five players share four."""
    taken = {seat.place for seat in state.house.seats if seat.player != name}
    own = PLACES[command.seat - 1 : command.seat] if command.seat > 0 else ""
    free = [place for place in PLACES if place not in taken]
    return own if own in free else next(iter(free), "")


def _leaving(state: State, player: str, house: House) -> ev.PlayerLeft:
    stack = stack_of(state, player)
    if stack:
        _limits(lambda: take_off(stack, stack, house.rules, leaves=True))
    return ev.PlayerLeft(player, stack)


def _chips(state: State, command: Chips, house: House) -> ev.BoughtIn | ev.AddedOn:
    need_player(state, command.player)
    stack, amount = stack_of(state, command.player) or 0, command.amount
    if command.do == "buy_in":
        after = _limits(lambda: buy_in(amount, house.unit, house.rules))
        return ev.BoughtIn(command.player, amount, after)
    after = _limits(lambda: add_on(stack, amount, house.unit, house.rules))
    return ev.AddedOn(command.player, amount, after)


def _limits(check: Callable[[], _Made]) -> _Made:
    """Return `check()`, and convert the rules core's errors to CommandRefused."""
    try:
        return check()
    except RulesError as error:
        raise CommandRefused("The house's limits: %(error)s.", error=error) from error
