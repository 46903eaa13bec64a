"""The PIN page, which pages that need a role redirect to, and the session's remaining time."""

from __future__ import annotations

from flask import Blueprint, Response, request

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.web import answers, guard
from dealer_ui.web.pages import own_address, page
from dealer_ui.web.services import services
from firmware.access.sessions import session_s
from firmware.messages import Message, one_of
from firmware.table.people import PIN_ROLES, Role

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


@blueprint.get("/session")
@guard.open_to(guard.EVERYBODY)
def session() -> Response:
    """Return who is signed on, and for how much longer. This request does not extend the session."""
    token = guard.session()
    if token is None:
        return answers.json_answer(answers.Session(str(Role.DEALER), "", 0, 0))
    name, left = services().sessions.left(token)
    role = guard.role()
    return answers.json_answer(answers.Session(str(role), name, round(left), round(session_s(role))))
