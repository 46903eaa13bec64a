"""Settles a hand with the rules core: pure functions of the state and the rule profile."""

from dataclasses import dataclass
from typing import Any

from firmware.rules import (
    Declaration,
    Profile,
    RankedNatural,
    RulesError,
    Settlement,
    hand_from_json,
    recorded_profile,
    settle,
    settlement_json,
)
from firmware.table.errors import CommandRefused, TableError
from firmware.table.phase import Phase
from firmware.table.readings import ROWS
from firmware.table.state import Ask, Seat, State
from firmware.table.values import Opening


def rules_of(opened: Opening, text: bytes | None) -> Profile:
    """Return the rules that a hand was opened with: the profile's stored text with the hand's own options.

    Raises TableError if the text is missing or invalid: a hand is never settled by other rules.
    """
    if text is None:
        raise TableError(
            "The text of the profile %(profile)s that hand %(hand)s was opened with is missing.",
            profile=opened.profile,
            hand=opened.hand,
        )
    try:
        return recorded_profile(text, opened.options)
    except RulesError as error:
        raise TableError(
            "The profile that hand %(hand)s was opened with cannot be used: %(why)s.",
            hand=opened.hand,
            why=error,
        ) from error


def hand_json(state: State) -> dict[str, Any]:
    """Return the hand in the input format of `feltwatch settle`; unsure cards are "??".

    Raises CommandRefused before the first hand, or if the puck is unknown.
    """
    opened = state.opened
    if opened is None:
        raise CommandRefused("No hand is open; press white to open one.")
    if state.button is None:
        raise CommandRefused("The puck's seat is not known; key it.")
    return {
        "profile": opened.profile,
        "options": dict(opened.options),
        "unit": opened.unit,
        "button": state.button,
        "seats": [_seat_json(seat) for seat in state.seats],
    }


def settlement(state: State, rules: Profile) -> dict[str, Any]:
    """Return the hand's settlement, in the format of `feltwatch settle --json`.

    Raises CommandRefused, with the rules core's message, if the hand cannot be settled.
    """
    return settlement_json(_settle(state, rules))


def pending_natural(state: State, rules: Profile) -> int | None:
    """Return the seat whose natural is to be shown and confirmed next, in settling order.

    None if there is none, or while another question is open.
    """
    waiting = {question.seat for question in state.questions}
    if not waiting or any(question.what is not Ask.NATURAL for question in state.questions):
        return None
    order = settlement(state, rules)["order"]
    return next((seat for seat in order if seat in waiting), None)


@dataclass(frozen=True)
class NaturalVerdict:
    """The verdict on a seat's natural."""

    natural: RankedNatural | None
    """None if the cards hold none that counts."""
    bonus: int = 0
    """Points in addition to its value, from a regular hand or a foul."""
    declaration: Declaration | None = None
    """The result of the declaration; None without one."""


def natural_verdict(state: State, seat: int, rules: Profile) -> NaturalVerdict:
    """Return the verdict on the natural that a seat declared, or that was found in its cards."""
    settled = _settle(state, rules)
    judged = next((hand for hand in settled.hands if hand.seat == seat), None)
    if judged is None or judged.natural is None:
        return NaturalVerdict(None, declaration=judged.declaration if judged else None)
    return NaturalVerdict(judged.natural, settled.natural_bonus(judged), judged.declaration)


def naturals_to_find(state: State, rules: Profile) -> dict[int, str]:
    """Return the kind of each natural that counts undeclared and is not recorded yet, by seat.

    Empty while any question other than a natural is open: naturals are searched for when rows are compared.
    """
    if rules.naturals.declared != "automatic" or state.phase is not Phase.REVIEW:
        return {}
    if any(question.what is not Ask.NATURAL for question in state.questions):
        return {}
    known = {seat.seat for seat in state.seats if seat.declares or seat.found}
    return {
        hand.seat: hand.natural.kind
        for hand in _settle(state, rules).hands
        if hand.natural and hand.seat not in known
    }


def undeclared_naturals(state: State, rules: Profile) -> dict[int, RankedNatural]:
    """Return each natural that does not count because it was not declared, by seat.

    Do not show it before rows are compared: it would help a player. Raises CommandRefused.
    """
    judged = _settle(state, rules).hands
    return {hand.seat: hand.holds for hand in judged if hand.holds and not hand.natural}


def _settle(state: State, rules: Profile) -> Settlement:
    try:
        return settle(hand_from_json(hand_json(state)), rules)
    except RulesError as error:
        raise CommandRefused("The hand cannot be settled: %(why)s.", why=error) from error


def _seat_json(seat: Seat) -> dict[str, Any]:
    hand: dict[str, Any] = {
        "seat": seat.seat,
        "player": seat.player,
        "declares": seat.declares,
        "surrenders": seat.surrenders,
        "fantasyland": seat.fantasyland,
    }
    if seat.fantasyland_cards:
        hand["fantasyland_cards"] = seat.fantasyland_cards
    if seat.stack is not None:
        hand["stack"] = seat.stack
    if seat.acted is not None:
        hand["acted"] = seat.acted
    if not seat.surrenders:
        for row in ROWS:
            hand[row] = " ".join(c.card if c.sure and c.card else "??" for c in seat.row(row))
    return hand
