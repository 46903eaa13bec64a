"""`POST /command`: passes a command from the browser to the table process, which judges it."""

from typing import Any, Final

from flask import Blueprint, Response, abort, jsonify, request

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say, say_answer
from dealer_ui.text.words import speaking_of
from dealer_ui.web import guard
from dealer_ui.web.services import services
from dealer_ui.web.sessions import COOKIE
from firmware.access.control import POLLING_COMMANDS
from firmware.table.command import COMMAND_ROLES
from firmware.table.people import MIN_DIGITS, Role
from firmware.table.topics.screen import LIVENESS_COMMANDS
from firmware.table_client import TableUnreachable

blueprint = Blueprint("orders", __name__)

NOT_THE_BROWSERS: Final = frozenset({"actor", "at", "session"})
"""Fields that a browser may not send: who gives a command, and that a PIN was entered elsewhere than at the screen."""


@blueprint.post("/command")
@guard.open_to(guard.EVERYBODY)
def command() -> tuple[Response, int]:
    """Send one command: 200 `{"ok": true}`; 403 if the role may not send it, 409 with the table's reason for a refusal.

    503 without a table. A session that `unlock` opens goes into a cookie, never to the script. It is used for commands
    that the dealer may not give; all others are sent in the dealer's name.
    """
    order = request.get_json(silent=True)
    if not isinstance(order, dict) or not _may_send(order):
        abort(400, _("The page sent a command that it may not send. Reload the page."))
    return give(order)


def give(order: dict[str, Any]) -> tuple[Response, int]:
    """Send the table a command in the name of the request's user, and return its answer. See `command`."""
    session = guard.session() if _needs_session(order) else None
    try:
        answer = services().link.send(
            order if session is None else {**order, "session": session}, services().slow_s.get(order["do"])
        )
    except TableUnreachable as error:
        abort(503, say(error))
    return _answer(order["do"], answer, session)


def _may_send(order: dict[str, Any]) -> bool:
    """Return whether the page sends this command. The table checks its fields."""
    return (
        isinstance(order.get("do"), str)
        and order["do"] in COMMAND_ROLES
        and order["do"] not in LIVENESS_COMMANDS
        and NOT_THE_BROWSERS.isdisjoint(order)
    )


def _needs_session(order: dict[str, Any]) -> bool:
    """Return whether the dealer may not give this command, so that it needs the session of somebody else."""
    return "by" not in order and (Role.DEALER not in COMMAND_ROLES[order["do"]] or order["do"] == "lock")


def _pin_notice(wrong: int, *, is_short: bool) -> str:
    """Return what a person is told whose PIN was just right; "" if there is nothing."""
    sentences = []
    if wrong:
        words = ngettext(
            "%(num)s wrong PIN was entered in your name since your last right one.",
            "%(num)s wrong PINs were entered in your name since your last right one.",
            wrong,
        )
        sentences.append(words)
    if is_short:
        sentences.append(
            _(
                "Your PIN is short. Choose one of %(least)s figures or more: Set-up, People and PINs.",
                least=MIN_DIGITS,
            )
        )
    return " ".join(sentences)


def _answer(do: str, answer: dict[str, Any], session: str | None) -> tuple[Response, int]:
    sessions = services().sessions
    if notice := _pin_notice(answer.pop("wrong_pins", 0), is_short=answer.pop("short_pin", False)):
        answer["told"] = notice
    if do == "unlock" and answer["ok"]:
        token = sessions.begin(answer)
        response = jsonify({key: value for key, value in answer.items() if key != "session"})
        response.set_cookie(COOKIE, token, httponly=True, samesite="Strict")
        return response, 200
    denied = "ask" in answer
    if not answer["ok"]:
        with speaking_of(services().live.rules):
            answer = {**answer, "error": say_answer(answer)}
    response = jsonify(answer)
    if session is not None and (denied or do == "lock"):
        sessions.end(session)
        response.delete_cookie(COOKIE, httponly=True, samesite="Strict")
    elif session is not None and do not in POLLING_COMMANDS:
        sessions.extend(session, answer.get("expires_s"))
    return response, 200 if answer["ok"] else 403 if denied else 409
