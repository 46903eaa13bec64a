"""The acceptance as a PDF: the verdict, each figure with its limit and margin, pictures, what is UNTESTED no more."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from reportlab.graphics.charts.barcharts import VerticalBarChart
from reportlab.graphics.charts.lineplots import LinePlot
from reportlab.graphics.shapes import Drawing, Line
from reportlab.lib import colors
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.platypus import Flowable, Image, KeepTogether, Spacer

from dealer_ui.reports.pdf import INK, RED, WIDTH, Type, document
from firmware.acceptance import box_steps, button_steps, camera_steps
from firmware.acceptance.findings import Limit, Result, StepVerdict, show
from firmware.acceptance.limits import LIMITS
from firmware.acceptance.run_file import FIGURES, RunFile
from firmware.acceptance.steps import STEPS
from firmware.acceptance.untested import cleared_by
from firmware.record.evidence.signing import DeviceKey

PLOT_HIGH: Final = 38 * mm
PICTURE_WIDE: Final = 92 * mm
GREEN: Final = colors.HexColor("#1f7d4a")
_DRAWN: Final = colors.HexColor("#2f7d5b")
AMBER: Final = colors.HexColor("#9a6b00")
_COLOURS: Final[Mapping[StepVerdict, colors.Color]] = {
    StepVerdict.PASS: GREEN,
    StepVerdict.FAIL: RED,
    StepVerdict.SHORT: AMBER,
    StepVerdict.UNMEASURED: AMBER,
    StepVerdict.RECORDED: INK,
}
_LINES: Final = {
    camera_steps.MOVED: "moved_mm",
    box_steps.CELSIUS: "celsius",
    box_steps.READING: "reading_ms",
}
"""The curves of a figure that has a limit, by the figure's name. The other curves are drawn as bars."""


def overall(results: Mapping[str, Result]) -> tuple[bool, str]:
    """Return whether the table is accepted, which needs every step to pass, and the verdict as a sentence."""
    verdicts = [results[step.id].verdict if step.id in results else StepVerdict.UNMEASURED for step in STEPS]
    counted = Counter(verdicts)
    parts = ", ".join(f"{counted[one]} {one}" for one in StepVerdict if counted[one])
    is_well = all(one in (StepVerdict.PASS, StepVerdict.RECORDED) for one in verdicts)
    return is_well, f"{'ACCEPTED' if is_well else 'NOT accepted'}: of {len(STEPS)} steps {parts}."


def acceptance_pdf(run: RunFile, key: DeviceKey | None) -> bytes:
    """Return the report of a run; the same run gives the same bytes. Raises OSError for a picture that is lost."""
    type_ = Type("en")
    title = "Acceptance" + (f" · {run.kept['table']}" if run.kept["table"] else "")
    return document(list(_flow(run, key, title, type_)), title, type_, "Page %(page)s")


def _flow(run: RunFile, key: DeviceKey | None, title: str, type_: Type) -> Iterable[Flowable]:
    results = run.results()
    is_well, says = overall(results)
    yield type_.text(title, type_.title)
    yield type_.text(says, _coloured(type_.heading, GREEN if is_well else RED))
    yield type_.grid(list(_facts(run, key, results)), (0.2, 0.8))
    yield from type_.titled("All steps")
    yield _summary(results, type_)
    for step in STEPS:
        yield from _step(step.id, step.title, results.get(step.id), run.folder, type_)
    yield from _clears(results, type_)


def _facts(run: RunFile, key: DeviceKey | None, results: Mapping[str, Result]) -> Iterable[list[str]]:
    yield ["Begun", run.kept["begun"]]
    yield ["Last measured", max((one.at for one in results.values()), default="nothing yet")]
    yield ["By", ", ".join(sorted({one.by for one in results.values() if one.by})) or "nobody named"]
    yield ["Software", run.kept["software"]]
    text = (run.folder / FIGURES).read_bytes()
    yield [f"SHA-256 of {FIGURES}", hashlib.sha256(text).hexdigest()]
    if key is None:
        yield ["Signature", "NOT signed: the device's key was not there."]
    else:
        yield ["Signature of it", key.sign(text).hex()]
        yield ["Key, in words", f"{key.words}: compare with the box's page or a slip"]
        yield ["To verify", "feltwatch acceptance --verify FOLDER"]


def _summary(results: Mapping[str, Result], type_: Type) -> Flowable:
    rows: list[list[str | Flowable]] = [["Step", "Verdict", "Nearest to its limit"]]
    for step in STEPS:
        result = results.get(step.id)
        rows.append(
            [type_.text(f"{step.title} ({step.id})"), _verdict(result, type_), type_.text(_nearest(result))]
        )
    return type_.grid(rows, (0.42, 0.22, 0.36), head=True)


def _nearest(result: Result | None) -> str:
    """Return the figure with the least margin, in words."""
    if result is None:
        return ""
    known = [
        (name, value) for name, value in result.figures.items() if value is not None and LIMITS[name].is_set
    ]
    if not known:
        return ""
    name, value = min(known, key=lambda one: _share(LIMITS[one[0]], one[1]))
    limit = LIMITS[name]
    return f"{limit.title}: {show(value, limit.unit)} ({limit.text})"


def _share(limit: Limit, value: float) -> float:
    """Return the margin as a share of the limit."""
    bound = max(abs(one) for one in (limit.least, limit.most, limit.below) if one is not None)
    return limit.margin(value) / (bound or 1.0)


def _verdict(result: Result | None, type_: Type) -> Flowable:
    verdict = result.verdict if result else StepVerdict.UNMEASURED
    return type_.text(str(verdict), _coloured(type_.head, _COLOURS[verdict]))


def _coloured(style: ParagraphStyle, colour: colors.Color) -> ParagraphStyle:
    return ParagraphStyle(f"{style.name}-{colour.hexval()}", style, textColor=colour)


def _step(id_: str, title: str, result: Result | None, folder: Path, type_: Type) -> Iterable[Flowable]:
    head: list[Flowable] = [type_.text(f"{title} ({id_})", type_.heading), _verdict(result, type_)]
    if result is None:
        yield KeepTogether(head)
        return
    if result.wanted_minutes is not None:
        measured = f"{result.minutes:g} of {result.wanted_minutes:g} minutes were measured."
        head.append(type_.text(measured))
    if result.says:
        head.append(type_.text(result.says))
    if result.figures:
        head.append(_figures(result, type_))
    if result.notes:
        notes = " · ".join(f"{name}: {text}" for name, text in result.notes.items())
        head.append(type_.text(notes, type_.small))
    for name in result.pictures:
        picture = Image(str(folder / name), lazy=0)
        picture.drawHeight *= PICTURE_WIDE / picture.drawWidth
        picture.drawWidth = PICTURE_WIDE
        picture.hAlign = "LEFT"
        head += [Spacer(0, 1.5 * mm), picture]
    yield KeepTogether(head)
    for words, points in result.curves.items():
        if points:
            yield KeepTogether(
                [Spacer(0, 2 * mm), type_.text(words, type_.small), _plot(words, points, type_)]
            )


def _figures(result: Result, type_: Type) -> Flowable:
    rows: list[list[str | Flowable]] = [["Figure", "Measured", "Limit", "Margin", "Where the limit stands"]]
    marked = []
    for name, value in result.figures.items():
        limit = LIMITS[name]
        if value is None:
            measured, margin = "unknown", ""
        else:
            measured = show(value, limit.unit)
            margin = show(limit.margin(value), limit.unit) if limit.is_set else ""
            if limit.is_set and not limit.holds(value):
                marked.append(len(rows))
        rows.append(
            [
                limit.title,
                measured,
                limit.text or "recorded only",
                margin,
                type_.text(limit.source, type_.small),
            ]
        )
    return type_.grid(rows, (0.3, 0.14, 0.16, 0.12, 0.28), head=True, marked=marked)


def _plot(words: str, points: list[list[float]], type_: Type) -> Drawing:
    drawing = Drawing(WIDTH, PLOT_HIGH)
    if words == button_steps.BOUNCES:
        drawing.add(_bars(points, type_))
        return drawing
    limit = LIMITS[_LINES[words]]
    bound = limit.most if limit.most is not None else limit.below
    assert bound is not None
    chart = _line(points, 1.1 * max(bound, *(y for _x, y in points)), type_)
    drawing.add(chart)
    y = chart.y + chart.height * bound / chart.yValueAxis.valueMax
    drawing.add(Line(chart.x, y, chart.x + chart.width, y, strokeColor=RED, strokeDashArray=[3, 2]))
    drawing.add(type_.label("limit", chart.x + chart.width - 12, y + 2, 6.5, RED))
    return drawing


def _bars(points: list[list[float]], type_: Type) -> VerticalBarChart:
    chart = VerticalBarChart()
    _place(chart)
    chart.data = [tuple(number for _ms, number in points)]
    chart.categoryAxis.categoryNames = [f"{ms:g}" for ms, _number in points]
    chart.bars[0].fillColor = _DRAWN
    chart.bars[0].strokeColor = None
    chart.valueAxis.valueMin = 0
    for axis in (chart.categoryAxis, chart.valueAxis):
        axis.labels.fontName, axis.labels.fontSize = type_.plain, 7
    return chart


def _line(points: list[list[float]], top: float, type_: Type) -> LinePlot:
    chart = LinePlot()
    _place(chart)
    chart.data = [[(x, y) for x, y in (points if len(points) > 1 else [[0.0, points[0][1]], *points])]]
    chart.lines[0].strokeColor = _DRAWN
    chart.lines[0].strokeWidth = 1.2
    chart.xValueAxis.valueMin, chart.xValueAxis.valueMax = 0, max(x for x, _y in points) or 1.0
    chart.xValueAxis.labelTextFormat = "%.3g"
    chart.yValueAxis.valueMin, chart.yValueAxis.valueMax = 0, top
    for axis in (chart.xValueAxis, chart.yValueAxis):
        axis.labels.fontName, axis.labels.fontSize = type_.plain, 7
    return chart


def _place(chart: VerticalBarChart | LinePlot) -> None:
    chart.x, chart.y, chart.width, chart.height = 34, 16, round(WIDTH - 50), round(PLOT_HIGH - 8 * mm)


def _clears(results: Mapping[str, Result], type_: Type) -> Iterable[Flowable]:
    """Yield the places in the repository that say UNTESTED and that this run clears, by step."""
    yield from type_.titled("What this run clears")
    yield type_.text(
        "Each step names the places that say UNTESTED because of what it measures. At the first table that is built, a "
        "place loses the word once every step that names it has passed. The rows of docs/untested.md name their steps.",
        type_.small,
    )
    rows: list[list[str | Flowable]] = [["Step", "Verdict", "Places that say UNTESTED"]]
    for step in STEPS:
        places = cleared_by(step.id)
        if places:
            listed = type_.text(", ".join(places), type_.small)
            rows.append([step.id, _verdict(results.get(step.id), type_), listed])
    yield type_.grid(rows, (0.2, 0.2, 0.6), head=True)
