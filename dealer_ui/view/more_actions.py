"""Further actions, one touch away: key the puck or a row, misdeal, void, an old hand, who plays next."""

from collections.abc import Iterable
from typing import Any

from dealer_ui.text.fantasyland_words import deal_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.i18n import ngettext
from dealer_ui.text.messages import say
from dealer_ui.text.words import money, row_name
from dealer_ui.view.payments import payments
from dealer_ui.view.questions import identified_cards
from dealer_ui.view.screen import Action, Amount, AwaitedSeats, Group, Pad
from dealer_ui.view.swaps import swap_groups
from firmware.messages import Message
from firmware.rules import LAID
from firmware.rules.recorded_settlement import read_settlement
from firmware.table.events import ROWS, Payback
from firmware.table.offers import Offer, Offers
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.state import Seat, State
from firmware.table.streets import all_streets, each_street, street, turn


def dealing_words(state: State) -> str:
    """Describe who gets cards face down before anything is placed."""
    closed = [seat.seat for seat in state.seats if not seat.open]
    if not closed:
        return _("Cards are placed face up, street by street. White push-button: placing begins.")
    cards = {seat.seat: seat.fantasyland_cards or LAID for seat in state.seats if not seat.open}
    if any(number > LAID for number in cards.values()):
        return deal_words(cards)
    if len(closed) == len(state.seats):
        return _("Deal every seat its cards, face down. White push-button: the cards are out.")
    return ngettext(
        "Deal seat %(seats)s its thirteen cards, face down. White push-button: placing begins.",
        "Deal seats %(seats)s their thirteen cards, face down. White push-button: placing begins.",
        len(closed),
        seats=", ".join(map(str, closed)),
    )


def placing_words(state: State, refused: Message | None) -> tuple[str, str]:
    """Describe where a face-up hand is and what the dealer does next; `refused`: why white does nothing."""
    now = street(state)
    if now is None:
        return _("All cards are placed"), say(refused) if refused else _("White push-button: showdown.")
    due = turn(state)
    each = each_street(state)
    title = _("Street %(street)s of %(all)s", street=now, all=all_streets(each))
    if due is None:
        return title, _("A placed card is set; the camera records it.")
    if now == 1:
        return title, _(
            "Seat %(seat)s places five cards. A placed card is set; the camera records it.", seat=due
        )
    if each == 2:
        return title, _(
            "Seat %(seat)s is dealt three cards, places two, and discards one face down, away from the rows.",
            seat=due,
        )
    return title, _("Seat %(seat)s places one card. A placed card is set; the camera records it.", seat=due)


def more(state: State, may: Offers) -> tuple[Group, ...]:
    """Return the groups of actions available now, apart from the next step."""
    return (*_hand_groups(state, may), *_between(state, may))


def _group(title: str, offered: Iterable[Offer], *, stops: bool = False, **how: Any) -> list[Group]:
    """Return the group of these offers; nothing if there is none."""
    actions = tuple(Action.of(offer, **how) for offer in offered)
    return [Group(title, actions, stops=stops)] if actions else []


def _hand_groups(state: State, may: Offers) -> list[Group]:
    early = may.of("back_to_setting")[:1] if state.phase is Phase.REVIEW else ()
    puck = [offer for offer in may.of("key_button") if _moves_puck(state, offer.command["seat"])]
    return [
        *swap_groups(state, may),
        *_group(_("The showdown came too early"), early, tone="quiet"),
        *_group(_("Without the camera"), may.of("key_hand")),
        *_group(_("The puck is at"), puck),
        *_group(_("Read again"), may.of("look_again", "undo_confirm")),
        *_closing(state, may),
        *_stopping(state, may),
    ]


def _moves_puck(state: State, seat: int) -> bool:
    return seat != state.button and state.seat(seat) is not None


def _stopping(state: State, may: Offers) -> list[Group]:
    """Return what ends the hand without a settlement."""
    dealt_again = _("Misdeal: nothing is settled, the puck stays, the cards are dealt again")
    misdeals = (offer for offer in may.of("misdeal") if not offer.also)
    void = (
        _("Void this hand: everything is paid back")
        if state.reopened
        else _("Void this hand: nothing is settled, nobody pays")
    )
    return [
        *_group(dealt_again, misdeals, stops=True, tone="warn"),
        *_group(void, may.of("void"), stops=True, tone="warn"),
    ]


def _closing(state: State, may: Offers) -> list[Group]:
    """Close the hand without opening the next. With open payments this is a held button, below the open ones."""
    close = may.of("archive")
    if not state.unpaid or state.settlement is None:
        return _group(_("Before the next hand"), close)
    pays, _now = payments(read_settlement(state.settlement), state.paid)
    still = ", ".join(
        f"{pay.label} {pay.amount}".replace(" ", "\N{NO-BREAK SPACE}")
        for pay in pays
        if pay.state in ("now", "later")
    )
    return _group(_("Close the hand: still to be paid %(payments)s", payments=still), close, tone="warn")


def awaits(state: State) -> AwaitedSeats | None:
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
    return AwaitedSeats(where, _("No cards") if state.awaited.empty else _("Cards are missing"), sentence)


def undo_close(may: Offers) -> tuple[Action, ...]:
    """Undo the closing of the last hand, until chips or players change or a card of the next hand is seen."""
    return tuple(Action.of(offer, tone="quiet", takes_back=True) for offer in may.of("undo_close"))


def seat_pads(state: State, seat: Seat, may: Offers) -> tuple[Pad, ...]:
    """Return the pads that key a seat's rows: whole rows, or while cards are placed the next card of each."""
    if state.phase is Phase.PLACING:
        return tuple(_next_card(seat, offer) for offer in may.of("place_card", seat=seat.seat))
    return tuple(_whole_row(seat, offer) for offer in may.of("key_row", seat=seat.seat))


def _whole_row(seat: Seat, offer: Offer) -> Pad:
    row = offer.command["row"]
    return Pad(
        _("Key the %(row)s", row=row_name(row)),
        {**offer.command},
        ROWS[row],
        _("Seat %(seat)s · %(row)s, left to right", seat=seat.seat, row=row_name(row)),
        identified_cards([card.card for card in seat.row(row) if card.sure], ROWS[row]),
    )


def _next_card(seat: Seat, offer: Offer) -> Pad:
    row = offer.command["row"]
    place = {"seat": seat.seat, "row": row_name(row), "number": len(seat.row(row)) + 1}
    title = _("Seat %(seat)s · %(row)s, card %(number)s", **place)
    return Pad(_("Next in %(row)s", row=row_name(row)), {**offer.command}, title=title)


def _between(state: State, may: Offers) -> list[Group]:
    backs = tuple(
        Action.of(
            offer,
            _("Take back: %(payer)s to %(winner)s, %(amount)s", **_sides(back))
            if back.paid
            else _("%(payer)s has paid %(amount)s back to %(winner)s", **_sides(back)),
        )
        for offer, back in zip(may.of("mark_paid_back"), state.paybacks, strict=False)
    )
    return [
        *([Group(_("Of corrected hands"), backs)] if backs and state.phase in BETWEEN_HANDS else ()),
        *_reopening(state, may),
        *_group(_("Two players"), may.of("two_hands")),
    ]


def _reopening(state: State, may: Offers) -> list[Group]:
    """Offer to reopen past hands; a hand that is being played waits meanwhile."""
    last = tuple(Action.of(offer) for offer in may.of("reopen") if not offer.asks)
    other = tuple(
        Amount(
            say(offer.words),
            {**offer.command},
            _("Which hand?"),
            least=1,
            most=past_hands(state)[0],
            into="past",
        )
        for offer in may.of("reopen")
        if offer.asks
    )
    title = _("A disputed hand") if state.phase in BETWEEN_HANDS else _("A disputed hand: this one waits")
    return [Group(title, last, amounts=other)] if last or other else []


def _sides(back: Payback) -> dict[str, str]:
    return {"payer": back.payer, "winner": back.winner, "amount": money(back.amount)}


def past_hands(state: State) -> tuple[int, ...]:
    """Return the last ten finished hands, the newest first."""
    table = state.suspended_state or state
    last = table.hand if table.phase in BETWEEN_HANDS else table.hand - 1
    return tuple(range(last, max(0, last - 10), -1))
