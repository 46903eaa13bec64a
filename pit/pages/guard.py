"""Who may open which page of the pit. Routes are closed unless they name their roles; nobody sees anything unnamed.

The pages of a past hand are the review's own: at the pit they are open to those who may see hands.
"""

import hmac
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from flask import Flask, Response, abort, current_app, g, redirect, request, url_for
from werkzeug.exceptions import BadHost, SecurityError
from werkzeug.wrappers import Response as AnyResponse

from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.log_in import OPEN, need_own_site
from dealer_ui.web.services import services
from pit.pages.people import HANDS, PitPerson, PitRole, PitSessions
from pit.pages.services import pit

HEADERS: Final = {
    "Content-Security-Policy": guard.POLICY_WITH_FORMS,
    **guard.NETWORK_HEADERS,
}
REVIEW: Final = frozenset(
    {
        *("review.show_list", "review.hand", "review.story", "review.look", "review.changes", "review.again"),
        *("dispute.dispute", "dispute.dispute_file"),
    }
)
"""The review's routes that are answered here; none of them commands anything."""
METRICS_TOKEN: Final = "metrics.token"
MIN_TOKEN: Final = 20
"""Minimum length of the token in characters; a shorter one opens nothing."""
METRICS: Final = "metrics.metrics"
_OPEN: Final = "_feltwatch_pit_open_to"


def open_to(roles: frozenset[PitRole]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a view function as open to these roles. A view without this mark answers 403."""

    def mark(view: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(view)
        def marked(*args: Any, **named: Any) -> Any:
            return view(*args, **named)

        setattr(marked, _OPEN, roles)
        return marked

    return mark


def roles_of(app: Flask, endpoint: str) -> frozenset[PitRole]:
    """Return the roles that a route is open to; none for one that is not marked."""
    if endpoint in REVIEW:
        return HANDS
    if endpoint == "log_in.log_out":
        return frozenset(PitRole)
    found: frozenset[PitRole] = getattr(app.view_functions[endpoint], _OPEN, frozenset())
    return found


def current_person() -> PitPerson:
    """Return the person of the request, who is logged in."""
    found: PitPerson = g.pit_person
    return found


def protect(app: Flask) -> None:
    """Close every route that is not marked, and add the security headers."""
    app.before_request(_admit)
    app.after_request(_harden)


def _admit() -> AnyResponse | None:
    if isinstance(request.routing_exception, BadHost | SecurityError):
        raise request.routing_exception  # no page has such a host name, or not here
    if request.method not in guard.SAFE_METHODS:
        need_own_site()
    if request.endpoint in OPEN or (request.endpoint == METRICS and _is_scraper()):
        return None
    sessions = services().sessions
    assert isinstance(sessions, PitSessions)
    found = sessions.person(request.cookies.get(sessions.cookie))
    if found is None:
        if request.method == "GET" and request.accept_mimetypes["text/html"]:
            return redirect(url_for("log_in.log_in"))
        abort(401, _("Log in first."))
    g.pit_person = found
    if request.endpoint is None:
        return None  # no such route: Flask answers 404
    if found.role not in roles_of(current_app, request.endpoint):
        abort(403, _("This page is not for your role."))
    if request.method not in guard.SAFE_METHODS and request.endpoint != "log_in.log_out":
        sent = request.headers.get("X-CSRF-Token") or request.form.get("token", "")
        if not hmac.compare_digest(sent.encode(), guard.token().encode()):
            abort(403, _("This page is out of date. Reload it and try again."))
    return None


def _is_scraper() -> bool:
    """Return whether the request has the token of the pit's folder, by which Prometheus comes in."""
    try:
        token = (pit().folder / METRICS_TOKEN).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return False
    sent = request.headers.get("Authorization", "")
    return len(token) >= MIN_TOKEN and hmac.compare_digest(sent.encode(), f"Bearer {token}".encode())


def _harden(response: Response) -> Response:
    for name, value in HEADERS.items():
        response.headers[name] = value
    if request.endpoint != "static":
        response.headers["Cache-Control"] = "no-store"  # pictures of past hands, too
    return response
