"""The table's health: a page for people, `/healthz` for machines, `/metrics` for Prometheus."""

import time
from typing import Any, Literal

from flask import Blueprint, Response, abort, current_app, request

from dealer_ui.setup.inbox import files_here
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web import guard
from dealer_ui.web.answers import Health, json_answer
from dealer_ui.web.pages import page
from dealer_ui.web.services import services
from firmware.health.check import Verdict, worst
from firmware.health.checks import judge
from firmware.health.facts import Facts
from firmware.health.record_facts import record_facts
from firmware.table.people import Role
from firmware.table_client import TableUnreachable

blueprint = Blueprint("health", __name__)

TROUBLESHOOTERS = frozenset({Role.DEALER, Role.FLOOR, Role.TECHNICIAN})
LOOPBACK = frozenset({"127.0.0.1", "::1"})


def facts() -> Facts:
    """Collect the health facts from the record and the table process. The page's own process cannot inspect the box."""
    now_ms = time.time_ns() // 1_000_000
    found: dict[str, Any] = record_facts(services().reader, now_ms)
    if found and not found.get("record_wrong") and (fault := services().live.record_fault()):
        found |= {"record_wrong": fault, "rows": found["rows"] or 1}
    try:
        link = services().link
        answer = link.send({"do": "health"})
        found |= answer.get("facts", {})
        found["limits"] = found.get("limits", {}) | {"answer": link.limit.to_json()}
        found["answers"] = True
    except TableUnreachable:
        found["answers"] = False
        found["faults"] = {}  # the devices' last reports are out of date
    return Facts.from_json(found)


@blueprint.get("/health")
@guard.open_to(TROUBLESHOOTERS)
def health() -> str:
    """Show every check, the ones that need attention first."""
    checks = judge(facts())
    titles = {
        Verdict.BAD: _("To be put right"),
        Verdict.LOOK: _("To be seen to"),
        Verdict.OK: _("Well"),
        Verdict.UNKNOWN: _("Not known here"),
        Verdict.ABSENT: _("Not installed"),
    }
    groups = ((title, [c for c in checks if c.verdict is verdict]) for verdict, title in titles.items())
    shown = [(title, found) for title, found in groups if found]
    return page("health.html", _("Health"), groups=shown, say=say, has_files=bool(files_here()))


@blueprint.get("/healthz")
@guard.open_to(guard.EVERYBODY)
def healthz() -> tuple[Response, int]:
    """Answer 200 if the record can be read, the table process answers and no screen is silent, else 503.

    The installer waits for this.

    With `?checks` the answer lists every check's verdict, and a bad verdict also gives 503.
    """
    live, answer = services().live, services().link.heartbeat()
    table = answer is not None
    # without the table, no second wait for it
    moment = live.now() if table else live.wait(-1, 0) or live.now()
    screen = _screen(answer)
    well = table and not moment.trouble and screen != "silent"
    checks: dict[str, str] | None = None
    if "checks" in request.args:
        found = judge(facts())
        checks = {check.name: check.verdict for check in found}
        well = well and worst(found) != "bad"
    training = bool(current_app.config.get("TRAINING"))
    report = Health(
        well, table, not moment.trouble, screen, moment.trouble, moment.screen.seq, training, checks
    )
    return json_answer(report), 200 if well else 503


def _screen(answer: dict[str, Any] | None) -> Literal["well", "silent", "unknown", "none"]:
    screen = (answer or {}).get("screen")
    if screen is None:
        return "unknown"
    if not screen["expected"]:
        return "none"
    if screen["fault"]:
        return "silent"
    return "unknown" if screen["silent_s"] is None or screen["leaving"] else "well"


@blueprint.get("/metrics")
@guard.open_to(guard.EVERYBODY)
def metrics() -> Response:
    """Return the metrics for Prometheus: to this machine, or to a signed-in role. They hold no names and no cards."""
    if request.remote_addr not in LOOPBACK:
        abort(403, _("This is for this machine only."))
    from prometheus_client import CONTENT_TYPE_LATEST

    from dealer_ui.web.metrics import exposition

    body = exposition(services().tallies, facts(), services().live.state())
    return Response(body, content_type=CONTENT_TYPE_LATEST)
