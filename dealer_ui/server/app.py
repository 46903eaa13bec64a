"""The application factory. Importing this module has no side effects, and nothing is written to disk."""

from __future__ import annotations

import gzip
import hashlib
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, abort, jsonify, request
from flask.json.provider import DefaultJSONProvider
from werkzeug.exceptions import HTTPException, InternalServerError, NotFound

from dealer_ui.glance import kiosk, stream
from dealer_ui.glance import routes as glance
from dealer_ui.profiles import routes as profiles
from dealer_ui.reports import report_page, slip_page
from dealer_ui.review import dispute, stick
from dealer_ui.review import routes as review
from dealer_ui.server import health, menu
from dealer_ui.server import openapi as interface
from dealer_ui.setup import camera, inbox
from dealer_ui.setup import currency as set_up_currency
from dealer_ui.setup import pit as pit_setup
from dealer_ui.setup import routes as set_up
from dealer_ui.text import i18n
from dealer_ui.text.messages import say
from dealer_ui.text.words import capital, card_name, parts_of_sum, rank_text, row_name
from dealer_ui.training import routes as training
from dealer_ui.view.live import OWN_ERROR, Live
from dealer_ui.view.render import Messages
from dealer_ui.view.sibling_page import Beside
from dealer_ui.web import commands as orders
from dealer_ui.web import guard, pin
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.pages import is_kiosk, page, role_name, root, script, style
from dealer_ui.web.services import Kiosk, Services, StreamLimiter, services
from dealer_ui.web.sessions import Sessions
from firmware.adaptive_limit import AdaptiveLimit
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import JournalReader
from firmware.record.stick_request import PROGRESS
from firmware.table_client import ANSWER_CEILING_S, ANSWER_FLOOR_S, TableLink
from firmware.uplink.heard import FOLDER as HEARD
from firmware.uplink.heard import read as read_heard
from firmware.uplink.join_request import PROGRESS as JOIN

log = logging.getLogger(__name__)

MAX_REQUEST: Final = 16 * 1024  # bytes; commands are short


@dataclass(frozen=True)
class Settings:
    """Where the record and the table process are, and which host names are allowed."""

    data: Path
    socket: Path
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    """Names in the `Host` header that are answered; anything else may be DNS rebinding."""
    streams: int = 32
    """Event streams at once; each holds a thread of the server."""
    training: bool = False
    """The record is a training table's: a band on every page, and questions."""
    beside_port: int | None = None
    """Where the training page would be, next to the table's; or the table's, next to the training page."""
    beside_socket: Path | None = None
    """The socket of the table process behind that page."""
    answer_floor_s: float = ANSWER_FLOOR_S
    answer_ceiling_s: float = ANSWER_CEILING_S
    """Seconds between which the limit for the table's answer to a command lies."""
    export_s: float = 60.0
    """Seconds that the table may take for a dispute file: it has pictures to draw."""
    pit: Path = Path("/") / HEARD
    """Where the uplink says how far the pit has heard of this table."""
    stick: Path = PROGRESS
    """Where it is told how far a dispute file is on its way to a stick."""
    join: Path = JOIN
    """Where it is told how far the table is with its enrolment at a pit."""


def create_app(settings: Settings) -> Flask:
    """Build the page's application.

    The journal is read on each request. For streams, `services(app).live.start()` follows it from a thread.
    """
    app = bare_app()
    app.config.update(TRUSTED_HOSTS=list(settings.hosts))
    answer = AdaptiveLimit(settings.answer_floor_s, settings.answer_ceiling_s)
    link = TableLink(settings.socket, limit=answer)
    reader = JournalReader(settings.data, training=settings.training)
    lesson = training.Lesson() if settings.training else None
    beside = (
        Beside(settings.beside_port, training=not settings.training, socket=settings.beside_socket)
        if settings.beside_port
        else None
    )
    i18n.speak(app, lambda: services(app).live.state().house)

    def pit() -> Mapping[str, Any] | None:
        return None if settings.training else read_heard(settings.pit, time.monotonic())

    Services(
        live=Live(reader, link.heartbeat, lesson.shown if lesson else None, beside, pit),
        reader=reader,
        link=link,
        captures=CaptureStore(settings.data),
        streams=StreamLimiter(settings.streams),
        kiosk=Kiosk(),
        messages=Messages(app),
        sessions=Sessions(),
        tallies=Tallies(reader),
        slow_s={"export_hand": settings.export_s},
        stick=settings.stick,
        join=settings.join,
        pit=None if settings.training else settings.pit,
    ).attach(app)
    for part in (
        camera,
        dispute,
        glance,
        kiosk,
        stream,
        orders,
        health,
        interface,
        menu,
        pin,
        pit_setup,
        inbox,
        profiles,
        review,
        report_page,
        slip_page,
        stick,
        set_up,
        set_up_currency,
    ):
        app.register_blueprint(part.blueprint)
    if lesson:
        training.add_to(app, lesson)
    guard.protect(app)
    app.after_request(compress)
    return app


class _Json(DefaultJSONProvider):
    def loads(self, s: str | bytes, **more: Any) -> Any:
        """Read JSON. Raises ValueError, also where brackets are nested too deeply: then a request is answered 400."""
        try:
            return super().loads(s, **more)
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


class _App(Flask):
    json_provider_class = _Json

    def log_exception(self, exc_info: Any) -> None:
        """Log the exception of a request. The address is escaped: it is untrusted and may hold line ends."""
        self.logger.error("%r failed", f"{request.method} {request.path}", exc_info=exc_info)


def bare_app() -> Flask:
    """Return an application without routes: the setup of the templates and the error pages only."""
    app = _App("dealer_ui")
    app.url_map.merge_slashes = False  # one address per page: // is answered with 404, not redirected
    app.config.update(MAX_CONTENT_LENGTH=MAX_REQUEST, BUILD=_build(Path(app.static_folder or "")))
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    app.jinja_env.filters.update(
        capital=capital,
        say=say,
        card_name=card_name,
        parts_of_sum=parts_of_sum,
        row_name=row_name,
        rank_text=rank_text,
        role_name=role_name,
    )
    app.jinja_env.globals.update(script=script, style=style, root=root, is_kiosk=is_kiosk)
    app.register_error_handler(HTTPException, _refuse)
    app.before_request(_need_text)
    app.before_request(_answer_whole)
    return app


def _need_text() -> None:
    """Refuse an address whose query has bytes that no browser sends: it could not be read as text."""
    if not request.query_string.isascii():
        request.query_string = b""  # error pages read it, too
        abort(400)


def _answer_whole() -> None:
    """Give whole files only. A part of a large one would hold a thread for as long as its reader likes."""
    request.environ.pop("HTTP_RANGE", None)


def _refuse(error: HTTPException) -> tuple[Response, int]:
    """Answer every error with one sentence: as JSON if JSON was sent or requested, else as a small page."""
    code = error.code or 500
    sentence = (
        i18n.gettext(OWN_ERROR) if isinstance(error, InternalServerError) else error.description or error.name
    )
    is_json = request.accept_mimetypes.best == "application/json"
    if request.method == "POST" or (is_json and not guard.is_browser()):
        response = jsonify(ok=False, error=sentence)
    elif guard.is_browser() and (shown := _error_page(code, sentence)):
        response = Response(shown)
    else:
        response = Response(f"{code} {error.name}\n{sentence}\n", mimetype="text/plain")
    if error.code == 405 and getattr(error, "valid_methods", None):
        response.headers["Allow"] = ", ".join(error.valid_methods)  # type: ignore[attr-defined]
    return response, code


def _error_page(code: int, sentence: str) -> str:
    """Return the page that says what is wrong and leads back; "" where no page can be made."""
    if sentence == NotFound.description:
        sentence = i18n.gettext("No page has this address.")
    title = i18n.gettext("Not found") if code == NotFound.code else i18n.gettext("That did not work")
    try:
        return page("error.html", title, sentence=sentence)
    except Exception:
        log.exception("the page of an error cannot be made")
        return ""


def compress(response: Response) -> Response:
    """Compress responses with gzip where the client accepts it, to an eighth of their size. Streams are left as they
    are.
    """
    text = response.mimetype in ("text/html", "application/json") and not response.is_streamed
    if text and request.accept_encodings["gzip"] and "Content-Encoding" not in response.headers:
        response.set_data(gzip.compress(response.get_data(), compresslevel=4, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
        response.vary.add("Accept-Encoding")
    return response


def _build(static: Path) -> str:
    """Return a short hash of the script and the style. A page that runs older ones reloads itself."""
    digest = hashlib.sha256()
    for path in sorted([*static.glob("*.css"), *static.glob("*.js")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
