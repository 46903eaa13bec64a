"""The progress of copying a dispute file to a USB stick. The page writes no stick: it requests and follows the copy."""

import time
from typing import Final

from flask import Blueprint, Response, abort, render_template, request
from werkzeug.exceptions import HTTPException

from dealer_ui.review.dispute_file import find_dispute_file, record_folder
from dealer_ui.review.routes import number_of, refused
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say_answer
from dealer_ui.web import guard
from dealer_ui.web.answers import StickProgress, json_answer
from dealer_ui.web.guard import PAST
from dealer_ui.web.services import services
from firmware.record.stick_request import OVER, Progress, read_progress

blueprint = Blueprint("stick", __name__)
blueprint.register_error_handler(HTTPException, refused)

SHOWN_S: Final = 600.0
"""Seconds for which a page that is loaded again still says how it went."""


@blueprint.get("/review/<hand>/stick")
@guard.open_to(guard.EVERYBODY)
def progress(hand: str) -> Response:
    """Describe the progress of a hand's copy to the stick, by the name of the request."""
    number, job = number_of(hand), request.args.get("job", "")
    answer = read_progress(services().stick)
    if answer is None or (answer.id, answer.hand) != (job, number):
        answer = Progress(job, number, beat_s=time.monotonic())
    return json_answer(stick_view(answer))


def stick_view(answer: Progress) -> StickProgress:
    """Return the progress as the page shows it."""
    over = answer.step in OVER
    if not over and not answer.goes_on(time.monotonic()):
        return StickProgress("failed", True, 0, silent())
    percent = 100 * answer.at // answer.of if answer.of else 0
    return StickProgress(answer.step, over, percent, _words(answer))


def silent() -> str:
    """Return the text to show after the copy stopped reporting."""
    return _("The box writes no stick now. Take the stick out; if it happens again, call the technician.")


def _words(answer: Progress) -> str:
    match answer.step:
        case "asked":
            return _("Looking for the stick…")
        case "waiting":
            return _("Put a stick into the box.")
        case "copying":
            return _("Being written. Leave the stick in.")
        case "checking":
            return _("Written; now it is read back. Leave the stick in.")
        case "done":
            return _("Done: take the stick out. On it lies %(name)s.", name=answer.name)
        case "failed":
            return say_answer(answer.refusal)


def last_job(hand: int) -> str:
    """Return the name of the last request, if it is recent and for this hand; "" otherwise."""
    answer = read_progress(services().stick)
    fresh = answer is not None and answer.hand == hand and 0 <= time.monotonic() - answer.beat_s < SHOWN_S
    return answer.id if answer and fresh else ""


@blueprint.get("/review/<hand>/proof")
@guard.open_to(PAST)
def proof(hand: str) -> str:
    """Return the part of the page with a dispute file's hash and the key's words."""
    file = find_dispute_file(record_folder(), number_of(hand))
    if file is None:
        abort(404, _("There is no dispute file of this hand; make it first."))
    return render_template("review/proof.html", file=file)
