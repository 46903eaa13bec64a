"""The PIN page, which pages that need a role redirect to, and the session's remaining time."""

from flask import Blueprint, Response, abort, jsonify, request

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web import answers, guard
from dealer_ui.web.pages import own_address, page
from dealer_ui.web.services import services
from firmware.access.sessions import session_s
from firmware.messages import Message, one_of
from firmware.table.errors import CommandRefused
from firmware.table.people import PIN_ROLES, Role, check_pin

blueprint = Blueprint("pin", __name__)


@blueprint.get("/pin")
@guard.open_to(guard.EVERYBODY)
def pin() -> str:
    """Ask a person with one of the roles in `for` for a PIN, then go to `back`. Without `for`, any PIN will do."""
    known = {str(role): role for role in PIN_ROLES}
    roles = {known[name] for name in request.args.getlist("for") if name in known} or set(PIN_ROLES)
    people = services().live.state().people
    return page(
        "pin/page.html",
        _("Enter your PIN"),
        is_listed=any(person.role in roles and person.pin for person in people),
        says=say(Message("That asks for a PIN: %(roles)s.", roles=one_of(sorted(roles)))),
        back=own_address(request.args.get("back", "/")),
    )


@blueprint.post("/pin/new")
@guard.open_to(guard.EVERYBODY)
def judge_new_pin() -> tuple[Response, int]:
    """Return whether a PIN may be chosen, before it is keyed again. It is not stored; the table judges it again."""
    sent = request.get_json(silent=True)
    if not isinstance(sent, dict) or set(sent) != {"new_pin"} or not isinstance(sent["new_pin"], str):
        abort(400, _("The page sent what it may not send. Reload the page."))
    try:
        check_pin(sent["new_pin"])
    except CommandRefused as error:
        return jsonify({"ok": False, "error": say(error.sentence)}), 409
    return jsonify({"ok": True}), 200


@blueprint.get("/session")
@guard.open_to(guard.EVERYBODY)
def session() -> Response:
    """Return who is signed on, and for how much longer. This request does not extend the session."""
    token = guard.session()
    if token is None:
        return answers.json_answer(answers.Session(str(Role.DEALER), "", 0, 0))
    name, left = services().sessions.person_and_seconds(token)
    role = guard.role()
    return answers.json_answer(answers.Session(str(role), name, round(left), round(session_s(role))))
