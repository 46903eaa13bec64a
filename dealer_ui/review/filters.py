"""The filters of the list of past hands, from the page's address."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web.errors import PageError
from firmware.record.archive import MARKS, HandFilter, Mark
from firmware.record.archive_lines import HandLine
from firmware.rules import SEATS

PAGE: Final = 10
"""Hands on one page: what a screen holds at a size for fingers."""
WITH: Final[dict[Mark, str]] = {
    "correction": N_("corrected"),
    "foul": N_("foul"),
    "natural": N_("natural"),
    "dispute": N_("disputed"),
    "not_reviewed": N_("not reviewed"),
}
"""What a hand may be listed for."""
HOUR_MS: Final = 3_600_000
HOURS: Final = 24
"""The last hour of the day on which clocks are put back."""
FIRST_YEAR: Final = 1970
LAST_YEAR: Final = 9998


class BadFilter(PageError, ValueError):
    """An unknown filter, or an invalid value."""


@dataclass(frozen=True)
class Filter:
    """The search terms; an empty field matches everything. Times are UTC milliseconds."""

    seat: int | None = None
    player: str = ""
    profile: str = ""
    dealer: str = ""
    has: str = ""
    since_ms: int | None = None
    until_ms: int | None = None
    day: date | None = None
    """The day by the box's own clock, given in place of the two times."""
    hour: int | None = None
    """Of that day, counted from its midnight."""
    before: int | None = None
    """Hands before this one only: where another page of the list begins."""

    @property
    def narrows(self) -> bool:
        """Whether it excludes anything."""
        return replace(self, before=None) != Filter()

    @property
    def wanted(self) -> HandFilter:
        """The same as a query of the archive."""
        marks = frozenset(mark for mark in MARKS if mark == self.has)
        since_ms, until_ms = self.span if self.day else (self.since_ms, self.until_ms)
        return HandFilter(
            since_ms,
            until_ms,
            self.seat,
            self.player or None,
            self.profile or None,
            self.dealer or None,
            marks,
        )

    @property
    def span(self) -> tuple[int, int]:
        """The beginning and the end of the day, or of its hour. Only for a filter with a day."""
        assert self.day is not None
        since = midnight_ms(self.day)
        if self.hour is None:
            return since, midnight_ms(self.day + timedelta(days=1))
        return since + self.hour * HOUR_MS, since + (self.hour + 1) * HOUR_MS

    def address(self, **changed: object) -> str:
        """Return the list's address with some fields changed; a changed filter begins at its newest hand.

        A new kind of time replaces the previous one.
        """
        names = {"has": "with", "since_ms": "from", "until_ms": "to"}
        if "since_ms" in changed:
            changed = {"day": None, "hour": None, **changed}
        if "day" in changed:
            changed = {"since_ms": None, "until_ms": None, "hour": None, **changed}
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        values |= {"before": None} | changed
        query = {
            names.get(name, name): moment(value) if isinstance(value, int) and name.endswith("_ms") else value
            for name, value in values.items()
            if value not in (None, "")
        }
        return f"/review?{urlencode(query)}" if query else "/review"


def filter_of(query: Mapping[str, str]) -> Filter:
    """Return the filter of an address. Raises BadFilter with a sentence."""
    known = {"seat", "player", "profile", "dealer", "with", "from", "to", "day", "hour", "before", "language"}
    if strange := sorted(set(query) - known):
        raise BadFilter(_("There is no filter “%(name)s”.", name=strange[0]))
    given = {name: value.strip() for name, value in query.items() if value.strip()}
    seat = number_asked(given, "seat")
    if seat is not None and seat not in SEATS:
        raise BadFilter(_("There is no seat %(seat)s: seats are 1 to 5.", seat=seat))
    if given.get("with", "foul") not in WITH:
        raise BadFilter(_("Hands cannot be listed for “%(what)s”.", what=given["with"]))
    return Filter(
        seat,
        given.get("player", ""),
        given.get("profile", ""),
        given.get("dealer", ""),
        given.get("with", ""),
        time_asked(given, "from"),
        time_asked(given, "to"),
        *_day_asked(given),
        number_asked(given, "before"),
    )


def _day_asked(given: Mapping[str, str]) -> tuple[date | None, int | None]:
    hour = number_asked(given, "hour")
    try:
        day = date.fromisoformat(given["day"]) if "day" in given else None
    except ValueError:
        day = date.min
    if day is not None and not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise BadFilter(_("“%(value)s” is no day; write it as 2026-11-20.", value=given["day"]))
    if hour is not None and (day is None or hour > HOURS):
        raise BadFilter(_("“%(value)s” is no hour of a day.", value=given["hour"]))
    return day, hour


def steps(day: date, last: date) -> tuple[tuple[str, date], ...]:
    """Return the links from a day to its neighbours, none after the last: words and the day."""
    ways = (
        (_("−1 week"), day - timedelta(days=7)),
        (_("−1 day"), day - timedelta(days=1)),
        (_("+1 day"), day + timedelta(days=1)),
        (_("+1 week"), day + timedelta(days=7)),
    )
    return tuple((title, to) for title, to in ways if to <= last and to.year >= FIRST_YEAR)


def midnight_ms(day: date) -> int:
    """Return the start of a day by the box's own clock, in UTC milliseconds."""
    return round(datetime.combine(day, time.min).astimezone().timestamp() * 1000)


def number_asked(given: Mapping[str, str], name: str) -> int | None:
    """Return a number from an address, None if it is absent. Raises BadFilter."""
    if name not in given:
        return None
    if not (given[name].isascii() and given[name].isdigit() and len(given[name]) < 10):
        raise BadFilter(_("“%(value)s” is no number.", value=given[name]))
    return int(given[name])


def time_asked(given: Mapping[str, str], name: str) -> int | None:
    """Return a time from an address, in UTC milliseconds, None if it is absent. Raises BadFilter."""
    if name not in given:
        return None
    try:
        return round(datetime.fromisoformat(given[name]).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError) as error:
        raise BadFilter(
            _("“%(value)s” is no time; write it as 2026-11-20T18:30.", value=given[name])
        ) from error


def moment(wall_ms: int) -> str:
    """Return a time in the format of `time_asked`, in the box's own zone."""
    exact = "milliseconds" if wall_ms % 60_000 else "minutes"
    return datetime.fromtimestamp(wall_ms / 1000).astimezone().isoformat(timespec=exact)


def has(line: HandLine) -> frozenset[str]:
    """Return the keys of `WITH` that apply to a hand of the list, and `void`."""
    so = {
        "correction": line.corrections > 0 or line.reopened > 0,
        "foul": line.fouls > 0,
        "natural": line.naturals > 0,
        "dispute": line.disputes > 0,
        "not_reviewed": line.reviewed == 0,
        "void": line.outcome in ("void", "misdeal", "withdrawn"),
    }
    return frozenset(name for name, is_so in so.items() if is_so)
