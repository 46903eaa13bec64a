"""`/menu`: links to everything apart from the current hand: records, rules, people, the box itself."""

from dataclasses import dataclass
from typing import Final

from flask import Blueprint

from dealer_ui.photo.code_page import is_on
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.pages import page

blueprint = Blueprint("menu", __name__)


@dataclass(frozen=True)
class MenuEntry:
    """A link to another page; `title` and `what` are messages of the catalogues."""

    address: str
    title: str
    what: str


MENU: Final[tuple[tuple[str, tuple[MenuEntry, ...]], ...]] = (
    (
        N_("Records"),
        (
            MenuEntry("/review", N_("Past hands"), N_("Find a hand, look at it, correct it, keep it")),
            MenuEntry("/report", N_("Shift report"), N_("What a shift or a dealer's down came to")),
            MenuEntry(
                "/slip?back=/menu", N_("Slip of the record"), N_("The record's end, signed, to keep on paper")
            ),
        ),
    ),
    (
        N_("House"),
        (
            MenuEntry("/profiles", N_("Game rules"), N_("Which are in force, and the house's own")),
            MenuEntry(
                "/set-up/people?back=/menu", N_("People and PINs"), N_("Who deals, who is on the floor")
            ),
            MenuEntry("/deck-check?back=/menu", N_("Check a deck"), N_("Are all 52 there, and none twice?")),
        ),
    ),
    (
        N_("Box"),
        (
            MenuEntry("/set-up", N_("Set-up"), N_("Table, seats, devices, step by step")),
            MenuEntry("/setup/camera?back=/menu", N_("Camera"), N_("The bare felt live; calibrate it")),
            MenuEntry("/health?back=/menu", N_("Health"), N_("Is everything well, and what is not?")),
        ),
    ),
)
"""The links in groups, as they stand on the page. Each page itself decides who may see it."""
PHOTO: Final = MenuEntry("/photo?back=/menu", N_("Photo"), N_("Settle the hands in a phone's picture"))
"""One more entry of the group *House*, where the house has opened the page."""


@blueprint.get("/menu")
@guard.open_to(guard.EVERYBODY)
def menu() -> str:
    """Show the links to every page except the table's."""
    groups = [
        (title, (*entries, PHOTO) if title == "House" and is_on() else entries) for title, entries in MENU
    ]
    return page("menu.html", _("Records and set-up"), groups=groups)
