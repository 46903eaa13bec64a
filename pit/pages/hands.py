"""Past hands of all tables: the filters in the address, and the list, page by page."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, abort, request

from dealer_ui.review.filters import BadFilter, midnight_ms
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from pit.follow.search import MARKS, PAGE, Key, SearchFilter, names, search
from pit.pages import guard
from pit.pages.people import HANDS, record_act
from pit.pages.services import page, pit
from pit.status.tables import list_tables as tables_listed

blueprint = Blueprint("hands", __name__)

WITH: Final = {
    "foul": N_("foul"),
    "natural": N_("natural"),
    "corrected": N_("corrected"),
    "disputed": N_("disputed"),
}
LONGEST_NAME: Final = 100


@dataclass(frozen=True)
class SearchForm:
    """The search as the address has it; an empty field matches everything."""

    player: str = ""
    dealer: str = ""
    table: str = ""
    game: str = ""
    marks: frozenset[str] = frozenset()
    since: date | None = None
    until: date | None = None
    before: Key | None = None

    @property
    def wanted(self) -> SearchFilter:
        """The same as a query; a span is of whole days by the pit's own clock."""
        until = self.until + timedelta(days=1) if self.until else None
        return SearchFilter(
            self.player,
            self.dealer,
            self.table,
            self.game,
            self.marks,
            midnight_ms(self.since) if self.since else None,
            midnight_ms(until) if until else None,
            self.before,
        )

    def address(self, **changed: Any) -> str:
        """Return the list's address with some fields changed; it begins at the newest hand."""
        values = {one.name: getattr(self, one.name) for one in fields(self)} | {"before": None} | changed
        marks = [("with", mark) for mark in sorted(values.pop("marks"))]
        before: Key | None = values.pop("before")
        pairs = [(name, str(value)) for name, value in values.items() if value]
        pairs += [*marks, *([("before", "-".join(map(str, before)))] if before else [])]
        return f"/hands?{urlencode(pairs)}" if pairs else "/hands"

    def switched(self, mark: str) -> str:
        """Return the address with a mark put on or taken off."""
        return self.address(marks=self.marks ^ {mark})


def filter_of(args: Mapping[str, str], marks: list[str]) -> SearchForm:
    """Return the search of an address. Raises BadFilter with a sentence."""
    known = {"player", "dealer", "table", "game", "with", "since", "until", "before"}
    if strange := sorted(set(args) - known):
        raise BadFilter(_("There is no filter “%(name)s”.", name=strange[0][:40]))
    given = {name: value.strip() for name, value in args.items() if value.strip()}
    for name in ("player", "dealer", "table", "game"):
        if len(given.get(name, "")) > LONGEST_NAME or "\0" in given.get(name, ""):
            raise BadFilter(_("“%(value)s” is no name.", value=given[name][:40]))
    if strange := sorted(set(marks) - set(MARKS)):
        raise BadFilter(_("Hands cannot be listed for “%(what)s”.", what=strange[0][:40]))
    return SearchForm(
        given.get("player", ""),
        given.get("dealer", ""),
        given.get("table", ""),
        given.get("game", ""),
        frozenset(marks),
        _day(given, "since"),
        _day(given, "until"),
        _key(given),
    )


def _day(given: Mapping[str, str], name: str) -> date | None:
    if name not in given:
        return None
    try:
        day = date.fromisoformat(given[name])
    except ValueError:
        day = date.min
    if not 1970 < day.year < 9998:
        raise BadFilter(_("“%(value)s” is no day; write it as 2026-11-20.", value=given[name][:40]))
    return day


def _key(given: Mapping[str, str]) -> Key | None:
    if "before" not in given:
        return None
    parts = given["before"].split("-")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
        raise BadFilter(_("“%(value)s” is no number.", value=given["before"][:40]))
    return Key(*map(int, parts))


@blueprint.get("/hands")
@guard.open_to(HANDS)
def show_list() -> str:
    """List finished hands of all tables, the newest first."""
    try:
        asked = filter_of(request.args, request.args.getlist("with"))
    except BadFilter as error:
        abort(400, str(error))
    database = pit().database
    searched = pit().searched
    found = search(searched, asked.wanted, PAGE + 1)
    record_act(database, guard.current_person(), "search", detail=request.query_string.decode()[:500])
    return page(
        "hands",
        _("Past hands"),
        hands=found[:PAGE],
        more=asked.address(before=found[PAGE - 1].key) if len(found) > PAGE else "",
        asked=asked,
        WITH=WITH,
        dealers=names(searched, "dealer"),
        games=names(searched, "profile"),
        tables=[one.table.name for one in tables_listed(database)],
    )
