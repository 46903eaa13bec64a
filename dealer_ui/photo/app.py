"""The page on which a phone sends a photograph and has its hands settled: an application of its own.

It has no connection to the table and none to the record: a photograph is never recorded as a hand. It is kept in
memory until the phone starts again, leaves or is silent. Whoever keys the code on the touchscreen is let in.
"""

import logging
import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from flask import (
    Blueprint,
    Flask,
    Response,
    abort,
    current_app,
    g,
    jsonify,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.exceptions import BadHost, HTTPException
from werkzeug.wrappers import Response as AnyResponse

from dealer_ui.photo.answers import UNITS, profiles, read_answers, sheet_file
from dealer_ui.photo.codes import FIGURES, Codes
from dealer_ui.photo.view import PhotoView, photo_json, photo_view
from dealer_ui.photo.visits import IDLE_S, Visit, Visits
from dealer_ui.text import i18n
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say
from dealer_ui.text.words import cards_in_words, money
from dealer_ui.web import guard
from dealer_ui.web.bare_app import add_filters, bare_app, compress, harden
from dealer_ui.web.log_in import TRIES_EACH, TRIES_OF_ALL, need_own_site
from dealer_ui.web.pages import attachment
from dealer_ui.web.rate_limit import Limit, canonical_address
from firmware.messages import MessageError
from firmware.photo.asking import MAX_QUESTIONS
from firmware.photo.reading_process import MAX_BYTES, PhotoReading, PhotoRefused, read_in_process
from firmware.rules import HandError
from firmware.table.settings import HouseSettings

log = logging.getLogger(__name__)
blueprint = Blueprint("photo", __name__)
_KEY: Final = "feltwatch-photo"

OPEN: Final = frozenset({"static", "photo.enter", "photo.check"})
"""What is answered without a code: the page that asks for it."""
HEADERS: Final = {
    "Content-Security-Policy": guard.POLICY_WITH_FORMS,
    **guard.NETWORK_HEADERS,
}
LANGUAGES: Final = {
    "zh-tw": "zh_Hant",
    "zh-hk": "zh_Hant",
    "zh-mo": "zh_Hant",
    "zh-hant": "zh_Hant",
    "zh": "zh_Hans",
}
"""The page's languages by what browsers call them, where that differs."""


@dataclass(frozen=True)
class Desk:
    """What the routes share. `secure`: the cookie travels over TLS only. One photograph is read at a time."""

    codes: Codes
    secure: bool
    read: Callable[[bytes], PhotoReading]
    visits: Visits = field(default_factory=Visits)
    tries: Limit = field(default_factory=lambda: Limit(TRIES_EACH, TRIES_OF_ALL))
    reading: threading.Lock = field(default_factory=threading.Lock)

    @property
    def cookie(self) -> str:
        """The name of the cookie; browsers take the longer one over TLS only."""
        return "__Host-feltwatch_photo" if self.secure else "feltwatch_photo"


def create_app(
    codes: Codes, *, secure: bool = True, read: Callable[[bytes], PhotoReading] = read_in_process
) -> Flask:
    """Build the application."""
    app = bare_app()
    app.config.update(REMOTE=True)
    add_filters(app, money=money, cards_in_words=cards_in_words)
    app.extensions[_KEY] = Desk(codes, secure, read)
    app.before_request(_admit)
    i18n.set_up(app, lambda: HouseSettings(language=_language_of_browser()))
    app.register_blueprint(blueprint)
    app.register_error_handler(HTTPException, _refuse)
    harden(app, HEADERS)
    app.after_request(compress)
    return app


def desk(app: Flask | None = None) -> Desk:
    """Return what an application's routes share, or the current request's."""
    found = (app or current_app).extensions[_KEY]
    assert isinstance(found, Desk)
    return found


def _language_of_browser() -> str:
    """Return the language that the browser asks for."""
    for tag, _quality in request.accept_languages:
        spoken = tag.lower()
        for start, code in {**LANGUAGES, **{code: code for code in i18n.LANGUAGES}}.items():
            if spoken == start or spoken.startswith(f"{start}-"):
                return code
    return i18n.SOURCE


# ---- authorization ----


def _admit() -> AnyResponse | None:
    if isinstance(request.routing_exception, BadHost):
        raise request.routing_exception
    if request.method not in guard.SAFE_METHODS:
        need_own_site()
    if request.endpoint in OPEN:
        return None
    g.visit = desk().visits.find(request.cookies.get(desk().cookie, ""))
    if g.visit is None:
        if request.method == "GET" and guard.is_browser():
            return redirect(url_for("photo.enter"))
        abort(401, _("Key the code first."))
    if request.endpoint and not guard.roles_of(current_app.view_functions[request.endpoint]):
        abort(403)
    return None  # no such route: Flask answers 404


def _refuse(error: HTTPException) -> AnyResponse:
    """Answer every error with one sentence: for the script as JSON, for a browser as a page."""
    code, sentence = error.code or 500, error.description or error.name
    if request.method == "POST" or not guard.is_browser():
        response = jsonify(ok=False, error=sentence)
    else:
        response = Response(_page("photo/refused.html", sentence=sentence))
    response.status_code = code
    return response


def _page(template: str, **values: object) -> str:
    return render_template(template, title=_("Photo"), build=current_app.config["BUILD"], **values)


@blueprint.get("/log-in")
def enter() -> str:
    """Ask for the code."""
    return _page("photo/enter.html", wrong="", figures=FIGURES)


@blueprint.post("/log-in")
def check() -> AnyResponse | tuple[str, int]:
    """Let a phone in if the code is right: 303 to the page; else the question again, 403."""
    address = canonical_address(request.remote_addr or "")
    if wait := math.ceil(desk().tries.wait_s(address)):
        words = ngettext(
            "Too many requests; wait %(num)s second.", "Too many requests; wait %(num)s seconds.", wait
        )
        page = _page("photo/enter.html", wrong=words, figures=FIGURES)
        return Response(page, 429, {"Retry-After": str(wait)})
    if not desk().codes.matches(request.form.get("code", "")):
        return _page("photo/enter.html", wrong=_("This is not the code on the screen."), figures=FIGURES), 403
    desk().visits.end(request.cookies.get(desk().cookie, ""))
    answer = redirect(url_for("photo.home"), 303)
    answer.set_cookie(
        desk().cookie, desk().visits.begin(), secure=desk().secure, httponly=True, samesite="Strict"
    )
    return answer


@blueprint.post("/log-out")
@guard.open_to(guard.EVERYBODY)
def leave() -> AnyResponse:
    """End the visit and forget its photograph."""
    desk().visits.end(request.cookies[desk().cookie])
    answer = redirect(url_for("photo.enter"), 303)
    answer.delete_cookie(desk().cookie, secure=desk().secure, httponly=True, samesite="Strict")
    return answer


# ---- the photograph ----


@blueprint.get("/")
@guard.open_to(guard.EVERYBODY)
def home() -> str:
    """Show the photograph with what is asked, or the settlement; without one, how to send one."""
    return _page(
        "photo/photo.html",
        visit=_visit(),
        view=_view() if _visit().reading else None,
        profiles=profiles(),
        units=UNITS,
        most_bytes=MAX_BYTES,
        many=MAX_QUESTIONS,
        minutes=round(IDLE_S / 60),
    )


@blueprint.post("/picture")
@guard.open_to(guard.EVERYBODY)
def send() -> AnyResponse:
    """Read a photograph, whose file is the request's body, and keep what was read until there is another."""
    request.max_content_length = MAX_BYTES
    if (request.content_length or 0) > MAX_BYTES:
        most = MAX_BYTES // 1_000_000
        abort(
            413, _("This file has more than %(most)s MB. Take the picture at a lower resolution.", most=most)
        )
    data = request.get_data(cache=False)
    if not desk().reading.acquire(blocking=False):
        abort(503, _("Another picture is being read. Try again in some seconds."))
    try:
        _visit().show(desk().read(data))
    except PhotoRefused as error:
        abort(400, say(error))
    finally:
        desk().reading.release()
    return jsonify(ok=True)


@blueprint.post("/answer")
@guard.open_to(guard.EVERYBODY)
def answer() -> AnyResponse:
    """Take one answer: `{"kind", "key", "is"}`."""
    visit = _visit()
    reading = _reading()
    try:
        answers, profile, unit = read_answers(visit, request.get_json(silent=True))
        seats = {seat.seat for seat in photo_view(reading, answers, profile, unit).seats}
        if not {*(answers.declared or ()), *filter(None, [answers.button])} <= seats:
            raise ValueError("nobody sits there")
    except (HandError, MessageError, ValueError, KeyError, TypeError):
        abort(400, _("That is no answer to what is asked. Load the page again."))
    visit.answers, visit.profile, visit.unit = answers, profile, unit
    return jsonify(ok=True)


@blueprint.post("/forget")
@guard.open_to(guard.EVERYBODY)
def forget() -> AnyResponse:
    """Forget the photograph, to start again."""
    _visit().show(None)
    return jsonify(ok=True)


@blueprint.get("/picture.jpg")
@guard.open_to(guard.EVERYBODY)
def picture() -> AnyResponse:
    """Return the photograph as it is shown."""
    return Response(_reading().jpeg, mimetype="image/jpeg")


@blueprint.get("/photo.json")
@guard.open_to(guard.EVERYBODY)
def as_json() -> AnyResponse:
    """Return cards, rows, questions and settlement."""
    return jsonify(photo_json(_view()))


@blueprint.get("/photo.<any(png, pdf):kind>")
@guard.open_to(guard.EVERYBODY)
def sheet(kind: str) -> AnyResponse:
    """Return the sheet to share: the photograph with its rows, and the settlement below."""
    data = sheet_file(_reading(), _view(), _visit(), kind)
    return attachment(data, {"png": "image/png", "pdf": "application/pdf"}[kind], f"feltwatch-photo.{kind}")


def _visit() -> Visit:
    visit = g.visit
    assert isinstance(visit, Visit)
    return visit


def _reading() -> PhotoReading:
    reading = _visit().reading
    if reading is None:
        abort(404, _("There is no picture yet, or it was forgotten."))
    return reading


def _view() -> PhotoView:
    visit = _visit()
    return photo_view(_reading(), visit.answers, visit.profile, visit.unit)
