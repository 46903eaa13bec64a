"""Renders every page except the one at the table (`glance`): its frame, its link back, its scripts and styles."""

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from flask import Response, current_app, g, render_template, request, url_for
from markupsafe import Markup

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.services import KIOSK, services
from firmware.table.people import Role

_ROLES: Final[Mapping[Role, str]] = {
    Role.DEALER: N_("dealer"),
    Role.FLOOR: N_("floor person"),
    Role.TECHNICIAN: N_("technician"),
    Role.AUDITOR: N_("auditor"),
}


def role_name(role: Role) -> str:
    """Return a role in words."""
    return _(_ROLES[role])


def page(template: str, title: str, **values: Any) -> str:
    """Render a page. `title` is the window's title and the page's heading; the address's `back` sets the back link."""
    return render_template(
        template,
        title=title,
        token=guard.token(),
        build=current_app.config["BUILD"],
        seq=services().live.now().screen.seq,
        **{"back": own_address(request.args.get("back", "/")), **values},
    )


def root() -> str:
    """Return what the addresses of a past hand's pages begin with: "" on a table, the record's own part at the pit."""
    return str(g.get("root", ""))


def is_kiosk() -> bool:
    """Return whether the request comes from the screen at the table."""
    return KIOSK in request.cookies or "kiosk" in request.args


def script(name: str) -> Markup:
    """Return the element that loads a script, under an address that changes with each release."""
    return Markup('<script src="{}" defer></script>').format(_static(name))


def style(name: str) -> Markup:
    """Return the element that loads a style sheet, under an address that changes with each release."""
    return Markup('<link rel="stylesheet" href="{}">').format(_static(name))


def _static(name: str) -> str:
    return url_for("static", filename=name, v=current_app.config["BUILD"])


def attachment(data: bytes, kind: str, name: str) -> Response:
    """Return a file to be saved under a name; `kind` is its media type."""
    return Response(data, mimetype=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def own_address(address: str) -> str:
    """Return the address if it is within this server, else `/`: no redirects to other sites.

    >>> own_address("/set-up"), own_address("//evil.example"), own_address("https://evil.example/x")
    ('/set-up', '/', '/')
    """
    parts = urlsplit(address)
    inside = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if inside and not parts.scheme and not parts.netloc and address.isprintable() else "/"
