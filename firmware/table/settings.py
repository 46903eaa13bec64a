"""The table's settings, valid from hand to hand: number, language, game, unit, currency and seats.

A fresh box takes them from its configuration (`TableStarted.house`). A setting that a person changes at the table is
recorded as an event. It then takes precedence over the configuration; `HouseSettings.said` lists these settings.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from firmware.rules import DOLLARS, Currency


@dataclass(frozen=True)
class HouseSeat:
    """A seat of the table and its player. `stack` is their first stack in cents, None for uncapped."""

    seat: int
    player: str
    place: str = ""
    stack: int | None = None


@dataclass(frozen=True)
class HouseSettings:
    """The settings with which the next hand opens. Empty values ("", 0, no seats) mean that the configuration holds.

    `table` is the table's number as text, `language` a locale such as "zh_Hans". `profile_hash` is the SHA-256 of the
    profile's text in the journal's content table, `options` the house's overrides by dotted path. `unit` is cents a
    point. `currency` is how sums are written; older records without it mean dollars. `said` (its name in the record)
    names the fields that people have set at the table; "profile" stands for the three fields of the profile.
    """

    table: str = ""
    language: str = ""
    profile: str = ""
    profile_hash: str = ""
    options: dict[str, JsonValue] = field(default_factory=dict)
    unit: int = 0
    currency: Currency = DOLLARS
    seats: tuple[HouseSeat, ...] = ()
    said: tuple[str, ...] = ()

    def marked_as_set(self, *names: str) -> HouseSettings:
        """Return these settings with those of these names marked as set at the table."""
        return replace(self, said=tuple(sorted({*self.said, *names})))

    def over(self, configured: HouseSettings) -> HouseSettings:
        """Return the configuration's settings, overridden by those that were set at the table."""
        kept = {name: getattr(self, name) for setting in self.said for name in FIELDS[setting]}
        return replace(configured, said=self.said, **kept)

    def seats_of(self, player: str) -> tuple[HouseSeat, ...]:
        """Return a player's seats: none, one, or two."""
        return tuple(seat for seat in self.seats if seat.player == player)


FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "table": ("table",),
    "language": ("language",),
    "profile": ("profile", "profile_hash", "options"),
    "unit": ("unit",),
    "currency": ("currency",),
    "seats": ("seats",),
}
"""Each setting and its fields."""
