"""Effects of the events from the reading of the cards to the last payment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.table import events as ev
from firmware.table.checks import (
    back_to_review,
    need_card,
    need_no_payment,
    need_open_seat,
    need_seat,
    with_seat,
)
from firmware.table.errors import CommandRefused
from firmware.table.events import ROWS, Event, Row
from firmware.table.phase import Phase
from firmware.table.state import Ask, Card, Seat, State


def _cards_awaited(state: State, event: ev.CardsAwaited) -> State:
    for number in event.seats:
        need_seat(state, number)
    return replace(state, awaited=event)


def _setting_resumed(state: State, _: ev.SettingResumed) -> State:
    """Go back to setting or placing: the cards of closed seats are dropped, because they will be shown again."""
    if state.reopened:
        raise CommandRefused("A past hand is on the page; its players set it long ago.")
    nothing: dict[str, Any] = dict.fromkeys(ROWS, ())
    seats = tuple(
        replace(seat, found=False, confirmed=False)
        if seat.open
        else replace(seat, found=False, confirmed=False, captures={}, things={}, **nothing)
        for seat in state.seats
    )
    return replace(
        state,
        phase=Phase.PLACING if any(seat.open for seat in seats) else Phase.SETTING,
        seats=seats,
        frame=None,
        verdicts={},
        reading_failure="",
        awaited=None,
        dismissed=frozenset(),
    )


def _reading_taken(state: State, event: ev.ReadingTaken) -> State:
    seen: dict[int, dict[Row, ev.RowReading]] = {seat.seat: {} for seat in state.seats}
    for reading in event.rows:
        need_seat(state, reading.seat)
        if reading.row in seen[reading.seat]:
            raise CommandRefused(
                "Seat %(seat)s's %(row)s row was read twice in one reading.",
                seat=reading.seat,
                row=reading.row,
            )
        for card in reading.cards:
            if card.card is not None:
                need_card(card.card)
            elif card.sure:
                raise CommandRefused("A card cannot be sure and unknown at once.")
        seen[reading.seat][reading.row] = reading
    things: dict[int, dict[Row, tuple[str, ...]]] = {seat.seat: {} for seat in state.seats}
    for thing in event.things:
        need_seat(state, thing.seat)
        lying = things[thing.seat]
        lying[thing.row] = (*lying.get(thing.row, ()), thing.what)
    seats = tuple(_after_look(seat, seen[seat.seat], things[seat.seat]) for seat in state.seats)
    return replace(
        state,
        phase=Phase.REVIEW,
        seats=seats,
        frame=event.frame,
        verdicts=event.verdicts,
        reading_failure="",
        awaited=None,
    )


def _after_look(
    seat: Seat, rows: Mapping[Row, ev.RowReading], things: Mapping[Row, tuple[str, ...]] | None = None
) -> Seat:
    """Return a seat after a reading: a closed seat takes the camera's cards.

    A confirmed natural keeps its cards, because the marker on it hides them. An open seat keeps its recorded cards;
    differences from them become irregularities.
    """
    if seat.open:
        return replace(seat, captures={**seat.captures, **_captures(rows)})
    if seat.confirmed:
        return seat
    cards: dict[str, Any] = {
        row: tuple(
            Card(c.card, c.sure, "camera", c.confidence, c.candidates, c.corners)
            for c in (rows[row].cards if row in rows else ())
        )
        for row in ROWS
    }
    return replace(seat, captures=_captures(rows), things=things or {}, found=False, **cards)


def _captures(rows: Mapping[Row, ev.RowReading]) -> dict[Row, ev.Capture]:
    return {row: reading.capture for row, reading in rows.items() if reading.capture is not None}


def _reading_failed(state: State, event: ev.ReadingFailed) -> State:
    seats = tuple(_after_look(seat, {}) for seat in state.seats)
    return replace(
        state,
        phase=Phase.REVIEW,
        seats=seats,
        frame=event.frame,
        verdicts={},
        reading_failure=event.reason,
        awaited=None,
    )


def _looked_again(state: State, _: ev.LookedAgain) -> State:
    need_no_payment(state)
    if state.reopened:
        raise CommandRefused(
            "A past hand is on the page; its cards no longer lie on the table. Correct it by its pictures."
        )
    seats = tuple(replace(seat, found=seat.found and seat.confirmed) for seat in state.seats)
    return replace(
        state,
        phase=Phase.READING,
        seats=seats,
        settlement=None,
        keyed="",
        awaited=None,
        dismissed=frozenset(),
    )


def _put_card(state: State, number: int, row: Row, index: int, card: str) -> tuple[Card, tuple[Seat, ...]]:
    """Return the previous card and the seats with the dealer's card in its place."""
    if state.phase is Phase.PLACING:
        need_open_seat(state, number)
    cards = need_seat(state, number).row(row)
    need_card(card)
    if not 0 <= index < len(cards):
        raise CommandRefused(
            "Seat %(seat)s's %(row)s row has %(count)s cards; there is none at %(index)s. Key the whole row.",
            seat=number,
            row=row,
            count=len(cards),
            index=index,
        )
    before = cards[index]
    seen = before.card if before.by == "camera" else before.seen
    named = replace(before, card=card, sure=True, by="dealer", seen=seen)
    return before, with_seat(state, number, **{row: (*cards[:index], named, *cards[index + 1 :])})


def _card_resolved(state: State, event: ev.CardResolved) -> State:
    before, seats = _put_card(state, event.seat, event.row, event.index, event.card)
    if before.sure:
        raise CommandRefused("That card is certain (%(card)s); correct it instead.", card=str(before.card))
    return replace(state, seats=seats)


def _card_corrected(state: State, event: ev.CardCorrected) -> State:
    before, seats = _put_card(state, event.seat, event.row, event.index, event.card)
    if not before.sure:
        raise CommandRefused("That card is unsure; answer it instead.")
    if before.card == event.card:
        raise CommandRefused("That card is already %(card)s.", card=event.card)
    return back_to_review(state, seats=_unconfirm(seats, event.seat))


def _row_keyed(state: State, event: ev.RowKeyed) -> State:
    size = ROWS[event.row]
    placing = state.phase is Phase.PLACING
    seat = need_open_seat(state, event.seat) if placing else need_seat(state, event.seat)
    if len(event.cards) > size or (len(event.cards) < size and not placing):
        raise CommandRefused(
            "A %(row)s row has %(size)s cards, not %(count)s.",
            row=event.row,
            size=size,
            count=len(event.cards),
        )
    for card in event.cards:
        need_card(card)
    lie = {card.card: card for card in seat.row(event.row)}
    cards = tuple(
        replace(lie[code], sure=True, by="dealer") if code in lie else Card(code, True, "dealer")
        for code in event.cards
    )
    things = {row: what for row, what in seat.things.items() if row != event.row}
    seats = with_seat(state, event.seat, things=things, **{event.row: cards})
    return back_to_review(state, seats=_unconfirm(seats, event.seat))


def _unconfirm(seats: tuple[Seat, ...], number: int) -> tuple[Seat, ...]:
    """Remove a seat's confirmation: with other cards, its natural must be found and confirmed again."""
    return tuple(
        replace(seat, found=False, confirmed=False) if seat.seat == number else seat for seat in seats
    )


def _natural_found(state: State, event: ev.NaturalFound) -> State:
    if any(question.what is not Ask.NATURAL for question in state.questions):
        raise CommandRefused("No natural is looked for while the cards or the button are in question.")
    return replace(state, seats=with_seat(state, event.seat, found=True))


def _natural_confirmed(state: State, event: ev.NaturalConfirmed) -> State:
    seat = need_seat(state, event.seat)
    if not (seat.declares or seat.found) or seat.confirmed:
        raise CommandRefused("Seat %(seat)s has no natural that waits for confirmation.", seat=event.seat)
    if any(question.what is not Ask.NATURAL for question in state.questions):
        raise CommandRefused(
            "Answer what is open about the cards and the button first; then confirm the natural."
        )
    return replace(state, seats=with_seat(state, event.seat, confirmed=True))


def _natural_unconfirmed(state: State, event: ev.NaturalUnconfirmed) -> State:
    if not need_seat(state, event.seat).confirmed:
        raise CommandRefused("Seat %(seat)s has no confirmed natural.", seat=event.seat)
    need_no_payment(state)
    return back_to_review(state, seats=with_seat(state, event.seat, confirmed=False))


def _settled(state: State, event: ev.Settled) -> State:
    if state.questions:
        raise CommandRefused(
            "%(count)s questions are open; nothing is settled before they are answered.",
            count=len(state.questions),
        )
    if event.settlement.get("irregularities") or "error" in event.settlement:
        raise CommandRefused("The rules found the hand irregular; correct a card or a row, or void the hand.")
    return replace(
        state,
        phase=Phase.SETTLED,
        settlement=event.settlement,
        settlements=state.settlements + 1,
        paid=frozenset(),
    )


def _payment_marked(state: State, event: ev.PaymentMarked) -> State:
    if state.reopened:
        raise CommandRefused("A past hand is on the page; close it, then mark what is paid back.")
    pair = (event.a, event.b)
    pairs = (state.settlement or {}).get("pairs", [])
    if not any((p["a"], p["b"]) == pair and p["paid"] for p in pairs):
        raise CommandRefused("Nothing is to be paid between seats %(a)s and %(b)s.", a=event.a, b=event.b)
    return replace(state, paid=state.paid | {pair} if event.paid else state.paid - {pair})


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.CardsAwaited: _cards_awaited,
    ev.SettingResumed: _setting_resumed,
    ev.ReadingTaken: _reading_taken,
    ev.ReadingFailed: _reading_failed,
    ev.LookedAgain: _looked_again,
    ev.CardResolved: _card_resolved,
    ev.CardCorrected: _card_corrected,
    ev.RowKeyed: _row_keyed,
    ev.NaturalFound: _natural_found,
    ev.NaturalConfirmed: _natural_confirmed,
    ev.NaturalUnconfirmed: _natural_unconfirmed,
    ev.Settled: _settled,
    ev.PaymentMarked: _payment_marked,
}
