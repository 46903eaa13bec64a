"""The review for other machines: past hands to read, after a log-in. An application of its own, behind nginx.

It has only the routes of the review: no glance page, no stream, no camera, no command. It reads the record up to the
last point where no hand was open (`firmware.record.finished_reader`), so no route can reveal an open hand. It has no
connection to the table process. Its pages need no script, and get none.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from flask import Blueprint, Flask, Response, abort, current_app, redirect, request, send_file, url_for
from werkzeug.exceptions import BadHost
from werkzeug.wrappers import Response as AnyResponse

from dealer_ui.remote.access import RemotePeople, RemoteSessions
from dealer_ui.reports import report_page
from dealer_ui.review import dispute
from dealer_ui.review import routes as review
from dealer_ui.text import i18n
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.view.live import Live
from dealer_ui.view.render import Messages
from dealer_ui.web import guard, log_in
from dealer_ui.web.bare_app import bare_app, harden
from dealer_ui.web.log_in import OPEN, Access, access, need_own_site
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.services import Kiosk, Services, StreamLimiter, services
from firmware.record.finished_reader import FinishedReader
from firmware.record.hand_history import load_hand
from firmware.record.journal.captures import CaptureStore, captures_in
from firmware.table.errors import CaptureError, CommandRefused, RowChanged, TableError
from firmware.table.people import Role
from firmware.table_client import TableLink

blueprint = Blueprint("remote", __name__)

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
    **guard.NETWORK_HEADERS,
}


@dataclass(frozen=True)
class RemoteAccess(Access):
    """The access control of this application: the people of the box."""

    people: RemotePeople
    sessions: RemoteSessions


def create_app(data: Path, secrets: Path) -> Flask:
    """Build the application over a record's folder and the folder of the review's own secrets."""
    app = bare_app()
    app.config.update(REMOTE=True, CSRF_TOKEN="")  # its pages send no commands
    people = RemotePeople(secrets)
    sessions = RemoteSessions(people)
    nowhere = TableLink(secrets / "no.sock")
    reader = FinishedReader(data)
    Services(
        live=Live(reader, lambda: None),
        reader=reader,
        link=nowhere,
        captures=CaptureStore(data),
        streams=StreamLimiter(0),
        kiosk=Kiosk(),
        messages=Messages(app),
        sessions=sessions,
        tallies=Tallies(reader),
    ).attach(app)
    RemoteAccess(people, sessions).attach(app)
    app.before_request(_admit)
    i18n.set_up(app, lambda: services(app).live.state().house)
    for part in (blueprint, log_in.blueprint, review.blueprint, dispute.blueprint, report_page.blueprint):
        app.register_blueprint(part)
    harden(app, HEADERS)
    return app


# ---- authorization ----


def remote_access(app: Flask | None = None) -> RemoteAccess:
    """Return the access control of an application, or of the current request's."""
    found = access(app)
    assert isinstance(found, RemoteAccess)
    return found


def _admit() -> AnyResponse | None:
    if isinstance(request.routing_exception, BadHost):
        raise request.routing_exception  # no page uses such a host name
    if request.method not in guard.SAFE_METHODS:
        need_own_site()
    if request.endpoint in OPEN:
        return None
    if guard.role() is not Role.AUDITOR:
        if request.method == "GET" and request.accept_mimetypes["text/html"]:
            return redirect(url_for("log_in.log_in"))
        abort(401, _("Log in first."))
    if request.endpoint and Role.AUDITOR not in guard.roles_of(current_app.view_functions[request.endpoint]):
        abort(403)
    return None  # no such route: Flask answers 404


# ---- routes that the review itself lacks ----


@blueprint.get("/")
@guard.open_to(frozenset({Role.AUDITOR}))
def home() -> AnyResponse:
    """Redirect to the list of past hands."""
    return redirect(url_for("review.show_list"))


@blueprint.get("/captures/<path:name>")
@guard.open_to(frozenset({Role.AUDITOR}))
def capture(name: str) -> Response:
    """Return a picture from the record of a finished hand; any other file in the folder is 404."""
    try:
        hand = load_hand(services().reader, review.number_of(name.partition("/")[0].lstrip("0")))
        if not any(name == seen.name for step in hand.steps for seen in captures_in(step.entry.event)):
            raise FileNotFoundError(name)
        return send_file(services().captures.path(name))
    except RowChanged as error:
        abort(503, say(error))
    except (CommandRefused, TableError, CaptureError, OSError):
        abort(404, _("There is no such picture; it may have been taken off the disk by the retention rules."))
