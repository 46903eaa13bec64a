"""What holds at the table from hand to hand: its number, language, game, unit, currency, and who sits where.

A configuration gives these to a fresh box (`TableStarted.house`). What a person says at the table is an event of its
own and holds from then on, whatever the configuration says later: `said` names it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from pydantic import JsonValue

from firmware.rules import DOLLARS, Currency


@dataclass(frozen=True)
class HouseSeat:
    """A seat of the table and its player. `stack` is what he came with in cents, None for uncapped."""

    seat: int
    player: str
    place: str = ""
    stack: int | None = None


@dataclass(frozen=True)
class HouseSettings:
    """What the next hand opens with. Nothing set ("", 0, no seat): the configuration holds.

    `table` is the table's number, a text; `language` a locale such as "zh_Hans"; `profile_hash` the SHA-256 of the
    profile's text in the journal's content table, `options` what the house overrides in it by dotted path; `unit`
    cents a point, `currency` how they are written: dollars where a record is older than the choice. `said` names what
    was set at the table: fields, "profile" standing for all three of the profile.
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

    def saying(self, *names: str) -> HouseSettings:
        """Return these settings with some of them marked as set at the table."""
        return replace(self, said=tuple(sorted({*self.said, *names})))

    def under(self, configured: HouseSettings) -> HouseSettings:
        """Return the configuration's settings, and these wherever they were set at the table."""
        kept = {name: getattr(self, name) for said in self.said for name in FIELDS[said]}
        return replace(configured, said=self.said, **kept)

    def of(self, player: str) -> tuple[HouseSeat, ...]:
        """Return the seats of a player: none, one, or two where he plays two by agreement."""
        return tuple(seat for seat in self.seats if seat.player == player)


FIELDS: Final[dict[str, tuple[str, ...]]] = {
    "table": ("table",),
    "language": ("language",),
    "profile": ("profile", "profile_hash", "options"),
    "unit": ("unit",),
    "currency": ("currency",),
    "seats": ("seats",),
}
"""What can be set, and the fields that it is."""
