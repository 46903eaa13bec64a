"""What every application of pages has, without a route: the templates' setup, error pages, compression."""

import gzip
import hashlib
import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, abort, jsonify, request
from flask.json.provider import DefaultJSONProvider
from jinja2 import pass_context
from werkzeug.exceptions import HTTPException, InternalServerError, NotFound

from dealer_ui.text import i18n
from dealer_ui.text.messages import say
from dealer_ui.text.words import capital, card_name, parts_of_sum, rank_text, row_name
from dealer_ui.view.live import OWN_ERROR
from dealer_ui.web import guard
from dealer_ui.web.compiled_templates import CompiledTemplates
from dealer_ui.web.pages import is_kiosk, page, role_name, root, script, style

log = logging.getLogger(__name__)

MAX_REQUEST: Final = 16 * 1024
"""Bytes of a request; commands are short."""
LOOPBACK_HOSTS: Final = ("localhost", "127.0.0.1", "[::1]")
"""Names in the `Host` header that are answered; anything else may be DNS rebinding."""


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
    app.jinja_options = {
        **app.jinja_options,
        "trim_blocks": True,
        "lstrip_blocks": True,
        "bytecode_cache": CompiledTemplates(),
    }
    add_filters(
        app,
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


def add_filters(app: Flask, **filters: Callable[..., object]) -> None:
    """Add filters that run at each use.

    Jinja would run a constant's filter once, as it compiles, and keep what it said in the language of that moment.
    """
    app.jinja_env.filters.update({name: _at_each_use(function) for name, function in filters.items()})


def _at_each_use(function: Callable[..., object]) -> Callable[..., object]:
    return pass_context(lambda _context, *values, **named: function(*values, **named))


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


def harden(app: Flask, headers: Mapping[str, str]) -> None:
    """Send these headers with every answer of an application for other machines; only static files may be stored."""

    def add(response: Response) -> Response:
        response.headers.update(headers)
        if request.endpoint != "static":
            response.headers["Cache-Control"] = "no-store"
        return response

    app.after_request(add)


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
