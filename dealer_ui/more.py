"""What is one touch away: key the button or a row, misdeal, void, an old hand, who plays next."""

from __future__ import annotations

from typing import Final

from dealer_ui.needs import KEYABLE
from dealer_ui.screen import Action, Group, Pad
from dealer_ui.words import money
from firmware.table.events import ROWS
from firmware.table.phase import BETWEEN_HANDS, MISDEALING, OPEN, Phase
from firmware.table.state import Seat, State
from firmware.table.streets import STREETS, not_complete, street, turn

VOID_REASONS: Final = (
    "Misdeal",
    "Exposed card",
    "Wrong number of cards",
    "Damaged or marked card",
    "Dealer's error",
)
MISDEAL_REASONS: Final = ("Dealt to the wrong player", "Wrong number of cards", "Exposed card", "Short deck")
KEYED: Final = "The camera does not read."


def placing_words(state: State) -> tuple[str, str]:
    """Return where a face-up hand is and what the dealer does next."""
    now = street(state)
    if now is None:
        return "All cards are placed", str(not_complete(state) or "") or "White button: showdown."
    due = turn(state)
    cards = "five cards" if now == 1 else "one card"
    who = f"Seat {due} places {cards}. " if due is not None else ""
    return f"Street {now} of {STREETS}", f"{who}A placed card is set; the camera records it."


def more(state: State) -> tuple[Group, ...]:
    """Return the groups of what may be done now beside the next step."""
    return (*_of_hand(state), *_between(state))


def _of_hand(state: State) -> list[Group]:
    groups: list[Group] = []
    at = {"hand": state.hand}
    if state.phase in OPEN and not state.paid:
        seats = [seat.seat for seat in state.seats if seat.seat != state.button]
        keyed = [Action(f"Seat {seat}", {"do": "key_button", "seat": seat, **at}) for seat in seats]
        groups.append(Group("The button is at", tuple(keyed)))
    if state.phase in MISDEALING:
        groups.append(
            Group("Misdeal: the cards are dealt again", tuple(_stops(state, "misdeal", MISDEAL_REASONS)))
        )
    if state.phase in OPEN:
        title = (
            "Void this hand: everything is paid back"
            if state.reopened
            else "Void this hand: nothing is settled"
        )
        groups.append(Group(title, tuple(_stops(state, "void", VOID_REASONS))))
    if state.phase in KEYABLE and not state.keyed:
        key = Action("Key this hand", {"do": "key_hand", "reason": KEYED, **at})
        groups.append(Group("Without the camera", (key,)))
    if state.phase in (Phase.REVIEW, Phase.SETTLED) and not state.paid:
        again = [Action("Look again", {"do": "look_again", **at}, lamp="red")] if not state.reopened else []
        again += [
            Action(f"Take back seat {seat.seat}'s natural", {"do": "undo_confirm", "seat": seat.seat, **at})
            for seat in state.seats
            if seat.confirmed
        ]
        groups.append(Group("Read again", tuple(again)))
    if state.phase is Phase.SETTLED and not state.reopened:
        groups.append(Group("Between hands", (Action("Close this hand only", {"do": "archive", **at}),)))
    return groups


def _stops(state: State, do: str, reasons: tuple[str, ...]) -> list[Action]:
    return [
        Action(reason, {"do": do, "reason": reason, "hand": state.hand}, tone="warn", hold=True)
        for reason in reasons
    ]


def seat_pads(state: State, seat: Seat) -> tuple[Pad, ...]:
    """Return what keys a seat's rows: whole, or while cards are placed the next card of each."""
    if seat.surrenders or state.paid or (state.phase is Phase.PLACING and not seat.open):
        return ()
    if state.phase not in (Phase.PLACING, Phase.REVIEW, Phase.SETTLED):
        return ()
    at = {"seat": seat.seat, "hand": state.hand}
    whole = tuple(
        Pad(
            f"Key the {row}",
            {"do": "key_row", "row": row, **at},
            count,
            f"Seat {seat.seat} · {row}, left to right",
        )
        for row, count in ROWS.items()
    )
    if state.phase is not Phase.PLACING:
        return whole
    grown = {row: len(seat.row(row)) for row in ROWS}
    return tuple(
        Pad(
            f"Next in {row}",
            {"do": "place_card", "row": row, **at},
            title=f"Seat {seat.seat} · {row}, card {grown[row] + 1}",
        )
        for row, count in ROWS.items()
        if grown[row] < count
    )


def _between(state: State) -> list[Group]:
    if state.phase not in BETWEEN_HANDS:
        return []
    groups: list[Group] = []
    backs = [
        Action(
            f"{back.payer} has paid {money(back.amount)} back to {back.winner}"
            if not back.paid
            else f"Take back: {back.payer} to {back.winner}, {money(back.amount)}",
            {"do": "mark_paid_back", "number": number, "paid": not back.paid},
        )
        for number, back in enumerate(state.paybacks, start=1)
    ]
    if backs:
        groups.append(Group("Of corrected hands", tuple(backs)))
    if state.phase is Phase.ARCHIVED:
        reopen = {"do": "reopen", "past": state.hand, "reason": "Disputed at the table"}
        groups.append(Group("A disputed hand", (Action(f"Reopen hand {state.hand:,}", reopen),)))
    if len(state.stacks) - len(state.sits_out & set(state.stacks)) == 2 or state.two_hands:
        label = "One hand each" if state.two_hands else "Two hands each"
        groups.append(Group("Two players", (Action(label, {"do": "two_hands", "on": not state.two_hands}),)))
    return groups
