"""`/review/…/dispute`: reopening, marking and holding a past hand, and its signed dispute file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response, abort, current_app, request, send_file
from werkzeug.exceptions import HTTPException

from dealer_ui.review.dispute_file import data, find_dispute_file, plain_file
from dealer_ui.review.frames import frame_annotations
from dealer_ui.review.proofs import proofs
from dealer_ui.review.routes import archive_of_record, of_hand, refused, shown, size_of
from dealer_ui.review.stick import last_job, silent
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.view.screen import Action
from dealer_ui.web import guard
from dealer_ui.web.guard import PAST
from dealer_ui.web.services import KIOSK, services
from firmware.record.hand_history import PastHand
from firmware.table.people import Role
from firmware.table.phase import OPEN

blueprint = Blueprint("dispute", __name__)
blueprint.register_error_handler(HTTPException, refused)

REASONS: Final = (
    N_("A card was read wrong"),
    N_("A row was read wrong"),
    N_("The foul is disputed"),
    N_("The puck was wrong"),
    N_("The payment is disputed"),
)
"""Why a hand is reopened or disputed: there is no keyboard. A person chooses one; none is chosen before."""
DECIDED: Final = (
    N_("The settlement stands"),
    N_("The hand was corrected"),
    N_("Settled between the players"),
)


@blueprint.get("/review/<hand>/dispute")
@guard.open_to(guard.EVERYBODY)
@of_hand
def dispute(recalled: PastHand) -> str:
    """Show a hand's corrections, before and after; for a floor person, the actions to reopen, mark and export it."""
    guard.need(PAST, _("Correcting and keeping a hand"))
    state = services().live.state()
    number = recalled.hand
    is_floor = guard.role() is Role.FLOOR
    archive = archive_of_record()
    whole = archive.hand(number)
    return shown(
        "dispute",
        recalled,
        "dispute",
        proofs=proofs(whole, archive.images(whole)),
        reopens=_because("reopen", number) if is_floor and recalled.settlement is not None else (),
        is_free=not state.reopened,
        waiting=state.hand if state.phase in OPEN and not state.reopened else 0,
        disputes=_because("dispute", number) if is_floor and number not in state.disputed else (),
        closes=_closes(number) if is_floor and number in state.disputed else (),
        reviews=Action(_("I have reviewed this hand"), {"do": "mark_reviewed", "past": number})
        if is_floor
        else None,
        file=find_dispute_file(data(), number),
        stick=None if current_app.config.get("LAN") else _stick(number),
        **_picture(recalled),
    )


def _picture(recalled: PastHand) -> dict[str, Any]:
    """Return the last camera frame without drawings: a dispute begins with the cards, not with the reading."""
    seen = frame_annotations(recalled)
    return {"look": seen[-1], "size": size_of(seen[-1])} if seen else {"look": None}


@dataclass(frozen=True)
class _Stick:
    """The actions that make a hand's dispute file and copy it to a stick; `job`: the last request."""

    put: Action
    make: Action
    job: str
    silent: str
    is_kiosk: bool
    """The screen at the table can keep no file."""


def _stick(hand: int) -> _Stick:
    export = {"do": "export_hand", "past": hand}
    return _Stick(
        Action(_("Put on the stick"), {**export, "stick": True}, tone="go"),
        Action(_("Make the dispute file"), export),
        last_job(hand),
        silent(),
        KIOSK in request.cookies,
    )


def _because(do: str, hand: int) -> tuple[Action, ...]:
    """Return a command for each reason: one touch chooses it and gives the command; none is chosen before."""
    return tuple(Action(_(why), {"do": do, "past": hand, "reason": why}) for why in REASONS)


def _closes(hand: int) -> tuple[Action, ...]:
    return tuple(Action(_(why), {"do": "close_dispute", "past": hand, "reason": why}) for why in DECIDED)


@blueprint.get("/review/<hand>/file")
@guard.open_to(PAST)
@of_hand
def dispute_file(recalled: PastHand) -> Response:
    """Return a hand's dispute file, once the table has made it."""
    try:
        path = plain_file(data(), recalled.hand)
        return send_file(path, mimetype="application/zip", as_attachment=True, download_name=path.name)
    except OSError:
        abort(404, _("There is no dispute file of this hand; make it first."))
