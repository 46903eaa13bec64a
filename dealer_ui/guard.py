"""Who may reach what: routes are closed unless they say otherwise, and commands carry the page's token.

The page listens on the loopback interface. What is left to fend off is another site open in the same browser:
it may send requests here but cannot read the answers. So every command needs the token printed in the page
(read by no other origin), the `Host` header must name this machine (DNS rebinding), and a browser that says the
request comes from another site is refused.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from typing import Any, TypeVar

from flask import Flask, Response, abort, current_app, request

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

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

_OPEN = "_feltwatch_open_to"
_View = TypeVar("_View", bound=Callable[..., Any])


def open_to(role: str) -> Callable[[_View], _View]:
    """Mark a view function as reachable by `role`; a view without this mark answers 403."""

    def mark(view: _View) -> _View:
        setattr(view, _OPEN, role)
        return view

    return mark


def role_of(view: Callable[..., Any] | None) -> str | None:
    """Return the role a view function is open to, or None where it is closed."""
    return getattr(view, _OPEN, None)


def protect(app: Flask) -> None:
    """Close every route that is not marked, ask commands for the token, add the security headers."""
    app.config.setdefault("CSRF_TOKEN", secrets.token_urlsafe(24))
    open_to("screen")(app.view_functions["static"])
    app.before_request(_admit)
    app.after_request(_harden)


def token() -> str:
    """Return the token that this process's pages send back with every command."""
    return str(current_app.config["CSRF_TOKEN"])


def _admit() -> None:
    if request.endpoint is None:
        return  # Flask answers 404 or 405
    if role_of(current_app.view_functions.get(request.endpoint)) is None:
        abort(403)
    if request.method in SAFE_METHODS:
        return
    if request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        abort(403, "This request comes from another site. Use the page itself.")
    sent = request.headers.get("X-CSRF-Token", "")
    if not hmac.compare_digest(sent.encode(), token().encode()):
        abort(403, "This page is out of date. Reload it and try again.")


def _harden(response: Response) -> Response:
    headers = response.headers
    headers["Content-Security-Policy"] = CONTENT_SECURITY_POLICY
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "no-referrer"
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    headers.setdefault("Cache-Control", "no-store")
    return response
