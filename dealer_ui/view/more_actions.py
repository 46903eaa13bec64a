"""Further actions, one touch away: key the puck or a row, misdeal, void, an old hand, who plays next."""

from __future__ import annotations

from typing import Final

from dealer_ui.text.i18n import N_, ngettext
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.messages import say
from dealer_ui.text.words import money, row_name
from dealer_ui.view.payments import payments
from dealer_ui.view.questions import KEYABLE, named
from dealer_ui.view.screen import Action, Amount, Awaits, Group, Pad
from dealer_ui.view.swaps import swap_groups
from firmware.rules.recorded import read_settlement
from firmware.table.errors import CommandRefused
from firmware.table.events import ROWS, Payback
from firmware.table.phase import BEFORE_CARDS, BETWEEN_HANDS, MISDEALING, OPEN, Phase
from firmware.table.state import Seat, State
from firmware.table.streets import STREETS, not_complete, street, turn
from firmware.table.topics.opening import closing_undone, is_dealt

DEALT_WRONG: Final = (
    N_("Exposed card"),
    N_("Wrong number of cards"),
    N_("Dealt to the wrong player"),
    N_("Short deck"),
)
"""Why a hand is dealt again; once the cards are read, why it is void."""
NOT_PLAYED: Final = (
    N_("Damaged or marked card"),
    N_("Dealer's error"),
)
"""Why a hand is void at any time."""
KEYED: Final = N_("The camera does not read.")


def dealing_words(state: State) -> str:
    """Describe who gets cards face down before anything is placed."""
    closed = [seat.seat for seat in state.seats if not seat.open]
    if len(closed) == len(state.seats):
        return _("Deal every seat its cards, face down. White push-button: the cards are out.")
    if not closed:
        return _("Cards are placed face up, street by street. White push-button: placing begins.")
    return ngettext(
        "Deal seat %(seats)s its thirteen cards, face down. White push-button: placing begins.",
        "Deal seats %(seats)s their thirteen cards, face down. White push-button: placing begins.",
        len(closed),
        seats=", ".join(map(str, closed)),
    )


def placing_words(state: State) -> tuple[str, str]:
    """Describe where a face-up hand is and what the dealer does next."""
    now = street(state)
    if now is None:
        open_yet = not_complete(state)
        return _("All cards are placed"), say(open_yet) if open_yet else _("White push-button: showdown.")
    due = turn(state)
    title = _("Street %(street)s of %(all)s", street=now, all=STREETS)
    if due is None:
        return title, _("A placed card is set; the camera records it.")
    if now == 1:
        return title, _(
            "Seat %(seat)s places five cards. A placed card is set; the camera records it.", seat=due
        )
    return title, _("Seat %(seat)s places one card. A placed card is set; the camera records it.", seat=due)


def more(state: State) -> tuple[Group, ...]:
    """Return the groups of actions available now, apart from the next step."""
    return (*_of_hand(state), *_between(state))


def _of_hand(state: State) -> list[Group]:
    groups: list[Group] = [*swap_groups(state)]
    at = {"hand": state.hand}
    if state.phase is Phase.REVIEW and not state.reopened:
        groups.append(Group(_("The showdown came too early"), (back_to_setting(state),)))
    if state.phase in KEYABLE and not state.keyed:
        key = Action(_("Key this hand"), {"do": "key_hand", "reason": KEYED, **at})
        groups.append(Group(_("Without the camera"), (key,)))
    if state.phase in OPEN and not state.paid:
        seats = [seat.seat for seat in state.seats if seat.seat != state.button]
        keyed = [
            Action(_("Seat %(seat)s", seat=seat), {"do": "key_button", "seat": seat, **at}) for seat in seats
        ]
        groups.append(Group(_("The puck is at"), tuple(keyed)))
    if state.phase in (Phase.REVIEW, Phase.SETTLED) and not state.paid:
        again = (
            [Action(_("Look again"), {"do": "look_again", **at}, lamp="red")] if not state.reopened else []
        )
        again += [
            Action(
                _("Take back seat %(seat)s's natural", seat=seat.seat),
                {"do": "undo_confirm", "seat": seat.seat, **at},
            )
            for seat in state.seats
            if seat.confirmed
        ]
        groups.append(Group(_("Read again"), tuple(again)))
    if state.phase is Phase.SETTLED and not state.reopened:
        groups.append(_closing(state))
    return [*groups, *_stopping(state)]


def _stopping(state: State) -> list[Group]:
    """Return what ends the hand without a settlement."""
    groups: list[Group] = []
    misdeals = state.phase in MISDEALING
    if misdeals:
        dealt_again = _("Misdeal: nothing is settled, the puck stays, the cards are dealt again")
        groups.append(Group(dealt_again, tuple(_stops(state, "misdeal", DEALT_WRONG)), stops=True))
    if state.phase in OPEN:
        title = (
            _("Void this hand: everything is paid back")
            if state.reopened
            else _("Void this hand: nothing is settled, nobody pays")
        )
        reasons = NOT_PLAYED if misdeals else (*DEALT_WRONG, *NOT_PLAYED)
        groups.append(Group(title, tuple(_stops(state, "void", reasons)), stops=True))
    return groups


def _closing(state: State) -> Group:
    """Close the hand without opening the next. With open payments this is a held button, below the open ones."""
    close = {"do": "archive", "hand": state.hand}
    if not state.unpaid:
        return Group(_("Before the next hand"), (Action(_("Close the hand: seats and chips"), close),))
    assert state.settlement is not None
    pays, _now = payments(read_settlement(state.settlement), state.paid)
    still = ", ".join(
        f"{pay.label} {pay.amount}".replace(" ", "\N{NO-BREAK SPACE}")
        for pay in pays
        if pay.state in ("now", "later")
    )
    return Group(
        _("Close the hand: still to be paid %(payments)s", payments=still),
        (Action(_("The players have settled among themselves"), close, tone="warn", hold=True),),
    )


def awaits(state: State) -> Awaits | None:
    """Describe where cards are still missing after the showdown signal; None if the camera waits for none."""
    if state.phase is not Phase.READING or state.awaited is None:
        return None
    where = state.awaited.empty or state.awaited.seats
    seat = state.seat(where[0])
    sentence = (
        _(
            "Turn up the cards of seat %(seat)s, %(player)s. They are read by themselves.",
            seat=where[0],
            player=seat.player if seat else "",
        )
        if len(where) == 1
        else _("Turn up their cards. They are read by themselves.")
    )
    return Awaits(where, _("No cards") if state.awaited.empty else _("Cards are missing"), sentence)


def back_to_setting(state: State) -> Action:
    """Take the showdown signal back: a player still declares, surrenders or sets."""
    return Action(_("Back to setting"), {"do": "back_to_setting", "hand": state.hand}, tone="quiet")


def undo_close(state: State) -> tuple[Action, ...]:
    """Undo the closing of the last hand, until chips or players change or a card of the next hand is seen."""
    if state.phase in OPEN:
        if state.phase not in BEFORE_CARDS or is_dealt(state) or not state.opened or not state.opened.closed:
            return ()
    else:
        try:
            closing_undone(state)
        except CommandRefused:
            return ()
    return (
        Action(
            _("Undo the closing"),
            {"do": "undo_close", "hand": state.hand, "phase": str(state.phase)},
            tone="quiet",
            takes_back=True,
        ),
    )


def _stops(state: State, do: str, reasons: tuple[str, ...]) -> list[Action]:
    return [
        Action(_(reason), {"do": do, "reason": reason, "hand": state.hand}, tone="warn", hold=True)
        for reason in reasons
    ]


def seat_pads(state: State, seat: Seat) -> tuple[Pad, ...]:
    """Return the pads that key a seat's rows: whole rows, or while cards are placed the next card of each."""
    if seat.surrenders or state.paid or (state.phase is Phase.PLACING and not seat.open):
        return ()
    if state.phase not in (Phase.PLACING, Phase.REVIEW, Phase.SETTLED):
        return ()
    at = {"seat": seat.seat, "hand": state.hand}
    whole = tuple(
        Pad(
            _("Key the %(row)s", row=row_name(row)),
            {"do": "key_row", "row": row, **at},
            count,
            _("Seat %(seat)s · %(row)s, left to right", seat=seat.seat, row=row_name(row)),
            named([card.card for card in seat.row(row) if card.sure], count),
        )
        for row, count in ROWS.items()
    )
    if state.phase is not Phase.PLACING:
        return whole
    grown = {row: len(seat.row(row)) for row in ROWS}
    return tuple(
        Pad(
            _("Next in %(row)s", row=row_name(row)),
            {"do": "place_card", "row": row, **at},
            title=_(
                "Seat %(seat)s · %(row)s, card %(number)s",
                seat=seat.seat,
                row=row_name(row),
                number=grown[row] + 1,
            ),
        )
        for row, count in ROWS.items()
        if grown[row] < count
    )


def _between(state: State) -> list[Group]:
    if state.phase not in BETWEEN_HANDS:
        return _reopening(state, state.hand - 1) if not state.reopened else []
    groups: list[Group] = []
    backs = [
        Action(
            _("Take back: %(payer)s to %(winner)s, %(amount)s", **_sides(back))
            if back.paid
            else _("%(payer)s has paid %(amount)s back to %(winner)s", **_sides(back)),
            {"do": "mark_paid_back", "number": number, "paid": not back.paid},
        )
        for number, back in enumerate(state.paybacks, start=1)
    ]
    if backs:
        groups.append(Group(_("Of corrected hands"), tuple(backs)))
    if state.phase is not Phase.IDLE:
        groups += _reopening(state, state.hand, is_misdealt=state.misdealt)
    if len(state.stacks) - len(state.sits_out & set(state.stacks)) == 2 or state.two_hands:
        label = _("One hand each") if state.two_hands else _("Two hands each")
        groups.append(
            Group(_("Two players"), (Action(label, {"do": "two_hands", "on": not state.two_hands}),))
        )
    return groups


def _reopening(state: State, newest: int, *, is_misdealt: bool = False) -> list[Group]:
    """Offer to reopen past hands, up to the newest; a hand that is being played waits meanwhile."""
    if newest < 1:
        return []
    reopen = {"do": "reopen", "reason": N_("Disputed at the table")}
    last = Action(_("Reopen hand %(hand)s", hand=f"{newest:,}"), {**reopen, "past": newest})
    other = Amount(_("Another hand"), reopen, _("Which hand?"), least=1, most=newest, into="past")
    title = _("A disputed hand") if state.phase in BETWEEN_HANDS else _("A disputed hand: this one waits")
    return [Group(title, () if is_misdealt else (last,), amounts=(other,) if newest > 1 else ())]


def _sides(back: Payback) -> dict[str, str]:
    return {"payer": back.payer, "winner": back.winner, "amount": money(back.amount)}


def past_hands(state: State) -> tuple[int, ...]:
    """Return the last ten finished hands, the newest first."""
    table = state.suspended_state or state
    last = table.hand if table.phase in BETWEEN_HANDS else table.hand - 1
    return tuple(range(last, max(0, last - 10), -1))
