"""The screen at the table: it acknowledges what it has painted, and its supervisor asks whether it does."""

from typing import Final

from flask import Blueprint, Response, abort, jsonify, request

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web import guard
from dealer_ui.web.answers import Acknowledgement, json_answer
from dealer_ui.web.services import KIOSK, services
from firmware.table_client import TableUnreachable

blueprint = Blueprint("kiosk", __name__)

WITHIN_S: Final = 1.5
"""Seconds in which the table takes an acknowledgement; the next one comes soon."""


@blueprint.post("/painted")
@guard.open_to(guard.EVERYBODY)
def painted() -> Response:
    """Take the acknowledgement of the screen at the table that it has painted a view, and tell the table.

    `seq`: the view's last row, null where something else is shown; `at_ms`: when it was painted, by the wall clock;
    `leaving`: another page is being loaded.
    """
    order = request.get_json(silent=True)
    match order:
        case {"seq": int() | None as seq, "at_ms": int(at_ms), "leaving": bool(leaving)} if not (
            isinstance(seq, bool) or isinstance(at_ms, bool)
        ):
            pass
        case _:
            abort(400, _("The page sent a command that it may not send. Reload the page."))
    if KIOSK not in request.cookies:
        abort(403, _("This is for the screen at the table only."))
    served = services()
    served.kiosk.acknowledge(leaving=leaving)
    try:
        answer = served.link.send({"do": "painted", "seq": seq, "at_ms": at_ms, "leaving": leaving}, WITHIN_S)
    except TableUnreachable as error:
        abort(503, say(error))
    if not answer["ok"]:
        abort(409, _("The table does not take what this page says. Reload the page."))
    return json_answer(Acknowledgement(True, seq=answer["seq"]))


@blueprint.get("/screen")
@guard.open_to(guard.EVERYBODY)
def screen() -> Response:
    """Return when the screen at the table last acknowledged what it painted, for its supervisor."""
    return jsonify(services().kiosk.to_json())
