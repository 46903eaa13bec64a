"""The camera setup: the live picture of the bare felt, the lens, the house's deck; and the deck check.

The table process judges every order and runs it between hands. The results are rendered here, job by job, in the page's
language; the script only requests and shows them.
"""

import base64
from dataclasses import dataclass, replace
from typing import Any, Final

from flask import Blueprint, Response, abort, jsonify, render_template, request

from dealer_ui.review.timeline import day_of, time_of, who_is
from dealer_ui.setup import camera_words
from dealer_ui.setup.inbox import files_here, is_to_take, name_of
from dealer_ui.text.i18n import N_
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say, say_answer, say_json
from dealer_ui.web import guard
from dealer_ui.web.answers import Job, json_answer
from dealer_ui.web.commands import give
from dealer_ui.web.pages import own_address, page
from dealer_ui.web.services import services
from firmware.table.deck_tally import spread
from firmware.table.events import Calibration, CameraCalibrated, DeckChecked, DeckEnrolled
from firmware.table.people import Role
from firmware.table.phase import BETWEEN_HANDS
from firmware.table_client import TableUnreachable
from firmware.uplink.code import Code, parse
from firmware.uplink.errors import UplinkError

blueprint = Blueprint("camera", __name__)

A_MINUTE: Final = 60
TECHNICIAN: Final = frozenset({Role.TECHNICIAN})
DECK_NAMES: Final = (N_("House deck"), N_("Red deck"), N_("Blue deck"), N_("Spare deck"))
"""What a deck may be called: there is no keyboard."""
_PARTS: Final = {
    "look": "look",
    "code": "code",
    "felt": "calibrated",
    "lens_begin": "board",
    "lens_view": "board",
    "lens_commit": "calibrated",
    "deck_begin": "spread",
    "deck_view": "spread",
    "deck_commit": "spread",
    "count": "tally",
}
"""The part of a page that shows what came of a job."""


@dataclass(frozen=True)
class CalibrationEntry:
    """A calibration in the record: when, by whom, its figures."""

    calibration: Calibration
    when: str
    who: str
    moved: dict[str, float]


@blueprint.get("/setup/camera")
@guard.open_to(TECHNICIAN, fresh=True)
def camera() -> str:
    """Show the bare felt live, with everything detected in it, and calibrate it."""
    return page("camera/camera.html", _("Camera and felt"), back=_back(), **_standing("felt"))


@blueprint.get("/setup/lens")
@guard.open_to(TECHNICIAN)
def lens() -> str:
    """Collect views of the board and measure the lens."""
    return page("camera/lens.html", _("Lens"), back=_back(), **_standing("lens"))


@blueprint.get("/setup/deck")
@guard.open_to(TECHNICIAN)
def deck() -> str:
    """Enrol the house's own deck, step by step."""
    return page(
        "camera/deck.html",
        _("Learn a deck"),
        back=_back(),
        **_standing("deck"),
        spread=spread(),
        states={},
        names=DECK_NAMES,
        offered=[name_of(one) for one in files_here() if one.file.kind == "deck" and is_to_take(one)],
    )


@blueprint.get("/deck-check")
@guard.open_to(guard.EVERYBODY)
def deck_check() -> str:
    """Count a deck card by card."""
    last = next((e for e in reversed(services().reader.of_set_up()) if e.type == DeckChecked.type), None)
    return page(
        "camera/deck_check.html",
        _("Check a deck"),
        last=last.event if last else None,
        when=_when(last.wall_ms) if last else "",
        who=who_is(last.actor) if last else "",
        unchecked=services().live.state().deck_unchecked,
        spread=spread(),
        states={},
        back=_back(),
        **_standing("deck"),
    )


@blueprint.get("/setup/compare/<what>")
@guard.open_to(TECHNICIAN, fresh=True)
def compare(what: str) -> str:
    """Return the calibration in use next to the previous one, as a part of the page."""
    if what not in ("felt", "lens", "deck"):
        abort(404, _("There is no such page."))
    return render_template("camera/compare.html", **_standing(what))


@blueprint.post("/setup/look")
@guard.open_to(TECHNICIAN, fresh=True)
def look() -> tuple[Response, int]:
    """Request one reading. The page repeats it by itself, so it does not extend a session."""
    return give({"do": "look"})


@blueprint.get("/setup/job/<int:number>")
@guard.open_to(guard.EVERYBODY)
def job(number: int) -> tuple[Response, int]:
    """Return a job's progress; once it is over also its result, as a part of the page."""
    progress = _ask(number)
    if not progress["ok"]:
        return jsonify(ok=False, error=say_answer(progress)), 409
    answer = Job(progress["state"], progress["done"], progress["of"])
    if answer.state == "running":
        return json_answer(answer), 200
    failed = answer.state == "failed"
    why = say_json(progress if failed else "")
    # the table's job numbers start again with it: the name identifies the picture
    shown = (
        f"/setup/picture/{number}?of={progress['name'].rpartition('/')[2]}" if progress["has_picture"] else ""
    )
    answer = replace(answer, why=why, picture=shown)
    if progress["result"] or not failed:
        html = render_template(
            f"camera/{_PARTS[progress['work']]}.html",
            job=progress,
            result=progress["result"],
            failed=failed,
            picture=shown,
            **_words(progress),
        )
        answer = replace(answer, html=html, enough=_enough(progress))
    return json_answer(answer), 200


@blueprint.get("/setup/picture/<int:number>")
@guard.open_to(TECHNICIAN, fresh=True)
def picture(number: int) -> Response:
    """Return the picture that a job took of a table between hands. It is stored for a short time only."""
    facts = _ask(number, picture=True)
    if not facts["ok"] or not facts["picture"]:
        abort(404, _("That picture is gone; look again."))
    response = Response(base64.b64decode(facts["picture"]), mimetype="image/jpeg")
    response.headers["Cache-Control"] = f"private, max-age={A_MINUTE}"
    return response


def _back() -> str:
    """Return the address of the back link: the table, or the setup that the user came from."""
    return own_address(request.args.get("back", "/"))


def _ask(number: int, *, picture: bool = False) -> dict[str, Any]:
    order: dict[str, Any] = {"do": "job", "job": number, "picture": picture}
    session = guard.session()
    try:
        return services().link.send(order if session is None else {**order, "session": session})
    except TableUnreachable as error:
        abort(503, say(error))


def _words(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the texts to render a job's part with, apart from the result itself."""
    result = facts["result"]
    match _PARTS[facts["work"]]:
        case "look":
            return {
                "figures": camera_words.figures(result["verdicts"]),
                "trouble": say_json(result["error"] or ""),
                "seats": {seat.place: seat.seat for seat in services().live.state().house.seats},
            }
        case "code":
            return {"code": _pits_code(str(result["text"]))}
        case "calibrated":
            return _standing("felt" if facts["work"] == "felt" else "lens")
        case "spread":
            cards = result.get("cards", ())
            return {"spread": spread(), "states": {card["card"]: card for card in cards}}
        case "tally":
            return {"figures": [one for one in camera_words.figures(result["verdicts"]) if not one.ok]}
    return {}


def _pits_code(text: str) -> Code | None:
    try:
        return parse(text)
    except UplinkError:
        return None


def _enough(facts: dict[str, Any]) -> bool:
    """Return whether the collected views may be used now."""
    result = facts["result"]
    if facts["work"] in ("lens_begin", "lens_view"):
        return bool(result["enough"])
    if facts["work"] in ("deck_begin", "deck_view"):
        return bool(result["pictures"] >= result["needed"])
    return bool(facts["work"] == "count" and not result["recorded"])


def _standing(what: str) -> dict[str, Any]:
    """Return a calibration's state in the record: the one in use and the previous one, side by side."""
    state = services().live.state()
    in_use = state.calibrations.get(what)
    made = _history(what)
    now = next((one for one in reversed(made) if in_use and one.calibration.hash == in_use.hash), None)
    before = next(
        (
            one
            for one in reversed(made)
            if now is None or (one is not now and one.calibration.hash != now.calibration.hash)
        ),
        None,
    )
    figures = now.calibration.figures if now else {}
    return {
        "what": what,
        "now": now,
        "before": before,
        "rows": camera_words.compare_figures(
            figures or (before.calibration.figures if before else {}),
            before.calibration.figures if before and now else None,
        ),
        "moves": camera_words.describe_movement(now.moved) if now else [],
        "between": state.phase in BETWEEN_HANDS,
    }


def _history(what: str) -> list[CalibrationEntry]:
    """Return every calibration of a kind in the record, in order."""
    kind = DeckEnrolled.type if what == "deck" else CameraCalibrated.type
    found = []
    for entry in services().reader.of_set_up():
        if entry.type != kind:
            continue
        event = entry.event
        if isinstance(event, DeckEnrolled):
            found.append(CalibrationEntry(event.calibration, _when(entry.wall_ms), who_is(entry.actor), {}))
        elif isinstance(event, CameraCalibrated) and event.what == what:
            found.append(
                CalibrationEntry(event.calibration, _when(entry.wall_ms), who_is(entry.actor), event.moved)
            )
    return found


def _when(wall_ms: int) -> str:
    return f"{day_of(wall_ms)} {time_of(wall_ms)[:5]}"
