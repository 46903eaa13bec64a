"""`/office`: what is done away from the hand that lies on the table: records, rules, people, the box itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from flask import Blueprint

from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.web import guard
from dealer_ui.web.pages import page

blueprint = Blueprint("office", __name__)


@dataclass(frozen=True)
class Door:
    """A way to another page; `title` and `what` are messages of the catalogues."""

    address: str
    title: str
    what: str


DOORS: Final[tuple[tuple[str, tuple[Door, ...]], ...]] = (
    (
        N_("Records"),
        (
            Door("/review", N_("Past hands"), N_("Find a hand, look at it, correct it, keep it")),
            Door("/report", N_("Shift report"), N_("What a shift or a dealer's down came to")),
            Door(
                "/slip?back=/office",
                N_("Slip of the record"),
                N_("The record's end, signed, to keep on paper"),
            ),
        ),
    ),
    (
        N_("House"),
        (
            Door("/profiles", N_("Game rules"), N_("Which are in force, and the house's own")),
            Door("/set-up/people?back=/office", N_("People and PINs"), N_("Who deals, who is on the floor")),
            Door("/deck-check?back=/office", N_("Check a deck"), N_("Are all 52 there, and none twice?")),
        ),
    ),
    (
        N_("Box"),
        (
            Door("/set-up", N_("Set-up"), N_("Table, seats, devices, step by step")),
            Door("/setup/camera?back=/office", N_("Camera"), N_("The bare felt live; calibrate it")),
            Door("/health?back=/office", N_("Health"), N_("Is everything well, and what is not?")),
        ),
    ),
)
"""By groups, as they stand on the page. Who may come in is said by each page itself."""


@blueprint.get("/office")
@guard.open_to(guard.EVERYBODY)
def office() -> str:
    """Show the ways to every page beside the table's."""
    return page("office.html", _("Records and set-up"), groups=DOORS)
