"""The log-in with a name and a passphrase, and its limits: of the review for other machines, and of the pit."""

import logging
import math
from dataclasses import dataclass, field
from typing import Final, Protocol

from flask import (
    Blueprint,
    Flask,
    abort,
    current_app,
    make_response,
    redirect,
    render_template,
    request,
    url_for,
)
from werkzeug.wrappers import Response as AnyResponse

from dealer_ui.text.i18n import N_, ngettext
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.passphrases import AccessError
from dealer_ui.web.rate_limit import Limit, canonical_address

log = logging.getLogger(__name__)
blueprint = Blueprint("log_in", __name__)
_KEY: Final = "feltwatch-log-in"

TRIES_EACH: Final = (5, 1 / 60)
"""Passphrases of one address: five at once, then one a minute."""
TRIES_OF_ALL: Final = (20, 1 / 6)
"""Passphrases of all other addresses together: one from which somebody has logged in has only its own share."""
ONCE_A_MINUTE: Final = (1, 1 / 60)
"""How often the log says that tries are put off: else they would push everything else out of it."""

OPEN: Final = frozenset({"static", "log_in.log_in", "log_in.check"})
"""What is answered without a log-in: the page that asks for it, and what it looks like."""


class People(Protocol):
    """The people with access."""

    def identify(self, name: str, passphrase: str) -> str | None:
        """Return the passphrase's id if it is this person's, else None."""


class OpenSessions(Protocol):
    """Their sessions."""

    cookie: str

    def open(self, name: str, passphrase_id: str) -> str:
        """Begin a session, and return its token."""

    def end(self, token: str) -> None:
        """Forget a session."""


@dataclass(frozen=True)
class Access:
    """The people with access, their sessions, and the rate limits of passphrases.

    `home`: the endpoint to which a log-in leads; `title`: what is logged in to. `secure`: the cookie travels over TLS
    only.
    """

    people: People
    sessions: OpenSessions
    tries: Limit = field(default_factory=lambda: Limit(TRIES_EACH, TRIES_OF_ALL))
    warned: Limit = field(default_factory=lambda: Limit(ONCE_A_MINUTE, ONCE_A_MINUTE))
    home: str = "review.show_list"
    title: str = N_("Past hands")
    secure: bool = True

    def attach(self, app: Flask) -> None:
        """Make this the application's access control."""
        app.extensions[_KEY] = self


def access(app: Flask | None = None) -> Access:
    """Return the access control of an application, or of the current request's."""
    found = (app or current_app).extensions[_KEY]
    assert isinstance(found, Access)
    return found


def need_own_site() -> None:
    """Refuse requests from a page of another site, by the headers that browsers send."""
    origin = request.headers.get("Origin")
    elsewhere = origin is not None and origin != f"{request.scheme}://{request.host}"
    if elsewhere or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        abort(403, _("This request comes from another site. Use the page itself."))


def _address() -> str:
    return canonical_address(request.remote_addr or "")


def _too_often(wait: float) -> AnyResponse:
    seconds = math.ceil(wait)
    words = ngettext(
        "Too many requests; wait %(num)s second.", "Too many requests; wait %(num)s seconds.", seconds
    )
    return make_response(f"{words}\n", 429, {"Retry-After": str(seconds), "Content-Type": "text/plain"})


@blueprint.get("/log-in")
def log_in() -> str:
    """Ask for a name and a passphrase."""
    return _log_in_page("")


def _log_in_page(wrong: str) -> str:
    return render_template(
        "log_in/log_in.html", title=_(access().title), build=current_app.config["BUILD"], wrong=wrong
    )


@blueprint.post("/log-in")
def check() -> AnyResponse | tuple[str, int]:
    """Begin a session if name and passphrase are right: 303 to the list; else the page again, 403."""
    name, passphrase = request.form.get("name", ""), request.form.get("passphrase", "")
    if wait := access().tries.wait_s(_address()):
        if not access().warned.wait_s(""):
            log.warning("log-ins put off: too many tries, the last from %s; said once a minute", _address())
        return _too_often(wait)
    try:
        passphrase_id = access().people.identify(name, passphrase)
    except AccessError:
        log.exception("nobody can log in")
        abort(503, _("Nobody can log in now; a technician sees why in the log."))
    if passphrase_id is None:
        log.warning("log-in refused to %s", _address())  # without the name: people type passphrases there
        return _log_in_page(_("Name or passphrase is wrong.")), 403
    name = " ".join(name.split())
    access().tries.know(_address())
    log.info("log-in of %s from %s", name, _address())
    access().sessions.end(request.cookies.get(access().sessions.cookie, ""))
    answer = redirect(url_for(access().home), 303)
    answer.set_cookie(
        access().sessions.cookie,
        access().sessions.open(name, passphrase_id),
        secure=access().secure,
        httponly=True,
        samesite="Strict",
    )
    return answer


@blueprint.post("/log-out")
@guard.open_to(guard.EVERYBODY)
def log_out() -> AnyResponse:
    """End the session."""
    access().sessions.end(request.cookies.get(access().sessions.cookie, ""))
    answer = redirect(url_for("log_in.log_in"), 303)
    answer.delete_cookie(access().sessions.cookie, secure=access().secure, httponly=True, samesite="Strict")
    return answer
