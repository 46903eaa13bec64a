"""The shift report as a PDF with plots."""

from collections.abc import Iterable, Sequence

from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.shapes import Drawing
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, Spacer

from dealer_ui.reports.pdf import INK, WIDTH, Type, document
from dealer_ui.reports.report_view import Line, report_view
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import speaking
from firmware.record.shift_counts import Report

PLOT_HIGH = 46 * mm
"""The height of a plot."""
LONGEST = 100
"""The most characters of a name. A longer name could make a row higher than a page, and that fails."""
DIGIT_WIDTH = 1.5
"""The width of a digit in a cell, in letters of the column's smaller heading."""


def report_pdf(
    report: Report,
    table: str = "",
    language: str = "en",
    group: tuple[str, Sequence[Line]] | None = None,
    covers: str = "",
) -> bytes:
    """Return a report as a PDF in one of the page's languages. The same report always gives the same bytes.

    `group`: a title and lines to show instead of the downs and dealers. `covers`: words that say up to which time the
    report is complete.
    """
    with speaking(language):
        title = _("Shift report") + (f" · {table}" if table else "")
        type_ = Type(language)
        return document(list(_flow(report, title, type_, group, covers)), title, type_, _("Page %(page)s"))


def _flow(
    report: Report, title: str, type_: Type, group: tuple[str, Sequence[Line]] | None, covers: str
) -> Iterable[Flowable]:
    view = report_view(report)
    tables = [group] if group else [(_("By down"), view.downs), (_("By dealer"), view.dealers)]
    yield type_.text(title, type_.title)
    if covers:
        yield type_.text(covers, type_.head)
    if view.is_empty:
        yield type_.text(_("Nothing happened at this table in that time."))
        return
    yield type_.text(view.when, type_.head)
    yield Spacer(0, 3 * mm)
    heads = [type_.text(head, ParagraphStyle("narrow", type_.small, fontSize=5.8)) for head in view.heads]
    columns = zip(
        *(line.cells for line in (*(line for _title, lines in tables for line in lines), view.total)),
        strict=True,
    )
    widths = [
        max(6, *map(len, head.split()), *(DIGIT_WIDTH * len(cell) for cell in column))
        for head, column in zip(view.heads, columns, strict=True)
    ]

    def grid(lines: Sequence[Line]) -> Flowable:
        cells = [
            [
                type_.text(line.name[:LONGEST] + (f"\n{line.when}" if line.when else "")),
                *(type_.text(c) for c in line.cells),
            ]
            for line in (*lines, view.total)
        ]
        shares = (0.17, *(0.83 * width / sum(widths) for width in widths))
        return type_.grid(
            [[type_.text("", type_.small), *heads], *cells], shares, head=True, marked=[len(lines) + 1]
        )

    for head, lines in tables:
        yield from type_.titled(head)
        yield grid(lines)
    yield from _plot(
        _("Hands closed in each hour"),
        [(bar.name, n) for bar, (_ms, n) in zip(view.hours, report.hours, strict=True)],
        type_,
    )
    unsure = [(name or _("nobody"), 100 * (counts.unsure_share or 0)) for name, counts in report.dealers]
    yield from _plot(_("Cards that were asked, percent of those read"), unsure, type_)
    yield from _plot(_("Device faults"), report.faults, type_)


def _plot(title: str, figures: Sequence[tuple[str, float]], type_: Type) -> Iterable[Flowable]:
    """Yield a bar plot with its title, or nothing if all figures are zero."""
    if not any(figure for _name, figure in figures):
        return
    yield from type_.titled(title, PLOT_HIGH)
    drawing = Drawing(WIDTH, PLOT_HIGH)
    chart = VerticalBarChart()
    chart.x, chart.y = 34, 23
    chart.width = round(min(WIDTH - 16 * mm, len(figures) * 22 * mm))
    chart.height = round(PLOT_HIGH - 12 * mm)
    chart.data = [tuple(figure for _name, figure in figures)]
    chart.valueAxis.labels.fontName = type_.plain
    chart.valueAxis.labels.fontSize = 7
    chart.valueAxis.valueMin = 0
    chart.valueAxis.visibleGrid = True
    chart.valueAxis.gridStrokeColor = colors.HexColor("#c9d1cc")
    chart.bars[0].fillColor = colors.HexColor("#2f7d5b")
    chart.bars[0].strokeColor = None
    chart.barLabels.fontName = type_.plain
    chart.barLabels.fontSize = 7
    chart.barLabels.nudge = 6
    chart.barLabelFormat = "%.3g"
    drawing.add(chart)
    step = chart.width / len(figures)
    for number, (name, _figure) in enumerate(figures):
        middle = chart.x + (number + 0.5) * step
        drawing.add(type_.label(name, middle, chart.y - 12, 7, INK))
    yield drawing
