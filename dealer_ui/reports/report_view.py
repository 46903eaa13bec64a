"""The shift report in words: its columns, a line for each down and dealer, bars, CSV. Pure."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from dealer_ui.review.timeline import day_of, time_of
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import device_name, money
from firmware.record.shift_counts import Counts, Down, Report

_FORMULA: Final = re.compile("(^|[;,|\t\r\n])(?=[\t\r]|[^\\w'\"]*[=+@\uff1d\uff0b\uff0d\uff20-])")
"""Where a cell may begin, by whichever separator a spreadsheet goes, before what begins a formula, also in full width.
Blanks, signs and letters that nobody sees may stand between."""
COLUMNS: Final[tuple[tuple[str, str], ...]] = (
    ("hands", N_("Hands")),
    ("voids", N_("Void")),
    ("misdeals", N_("Misdeals")),
    ("fouls", N_("Fouls")),
    ("naturals", N_("Naturals")),
    ("corrected", N_("Corrected")),
    ("reopened", N_("Reopened")),
    ("cards", N_("Cards read")),
    ("unsure", N_("Asked")),
    ("share", N_("Asked, %")),
    ("errors", N_("Read wrong")),
    ("faults", N_("Faults")),
    ("collection", N_("Collection")),
)
"""A count's name and its heading."""


@dataclass(frozen=True)
class Line:
    """One line of the report."""

    name: str
    when: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Bar:
    """One bar of a plot: its name, its figure in words, and its length in percent of the longest."""

    name: str
    figure: str
    percent: int


@dataclass(frozen=True)
class ReportView:
    """The report as shown by the page, the PDF and the command line."""

    when: str
    heads: tuple[str, ...]
    downs: tuple[Line, ...]
    dealers: tuple[Line, ...]
    total: Line
    faults: tuple[Bar, ...]
    hours: tuple[Bar, ...]
    shares: tuple[Bar, ...]

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened at all."""
        return not self.downs


def report_view(report: Report) -> ReportView:
    """Return the report in words."""
    return ReportView(
        _span(report.began_ms, report.ended_ms),
        tuple(_(words) for _name, words in COLUMNS),
        tuple(_down(down) for down in report.downs),
        tuple(Line(_dealer(name), "", cells(counts)) for name, counts in report.dealers),
        Line(_("Together"), "", cells(report.total)),
        _bars(report.faults, device_name, str),
        _bars(report.hours, lambda ms: time_of(ms)[:5], str),
        _bars(
            [(name, counts.unsure_share or 0.0) for name, counts in report.dealers],
            _dealer,
            lambda share: f"{100 * share:.1f} %",
        ),
    )


def _down(down: Down) -> Line:
    name = _dealer(down.dealer)
    if down.dealer:
        name = _("%(name)s, down %(down)s", name=name, down=down.number)
    return Line(name, f"{time_of(down.began_ms)[:5]}–{time_of(down.ended_ms)[:5]}", cells(down.counts))


def _dealer(name: str) -> str:
    return name or _("nobody logged on")


def _span(began: int | None, ended: int | None) -> str:
    if began is None or ended is None:
        return ""
    until = time_of(ended)[:5] if day_of(began) == day_of(ended) else f"{day_of(ended)} {time_of(ended)[:5]}"
    return f"{day_of(began)} {time_of(began)[:5]} – {until}"


def cells(counts: Counts) -> tuple[str, ...]:
    """Return the counts in words, in the order of `COLUMNS`."""
    return tuple(_cell(counts, name) for name, _words in COLUMNS)


def _cell(counts: Counts, name: str) -> str:
    match name:
        case "share":
            return "–" if counts.unsure_share is None else f"{100 * counts.unsure_share:.2f}"
        case "collection":
            return money(counts.collection)
        case _:
            return f"{getattr(counts, name):,}"


def _bars(
    figures: Sequence[tuple[object, float]], name: Callable[..., str], say: Callable[..., str]
) -> tuple[Bar, ...]:
    most = max((figure for _of, figure in figures), default=0) or 1
    return tuple(Bar(name(of), say(figure), round(100 * figure / most)) for of, figure in figures)


def as_csv(report: Report, more: Sequence[tuple[str, str]] = ()) -> str:
    """Return the report as CSV: one line per down, for a spreadsheet; money in cents, times in UTC milliseconds."""
    heads = ("dealer", "down", "from_ms", "to_ms")
    lines = [((down.dealer, down.number, down.began_ms, down.ended_ms), down.counts) for down in report.downs]
    return csv_of(heads, lines, more)


def csv_of(
    heads: Sequence[str],
    lines: Sequence[tuple[Sequence[object], Counts]],
    more: Sequence[tuple[str, str]] = (),
) -> str:
    """Return lines with their counts as CSV. `more`: columns with one value in all lines; without any line, in one."""
    text, names = io.StringIO(), list(vars(Counts()))
    out = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC)
    out.writerow([*heads, *names, *(head for head, _value in more)])
    values = [harmless(value) for _head, value in more]
    for first, counts in lines:
        cells = [harmless(cell) if isinstance(cell, str) else cell for cell in first]
        out.writerow([*cells, *(getattr(counts, name) for name in names), *values])
    if more and not lines:
        out.writerow([*[""] * (len(heads) + len(names)), *values])
    return text.getvalue()


def harmless(name: str) -> str:
    """Return a name that no spreadsheet takes for a formula, whatever it takes for the end of a cell."""
    return _FORMULA.sub(r"\1'", name)
