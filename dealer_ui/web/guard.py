"""Authorization: routes are closed unless they name their roles, and commands carry the page's token.

A user at the screen without a session is the dealer; a session gives another role (`sessions.py`).

The page listens on the loopback interface. The remaining threat is another site open in the same browser: it may send
requests here but cannot read the answers. So every command needs the token printed in the page (no other origin can
read it), the `Host` header must name this machine (DNS rebinding), and a request that the browser marks as cross-site
is refused.
"""

import hmac
import secrets
from collections.abc import Callable
from typing import Any, Final, TypeVar

from flask import Flask, Response, abort, current_app, redirect, request, url_for

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web.services import services
from firmware.messages import Message, one_of
from firmware.table.people import PIN_ROLES, Role

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "font-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)

POLICY_WITH_FORMS: Final = CONTENT_SECURITY_POLICY.replace("form-action 'none'", "form-action 'self'")
"""For pages whose forms are sent to their own server."""
NETWORK_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",  # without it browsers omit the origin of a form
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=()",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Headers of every answer to another machine, besides the policy of its content."""

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

EVERYBODY: Final = frozenset(Role)
PAST: Final = frozenset({Role.FLOOR, Role.AUDITOR})
"""Roles that may look at pictures of hands that are over."""
"""What the screen shows next to the table: the dealer needs no session, nobody else may see less."""

_OPEN = "_feltwatch_open_to"
_FRESH = "_feltwatch_open_while_fresh"
_View = TypeVar("_View", bound=Callable[..., Any])


def open_to(roles: frozenset[Role], *, fresh: bool = False) -> Callable[[_View], _View]:
    """Mark a view function as open to `roles`; `fresh`: and to everybody while no technician is listed.

    A view without this mark answers 403.
    """

    def mark(view: _View) -> _View:
        setattr(view, _OPEN, roles)
        setattr(view, _FRESH, fresh)
        return view

    return mark


def roles_of(view: Callable[..., Any] | None) -> frozenset[Role]:
    """Return the roles that a view function is open to; none if it is not marked."""
    found: frozenset[Role] = getattr(view, _OPEN, frozenset())
    return found


def has_technician() -> bool:
    """Return whether a technician is listed at this table."""
    return any(person.role is Role.TECHNICIAN for person in services().live.state().people)


def session() -> str | None:
    """Return the token of the request's session; None if there is none that is still open."""
    sent = request.cookies.get(services().sessions.cookie)
    return sent if sent and _session_role(sent) else None


def role() -> Role:
    """Return the role of the request's user."""
    return _session_role(request.cookies.get(services().sessions.cookie)) or Role.DEALER


def name() -> str:
    """Return the name of the session's user; the dealer's is not known here."""
    token = session()
    return services().sessions.person_and_seconds(token)[0] if token else ""


def is_browser() -> bool:
    """Return whether a person's browser asks: it wants a page rather than anything else.

    Never by `accept_mimetypes.best`: Chromium's best is `application/signed-exchange`, the most specific match.
    """
    wants = request.accept_mimetypes
    return wants["text/html"] > wants["application/json"]


def need(roles: frozenset[Role], what: str) -> None:
    """Answer 403 unless the request's role is one of these; `what` names what was requested.

    A person who followed a link is sent to the PIN page instead, and back after the PIN.
    """
    if role() not in roles:
        if request.method == "GET" and is_browser() and roles & PIN_ROLES:
            back = request.full_path.removesuffix("?")
            query: dict[str, Any] = {"for": sorted(map(str, roles & PIN_ROLES)), "back": back}
            abort(redirect(url_for("pin.pin", **query)))
        words = say(Message("%(roles)s", roles=one_of(sorted(roles))))
        abort(403, _("%(what)s asks for a PIN: %(roles)s.", what=_(what), roles=words))


def _session_role(token: str | None) -> Role | None:
    if not token:
        return None
    served = services()
    return served.sessions.role(token, served.live.state().people)


def protect(app: Flask) -> None:
    """Close every route that is not marked, require the token for commands, add the security headers."""
    app.config.setdefault("CSRF_TOKEN", secrets.token_urlsafe(24))
    open_to(EVERYBODY)(app.view_functions["static"])
    app.before_request(_admit)
    app.after_request(_harden)


def token() -> str:
    """Return this process's token, which its pages send with every command."""
    return str(current_app.config["CSRF_TOKEN"])


def _admit() -> None:
    if request.endpoint is None:
        return  # no such route: Flask answers 404 or 405
    view = current_app.view_functions.get(request.endpoint)
    allowed = roles_of(view)
    if not allowed:
        abort(403)
    if allowed != EVERYBODY and (has_technician() or not getattr(view, _FRESH, False)):
        need(allowed, N_("This page"))
    if request.method in SAFE_METHODS:
        return
    _need_own_site()
    sent = request.headers.get("X-CSRF-Token", "")
    if not hmac.compare_digest(sent.encode(), token().encode()):
        abort(403, _("This page is out of date. Reload it and try again."))


def _need_own_site() -> None:
    """Refuse requests that a page of another site makes the browser send, even with the right token."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        abort(403, _("This request comes from another site. Use the page itself."))


def _harden(response: Response) -> Response:
    headers = response.headers
    headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers.setdefault("Cache-Control", "no-store")
    return response
