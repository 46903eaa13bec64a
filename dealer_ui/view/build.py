"""What the page shows of a state: a pure function from the table's record to a `Screen`.

Before rows are compared, nothing here evaluates the cards: a natural that nobody declared is not named, because a hint
would help a player.
"""

from collections.abc import Sequence
from typing import Final

from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import supported_language
from dealer_ui.text.messages import say
from dealer_ui.text.words import device_name, money
from dealer_ui.view.dealer_shift import down, log_ons
from dealer_ui.view.downs import DownTime
from dealer_ui.view.faults import alert, unseen_press, with_change_line
from dealer_ui.view.felt import felt_seats
from dealer_ui.view.floor_call import CallState, call_groups, with_call
from dealer_ui.view.last_exchange import Exchange
from dealer_ui.view.more_actions import awaits, dealing_words, more, past_hands, placing_words, undo_close
from dealer_ui.view.paybacks import refund, refund_actions
from dealer_ui.view.payments import all_marked, chips, marks, payments
from dealer_ui.view.puck import puck_due, puck_elsewhere, puck_moves, puck_words
from dealer_ui.view.questions import needs
from dealer_ui.view.rules_sheet import sheet
from dealer_ui.view.screen import Action, Correction, Device, Payment, PuckDue, Screen, Tone
from dealer_ui.view.seats import free_seats, is_between
from dealer_ui.view.seats import players as players_of
from dealer_ui.view.swaps import cards_in_use, swap_notices, swap_undo_actions
from dealer_ui.view.table_answer import ANSWERING, TableAnswer
from firmware.messages import Message
from firmware.rules import Profile, currency
from firmware.rules.recorded_settlement import RecordedSettlement, read_settlement
from firmware.table.house import house_of
from firmware.table.offers import NO_OFFERS, Offers, offers
from firmware.table.phase import BETWEEN_HANDS, OPEN, Phase
from firmware.table.state import State
from firmware.table.streets import dead_seats, open_seats

DEVICES: Final = ("camera", "puck", "buttons")
PUCK_COUNTS: Final = OPEN - {Phase.SETTLED}
"""Phases in which the page says that the puck lies at another seat. Once all is settled it moves on to the next."""
PART_OF: Final = {"puck": "puck", "buttons": "panel"}
"""Devices → the parts that some tables have not."""


def view(
    seq: int,
    state: State,
    rules: Profile | None,
    *,
    table: TableAnswer = ANSWERING,
    time: DownTime | None = None,
    past: Exchange | None = None,
    call: CallState = CallState.NONE,
) -> Screen:
    """Return the screen for a state: `seq` is the last event's number in the journal.

    `time` is the duration of the dealer's down, `past` the last exchange of points before this state, `call` whether
    the pit has the call for the floor.

    `table` is how the table process answers. While it does not, no commands are offered, and no device is shown as
    working.
    """
    answering = table.is_answering
    settlement = read_settlement(state.settlement) if state.settlement else None
    due = state.phase is Phase.SETTLED and not state.reopened
    may = offers(state, house_of(state, rules), rules) if rules else NO_OFFERS
    offered = may if answering else NO_OFFERS
    puck = puck_due(state, offered)
    players = {seat.seat: seat.player for seat in state.seats}
    pays, current = payments(settlement, state.paid, players, due=due) if settlement else ((), None)
    put_right = bool(state.reopened) or any(back.hand == state.hand for back in state.paybacks)
    transfers = chips(settlement, players, state.paid) if settlement and not put_right else ()
    refused = may.next_hand if isinstance(may.next_hand, Message) else None
    title, step = _phase(state, pays, current, may, refused, puck)
    return Screen(
        seq=seq,
        language=supported_language(state.house.language),
        sums=currency().pattern,
        answering=answering,
        set_up=state.set_up,
        silent_since=table.silent_since,
        phase=state.phase,
        phase_title=title,
        next_step=_white(step, state),
        profile=rules.title if rules else "",
        unit=_unit(state),
        hand=state.hand if state.opened else None,
        devices=_devices(state, answering),
        seats=felt_seats(
            state, rules, settlement, pays[current] if current is not None else None, may, answering
        ),
        needs=needs(state, rules, offered) if rules and answering else (),
        payments=pays,
        current=current,
        transfers=transfers,
        transferred=all_marked(offered) if transfers else None,
        actions=_actions(state, offered, refused, wait=bool(puck or refused)),
        alert=with_call(unseen_press(table) or with_change_line(state, alert(state)), state, call)
        if answering
        else None,
        puck_due=puck,
        players=players_of(state, rules, may, answering=answering) if rules and is_between(state) else (),
        correction=_correction(state),
        awaits=awaits(state),
        refund=refund(state, may) if rules and is_between(state) else None,
        free=free_seats(state, rules, offered) if rules and is_between(state) else (),
        sheet=sheet(rules) if rules else None,
        down=down(state, rules, time),
        log_ons=log_ons(offered),
        last=payments(past.settlement, _all(past.settlement))[0] if past and not settlement else (),
        last_hand=past.hand if past and not settlement else None,
        past_hands=past_hands(state),
        more=(*call_groups(call, offered), *puck_elsewhere(state, puck, offered), *more(state, offered)),
        notices=_notices(state, may, refused) if answering else (),
        cues=_cues(state, rules, may, answering),
        used=cards_in_use(state),
    )


def _correction(state: State) -> Correction | None:
    table = state.suspended_state
    waits = table.hand if table is not None and table.phase in OPEN else None
    return Correction(state.hand, waits) if state.reopened else None


def _unit(state: State) -> str:
    """Describe what a point is worth: in the current hand, or between hands in the next one."""
    unit = state.opened.unit if state.opened else 0
    if state.phase in BETWEEN_HANDS:
        unit = state.house.unit or unit
    return money(unit) if unit else ""


def _all(settlement: RecordedSettlement) -> frozenset[tuple[int, int]]:
    return frozenset(pair.seats for pair in settlement.pairs)


# ---- the hand ----


def _phase(
    state: State,
    pays: Sequence[Payment],
    current: int | None,
    may: Offers,
    refused: Message | None,
    puck: PuckDue | None,
) -> tuple[str, str]:
    """Return the phase in a word or two, and the dealer's next step."""
    match state.phase:
        case Phase.IDLE:
            return _("Waiting for a hand"), _("Seat the players, then open a hand.")
        case Phase.DEALING:
            return _("Dealing"), dealing_words(state)
        case Phase.SETTING:
            return _("Setting"), _("Players set their rows and may declare. White push-button: showdown.")
        case Phase.PLACING:
            return placing_words(state, may.white_refused)
        case Phase.SHOWDOWN:
            return _("Showdown"), _("Turn all cards face up in their zones.")
        case Phase.READING if cards := awaits(state):
            return _("Reading"), cards.sentence
        case Phase.READING:
            return _("Reading"), _("Keep hands off the felt while the camera looks.")
        case Phase.REVIEW if state.questions:
            return _("Question open"), _("Nothing is settled until it is answered.")
        case Phase.REVIEW:
            return _("Comparing"), _("The rows are being compared.")
        case Phase.SETTLED if state.reopened:
            return (
                _("Hand %(hand)s is reopened", hand=f"{state.hand:,}"),
                _("%(reason)s. Correct it, then close it.", reason=say(state.reopened)),
            )
        case Phase.SETTLED:
            if current is None:
                return _("All paid"), _after_the_payments(refused, puck)
            moving = [pay for pay in pays if pay.state != "nothing"]
            number = moving.index(pays[current]) + 1
            return _("Payment %(number)s of %(all)s", number=number, all=len(moving)), ""
        case Phase.ARCHIVED:
            opens = "" if refused else _("White push-button: open the next hand.")
            return _("Hand %(hand)s is closed", hand=f"{state.hand:,}"), opens
        case Phase.VOID:
            ended = _("Hand %(hand)s is a misdeal") if state.misdealt else _("Hand %(hand)s is void")
            return (
                ended % {"hand": f"{state.hand:,}"},
                _("%(reason)s. Nothing was settled; open the next hand.", reason=say(state.void_reason)),
            )


def _white(words: str, state: State) -> str:
    """Return what white does; where there is no push-button, by the page's own field.

    In each language a sentence ends with what white does, after the same words.
    """
    if "panel" not in state.without:
        return words
    return words.replace(_("White push-button:"), _("White field on this page:"))


def _after_the_payments(refused: Message | None, puck: PuckDue | None) -> str:
    if refused:
        return _("Collect the cards. White push-button: close the hand.")
    return puck.sentence if puck else _("Collect the cards. White push-button: next hand.")


def _actions(state: State, may: Offers, refused: Message | None, *, wait: bool) -> tuple[Action, ...]:
    """Return the next step, white last. The white button names what white does, also while it waits for something."""
    white = may.white
    match state.phase:
        case Phase.IDLE | Phase.ARCHIVED | Phase.VOID:
            if may.payback:
                return refund_actions(may)
            tone: Tone = "wait" if wait else "go"
            opens = () if state.puck_awaited else may.of("next")
            return (*undo_close(may), *(Action.of(offer, tone=tone) for offer in opens))
        case Phase.SETTLED if state.settlement and not state.reopened:
            forward, back = marks(read_settlement(state.settlement), may)
            undo = (back,) if back else swap_undo_actions(may)[:1]
            if forward is not None or white is None or state.puck_awaited:
                return (*undo, *((forward,) if forward else ()))
            return (*undo, Action.of(white, tone="wait" if wait and not refused else "go"))
        case Phase.REVIEW:
            return ()
        case Phase.SHOWDOWN | Phase.READING:
            early = may.of("back_to_setting")[:1]
            return (*undo_close(may), *(Action.of(offer, tone="quiet") for offer in early))
    return (*undo_close(may), *((Action.of(white, tone="go"),) if white else ()))


def _devices(state: State, answering: bool) -> tuple[Device, ...]:
    if not answering:
        silent = (Device(device_name(name), None, _("unknown")) for name in DEVICES)
        return (*silent, Device(device_name("table"), False, _("not running")))
    has = tuple(name for name in DEVICES if PART_OF.get(name) not in state.without)
    names = (*has, *sorted(set(state.faults) - set(has)))
    return tuple(
        Device(device_name(name), name not in state.faults, say(state.faults.get(name, ""))) for name in names
    )


def _notices(state: State, may: Offers, refused: Message | None) -> tuple[str, ...]:
    """Return the notices next to the next step."""
    notices: list[str] = []
    if state.on_trial:
        notices.append(
            _("Devices are being tried in the set-up: until that is over the push-buttons do nothing.")
        )
    puck, due = state.puck, may.payback
    if (moves := puck_moves(state, may)) is not None:
        notices.append(moves)
    elif state.phase is Phase.DEALING and state.button is None and "puck" not in state.faults:
        notices.append(
            _(
                "%(trouble)s Lay the puck at its seat, or key the seat under “More”.",
                trouble=puck_words(state),
            )
        )
    elif state.phase in PUCK_COUNTS and puck.state == "seat" and state.button not in (None, puck.seat):
        notices.append(
            _(
                "The puck lies at seat %(seat)s; for this hand seat %(button)s counts.",
                seat=puck.seat,
                button=state.button,
            )
        )
    notices += [
        _(
            "Hand %(hand)s, corrected: %(payer)s pays %(amount)s back to %(winner)s.",
            hand=f"{back.hand:,}",
            payer=back.payer,
            amount=money(back.amount),
            winner=back.winner,
        )
        for number, back in enumerate(state.paybacks, start=1)
        if not back.paid and (due is None or number < due.command["number"])
    ]
    # before the first hand seats are still to fill
    is_said = state.phase is not Phase.IDLE or state.deck_unchecked or "rules" in state.faults
    if refused and due is None and is_said and "disk" not in state.faults:
        notices.append(say(refused))
    notices += swap_notices(state, may)
    if due is not None and due.refused:
        notices.append(say(due.refused))
    if state.reading_failure and state.phase is Phase.SETTLED and open_seats(state) and not state.keyed:
        notices.append(say(state.reading_failure))  # the placed cards settled
    if state.keyed and state.phase in OPEN:
        notices.append(_("This hand is keyed by the dealer: %(reason)s", reason=say(state.keyed)))
    if state.phase is Phase.REVIEW and not state.questions and may.white_refused:
        notices.append(say(may.white_refused))  # nothing is open, and the rules refuse to settle the hand
    return tuple(notices)


def _cues(state: State, rules: Profile | None, may: Offers, answering: bool) -> tuple[str, ...]:
    """Name the events worth a sound. A natural sounds when its verdict is shown, never before."""
    cues: list[str] = []
    if state.settlement is not None:
        fouls = (hand.seat for hand in read_settlement(state.settlement).hands if hand.is_foul)
        cues += [f"foul-{state.hand}-{seat}" for seat in fouls]
    elif confirm := may.first("confirm"):
        cues.append(f"natural-{state.hand}-{confirm.command['seat']}")
    elif rules:
        cues += [f"dead-{state.hand}-{seat}" for seat in sorted(dead_seats(state, rules))]
    faults = sorted(state.faults) if answering else ["table"]
    return (*cues, *(f"fault-{name}" for name in faults))
