"""Files from the pit at this table: how far each is, and taking one that waits for a technician.

The table process writes what becomes of them (`firmware.runtime.inbox.desk`); nothing is decided here.
"""

from typing import Final

from flask import Blueprint, request

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.pages import own_address, page
from dealer_ui.web.services import services
from firmware.table.people import Role
from firmware.table.phase import BETWEEN_HANDS
from firmware.uplink.inbox.requests import NOTES, FileRequest, read_list

blueprint = Blueprint("inbox", __name__)
TECHNICIAN: Final = frozenset({Role.TECHNICIAN})
KINDS: Final = {"profile": N_("Game rules"), "deck": N_("Deck"), "release": N_("Release")}
STATES: Final = {
    "asked": (N_("It is being fetched"), "look"),
    "fetched": (N_("It lies here"), "look"),
    "waiting": (N_("It waits"), "look"),
    "in_force": (N_("In force"), "ok"),
    "refused": (N_("Refused"), "bad"),
    "withdrawn": (N_("Withdrawn"), "unknown"),
}
"""What a state is called, and how it is marked: as a verdict of the health page."""
TAKES: Final = {"profile": N_("Put in force"), "deck": N_("Use this deck"), "release": N_("Install it now")}


def files_here() -> list[FileRequest]:
    """Return the files from the pit, those that wait first."""
    return sorted(read_list(services().reader.path.parent / NOTES), key=lambda one: one.state != "waiting")


def is_to_take(one: FileRequest) -> bool:
    """Return whether a file lies here and waits for a technician."""
    return one.state in ("fetched", "waiting") and one.file.kind in TAKES


def name_of(one: FileRequest) -> str:
    """Return what a file is called here: a deck has a name that every box knows, or the house's own."""
    return _(one.file.title) if one.file.kind == "deck" else one.file.title


@blueprint.get("/setup/files")
@guard.open_to(TECHNICIAN)
def files() -> str:
    """Show the files from the pit."""
    return page(
        "camera/files.html",
        _("Files from the pit"),
        back=own_address(request.args.get("back", "/set-up")),
        files=files_here(),
        is_to_take=is_to_take,
        name_of=name_of,
        KINDS=KINDS,
        STATES=STATES,
        TAKES=TAKES,
        between=services().live.state().phase in BETWEEN_HANDS,
    )
