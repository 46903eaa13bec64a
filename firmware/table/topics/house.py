"""The table's settings: number, language, game, unit, currency and all seats."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from firmware.messages import Message
from firmware.names import normal_spelling
from firmware.rules import (
    Currency,
    Profile,
    RulesError,
    load_profile,
    paying_in,
    profile_toml,
    with_checked_options,
)
from firmware.rules.chips import verify_unit
from firmware.rules.currency import is_symbol
from firmware.table.checks import need_reason
from firmware.table.command import Command, Context, Player, Reason
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, stays
from firmware.table.house import House
from firmware.table.people import HOUSE, check_name
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.settings import HouseSeat
from firmware.table.state import State
from firmware.table.topics.chips import Cents, came_with, limits
from firmware.table.topics.players import Place, need_seats, without
from firmware.table.topics.profiles import profile_of_text

HIGHEST_TABLE: Final = 9999
LONGEST_TABLE: Final = 20


class HouseSet(Event, leads=stays(BETWEEN_HANDS)):
    """Settings of the table were changed, with the reason; None: unchanged.

    Names as in `HouseSettings`. `profile`, `profile_hash` and `options` come together. `seats` are all seats: a player
    who is not among them has left with their stack.
    """

    type = "house_set"
    title = Message("House set")
    reason: str
    table: str | None = None
    language: str | None = None
    profile: str | None = None
    profile_hash: str | None = None
    options: dict[str, JsonValue] | None = None
    unit: int | None = None
    currency: Currency | None = None
    seats: tuple[HouseSeat, ...] | None = None

    def apply(self, state: State) -> State:
        need_reason(self.reason, Message("Say why the table is set otherwise."))
        of_profile = (self.profile, self.profile_hash, self.options)
        if (self.profile is None) != (self.profile_hash is None) or (
            self.options is None and any(of_profile)
        ):
            raise CommandRefused("A profile comes with its text and its options.")
        named = ("table", "language", "profile", "profile_hash", "options", "unit", "currency", "seats")
        values = {name: value for name in named if (value := getattr(self, name)) is not None}
        if not values:
            raise CommandRefused("Nothing is set; name what is to be otherwise.")
        if self.unit is not None and self.unit < 1:
            raise CommandRefused("A point is worth 1 cent or more.")
        if self.currency is not None:
            need_symbol(self.currency.symbol)
        settings = ("profile" if name in ("profile_hash", "options") else name for name in values)
        house = replace(state.house, **values).marked_as_set(*settings)
        if self.seats is None:
            return replace(state, house=house)
        need_seats(self.seats)
        gone = {seat.player for seat in state.house.seats} - {seat.player for seat in self.seats}
        return replace(without(state, gone), house=house)


class SeatSetting(BaseModel):
    """One seat of the table; `place` "" for any free one, `stack` in cents or null for uncapped."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    seat: int
    player: Player
    place: Place = ""
    stack: Cents | None = None


class SetHouse(Command, roles=HOUSE):
    """Change the table's settings. Settings that are not given stay unchanged.

    `profile` is a packaged profile's name, `profile_text` a house's own as TOML (it may extend a packaged one); with
    either, `options` replaces all options (none if not given). `unit` is cents a point. `symbol` is the currency's
    symbol, `symbol_after` whether it follows the figure. `seats` are all seats: a player who is not among them leaves
    with their stack; `stack` is a new player's buy-in.
    """

    do: Literal["set_house"] = "set_house"
    reason: Reason
    table: str | None = Field(default=None, max_length=LONGEST_TABLE)
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}(_[A-Z][a-z]{3})?(_[A-Z]{2})?$")
    profile: str | None = Field(default=None, max_length=80)
    profile_text: str | None = Field(default=None, max_length=60_000)
    options: dict[str, JsonValue] | None = None
    unit: int | None = Field(default=None, ge=1, le=10**9)
    symbol: str | None = Field(default=None, max_length=40)
    symbol_after: bool | None = None
    seats: tuple[SeatSetting, ...] | None = Field(default=None, max_length=5)

    def decide(self, context: Context) -> tuple[Event, ...]:
        with paying_in(context.house.currency):
            return (_set(context.state, self, context.house),)


def profile_text(command: SetHouse) -> str | None:
    """Return the complete text of the profile that a command sets, which extends no other; None if it sets none.

    Raises CommandRefused, with the rules core's message, for an invalid profile.
    """
    written = _profile_to_write(command)
    return profile_toml(written) if written else None


def _profile_to_write(command: SetHouse) -> Profile | None:
    if command.profile is not None and command.profile_text is not None:
        raise CommandRefused("Give a profile's name or its text, not both.")
    if command.profile_text is not None:
        return profile_of_text(command.profile_text)
    if command.profile is None:
        return None
    if command.profile.endswith(".toml") or "/" in command.profile:
        raise CommandRefused("A file cannot be named here; put its whole text in.")
    try:
        return load_profile(command.profile)
    except RulesError as error:
        raise CommandRefused("The profile cannot be used: %(error)s", error=error) from error


def _set(state: State, command: SetHouse, house: House) -> HouseSet:
    written = _profile_to_write(command)
    rules = house.rules
    options = command.options
    if written or options is not None:
        written = written or house.written or house.rules
        options = options or {}
        try:
            rules = with_checked_options(written, options)
        except RulesError as error:
            raise CommandRefused("The profile cannot be used: %(error)s", error=error) from error
    unit = command.unit if command.unit is not None else house.unit
    if written or command.unit is not None:
        limits(house, lambda: verify_unit(unit, rules))
    seats = None
    if command.seats is not None:
        players = [seat.player for seat in command.seats]
        seats = tuple(_setting(state, seat, players, house, unit, rules) for seat in command.seats)
    return HouseSet(
        reason=command.reason,
        table=None if command.table is None else _table_number(command.table),
        language=command.language,
        profile=written.name if written else None,
        profile_hash=written.hash if written else None,
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
    if not text.strip():
        return ""
    number = check_name(text, most=LONGEST_TABLE)
    if number.isdecimal() and not 1 <= int(number) <= HIGHEST_TABLE:
        raise CommandRefused("A table's number is 1 to %(highest)s.", highest=HIGHEST_TABLE)
    return number


def _setting(
    state: State, seat: SeatSetting, players: Sequence[str], house: House, unit: int, rules: Profile
) -> HouseSeat:
    """Return a seat to store; anyone who sits at the table already keeps the stack. `players` are of all seats."""
    name = _player(state, seat.player, players)
    was = state.house.seats_of(name)
    if was:
        if seat.stack not in (None, state.stack_of(name)):
            raise CommandRefused("%(player)s has a stack already; add to it or count it.", player=name)
        return HouseSeat(seat.seat, name, seat.place, was[0].stack)
    return HouseSeat(seat.seat, name, seat.place, came_with(seat.stack, house, unit, rules))


def _player(state: State, name: str, players: Sequence[str]) -> str:
    """Return a player's name to store: one who sits here stays, any other looks like nobody of these."""
    if state.house.seats_of(name):
        return name
    name = check_name(name)
    others = {normal_spelling(player) for player in players} - {name}
    return name if state.house.seats_of(name) else check_name(name, sorted(others))


def need_symbol(symbol: str) -> None:
    """Raise CommandRefused for an invalid currency symbol."""
    if not is_symbol(symbol):
        raise CommandRefused(
            "A currency's symbol is 1 to 4 letters or signs such as € and HK$, without figures or spaces."
        )
