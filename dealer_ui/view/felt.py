"""The places of the felt: seats, rows, cards, and what may be touched there."""

from collections.abc import Mapping
from typing import Any, Final

from dealer_ui.text.fantasyland_words import fantasyland_words, next_words
from dealer_ui.text.hand_words import natural_name, row_text, row_words
from dealer_ui.text.i18n import gettext as _
from dealer_ui.text.words import card_name, money, money_with_sign, points_with_sign, row_name, trend
from dealer_ui.view.more_actions import seat_pads
from dealer_ui.view.payments import foul_reasons, row_outcomes
from dealer_ui.view.questions import likely, silent_surrender
from dealer_ui.view.screen import Action, Card, Face, Flag, Outcome, Pad, Payment, Row, Seat
from dealer_ui.view.swaps import pairs
from firmware.rules import Profile
from firmware.rules.recorded_settlement import RecordedHand, RecordedSettlement
from firmware.table.events import ROWS
from firmware.table.offers import NO_OFFERS, Offers
from firmware.table.phase import Phase
from firmware.table.state import Ask, Question, State
from firmware.table.state import Card as TableCard
from firmware.table.state import Seat as TableSeat
from firmware.table.streets import dead_seats, turn

PLACES: Final = "ABCD"
Spots = frozenset[tuple[int, str, int]]
"""Cards on the felt: seat, row, and index from 0."""
FACES_READ: Final = frozenset({Phase.REVIEW, Phase.SETTLED, Phase.ARCHIVED, Phase.VOID})
"""Phases in which the record may hold the cards of closed seats."""


def felt_seats(
    state: State,
    rules: Profile | None,
    settlement: RecordedSettlement | None,
    payment: Payment | None,
    may: Offers,
    answering: bool,
) -> tuple[Seat, ...]:
    """Return the four places of the felt, with the seats that play there; `payment` is the one to be made now."""
    swapped = frozenset((one.seat, one.row, one.index) for pair in pairs(state, may) for one in pair)
    offered = may if answering else NO_OFFERS
    by_place = {seat.place: seat for seat in state.seats}
    outcomes: dict[int, dict[str, Outcome]] = {}
    if payment is not None and settlement is not None:
        now = next(pair for pair in settlement.pairs if {*pair.seats} == {payment.payer, payment.winner})
        outcomes = row_outcomes(now)
    return tuple(
        _seat(state, rules, by_place[place], settlement, outcomes, payment, offered, swapped)
        if place in by_place
        else Seat(place)
        for place in PLACES
    )


def _seat(
    state: State,
    rules: Profile | None,
    seat: TableSeat,
    settlement: RecordedSettlement | None,
    outcomes: Mapping[int, Mapping[str, Outcome]],
    payment: Payment | None,
    may: Offers,
    swapped: Spots,
) -> Seat:
    hand = settlement.hand(seat.seat) if settlement else None
    total = settlement.paid.get(seat.seat) if settlement else None
    return Seat(
        place=seat.place,
        seat=seat.seat,
        player=seat.player,
        button=seat.seat == state.button,
        role=_role(seat.seat, payment),
        moves=payment.amount if payment else "",
        paying=payment is not None,
        points=points_with_sign(settlement.points[seat.seat]) if settlement and total is not None else "",
        total=money_with_sign(total) if total is not None else "",
        trend=trend(total or 0),
        rows=tuple(
            _row(state, seat, row, hand, outcomes.get(seat.seat, {}).get(row, ""), may, swapped)
            for row in ROWS
        ),
        flags=_flags(
            state, rules, seat, hand, foul_reasons(settlement).get(seat.seat, "") if settlement else ""
        ),
        actions=_seat_actions(state, seat, may),
        pads=seat_pads(state, seat, may),
        stack=money(seat.stack) if seat.stack is not None else "",
        due=turn(state) == seat.seat,
        looked=_cards_seen(state, seat),
    )


def _cards_seen(state: State, seat: TableSeat) -> Any:
    """Return `Seat.looked`: what the camera has seen of a seat's cards while cards are awaited."""
    awaited = state.awaited
    if state.phase is not Phase.READING or awaited is None or seat.open or seat.surrenders or seat.confirmed:
        return ""
    if seat.seat in awaited.seats:
        return "none" if seat.seat in awaited.empty else "short"
    sure = [card != "??" for row in awaited.shown if row.seat == seat.seat for card in row.cards]
    return "read" if sure and all(sure) else "seen"


def _role(seat: int, payment: Payment | None) -> Any:
    if payment is None:
        return ""
    return {payment.payer: "pays", payment.winner: "collects"}.get(seat, "")


def _flags(
    state: State, rules: Profile | None, seat: TableSeat, hand: RecordedHand | None, why: str
) -> tuple[Flag, ...]:
    flags: list[Flag] = []
    if seat.fantasyland and not hand:
        flags.append(Flag("fantasyland", fantasyland_words(seat.fantasyland_cards)))
    if rules and seat.seat in dead_seats(state, rules):
        flags.append(Flag("dead", _("Dead hand")))
    if seat.surrenders:
        flags.append(Flag("surrender", _("Surrendered")))
    void = hand is not None and hand.declaration == "voided_by_foul"
    if hand and hand.is_foul:  # no room for the reason next to "Natural void"; the payment's lines give it
        flags.append(Flag("foul", _("FOUL · %(why)s", why=why) if why and not void else _("FOUL")))
    if hand and hand.natural:
        flags.append(Flag("natural", _("Natural · %(kind)s", kind=natural_name(hand.natural))))
    elif hand and hand.is_foul:  # the foul is the important part, and needs the room
        if void:
            flags.append(Flag("asked", _("Natural void")))
    elif seat.declares:
        flags.append(Flag("asked", _("Natural not verified") if seat.confirmed else _("Natural declared")))
    elif seat.found:
        flags.append(Flag("asked", _("Natural found")))
    if hand and hand.fantasyland_next:
        kept = seat.fantasyland  # the words differ: who stays in Fantasy Land has to announce it
        flags.append(Flag("fantasyland", next_words(hand.fantasyland_cards, kept=kept)))
    return tuple(flags)


def _seat_actions(state: State, seat: TableSeat, may: Offers) -> tuple[Action, ...]:
    if _cards_seen(state, seat) == "none":  # perhaps the player surrendered, and nobody keyed it
        return silent_surrender(may, seat, _("Surrendered"), "warn")
    offered = may.of("declare", "surrender", "withdraw", "withdraw_surrender", seat=seat.seat)
    return tuple(map(Action.of, offered))


def _row(
    state: State,
    seat: TableSeat,
    row: Any,
    hand: RecordedHand | None,
    outcome: Outcome,
    may: Offers,
    swapped: Spots,
) -> Row:
    judged = hand.rows.get(row) if hand else None
    called = judged.category if judged else None
    category, detail = row_words(called, judged.cards) if judged and called else ("", "")
    return Row(
        row=row,
        name=row_name(row),
        cards=_cards(state, seat, row, may, swapped),
        category=category,
        detail=detail,
        text=row_text(called, judged.cards) if judged and called else "",
        bonus=judged.bonus if judged else 0,
        outcome=outcome,
    )


def _cards(state: State, seat: TableSeat, row: Any, may: Offers, swapped: Spots) -> tuple[Card, ...]:
    count = ROWS[row]
    if state.phase not in FACES_READ and not seat.open:
        if state.phase is Phase.READING and not seat.surrenders:
            return _row_while_awaited(state, seat, row, count)
        lying: Face = "empty" if state.phase in (Phase.IDLE, Phase.DEALING) else "back"
        return (Card(lying),) * count
    lie = seat.row(row)
    not_laid = (Card("empty"),) * (count - len(lie)) if seat.open else ()
    if seat.open and not lie:
        return not_laid
    if not lie:
        if seat.surrenders:
            return (Card("back"),) * count
        return (Card("unread" if state.phase is Phase.REVIEW else "empty"),) * count
    doubtful = {
        (q.row, q.index)
        for q in state.questions
        if q.what in (Ask.CARD, Ask.DUPLICATE) and q.seat == seat.seat
    }
    return (
        tuple(
            Card(
                face="up" if card.sure and card.card else "unread",
                code=card.card if card.sure and card.card else "",
                asked=(row, index) in doubtful,
                swapped=(seat.seat, row, index) in swapped,
                pad=_correction(state, seat.seat, row, index, card, may),
            )
            for index, card in enumerate(lie)
        )
        + not_laid
    )


def _row_while_awaited(state: State, seat: TableSeat, row: Any, count: int) -> tuple[Card, ...]:
    """Return what the camera has seen of a row while other cards are awaited: nothing of it is settled."""
    shown = state.awaited.shown if state.awaited else ()
    seen = next((one.cards for one in shown if (one.seat, one.row) == (seat.seat, row)), ())
    cards = tuple(Card("unread") if code == "??" else Card("up", code) for code in seen[:count])
    return cards + (Card("unseen"),) * (count - len(cards))


def _correction(state: State, seat: int, row: str, index: int, lies: TableCard, may: Offers) -> Pad | None:
    offer = may.first("set_card", seat=seat, row=row, index=index)
    if offer is None:
        return None
    place = {"seat": seat, "row": row_name(row), "number": index + 1}
    code = lies.card
    return Pad(
        _("Seat %(seat)s · %(row)s, card %(number)s (now the %(card)s)", card=card_name(code), **place)
        if code
        else _("Seat %(seat)s · %(row)s, card %(number)s", **place),
        {**offer.command},
        likely=likely(
            state, code, next((q.cards for q in state.questions if _is_of(q, seat, row, index)), ())
        ),
    )


def _is_of(question: Question, seat: int, row: str, index: int) -> bool:
    is_card = question.what is Ask.CARD
    return is_card and (question.seat, question.row, question.index) == (seat, row, index)
