"""`POST /command`: what the dealer touched, handed to the table process, which judges it."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, abort, jsonify, request

from dealer_ui import guard
from dealer_ui.errors import TableUnreachable
from dealer_ui.services import services

blueprint = Blueprint("orders", __name__)

COMMANDS = frozenset(
    {
        "next",
        "confirm",
        "look_again",
        "key_button",
        "declare",
        "withdraw",
        "surrender",
        "withdraw_surrender",
        "set_card",
        "key_row",
        "undo_confirm",
        "mark_paid",
        "void",
        "misdeal",
        "resolve",
        "key_hand",
        "place_card",
        "archive",
        "reopen",
        "mark_paid_back",
        "count_stack",
        "sit_out",
        "pass_round",
        "two_hands",
        "log_on",
        "log_off",
        "unlock",
        "lock",
        "list_person",
        "strike_person",
        "set_pin",
    }
)
"""What the page may ask of the table; their fields are checked by the table (firmware/table/commands.py)."""


@blueprint.post("/command")
@guard.open_to("screen")
def command() -> tuple[Response, int]:
    """Send one command: 200 `{"ok": true}`, or 409 with the table's sentence why not; 503 without a table."""
    order = request.get_json(silent=True)
    if not isinstance(order, dict) or not _may_send(order):
        abort(400, "The page sent a command that it may not send. Reload the page.")
    try:
        answer: dict[str, Any] = services().link.send(order)
    except TableUnreachable as error:
        abort(503, str(error))
    return jsonify(answer), 200 if answer["ok"] else 409


def _may_send(order: dict[str, Any]) -> bool:
    """Say whether a command is one of the page's. Who gives it is not for the browser to say."""
    return isinstance(order.get("do"), str) and order["do"] in COMMANDS and "actor" not in order
