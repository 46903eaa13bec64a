"""What every page except the glance page is rendered with, and where it may lead back to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from flask import current_app, render_template, request

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.services import services
from firmware.table.people import Role

_ROLES: Final[Mapping[Role, str]] = {
    Role.DEALER: N_("dealer"),
    Role.FLOOR: N_("floor person"),
    Role.TECHNICIAN: N_("technician"),
    Role.AUDITOR: N_("auditor"),
}


def role_name(role: Role) -> str:
    """Say a role in words."""
    return _(_ROLES[role])


def page(template: str, title: str, **values: Any) -> str:
    """Render a page: `title` stands in the window and at its head. `back` in its address is where it leads back to."""
    return render_template(
        template,
        title=title,
        token=guard.token(),
        build=current_app.config["BUILD"],
        seq=services().live.now().screen.seq,
        **{"back": own_address(request.args.get("back", "/")), **values},
    )


def own_address(address: str, otherwise: str = "/") -> str:
    """Return an address within this page's own server, or `otherwise`: a link from elsewhere leads nowhere else.

    >>> own_address("/set-up"), own_address("//evil.example"), own_address("https://evil.example/x")
    ('/set-up', '/', '/')
    """
    parts = urlsplit(address)
    inside = address.startswith("/") and not address.startswith(("//", "/\\"))
    return (
        address if inside and not parts.scheme and not parts.netloc and address.isprintable() else otherwise
    )
