"""The disputes of all tables, the oldest first."""

from __future__ import annotations

from flask import Blueprint

from dealer_ui.pit import guard
from dealer_ui.pit.people import HANDS
from dealer_ui.pit.services import page, pit
from dealer_ui.text.i18n import gettext as _
from firmware.pit.search import disputes

blueprint = Blueprint("disputes", __name__)


@blueprint.get("/disputes")
@guard.open_to(HANDS)
def listed() -> str:
    """Show the queue."""
    return page("disputes", _("Disputes"), disputes=disputes(pit().database))
