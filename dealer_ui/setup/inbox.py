"""Files from the pit at this table: how far each is, and taking one that waits for a technician.

The table process writes what becomes of them (`firmware.runtime.inbox.desk`); nothing is decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, request

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
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


@dataclass(frozen=True)
class Shown:
    """One file in words; `command` takes it, None where there is nothing to take."""

    kind: str
    name: str
    by: str
    state: str
    mark: str
    why: str
    take: str
    command: dict[str, Any] | None


def files_here(kind: str = "") -> list[Shown]:
    """Return the files from the pit, those that wait first; of one kind, or of all."""
    found = [one for one in read_list(services().reader.path.parent / NOTES) if kind in ("", one.file.kind)]
    return [_shown(one) for one in sorted(found, key=lambda one: one.state != "waiting")]


@blueprint.get("/setup/files")
@guard.open_to(TECHNICIAN)
def files() -> str:
    """Show the files from the pit."""
    return page(
        "camera/files.html",
        _("Files from the pit"),
        back=own_address(request.args.get("back", "/set-up")),
        files=files_here(),
        between=services().live.state().phase in BETWEEN_HANDS,
    )


def _shown(one: FileRequest) -> Shown:
    state, mark = STATES.get(one.state, STATES["fetched"])
    waits = one.state in ("fetched", "waiting") and one.file.kind in TAKES
    return Shown(
        _(KINDS[one.file.kind]) if one.file.kind in KINDS else one.file.kind or _("File"),
        _(one.file.title) if one.file.kind == "deck" else one.file.title,
        one.file.by,
        _(state),
        mark,
        say(one.why) if one.why is not None else "",
        _(TAKES[one.file.kind]) if waits else "",
        {"do": "take_file", "number": one.number, "sha256": one.sha256} if waits else None,
    )
