"""What each event does to the state: the transition table and one small function an event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.rules import CARDS as DECK
from firmware.rules import SEATS
from firmware.table import events as ev
from firmware.table.errors import NotNow
from firmware.table.events import ROWS, Event, Puck, Row
from firmware.table.phase import (
    BETWEEN_HANDS,
    BUTTON_FOLLOWS_PUCK,
    DECLARING,
    OPEN,
    SURRENDERING,
    Phase,
)
from firmware.table.state import INITIAL, Ask, Card, Seat, State

CARDS: Final = frozenset(card.code for card in DECK)


def _stays(phases: Iterable[Phase]) -> dict[Phase, frozenset[Phase]]:
    return {phase: frozenset({phase}) for phase in phases}


def _leads(phases: Iterable[Phase], *to: Phase) -> dict[Phase, frozenset[Phase]]:
    return {phase: frozenset(to) for phase in phases}


_ANSWERED: Final = _leads((Phase.REVIEW, Phase.SETTLED), Phase.REVIEW)

TRANSITIONS: Final[Mapping[type[Event], Mapping[Phase, frozenset[Phase]]]] = {
    ev.TableStarted: _stays(Phase),
    ev.DeviceFault: _stays(Phase),
    ev.DeviceRecovered: _stays(Phase),
    ev.PuckSeen: _stays(Phase),
    ev.HandOpened: _leads(BETWEEN_HANDS, Phase.DEALING),
    ev.ButtonKeyed: {**_stays(OPEN), Phase.SETTLED: frozenset({Phase.REVIEW})},
    ev.PhaseAdvanced: {
        Phase.DEALING: frozenset({Phase.SETTING}),
        Phase.SETTING: frozenset({Phase.SHOWDOWN}),
        Phase.SHOWDOWN: frozenset({Phase.READING}),
    },
    ev.NaturalDeclared: _stays(DECLARING),
    ev.NaturalWithdrawn: _stays(DECLARING),
    ev.Surrendered: _stays(SURRENDERING),
    ev.SurrenderWithdrawn: _stays(SURRENDERING),
    ev.ReadingTaken: _leads((Phase.READING,), Phase.REVIEW),
    ev.ReadingFailed: _leads((Phase.READING,), Phase.REVIEW),
    ev.LookedAgain: _leads((Phase.REVIEW, Phase.SETTLED), Phase.READING),
    ev.CardResolved: _stays((Phase.REVIEW,)),
    ev.CardCorrected: _ANSWERED,
    ev.RowKeyed: _ANSWERED,
    ev.NaturalConfirmed: _stays((Phase.REVIEW,)),
    ev.NaturalUnconfirmed: _ANSWERED,
    ev.Settled: _leads((Phase.REVIEW,), Phase.SETTLED),
    ev.PaymentMarked: _stays((Phase.SETTLED,)),
    ev.HandArchived: _leads((Phase.SETTLED,), Phase.ARCHIVED),
    ev.HandVoided: _leads(OPEN, Phase.VOID),
}
"""Event → the phases it may happen in → the phases it may lead to. What is not in here is refused."""


def apply(state: State, event: Event) -> State:
    """Return the state after the event. Pure.

    Raises NotNow, with a sentence, for an event that the state does not allow.
    """
    leads = TRANSITIONS[type(event)].get(state.phase)
    if leads is None:
        raise NotNow(f"{_words(event)} is not possible while the hand is in {state.phase}.")
    after = _EFFECTS[type(event)](state, event)
    if after.phase not in leads:
        raise NotNow(f"{_words(event)} does not lead from {state.phase} to {after.phase}.")
    return after


def fold(events: Iterable[Event], state: State = INITIAL) -> State:
    """Return the state after all the events."""
    for event in events:
        state = apply(state, event)
    return state


def _words(event: Event) -> str:
    return event.type.replace("_", " ").capitalize()


# ---- checks ----


def _need_seat(state: State, number: int) -> Seat:
    seat = state.seat(number)
    if seat is None:
        raise NotNow(f"Seat {number} does not play this hand.")
    return seat


def _need_antenna(number: int | None) -> None:
    if number not in SEATS:
        raise NotNow(f"There is no seat {number}; seats are {SEATS[0]} to {SEATS[-1]}.")


def _need_card(card: str) -> None:
    if card not in CARDS:
        raise NotNow(f"{card!r} is no card; cards are a rank of 23456789TJQKA and a suit of cdhs, like Th.")


def _with_seat(state: State, number: int, **changes: Any) -> tuple[Seat, ...]:
    _need_seat(state, number)
    return tuple(replace(seat, **changes) if seat.seat == number else seat for seat in state.seats)


def _back_to_review(state: State, **changes: Any) -> State:
    """A change to what a settlement stood on: the settlement and its marks are gone, the journal has them."""
    return replace(state, phase=Phase.REVIEW, settlement=None, paid=frozenset(), **changes)


# ---- effects ----


def _table_started(state: State, _: ev.TableStarted) -> State:
    return replace(_puck(state, Puck()), faults={})


def _device_fault(state: State, event: ev.DeviceFault) -> State:
    return replace(state, faults={**state.faults, event.device: event.detail})


def _device_recovered(state: State, event: ev.DeviceRecovered) -> State:
    return replace(state, faults={name: why for name, why in state.faults.items() if name != event.device})


def _puck(state: State, puck: Puck) -> State:
    follows = state.phase in BUTTON_FOLLOWS_PUCK and not state.button_keyed
    return replace(state, puck=puck, button=puck.seat if follows else state.button)


def _puck_seen(state: State, event: ev.PuckSeen) -> State:
    if event.state == "seat":
        _need_antenna(event.seat)
    elif event.seat is not None:
        raise NotNow(f"A puck that is {event.state} lies at no seat.")
    return _puck(state, Puck(event.state, event.seat, event.detail))


def _button_keyed(state: State, event: ev.ButtonKeyed) -> State:
    _need_antenna(event.seat)
    keyed = replace(state, button=event.seat, button_keyed=True)
    if state.phase is not Phase.SETTLED:
        return keyed
    _need_no_payment(state)
    return _back_to_review(keyed)


def _hand_opened(state: State, event: ev.HandOpened) -> State:
    if event.hand != state.hand + 1 and state.opened is not None:
        raise NotNow(f"Hand {event.hand} cannot follow hand {state.hand}.")
    if not 2 <= len(event.seats) <= 4:
        raise NotNow(f"Two to four seats play a hand, not {len(event.seats)}.")
    for name, values in (
        ("seat", [seat.seat for seat in event.seats]),
        ("place", [seat.place for seat in event.seats]),
    ):
        if len(set(values)) != len(values):
            raise NotNow(f"One {name} is given to two hands; give each its own.")
    for seat in event.seats:
        _need_antenna(seat.seat)
    if event.button is not None:
        _need_antenna(event.button)
    return State(
        phase=Phase.DEALING,
        hand=event.hand,
        opened=event,
        seats=tuple(Seat(s.seat, s.player, s.place, s.stack) for s in event.seats),
        button=event.button,
        puck=event.puck,
        stacks={s.player: s.stack for s in event.seats},
        faults=event.faults,
    )


def _phase_advanced(state: State, event: ev.PhaseAdvanced) -> State:
    return replace(state, phase=event.to)


def _natural_declared(state: State, event: ev.NaturalDeclared) -> State:
    seat = _need_seat(state, event.seat)
    if seat.surrenders:
        raise NotNow(f"Seat {event.seat} has surrendered; it cannot declare a natural.")
    if seat.declares:
        raise NotNow(f"Seat {event.seat} has already declared.")
    return replace(state, seats=_with_seat(state, event.seat, declares=True, confirmed=False))


def _natural_withdrawn(state: State, event: ev.NaturalWithdrawn) -> State:
    seat = _need_seat(state, event.seat)
    if not seat.declares:
        raise NotNow(f"Seat {event.seat} has not declared a natural.")
    if seat.confirmed:
        raise NotNow(f"Seat {event.seat}'s natural is confirmed; take the confirmation back first.")
    return replace(state, seats=_with_seat(state, event.seat, declares=False))


def _surrendered(state: State, event: ev.Surrendered) -> State:
    seat = _need_seat(state, event.seat)
    if seat.declares:
        raise NotNow(f"Seat {event.seat} has declared a natural; it cannot surrender.")
    if seat.surrenders:
        raise NotNow(f"Seat {event.seat} has already surrendered.")
    return replace(state, seats=_with_seat(state, event.seat, surrenders=True))


def _surrender_withdrawn(state: State, event: ev.SurrenderWithdrawn) -> State:
    if not _need_seat(state, event.seat).surrenders:
        raise NotNow(f"Seat {event.seat} has not surrendered.")
    return replace(state, seats=_with_seat(state, event.seat, surrenders=False))


def _reading_taken(state: State, event: ev.ReadingTaken) -> State:
    seen: dict[int, dict[Row, ev.RowReading]] = {seat.seat: {} for seat in state.seats}
    for reading in event.rows:
        _need_seat(state, reading.seat)
        if reading.row in seen[reading.seat]:
            raise NotNow(f"Seat {reading.seat}'s {reading.row} row was read twice in one reading.")
        for card in reading.cards:
            if card.card is not None:
                _need_card(card.card)
            elif card.sure:
                raise NotNow("A card cannot be sure and unknown at once.")
        seen[reading.seat][reading.row] = reading
    seats = tuple(seat if seat.confirmed else _as_read(seat, seen[seat.seat]) for seat in state.seats)
    return replace(
        state,
        phase=Phase.REVIEW,
        seats=seats,
        frame=event.frame,
        verdicts=event.verdicts,
        reading_failure="",
    )


def _as_read(seat: Seat, rows: Mapping[Row, ev.RowReading]) -> Seat:
    """Callers keep a confirmed natural's seat as it was: the marker laid on it hides its cards."""
    cards: dict[str, Any] = {
        row: tuple(
            Card(c.card, c.sure, "camera", c.confidence, c.candidates, c.corners)
            for c in (rows[row].cards if row in rows else ())
        )
        for row in ROWS
    }
    captures = {row: reading.capture for row, reading in rows.items() if reading.capture is not None}
    return replace(seat, captures=captures, **cards)


def _reading_failed(state: State, event: ev.ReadingFailed) -> State:
    seats = tuple(seat if seat.confirmed else _as_read(seat, {}) for seat in state.seats)
    return replace(
        state, phase=Phase.REVIEW, seats=seats, frame=event.frame, verdicts={}, reading_failure=event.reason
    )


def _need_no_payment(state: State) -> None:
    if state.paid:
        raise NotNow("A payment is already marked paid; take that mark back first.")


def _looked_again(state: State, _: ev.LookedAgain) -> State:
    _need_no_payment(state)
    return replace(state, phase=Phase.READING, settlement=None)


def _put_card(state: State, number: int, row: Row, index: int, card: str) -> tuple[Card, tuple[Seat, ...]]:
    """Return the card that lay there and the seats with the dealer's card in its place."""
    cards = _need_seat(state, number).row(row)
    _need_card(card)
    if not 0 <= index < len(cards):
        raise NotNow(
            f"Seat {number}'s {row} row has {len(cards)} cards; there is none at {index}. Key the whole row."
        )
    before = cards[index]
    said = replace(before, card=card, sure=True, by="dealer")
    return before, _with_seat(state, number, **{row: (*cards[:index], said, *cards[index + 1 :])})


def _card_resolved(state: State, event: ev.CardResolved) -> State:
    before, seats = _put_card(state, event.seat, event.row, event.index, event.card)
    if before.sure:
        raise NotNow(f"That card is certain ({before.card}); correct it instead.")
    return replace(state, seats=seats)


def _card_corrected(state: State, event: ev.CardCorrected) -> State:
    before, seats = _put_card(state, event.seat, event.row, event.index, event.card)
    if not before.sure:
        raise NotNow("That card is unsure; answer it instead.")
    if before.card == event.card:
        raise NotNow(f"That card is already {event.card}.")
    return _back_to_review(state, seats=_unconfirm(seats, event.seat))


def _row_keyed(state: State, event: ev.RowKeyed) -> State:
    if len(event.cards) != ROWS[event.row]:
        raise NotNow(f"A {event.row} row has {ROWS[event.row]} cards, not {len(event.cards)}.")
    for card in event.cards:
        _need_card(card)
    cards = tuple(Card(card, True, "dealer") for card in event.cards)
    return _back_to_review(
        state, seats=_unconfirm(_with_seat(state, event.seat, **{event.row: cards}), event.seat)
    )


def _unconfirm(seats: tuple[Seat, ...], number: int) -> tuple[Seat, ...]:
    """Other cards may bear out another natural, or none: green is asked again."""
    return tuple(replace(seat, confirmed=False) if seat.seat == number else seat for seat in seats)


def _natural_confirmed(state: State, event: ev.NaturalConfirmed) -> State:
    seat = _need_seat(state, event.seat)
    if not seat.declares or seat.confirmed:
        raise NotNow(f"Seat {event.seat} has no natural that waits for confirmation.")
    if any(question.what is not Ask.NATURAL for question in state.questions):
        raise NotNow("Answer what is open about the cards and the button first; then confirm the natural.")
    return replace(state, seats=_with_seat(state, event.seat, confirmed=True))


def _natural_unconfirmed(state: State, event: ev.NaturalUnconfirmed) -> State:
    if not _need_seat(state, event.seat).confirmed:
        raise NotNow(f"Seat {event.seat} has no confirmed natural.")
    _need_no_payment(state)
    return _back_to_review(state, seats=_with_seat(state, event.seat, confirmed=False))


def _settled(state: State, event: ev.Settled) -> State:
    if state.questions:
        raise NotNow(
            f"{len(state.questions)} questions are open; nothing is settled before they are answered."
        )
    if event.settlement.get("irregularities") or "error" in event.settlement:
        raise NotNow("The rules found the hand irregular; correct a card or a row, or void the hand.")
    return replace(
        state,
        phase=Phase.SETTLED,
        settlement=event.settlement,
        settlements=state.settlements + 1,
        paid=frozenset(),
    )


def _payment_marked(state: State, event: ev.PaymentMarked) -> State:
    pair = (event.a, event.b)
    pairs = (state.settlement or {}).get("pairs", [])
    if not any((p["a"], p["b"]) == pair and p["paid"] for p in pairs):
        raise NotNow(f"Nothing is to be paid between seats {event.a} and {event.b}.")
    return replace(state, paid=state.paid | {pair} if event.paid else state.paid - {pair})


def _hand_archived(state: State, _: ev.HandArchived) -> State:
    after = (state.settlement or {}).get("stacks", {})
    stacks = {player: after.get(player, stack) for player, stack in state.stacks.items()}
    return replace(state, phase=Phase.ARCHIVED, stacks=stacks)


def _hand_voided(state: State, event: ev.HandVoided) -> State:
    if not event.reason.strip():
        raise NotNow("Say why the hand is void.")
    return replace(state, phase=Phase.VOID, void_reason=event.reason, settlement=None, paid=frozenset())


_EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.TableStarted: _table_started,
    ev.DeviceFault: _device_fault,
    ev.DeviceRecovered: _device_recovered,
    ev.PuckSeen: _puck_seen,
    ev.HandOpened: _hand_opened,
    ev.ButtonKeyed: _button_keyed,
    ev.PhaseAdvanced: _phase_advanced,
    ev.NaturalDeclared: _natural_declared,
    ev.NaturalWithdrawn: _natural_withdrawn,
    ev.Surrendered: _surrendered,
    ev.SurrenderWithdrawn: _surrender_withdrawn,
    ev.ReadingTaken: _reading_taken,
    ev.ReadingFailed: _reading_failed,
    ev.LookedAgain: _looked_again,
    ev.CardResolved: _card_resolved,
    ev.CardCorrected: _card_corrected,
    ev.RowKeyed: _row_keyed,
    ev.NaturalConfirmed: _natural_confirmed,
    ev.NaturalUnconfirmed: _natural_unconfirmed,
    ev.Settled: _settled,
    ev.PaymentMarked: _payment_marked,
    ev.HandArchived: _hand_archived,
    ev.HandVoided: _hand_voided,
}
