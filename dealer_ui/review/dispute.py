"""`/review/…/dispute`: reopening, disputing and reviewing a past hand, and its signed dispute file."""

from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, Response, abort, current_app, request, send_file
from werkzeug.exceptions import HTTPException

from dealer_ui.review.dispute_file import find_dispute_file, plain_file, record_folder
from dealer_ui.review.frames import frame_annotations
from dealer_ui.review.proofs import proofs
from dealer_ui.review.routes import archive_of_record, of_hand, refused, render_hand, size_of
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
"""Reasons for reopening or disputing a hand. There is no keyboard: a person touches a reason. None is preselected."""
DECIDED: Final = (
    N_("The settlement stands"),
    N_("The hand was corrected"),
    N_("Settled between the players"),
)
"""Ways in which a dispute ended. A floor person chooses one to close it."""


@blueprint.get("/review/<hand>/dispute")
@guard.open_to(guard.EVERYBODY)
@of_hand
def dispute(recalled: PastHand) -> str:
    """Show what corrections changed in a hand; a floor person may also reopen, dispute, review and export it."""
    guard.need(PAST, _("Correcting and keeping a hand"))
    state = services().live.state()
    number = recalled.hand
    is_floor = guard.role() is Role.FLOOR
    archive = archive_of_record()
    archived = archive.hand(number)
    return render_hand(
        "dispute",
        recalled,
        "dispute",
        proofs=proofs(archived, archive.images(archived)),
        reopens=_action_per_reason("reopen", number) if is_floor and recalled.settlement is not None else (),
        is_free=not state.reopened,
        waiting=state.hand if state.phase in OPEN and not state.reopened else 0,
        disputes=_action_per_reason("dispute", number) if is_floor and number not in state.disputed else (),
        closes=_action_per_decision(number) if is_floor and number in state.disputed else (),
        reviews=Action(_("I have reviewed this hand"), {"do": "mark_reviewed", "past": number})
        if is_floor
        else None,
        file=find_dispute_file(record_folder(), number),
        stick=None if current_app.config.get("REMOTE") else _stick(number),
        **_last_frame(recalled),
    )


def _last_frame(recalled: PastHand) -> dict[str, Any]:
    """Return the last camera frame, without drawings: a dispute is about the cards, not about the reading."""
    seen = frame_annotations(recalled)
    return {"look": seen[-1], "size": size_of(seen[-1])} if seen else {"look": None}


@dataclass(frozen=True)
class _Stick:
    """The actions that make a hand's dispute file and copy it to a USB stick.

    `job`: the name of the last request to copy. `silent`: the text to show if the copy stops reporting progress.
    """

    put: Action
    make: Action
    job: str
    silent: str
    is_kiosk: bool
    """Whether this is the screen at the table, which cannot save a file."""


def _stick(hand: int) -> _Stick:
    export = {"do": "export_hand", "past": hand}
    return _Stick(
        Action(_("Put on the stick"), {**export, "stick": True}, tone="go"),
        Action(_("Make the dispute file"), export),
        last_job(hand),
        silent(),
        KIOSK in request.cookies,
    )


def _action_per_reason(do: str, hand: int) -> tuple[Action, ...]:
    """Return an action for each reason: one touch chooses the reason and sends the command."""
    return tuple(Action(_(why), {"do": do, "past": hand, "reason": why}) for why in REASONS)


def _action_per_decision(hand: int) -> tuple[Action, ...]:
    """Return an action that closes the dispute for each decision."""
    return tuple(Action(_(why), {"do": "close_dispute", "past": hand, "reason": why}) for why in DECIDED)


@blueprint.get("/review/<hand>/file")
@guard.open_to(PAST)
@of_hand
def dispute_file(recalled: PastHand) -> Response:
    """Return a hand's dispute file. Answers 404 until the table has made it."""
    try:
        path = plain_file(record_folder(), recalled.hand)
        return send_file(path, mimetype="application/zip", as_attachment=True, download_name=path.name)
    except OSError:
        abort(404, _("There is no dispute file of this hand; make it first."))
