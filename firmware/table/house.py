"""What the next hand opens with: the configuration, under what was said at the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pydantic import JsonValue

from firmware.rules import DOLLARS, Currency, Profile, RulesError, parse_profile
from firmware.table.errors import TableError
from firmware.table.events import SeatOpened
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.settings import HouseSeat, HouseSettings
from firmware.table.settling import rules_of
from firmware.table.state import State


@dataclass(frozen=True)
class House:
    """What the next hand opens with; names as in `HandOpened`.

    `rules` is the profile with the options in it, `written` the profile as it is written. `seats` are all players of
    the table, up to five, each with the place that is his where it is free. `table` is the table's number, `language`
    the page's locale, `currency` how sums are written.
    """

    rules: Profile
    profile: str
    profile_hash: str
    unit: int
    seats: tuple[SeatOpened, ...]
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    layout_hash: str = ""
    model_hash: str = ""
    software: str = ""
    table: str = ""
    language: str = ""
    currency: Currency = DOLLARS
    written: Profile | None = None

    @property
    def settings(self) -> HouseSettings:
        """The same as settings: what `TableStarted` brings into the record."""
        return HouseSettings(
            table=self.table,
            language=self.language,
            currency=self.currency,
            profile=self.profile,
            profile_hash=self.profile_hash,
            options=dict(self.options),
            unit=self.unit,
            seats=tuple(HouseSeat(seat.seat, seat.player, seat.place, seat.stack) for seat in self.seats),
        )


def house_now(configured: House, settings: HouseSettings, content: Callable[[str], bytes | None]) -> House:
    """Return what the next hand opens with: the configured house under what was said at the table.

    `content` gives the journal's content by hash. Raises TableError where the profile's text is missing or cannot be
    used: no hand is opened under other rules than were said.
    """
    house = replace(
        configured,
        table=settings.table or configured.table,
        language=settings.language or configured.language,
        unit=settings.unit or configured.unit,
        currency=settings.currency if "currency" in settings.said else configured.currency,
    )
    if settings.seats or "seats" in settings.said:
        seats = tuple(SeatOpened(seat.seat, seat.player, seat.place, seat.stack) for seat in settings.seats)
        house = replace(house, seats=seats)
    if not settings.profile_hash or (
        settings.profile_hash == configured.profile_hash and settings.options == configured.options
    ):
        return house
    written = stored_profile(settings.profile, content(settings.profile_hash))
    return replace(
        house,
        rules=with_options(written, settings.options),
        written=written,
        profile=settings.profile,
        profile_hash=settings.profile_hash,
        options=settings.options,
    )


def currency_now(state: State) -> Currency:
    """Return the currency of the open hand, or between hands that of the next one."""
    house = state.opened.house if state.opened and state.phase not in BETWEEN_HANDS else state.house
    return house.currency


def rules_now(state: State, content: Callable[[str], bytes | None]) -> Profile | None:
    """Return the rules of the open hand, or between hands those of the next one; None where none are known yet.

    Raises TableError where their text is missing or cannot be used.
    """
    opened, settings = state.opened, state.house
    if settings.profile_hash and state.phase in BETWEEN_HANDS:
        written = stored_profile(settings.profile, content(settings.profile_hash))
        return with_options(written, settings.options)
    return rules_of(opened, content(opened.profile_hash)) if opened else None


def stored_profile(name: str, text: bytes | None) -> Profile:
    """Return the profile whose text lies in the journal. Raises TableError."""
    if text is None:
        raise TableError(f"The text of the profile {name} that the table plays is missing from its record.")
    try:
        return parse_profile(text.decode())
    except (RulesError, UnicodeDecodeError) as error:
        raise TableError(f"The profile {name} that the table plays cannot be used: {error}.") from error


def with_options(written: Profile, options: Mapping[str, JsonValue]) -> Profile:
    """Return the profile with the house's options in it. Raises TableError."""
    try:
        return written.with_options(options)
    except RulesError as error:
        raise TableError(f"The options of {written.name} cannot be used: {error}.") from error
