"""What the page shows of a state: a pure function from the table's record to a `Screen`.

Before rows are compared, nothing here looks at what the cards would be worth: a natural that nobody declared is
not named (a hint would help a player).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dealer_ui.between import down, is_between, log_ons
from dealer_ui.between import players as players_of
from dealer_ui.downs import DownTime
from dealer_ui.more import more, placing_words, seat_pads
from dealer_ui.needs import needs, puck_words, tells_devices
from dealer_ui.past import Exchange
from dealer_ui.payments import all_marked, chips, foul_reasons, marks, payments, row_outcomes
from dealer_ui.screen import Action, Card, Device, Face, Flag, Outcome, Pad, Payment, Row, Screen, Seat
from dealer_ui.sheet import sheet
from dealer_ui.words import card_name, kind_name, money, row_words, signed_money, signed_points
from firmware.rules import Profile
from firmware.table.errors import NotNow
from firmware.table.events import ROWS
from firmware.table.phase import OPEN, Phase
from firmware.table.settling import pending_natural
from firmware.table.settling import settlement as settle
from firmware.table.state import Ask, State
from firmware.table.state import Seat as TableSeat
from firmware.table.streets import dead_seats, not_complete, turn

PLACES: Final = "ABCD"
DEVICES: Final = ("camera", "puck", "buttons")
FACES_READ: Final = frozenset({Phase.REVIEW, Phase.SETTLED, Phase.ARCHIVED, Phase.VOID})
"""Phases in which the record may hold the cards of closed seats."""
CORRECTABLE: Final = frozenset({Phase.PLACING, Phase.REVIEW, Phase.SETTLED})


def view(
    seq: int,
    state: State,
    rules: Profile | None,
    *,
    answering: bool = True,
    time: DownTime | None = None,
    past: Exchange | None = None,
) -> Screen:
    """Return the screen for a state: `seq` is the last event's number in the journal.

    `time` is how long the dealer's down has gone on, `past` the last exchange of points before this state.

    `answering` is False while the table process cannot be reached: nothing is offered that it would have to do,
    and no device is called well.
    """
    settlement = state.settlement
    pays, current = payments(settlement, state.paid) if settlement else ((), None)
    players = {seat.seat: seat.player for seat in state.seats}
    transfers = chips(settlement, players, state.paid) if settlement else ()
    title, step = _phase(state, current is None)
    return Screen(
        seq=seq,
        answering=answering,
        phase=state.phase,
        phase_title=title,
        next_step=step,
        profile=rules.title if rules else "",
        unit=money(state.opened.unit) if state.opened else "",
        hand=state.hand if state.opened else None,
        devices=_devices(state, answering),
        seats=_seats(state, rules, pays[current] if current is not None else None, answering),
        needs=needs(state, rules) if rules and answering else (),
        payments=pays,
        current=current,
        transfers=transfers,
        transferred=all_marked(settlement, state.hand) if settlement and transfers and answering else None,
        actions=_actions(state) if answering else (),
        players=players_of(state, rules, answering=answering) if is_between(state) else (),
        sheet=sheet(rules) if rules else None,
        down=down(state, rules, time),
        log_ons=log_ons(state) if answering else (),
        last=payments(past.settlement, _all(past.settlement))[0] if past and not settlement else (),
        last_hand=past.hand if past and not settlement else None,
        more=more(state) if answering else (),
        notices=_notices(state, rules, answering),
        cues=_cues(state, rules, answering),
        used=_used(state),
    )


def _all(settlement: Mapping[str, Any]) -> frozenset[tuple[int, int]]:
    return frozenset((pair["a"], pair["b"]) for pair in settlement["pairs"])


# ---- the hand ----


def _phase(state: State, all_paid: bool) -> tuple[str, str]:
    """Return the phase in a word or two, and what the dealer does next."""
    match state.phase:
        case Phase.IDLE:
            return "Waiting for a hand", "Seat the players, then open a hand."
        case Phase.DEALING:
            return "Dealing", "Deal every seat its cards, face down. White button: the cards are out."
        case Phase.SETTING:
            return "Setting", "Players set their rows and may declare. White button: showdown."
        case Phase.PLACING:
            return placing_words(state)
        case Phase.SHOWDOWN:
            return "Showdown", "Turn all cards face up in their zones."
        case Phase.READING:
            return "Reading", "Keep hands off the felt while the camera looks."
        case Phase.REVIEW if state.questions:
            return "Question open", "Nothing is settled until it is answered."
        case Phase.REVIEW:
            return "Comparing", "The rows are being compared."
        case Phase.SETTLED if state.reopened:
            return f"Hand {state.hand:,} is reopened", f"{state.reopened}. Correct it, then close it."
        case Phase.SETTLED:
            return (
                ("All paid", "Collect the cards. White button: next hand.") if all_paid else ("Settled", "")
            )
        case Phase.ARCHIVED:
            return f"Hand {state.hand:,} is closed", "White button: open the next hand."
        case Phase.VOID:
            return (
                f"Hand {state.hand:,} is {'a misdeal' if state.misdealt else 'void'}",
                f"{state.void_reason}. Nothing was settled; open the next hand.",
            )


def _actions(state: State) -> tuple[Action, ...]:
    press: dict[str, Any] = {"do": "next", "phase": str(state.phase)}
    if state.opened:
        press["hand"] = state.hand
    match state.phase:
        case Phase.IDLE | Phase.ARCHIVED | Phase.VOID:
            return (Action("Open a hand", press, tone="go", lamp="white"),)
        case Phase.DEALING:
            return (Action("Cards are out", press, tone="go", lamp="white"),)
        case Phase.SETTING:
            return (Action("Showdown", press, tone="go", lamp="white"),)
        case Phase.PLACING if not not_complete(state):
            return (Action("Showdown", press, tone="go", lamp="white"),)
        case Phase.SETTLED if state.reopened:
            return (Action("Close the corrected hand", press, tone="go", lamp="white"),)
        case Phase.SETTLED:
            assert state.settlement is not None
            forward, back = (_for_hand(action, state) for action in marks(state.settlement, state.paid))
            undo = (back,) if back else ()
            return (*undo, forward or Action("Next hand", press, tone="go", lamp="white"))
    return ()


def _for_hand(action: Action | None, state: State) -> Action | None:
    if action is None:
        return None
    return Action(action.label, {**action.command, "hand": state.hand}, action.tone)


def _devices(state: State, answering: bool) -> tuple[Device, ...]:
    if not answering:
        return (*(Device(name, None, "unknown") for name in DEVICES), Device("table", False, "not running"))
    names = (*DEVICES, *sorted(set(state.faults) - set(DEVICES)))
    return tuple(Device(name, name not in state.faults, state.faults.get(name, "")) for name in names)


def _notices(state: State, rules: Profile | None, answering: bool) -> tuple[str, ...]:
    said: list[str] = []
    if not answering:
        said.append("The table process does not answer. This is the record; nothing can be done here now.")
    if answering and (rules is None or not tells_devices(state.phase)):
        said += [f"{name.capitalize()}: {detail}" for name, detail in sorted(state.faults.items())]
    puck = state.puck
    if state.phase is Phase.DEALING and state.button is None and answering:
        said.append(f"{puck_words(state)} Lay the puck at its seat, or key the seat under “more”.")
    elif state.phase in OPEN and puck.state == "seat" and state.button not in (None, puck.seat):
        said.append(
            f"The puck lies at seat {puck.seat}; for this hand the button stays at seat {state.button}."
        )
    said += [
        f"Hand {back.hand:,}, corrected: {back.payer} pays {money(back.amount)} back to {back.winner}."
        for back in state.paybacks
        if not back.paid
    ]
    if state.keyed and state.phase in OPEN:
        said.append(f"This hand is keyed by the dealer: {state.keyed}")
    if state.phase is Phase.REVIEW and rules and not state.questions:
        try:
            settle(state, rules)  # nothing is open and still it did not settle by itself: the rules say why
        except NotNow as error:
            said.append(str(error))
    return tuple(said)


def _cues(state: State, rules: Profile | None, answering: bool) -> tuple[str, ...]:
    """Name what is worth a sound. A natural is heard when its verdict is shown, never before."""
    cues: list[str] = []
    if state.settlement is not None:
        cues += [f"foul-{state.hand}-{hand['seat']}" for hand in state.settlement["hands"] if hand["foul"]]
    elif rules and state.phase is Phase.REVIEW and (seat := pending_natural(state, rules)) is not None:
        cues.append(f"natural-{state.hand}-{seat}")
    elif rules:
        cues += [f"dead-{state.hand}-{seat}" for seat in sorted(dead_seats(state, rules))]
    faults = sorted(state.faults) if answering else ["table"]
    return (*cues, *(f"fault-{name}" for name in faults))


def _used(state: State) -> tuple[tuple[str, int], ...]:
    return tuple(
        (card.card, seat.seat)
        for seat in state.seats
        for cards in seat.rows.values()
        for card in cards
        if card.sure and card.card
    )


# ---- the seats ----


def _seats(state: State, rules: Profile | None, payment: Payment | None, answering: bool) -> tuple[Seat, ...]:
    by_place = {seat.place: seat for seat in state.seats}
    settlement = state.settlement or {}
    hands = {hand["seat"]: hand for hand in settlement.get("hands", ())}
    outcomes: dict[int, dict[str, Outcome]] = {}
    if payment is not None:
        now = next(p for p in settlement["pairs"] if {p["a"], p["b"]} == {payment.payer, payment.winner})
        outcomes = row_outcomes(now)
    return tuple(
        _seat(state, rules, by_place[place], hands.get(by_place[place].seat), outcomes, payment, answering)
        if place in by_place
        else Seat(place)
        for place in PLACES
    )


def _seat(
    state: State,
    rules: Profile | None,
    seat: TableSeat,
    hand: Mapping[str, Any] | None,
    outcomes: Mapping[int, Mapping[str, Outcome]],
    payment: Payment | None,
    answering: bool,
) -> Seat:
    settlement = state.settlement or {}
    number = str(seat.seat)
    total = settlement.get("paid", {}).get(number)
    return Seat(
        place=seat.place,
        seat=seat.seat,
        player=seat.player,
        button=seat.seat == state.button,
        role=_role(seat.seat, payment),
        points=signed_points(settlement["points"][number]) if total is not None else "",
        total=signed_money(total) if total is not None else "",
        trend="level" if not total else "up" if total > 0 else "down",
        rows=tuple(
            _row(state, seat, row, hand, outcomes.get(seat.seat, {}).get(row, ""), answering) for row in ROWS
        ),
        flags=_flags(
            state, rules, seat, hand, foul_reasons(settlement).get(seat.seat, "") if settlement else ""
        ),
        actions=_seat_actions(state, rules, seat) if answering else (),
        pads=seat_pads(state, seat) if answering else (),
        stack=money(seat.stack) if seat.stack is not None else "",
        due=turn(state) == seat.seat,
    )


def _role(seat: int, payment: Payment | None) -> Any:
    if payment is None:
        return ""
    return {payment.payer: "pays", payment.winner: "collects"}.get(seat, "")


def _flags(
    state: State, rules: Profile | None, seat: TableSeat, hand: Mapping[str, Any] | None, why: str
) -> tuple[Flag, ...]:
    flags: list[Flag] = []
    if seat.fantasyland and not hand:
        flags.append(Flag("fantasyland", "Fantasy Land"))
    if rules and seat.seat in dead_seats(state, rules):
        flags.append(Flag("dead", "Dead hand"))
    if seat.surrenders:
        flags.append(Flag("surrender", "Surrendered"))
    if hand and hand["foul"]:
        flags.append(Flag("foul", f"FOUL · {why}" if why else "FOUL"))
    if hand and hand["natural"]:
        flags.append(Flag("natural", f"Natural · {kind_name(hand['natural']['kind'])}"))
    elif seat.declares:
        flags.append(Flag("asked", "Natural not borne out" if seat.confirmed else "Natural declared"))
    if hand and hand["fantasyland_next"]:
        kept = seat.fantasyland  # who keeps it announces it (RULES.md 9)
        flags.append(
            Flag("fantasyland", "Keeps Fantasy Land: announce" if kept else "Fantasy Land next hand")
        )
    return tuple(flags)


def _seat_actions(state: State, rules: Profile | None, seat: TableSeat) -> tuple[Action, ...]:
    if state.phase not in (Phase.SETTING, Phase.PLACING):
        return ()
    at = {"seat": seat.seat, "hand": state.hand}
    if seat.declares:
        return (Action("Take it back", {"do": "withdraw", **at}),)
    if seat.surrenders:
        return (Action("Take it back", {"do": "withdraw_surrender", **at}),)
    offered: list[Action] = []
    if rules and rules.naturals.kinds:
        offered.append(Action("Declare", {"do": "declare", **at}))
    if rules and rules.surrender.points:
        offered.append(Action("Surrender", {"do": "surrender", **at}))
    return tuple(offered)


def _row(
    state: State, seat: TableSeat, row: Any, hand: Mapping[str, Any] | None, outcome: Outcome, answering: bool
) -> Row:
    said = (hand or {}).get("rows", {}).get(row, {})
    category, detail = row_words(said["category"], said["text"]) if said else ("", "")
    return Row(
        row=row,
        cards=_cards(state, seat, row, answering),
        category=category,
        detail=detail,
        text=said.get("text", ""),
        bonus=said.get("bonus", 0),
        outcome=outcome,
    )


def _cards(state: State, seat: TableSeat, row: Any, answering: bool) -> tuple[Card, ...]:
    count = ROWS[row]
    if state.phase not in FACES_READ and not seat.open:
        lying: Face = "back" if state.phase in (Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN) else "empty"
        return (Card("unread" if state.phase is Phase.READING else lying),) * count
    lie = seat.row(row)
    still = (Card("empty"),) * (count - len(lie)) if seat.open else ()
    if seat.open and not lie:
        return still
    if not lie:
        blank: Face = "back" if seat.surrenders else "unread" if state.phase is Phase.REVIEW else "empty"
        return (Card(blank),) * count
    correctable = answering and state.phase in CORRECTABLE and not state.paid and not seat.surrenders
    asked = {
        (q.row, q.index)
        for q in state.questions
        if q.what in (Ask.CARD, Ask.DUPLICATE) and q.seat == seat.seat
    }
    return (
        tuple(
            Card(
                face="up" if card.sure and card.card else "unread",
                code=card.card if card.sure and card.card else "",
                asked=(row, index) in asked,
                pad=_correction(state, seat.seat, row, index, card.card) if correctable else None,
            )
            for index, card in enumerate(lie)
        )
        + still
    )


def _correction(state: State, seat: int, row: str, index: int, code: str | None) -> Pad:
    was = f" (now the {card_name(code)})" if code else ""
    return Pad(
        f"Seat {seat} · {row}, card {index + 1}{was}",
        {"do": "set_card", "seat": seat, "row": row, "index": index, "hand": state.hand},
    )
