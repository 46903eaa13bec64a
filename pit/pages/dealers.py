"""Dealers and their downs over all tables: at which table, from when to when, and what was counted in each."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from flask import Blueprint

from dealer_ui.review.timeline import day_of, time_of
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import money
from firmware.record.shift_counts import Counts
from pit.follow.search import names
from pit.follow.totals import TableDown, by_dealer, downs_of
from pit.pages import coverage_words, guard
from pit.pages.people import REPORTS
from pit.pages.reports import DAYS, form_of_address
from pit.pages.services import page, pit
from pit.status.tables import list_tables as tables_listed

blueprint = Blueprint("dealers", __name__)
MAX_DOWNS: Final = 500
"""Downs on one page: a house deals more in a month than anybody reads."""


@dataclass(frozen=True)
class Line:
    """One down in words; `ended` is "" while it lasts."""

    table_id: int
    table: str
    number: int
    began: str
    ended: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Dealer:
    """One dealer with the downs that are shown, and all of the time asked for together."""

    name: str
    lines: tuple[Line, ...]
    total: tuple[str, ...]


@blueprint.get("/dealers")
@guard.open_to(REPORTS)
def show_list() -> str:
    """List the dealers with their downs."""
    of = form_of_address(frozenset({"dealer"}))
    covers = coverage_words.coverage_of(of.span)
    found = downs_of(pit().searched, of.span, of.dealer, MAX_DOWNS + 1)
    # stable: each dealer's stay in their order
    downs = sorted(found[-MAX_DOWNS:], key=lambda one: one.down.dealer)
    totals = {group.name: group.counts for group in by_dealer(pit().searched, of.span)}
    return page(
        "dealers",
        _("Dealers and downs"),
        asked=of,
        DAYS=DAYS,
        covers=covers,
        covered=coverage_words.sentence(covers),
        heads=(_("Hands"), _("Corrected"), _("Asked"), _("Collection")),
        dealers=[
            Dealer(name, _lines(tuple(of_one)), _cells(totals.get(name, Counts())))
            for name, of_one in groupby(downs, lambda one: one.down.dealer)
        ],
        cut=MAX_DOWNS if len(found) > MAX_DOWNS else 0,
        tables=[one.table.name for one in tables_listed(pit().database)],
        names=names(pit().searched, "dealer"),
    )


def _lines(downs: Sequence[TableDown]) -> tuple[Line, ...]:
    floor = pit().live.now()
    made = []
    for one in downs:
        at = floor.of(one.table_id)
        lasts = one.is_open and at is not None and not at.tile.silent
        ended = "" if lasts else _until(one.down.began_ms, one.down.ended_ms)
        began = f"{day_of(one.down.began_ms)} {time_of(one.down.began_ms)[:5]}"
        made.append(Line(one.table_id, one.table, one.down.number, began, ended, _cells(one.down.counts)))
    return tuple(made)


def _until(began_ms: int, ended_ms: int) -> str:
    day = "" if day_of(began_ms) == day_of(ended_ms) else f"{day_of(ended_ms)} "
    return f"{day}{time_of(ended_ms)[:5]}"


def _cells(counts: Counts) -> tuple[str, ...]:
    figures = (counts.hands, counts.corrected, counts.unsure)
    return (*(f"{figure:,}" for figure in figures), money(counts.collection))
