"""The shift report: a page, a CSV and a PDF, for floor people and auditors."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from flask import Blueprint, Response, abort, request
from werkzeug.exceptions import HTTPException

from dealer_ui.reports.report_view import as_csv, report_view
from dealer_ui.review.filters import BadFilter, moment, number_asked, time_asked
from dealer_ui.review.routes import refused
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import language
from dealer_ui.text.messages import say
from dealer_ui.web import guard
from dealer_ui.web.guard import PAST
from dealer_ui.web.pages import attachment, page
from dealer_ui.web.services import services
from firmware.record.report_span import Span, down_of, report_of_span, shift, shift_before
from firmware.record.shift_counts import Report
from firmware.table.errors import CommandRefused, JournalError, UnknownEvent

blueprint = Blueprint("report", __name__)
blueprint.register_error_handler(HTTPException, refused)


@dataclass(frozen=True)
class _ReportPeriod:
    """The period in the address: a down, two times, or the last shift."""

    down: int | None
    since_ms: int | None
    until_ms: int | None

    @property
    def query(self) -> str:
        """The same as the address's query."""
        return f"?{request.query_string.decode()}" if request.query_string else ""


def _read_period() -> _ReportPeriod:
    known = {"down", "from", "to", "language"}
    if strange := sorted(set(request.args) - known):
        raise BadFilter(_("There is no filter “%(name)s”.", name=strange[0]))
    given = {name: value.strip() for name, value in request.args.items() if value.strip()}
    return _ReportPeriod(number_asked(given, "down"), time_asked(given, "from"), time_asked(given, "to"))


def _span(asked: _ReportPeriod) -> Span:
    reader = services().reader
    if asked.down is not None:
        return down_of(reader, asked.down)
    if asked.since_ms is not None or asked.until_ms is not None:
        return Span(asked.since_ms or 0, asked.until_ms)
    return shift(reader)


def _before(span: Span) -> str:
    """Return the address of the shift before a period; "" if there was none."""
    before = shift_before(services().reader, span.since_ms)
    if before is None:
        return ""
    return f"/report?{urlencode({'from': moment(before.since_ms), 'to': moment(span.since_ms)})}"


def _report() -> tuple[_ReportPeriod, Report, Span]:
    try:
        asked = _read_period()
        span = _span(asked)
        return asked, report_of_span(services().reader, span), span
    except BadFilter as error:
        abort(400, str(error))
    except CommandRefused as error:
        abort(404, say(error))
    except (JournalError, UnknownEvent) as error:
        abort(503, say(error))


@blueprint.get("/report")
@guard.open_to(PAST)
def report() -> str:
    """Show the report of the last shift, or of the requested down or times."""
    asked, found, span = _report()
    state = services().live.state()
    values: dict[str, Any] = {
        "view": report_view(found),
        "query": asked.query,
        "downs": sorted({down.number for down in found.downs if down.dealer} | ({state.down} - {0})),
        "chosen": asked.down,
        "before": "" if asked.down else _before(span),
        "whole": asked == _ReportPeriod(None, None, None),
    }
    return page("review/report.html", _("Shift report"), back="/menu", **values)


@blueprint.get("/report.csv")
@guard.open_to(PAST)
def report_csv() -> Response:
    """Return the same as CSV."""
    _of, found, _ = _report()
    return attachment(as_csv(found).encode(), "text/csv", "shift.csv")


@blueprint.get("/report.pdf")
@guard.open_to(PAST)
def report_as_pdf() -> Response:
    """Return the same as a PDF with plots."""
    from dealer_ui.reports.report_pdf import report_pdf  # slow import (half a second), rarely needed

    _of, found, _ = _report()
    table = services().live.state().house.table
    return attachment(report_pdf(found, table, language()), "application/pdf", "shift.pdf")
