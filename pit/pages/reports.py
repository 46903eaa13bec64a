"""Reports over all tables: by table, dealer, down and game; as a page, CSV and PDF, by the table's own report."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from flask import Blueprint, Response, abort, request

from dealer_ui.reports.report_view import Line, as_csv, cells, csv_of, report_view
from dealer_ui.review.filters import BadFilter, midnight_ms
from dealer_ui.text.i18n import N_, language
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web.pages import attachment
from firmware.record.shift_counts import Counts, Report
from pit.follow.coverage import Coverage
from pit.follow.totals import Group, Span, by_dealer, by_game, by_table, report_of
from pit.pages import coverage_words, guard
from pit.pages.floor import number_in
from pit.pages.people import REPORTS
from pit.pages.services import page, pit
from pit.status.tables import list_tables as tables_listed

blueprint = Blueprint("reports", __name__)

BY: Final = {
    "house": N_("The house"),
    "table": N_("By table"),
    "dealer": N_("By dealer"),
    "down": N_("By down"),
    "game": N_("By game"),
}
DAYS: Final = (
    (0, N_("today")),
    (1, N_("since yesterday")),
    (7, N_("in the last week")),
    (30, N_("in the last month")),
)
LONGEST_DAYS: Final = 366


@dataclass(frozen=True)
class ReportForm:
    """What the address asks for."""

    by: str
    days: int
    table: str
    dealer: str = ""

    @property
    def span(self) -> Span:
        """The days up to now, from midnight by the pit's own clock."""
        now_ms = pit().live.clock_ms()
        since = midnight_ms(date.fromtimestamp(now_ms / 1000) - timedelta(days=self.days))
        return Span(since, now_ms + 1, self.table)

    def query(self, **changed: object) -> str:
        """Return the address's query with some fields changed."""
        from urllib.parse import urlencode

        values = {**vars(self), **changed}
        return f"?{urlencode({name: value for name, value in values.items() if value != ''})}"


def _read_form(more: frozenset[str]) -> ReportForm:
    if strange := sorted(set(request.args) - {"by", "days", "table"} - more):
        raise BadFilter(_("There is no filter “%(name)s”.", name=strange[0][:40]))
    by, days = request.args.get("by", "house"), request.args.get("days", "0")
    if by not in BY:
        raise BadFilter(_("There is no filter “%(name)s”.", name=by[:40]))
    if not (days.isascii() and days.isdigit() and len(days) < 4 and int(days) <= LONGEST_DAYS):
        raise BadFilter(_("“%(value)s” is no number.", value=days[:40]))
    names = [request.args.get(name, "") for name in ("table", "dealer")]
    for name in names:
        if len(name) > 100 or "\0" in name:
            raise BadFilter(_("“%(value)s” is no name.", value=name[:40]))
    return ReportForm(by, int(days), *names)


def form_of_address(more: frozenset[str] = frozenset()) -> ReportForm:
    """Return the report that the address asks for; 400 if there is none. `more`: further names that are allowed."""
    try:
        return _read_form(more)
    except BadFilter as error:
        abort(400, str(error))


def groups(of: ReportForm, covers: Coverage) -> list[Group]:
    """Return the lines of a report that is not by down; "Table 9" comes before "Table 10".

    A table with missing rows has a line, even if it never sent any.
    """
    find = {"house": by_table, "table": by_table, "dealer": by_dealer, "game": by_game, "down": by_dealer}
    found = find[of.by](pit().searched, of.span)
    if find[of.by] is by_table:
        names = {group.name for group in found}
        found += [Group(gap.table, Counts()) for gap in covers.gaps if gap.table not in names]
    return sorted(found, key=lambda group: number_in(group.name))


def _lines(of: ReportForm, found: list[Group], covers: Coverage) -> list[Line]:
    """Return the lines in words; a table's says what is missing of it."""
    by = of.by in ("house", "table")
    gaps = {gap.table: coverage_words.missing(gap, alone=True) for gap in covers.gaps if by}
    return [
        Line(group.name or _("nobody logged on"), gaps.get(group.name, ""), cells(group.counts))
        for group in found
    ]


@blueprint.get("/reports")
@guard.open_to(REPORTS)
def report() -> str:
    """Show a report."""
    of = form_of_address()
    # before the totals, so that these cover at least as much as is claimed
    covers = coverage_words.coverage_of(of.span)
    found = report_of(pit().searched, of.span)
    lines = groups(of, covers)
    total = sum((group.counts for group in lines), Counts())
    return page(
        "reports",
        _("Reports"),
        asked=of,
        BY=BY,
        DAYS=DAYS,
        view=report_view(found),
        lines_of=_lines(of, lines, covers),
        covers=covers,
        covered=coverage_words.sentence(covers),
        dealers={group.name for group in lines},
        total=Line(_("Together"), "", cells(total)),
        tables=[one.table.name for one in tables_listed(pit().database)],
    )


@blueprint.get("/reports.csv")
@guard.open_to(REPORTS)
def report_csv() -> Response:
    """Return the same as CSV: money in cents, times in UTC milliseconds. Every line says what the file covers."""
    of = form_of_address()
    covers = coverage_words.coverage_of(of.span)
    more = coverage_words.columns(covers)
    if of.by == "down":
        text = as_csv(report_of(pit().searched, of.span), more)
    else:
        lines = [((group.name,), group.counts) for group in groups(of, covers)]
        text = csv_of(("table" if of.by == "house" else of.by,), lines, more)
    return attachment(text.encode(), "text/csv", f"{of.by}.csv")


@blueprint.get("/reports.pdf")
@guard.open_to(REPORTS)
def report_as_pdf() -> Response:
    """Return the same as a PDF with plots."""
    from dealer_ui.reports.report_pdf import report_pdf  # slow import (half a second), rarely needed

    of = form_of_address()
    covers = coverage_words.coverage_of(of.span)
    found: Report = report_of(pit().searched, of.span)
    lines = _lines(of, groups(of, covers), covers)
    title, more = of.table or pit().name, None if of.by == "down" else (_(BY[of.by]), lines)
    made = report_pdf(found, title, language(), more, coverage_words.sentence(covers))
    return attachment(made, "application/pdf", f"{of.by}.pdf")
