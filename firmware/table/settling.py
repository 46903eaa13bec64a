"""What a hand comes to: pure functions of the state, through the rules core."""

from __future__ import annotations

from typing import Any

from firmware.rules import settle_json
from firmware.table.errors import NotNow
from firmware.table.events import ROWS
from firmware.table.state import Seat, State


def hand_json(state: State) -> dict[str, Any]:
    """Return the hand as `feltwatch settle` reads it; unsure cards are "??".

    Raises NotNow between hands.
    """
    opened = state.opened
    if opened is None:
        raise NotNow("No hand is open; press white to open one.")
    return {
        "profile": opened.profile,
        "options": dict(opened.options),
        "unit": opened.unit,
        "button": state.button,
        "seats": [_seat_json(seat) for seat in state.seats],
    }


def settlement(state: State) -> dict[str, Any]:
    """Return the hand's settlement. Raises NotNow, with the rules' own sentence, where there is none."""
    if state.button is None:
        raise NotNow("No button seat is known; key the button's seat.")
    answer = settle_json(hand_json(state), None)
    if "error" in answer:
        raise NotNow(f"The hand cannot be settled: {answer['error']['message']}")
    return answer


def pending_natural(state: State) -> int | None:
    """Return the seat whose declared natural is to be shown and confirmed next, in settling order.

    None while anything else is open, or none waits.
    """
    waiting = {question.seat for question in state.questions}
    if not waiting or any(question.what != "natural" for question in state.questions):
        return None
    order = settlement(state)["order"]
    return next((seat for seat in order if seat in waiting), None)


def natural_verdict(state: State, seat: int) -> tuple[str, int] | None:
    """Return the kind and value of the natural that a declaring seat's cards bear out, or None."""
    hands = settlement(state)["hands"]
    natural = next((hand["natural"] for hand in hands if hand["seat"] == seat), None)
    return (natural["kind"], natural["value"]) if natural else None


def _seat_json(seat: Seat) -> dict[str, Any]:
    hand: dict[str, Any] = {
        "seat": seat.seat,
        "player": seat.player,
        "declares": seat.declares,
        "surrenders": seat.surrenders,
    }
    if seat.stack is not None:
        hand["stack"] = seat.stack
    if not seat.surrenders:
        for row in ROWS:
            hand[row] = " ".join(c.card if c.sure and c.card else "??" for c in seat.row(row))
    return hand
