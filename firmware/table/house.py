"""The settings with which the next hand opens: the configuration, overridden by what was set at the table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from pydantic import JsonValue

from firmware.messages import Message
from firmware.rules import DOLLARS, Currency, Profile, RulesError, contradictions, recorded_profile
from firmware.table.errors import TableError
from firmware.table.phase import BETWEEN_HANDS
from firmware.table.settings import HouseSeat, HouseSettings
from firmware.table.settling import rules_of
from firmware.table.state import State
from firmware.table.values import SeatOpened


@dataclass(frozen=True)
class House:
    """The settings with which the next hand opens; names as in `HandOpened`.

    `rules` is the profile with the options applied, `written` the profile without them. `seats` are all players of the
    table, up to five, each with their preferred place. `table` is the table's number, `language` the page's locale,
    `currency` how sums are written. `without`: what the table has not, by its configuration (`LastingState`).
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
    without: tuple[str, ...] = ()

    @property
    def settings(self) -> HouseSettings:
        """The settings for `TableStarted`."""
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
    """Return the settings for the next hand: the configuration, overridden by what was set at the table.

    `content` returns the journal's content by hash. Raises TableError if the profile's text is missing or invalid: no
    hand is opened under other rules.
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
    written = parse_stored_profile(settings.profile, content(settings.profile_hash))
    return replace(
        house,
        rules=with_options(written, settings.options),
        written=written,
        profile=settings.profile,
        profile_hash=settings.profile_hash,
        options=settings.options,
    )


@lru_cache(maxsize=8)
def contradictory(rules: Profile) -> Message | None:
    """Return how a profile's options contradict each other, the first way; None if they do not."""
    return next((found.sentence for found in contradictions(rules)), None)


def house_of(state: State, rules: Profile) -> House:
    """Return the settings for the next hand as the state has them, under these rules."""
    settings = state.house
    seats = tuple(SeatOpened(seat.seat, seat.player, seat.place, seat.stack) for seat in settings.seats)
    return House(
        rules,
        settings.profile,
        settings.profile_hash,
        settings.unit,
        seats,
        settings.options,
        currency=settings.currency,
    )


def currency_now(state: State) -> Currency:
    """Return the currency of the open hand; between hands, that of the next hand."""
    house = state.opened.house if state.opened and state.phase not in BETWEEN_HANDS else state.house
    return house.currency


def rules_now(state: State, content: Callable[[str], bytes | None]) -> Profile | None:
    """Return the rules of the open hand; between hands, those of the next hand; None if none are known yet.

    Raises TableError if their text is missing or invalid.
    """
    opened, settings = state.opened, state.house
    if settings.profile_hash and state.phase in BETWEEN_HANDS:
        written = parse_stored_profile(settings.profile, content(settings.profile_hash))
        return with_options(written, settings.options)
    return rules_of(opened, content(opened.profile_hash)) if opened else None


def parse_stored_profile(name: str, text: bytes | None) -> Profile:
    """Parse a profile's text from the journal. Raises TableError if it is missing or invalid."""
    if text is None:
        raise TableError(
            "The text of the profile %(name)s that the table plays is missing from its record.", name=name
        )
    try:
        return recorded_profile(text)
    except RulesError as error:
        raise TableError(
            "The profile %(name)s that the table plays cannot be used: %(error)s.", name=name, error=error
        ) from error


def with_options(written: Profile, options: Mapping[str, JsonValue]) -> Profile:
    """Return a recorded profile with the house's recorded options applied. Raises TableError."""
    try:
        return written.with_options(options)
    except RulesError as error:
        raise TableError(
            "The options of %(name)s cannot be used: %(error)s.", name=written.name, error=error
        ) from error
