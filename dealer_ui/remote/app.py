"""The review for other machines: past hands to read, after a log-in. An application of its own, behind nginx.

It has only the routes of the review: no glance page, no stream, no camera, no command. It reads the record up to the
last point where no hand was open (`firmware.record.finished_reader`), so no route can reveal an open hand. It has no
connection to the table process. Its pages need no script, and get none.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    send_file,
    url_for,
)
from werkzeug.exceptions import BadHost
from werkzeug.wrappers import Response as AnyResponse

from dealer_ui.remote.access import AccessError, LanPeople, LanSessions, Limit, counted_as
from dealer_ui.reports import report_page
from dealer_ui.review import dispute
from dealer_ui.review import routes as review
from dealer_ui.server.app import bare_app
from dealer_ui.text import i18n
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.view.live import Live
from dealer_ui.view.render import Messages
from dealer_ui.web import guard
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.services import KioskStream, Services, StreamLimiter, services
from firmware.record.finished_reader import FinishedReader
from firmware.record.hand_history import load_hand
from firmware.record.journal.captures import CaptureStore, named_by
from firmware.table.errors import CaptureError, CommandRefused, TableError
from firmware.table.people import Role
from firmware.table_client import TableLink

log = logging.getLogger(__name__)
blueprint = Blueprint("lan", __name__)

TRIES_EACH: Final = (5, 1 / 60)
"""Passphrases of one address: five at once, then one a minute."""
TRIES_OF_ALL: Final = (20, 1 / 6)
"""Of all together, but for addresses from which somebody has logged in: those have their own share alone."""
ONCE_A_MINUTE: Final = (1, 1 / 60)
"""How often the log says that tries are put off: else they would push everything else out of it."""

HEADERS: Final = {  # the TLS header is set by nginx
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'none'",
            "style-src 'self'",
            "img-src 'self'",
            "font-src 'self'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without it browsers omit the origin of a form
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
OPEN: Final = frozenset({"static", "lan.log_in", "lan.check"})
"""What is answered without a log-in: the page that asks for it, and what it looks like."""


@dataclass(frozen=True)
class RemoteAccess:
    """The people with access, their sessions, and the rate limits of passphrases."""

    people: LanPeople
    sessions: LanSessions
    tries: Limit
    warned: Limit


def create_app(data: Path, secrets: Path) -> Flask:
    """Build the application over a record's folder and the folder of the review's own secrets."""
    app = bare_app()
    app.config.update(LAN=True, CSRF_TOKEN="")  # its pages send no commands
    people = LanPeople(secrets)
    sessions = LanSessions(people)
    nowhere = TableLink(secrets / "no.sock")
    reader = FinishedReader(data)
    Services(
        live=Live(reader, lambda: False),
        reader=reader,
        link=nowhere,
        captures=CaptureStore(data),
        streams=StreamLimiter(0),
        kiosk=KioskStream(),
        messages=Messages(app),
        sessions=sessions,
        tallies=Tallies(reader),
    ).attach(app)
    app.extensions["feltwatch-lan"] = RemoteAccess(
        people, sessions, Limit(TRIES_EACH, TRIES_OF_ALL), Limit(ONCE_A_MINUTE, ONCE_A_MINUTE)
    )
    app.before_request(_admit)
    i18n.speak(app, lambda: services(app).live.state().house)
    for part in (blueprint, review.blueprint, dispute.blueprint, report_page.blueprint):
        app.register_blueprint(part)
    app.after_request(_harden)
    return app


def remote_access(app: Flask | None = None) -> RemoteAccess:
    """Return the access control of an application, or of the current request's."""
    found = (app or current_app).extensions["feltwatch-lan"]
    assert isinstance(found, RemoteAccess)
    return found


# ---- authorization ----


def _address() -> str:
    return counted_as(request.remote_addr or "")


def _admit() -> AnyResponse | None:
    if isinstance(request.routing_exception, BadHost):
        raise request.routing_exception  # no page uses such a host name
    if request.method not in guard.SAFE_METHODS:
        _need_own_site()
    if request.endpoint in OPEN:
        return None
    if guard.role() is not Role.AUDITOR:
        if request.method == "GET" and request.accept_mimetypes["text/html"]:
            return redirect(url_for("lan.log_in"))
        abort(401, _("Log in first."))
    if request.endpoint and Role.AUDITOR not in guard.roles_of(current_app.view_functions[request.endpoint]):
        abort(403)
    return None  # no such route: Flask answers 404


def _need_own_site() -> None:
    """Refuse requests from a page of another site, by the headers that browsers send."""
    origin = request.headers.get("Origin")
    elsewhere = origin is not None and origin != f"{request.scheme}://{request.host}"
    if elsewhere or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        abort(403, _("This request comes from another site. Use the page itself."))


def _too_often(wait: float) -> AnyResponse:
    seconds = math.ceil(wait)
    words = ngettext(
        "Too many requests; wait %(num)s second.", "Too many requests; wait %(num)s seconds.", seconds
    )
    return make_response(f"{words}\n", 429, {"Retry-After": str(seconds), "Content-Type": "text/plain"})


def _harden(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers[name] = value
    if request.endpoint != "static":
        response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/log-in")
def log_in() -> str:
    """Ask for a name and a passphrase."""
    return _asked("")


def _asked(wrong: str) -> str:
    return render_template(
        "lan/log_in.html", title=_("Past hands"), build=current_app.config["BUILD"], wrong=wrong
    )


@blueprint.post("/log-in")
def check() -> AnyResponse | tuple[str, int]:
    """Begin a session if name and passphrase are right: 303 to the list; else the page again, 403."""
    name, passphrase = request.form.get("name", ""), request.form.get("passphrase", "")
    if wait := remote_access().tries.wait_s(_address()):
        if not remote_access().warned.wait_s(""):
            log.warning("log-ins put off: too many tries, the last from %s; said once a minute", _address())
        return _too_often(wait)
    try:
        found = remote_access().people.matches(name, passphrase)
    except AccessError:
        log.exception("nobody can log in")
        abort(503, _("Nobody can log in now; a technician sees why in the log."))
    if found is None:
        log.warning("log-in refused to %s", _address())  # without the name: people type passphrases there
        return _asked(_("Name or passphrase is wrong.")), 403
    name = " ".join(name.split())
    remote_access().tries.know(_address())
    log.info("log-in of %s from %s", name, _address())
    answer = redirect(url_for("review.listed"), 303)
    answer.set_cookie(
        LanSessions.cookie,
        remote_access().sessions.open(name, found),
        secure=True,
        httponly=True,
        samesite="Strict",
    )
    return answer


@blueprint.post("/log-out")
@guard.open_to(frozenset({Role.AUDITOR}))
def log_out() -> AnyResponse:
    """End the session."""
    remote_access().sessions.end(request.cookies.get(LanSessions.cookie, ""))
    answer = redirect(url_for("lan.log_in"), 303)
    answer.delete_cookie(LanSessions.cookie, secure=True, httponly=True, samesite="Strict")
    return answer


# ---- routes that the review itself lacks ----


@blueprint.get("/")
@guard.open_to(frozenset({Role.AUDITOR}))
def home() -> AnyResponse:
    """Redirect to the list of past hands."""
    return redirect(url_for("review.listed"))


@blueprint.get("/captures/<path:name>")
@guard.open_to(frozenset({Role.AUDITOR}))
def capture(name: str) -> Response:
    """Return a picture from the record of a finished hand; any other file in the folder is 404."""
    try:
        hand = load_hand(services().reader, review.number_of(name.partition("/")[0].lstrip("0")))
        if not any(name == seen.name for step in hand.steps for seen in named_by(step.entry.event)):
            raise FileNotFoundError(name)
        return send_file(services().captures.path(name))
    except (CommandRefused, TableError, CaptureError, OSError):
        abort(404, _("There is no such picture; it may have been taken off the disk by the retention rules."))
