"""The disputes of all tables, the oldest first."""

from flask import Blueprint

from dealer_ui.text.i18n import gettext as _
from pit.follow.search import disputes
from pit.pages import guard
from pit.pages.people import HANDS
from pit.pages.services import page, pit

blueprint = Blueprint("disputes", __name__)


@blueprint.get("/disputes")
@guard.open_to(HANDS)
def show_list() -> str:
    """Show the queue."""
    return page("disputes", _("Disputes"), disputes=disputes(pit().database))
