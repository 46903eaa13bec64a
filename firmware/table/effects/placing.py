"""Effects of the events while open seats place their cards, and of irregularities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.messages import Message
from firmware.table import events as ev
from firmware.table.checks import need_card, need_open_seat, need_reason, need_room, with_seat
from firmware.table.errors import CommandRefused
from firmware.table.events import Event, Row
from firmware.table.events.placing import Stands
from firmware.table.phase import Phase
from firmware.table.state import Card, Seat, State


def as_card(read: ev.CardReading) -> Card:
    """Return the card of a camera reading. Raises CommandRefused for an invalid card."""
    if read.card is not None:
        need_card(read.card)
    elif read.sure:
        raise CommandRefused("A card cannot be sure and unknown at once.")
    return Card(read.card, read.sure, "camera", read.confidence, read.candidates, read.corners)


def _captured(seat: Seat, row: Row, capture: ev.Capture | None) -> dict[Row, ev.Capture]:
    return {**seat.captures, row: capture} if capture else dict(seat.captures)


def _card_placed(state: State, event: ev.CardPlaced) -> State:
    seat = need_open_seat(state, event.seat)
    need_room(seat, event.row)
    cards = (*seat.row(event.row), as_card(event.card))
    captures = _captured(seat, event.row, event.capture)
    return replace(state, seats=with_seat(state, event.seat, captures=captures, **{event.row: cards}))


def _card_reread(state: State, event: ev.CardReread) -> State:
    seat = need_open_seat(state, event.seat)
    cards = seat.row(event.row)
    if not 0 <= event.index < len(cards) or cards[event.index].sure:
        raise CommandRefused("No unsure card lies there; a certain one changes by the dealer's word only.")
    if not event.card.sure:
        raise CommandRefused("That look is no surer.")
    cards = (*cards[: event.index], as_card(event.card), *cards[event.index + 1 :])
    captures = _captured(seat, event.row, event.capture)
    return replace(state, seats=with_seat(state, event.seat, captures=captures, **{event.row: cards}))


def _irregularity_seen(state: State, event: ev.IrregularitySeen) -> State:
    need_open_seat(state, event.seat)
    if event.to_seat is not None:
        need_open_seat(state, event.to_seat)
    if event.number != state.irregularities_seen + 1:
        raise CommandRefused(
            "Irregularity %(number)s does not follow %(last)s.",
            number=event.number,
            last=state.irregularities_seen,
        )
    if event.seen is not None:
        as_card(event.seen)
    return replace(state, irregularities=(*state.irregularities, event), irregularities_seen=event.number)


def _irregularity_ended(state: State, event: ev.IrregularityEnded) -> State:
    seen = next((i for i in state.irregularities if i.number == event.number), None)
    if seen is None:
        raise CommandRefused("Irregularity %(number)s is not open.", number=event.number)
    if state.phase is Phase.REVIEW and event.by == "camera":
        raise CommandRefused("The camera does not look now.")
    rest = tuple(i for i in state.irregularities if i.number != event.number)
    dismissed = state.dismissed | {seen.finding} if event.by == "dealer" else state.dismissed
    state = replace(state, irregularities=rest, dismissed=dismissed)
    if event.by == "dealer":
        return _dealer_said(state, seen, event.stands)
    if event.stands == "table":
        raise CommandRefused("What lies on the table stands by the dealer's word only.")
    return state


def _dealer_said(state: State, seen: ev.IrregularitySeen, stands: Stands) -> State:
    match seen.what, stands:
        case "card_twice", _:
            raise CommandRefused("Say which of the two is another card.")
        case (("extra_card" | "face_down"), "table"):
            raise CommandRefused("That cannot stand: take it away, key the row, or void the hand.")
        case "out_of_turn", "table":
            return state
        case "out_of_turn", "record":
            return _without(state, seen)
        case "card_moved", "table":
            return _moved(state, seen)
        case "card_missing", "table":
            return _without(state, seen)
        case "card_changed", _:
            return _changed(state, seen, stands)
    return state


def _lying(state: State, seen: ev.IrregularitySeen) -> tuple[Seat, int]:
    """Return the recorded card's seat and current index, which changes when cards before it are removed."""
    seat = need_open_seat(state, seen.seat)
    cards = seat.row(seen.row)
    index = next((k for k, card in enumerate(cards) if seen.card and card.card == seen.card), seen.index)
    if index is None or not 0 <= index < len(cards):
        raise CommandRefused("The record has no such card any more; answer with the record.")
    return seat, index


def _without(state: State, seen: ev.IrregularitySeen) -> State:
    seat, index = _lying(state, seen)
    cards = seat.row(seen.row)
    rest = {seen.row: (*cards[:index], *cards[index + 1 :])}
    return replace(state, seats=with_seat(state, seat.seat, **rest))


def _moved(state: State, seen: ev.IrregularitySeen) -> State:
    seat, index = _lying(state, seen)
    assert seen.to_seat is not None
    assert seen.to_row is not None
    card = seat.row(seen.row)[index]
    card = replace(card, corners=seen.seen.corners if seen.seen else ())
    state = _without(state, seen)
    to = need_open_seat(state, seen.to_seat)
    return replace(state, seats=with_seat(state, to.seat, **{seen.to_row: (*to.row(seen.to_row), card)}))


def _changed(state: State, seen: ev.IrregularitySeen, stands: Stands) -> State:
    """Set the card that the dealer confirmed, and remember the camera's name for it."""
    seat, index = _lying(state, seen)
    assert seen.seen is not None
    cards = seat.row(seen.row)
    code = seen.seen.card if stands == "table" else cards[index].card
    card = replace(
        cards[index], card=code, sure=True, by="dealer", seen=seen.seen.card, corners=seen.seen.corners
    )
    return replace(
        state, seats=with_seat(state, seat.seat, **{seen.row: (*cards[:index], card, *cards[index + 1 :])})
    )


def _keying_begun(state: State, event: ev.KeyingBegun) -> State:
    need_reason(event.reason, Message("Say why the hand is keyed."))
    if state.keyed:
        raise CommandRefused("This hand is keyed already.")
    waits = state.phase in (Phase.SETTING, Phase.PLACING)
    return replace(
        state,
        phase=state.phase if waits else Phase.REVIEW,
        keyed=event.reason,
        reading_failure="" if waits else event.reason,
    )


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.CardPlaced: _card_placed,
    ev.CardReread: _card_reread,
    ev.IrregularitySeen: _irregularity_seen,
    ev.IrregularityEnded: _irregularity_ended,
    ev.KeyingBegun: _keying_begun,
}
