"""Effects of the events at a hand's end and about past hands: stacks, Fantasy Land, reopened hands, paybacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.messages import Message
from firmware.rules import chips_plan
from firmware.table import events as ev
from firmware.table.checks import need_antenna, need_card, need_no_trial, need_reason
from firmware.table.errors import CommandRefused
from firmware.table.events import ROWS, Event
from firmware.table.phase import Phase
from firmware.table.state import Card, Seat, State


def _hand_archived(state: State, _: ev.HandArchived) -> State:
    settlement = state.settlement or {}
    waiting = _fantasyland(state, settlement)
    if state.suspended_state is not None:
        return _closed_again(state, settlement, waiting)
    after = settlement.get("stacks", {})
    stacks = {player: after.get(player, stack) for player, stack in state.stacks.items()}
    return replace(state, phase=Phase.ARCHIVED, stacks=stacks, fantasyland=waiting)


def _fantasyland(state: State, settlement: Mapping[str, Any]) -> frozenset[str]:
    """Return the players with Fantasy Land in their next hand: earned, kept, or not yet played (RULES.md 9)."""
    player = {seat.seat: seat.player for seat in state.seats}
    had = frozenset(state.opened.fantasyland) if state.opened else frozenset()
    earned = {player[hand["seat"]] for hand in settlement.get("hands", ()) if hand.get("fantasyland_next")}
    return (had - frozenset(player.values())) | earned


def _hand_voided(state: State, event: ev.HandVoided) -> State:
    need_reason(event.reason, Message("Say why the hand is void."))
    if state.suspended_state is not None:
        assert state.opened is not None
        return _closed_again(state, {}, frozenset(state.opened.fantasyland))
    return _void(state, event.reason)


def _hand_misdealt(state: State, event: ev.HandMisdealt) -> State:
    need_reason(event.reason, Message("Say why it is a misdeal."))
    return replace(_void(state, event.reason), misdealt=True)


def _hand_withdrawn(state: State, _: ev.HandWithdrawn) -> State:
    assert state.opened is not None
    if not state.opened.closed:
        raise CommandRefused("There is no closing to take back.")
    return replace(
        state, phase=Phase.VOID, misdealt=True, withdrawn=state.hand, passes=frozenset(state.opened.passed)
    )


def _void(state: State, reason: str) -> State:
    return replace(
        state, phase=Phase.VOID, void_reason=reason, settlement=None, paid=frozenset(), irregularities=()
    )


# ---- a past hand ----


def _hand_reopened(state: State, event: ev.HandReopened) -> State:
    need_no_trial(state)
    need_reason(event.reason, Message("Say why the hand is reopened."))
    if event.opened.hand > state.hand:
        raise CommandRefused("Hand %(hand)s has not been played.", hand=event.opened.hand)
    ends = {seat.seat: seat for seat in event.seats}
    seats = []
    for was in event.opened.seats:
        end = ends.get(was.seat, ev.SeatEnd(was.seat))
        for card in (card for row in end.rows.values() for card in row):
            need_card(card)
        cards: dict[str, Any] = {row: tuple(Card(c, True) for c in end.rows.get(row, ())) for row in ROWS}
        seats.append(
            Seat(
                was.seat,
                was.player,
                was.place,
                was.stack,
                was.open,
                was.fantasyland,
                end.declares,
                end.found,
                end.confirmed,
                end.surrenders,
                end.acted,
                captures=end.captures,
                **cards,
            )
        )
    laid = replace(
        state,
        phase=Phase.SETTLED if event.settlement else Phase.REVIEW,
        hand=event.opened.hand,
        opened=event.opened,
        seats=tuple(seats),
        button=event.button,
        button_keyed=True,
        frame=event.frame,
        verdicts={},
        reading_failure="",
        keyed="",
        settlement=event.settlement or None,
        paid=frozenset(),
        irregularities=(),
        reopened=event.reason,
        previous_settlement=event.settlement,
        suspended_state=state,
        names=event.names,
    )
    return _resumed(laid, event) if event.resumed else laid


def _resumed(laid: State, event: ev.HandReopened) -> State:
    """Return the state before the last hand was closed too soon; so its end moves chips and Fantasy Land only once."""
    assert laid.suspended_state is not None
    table = laid.suspended_state
    closed = table.hand if table.phase is Phase.ARCHIVED else 0
    if table.phase is Phase.VOID and table.withdrawn == table.hand and table.opened is not None:
        closed = table.opened.closed
    if closed != event.opened.hand:
        raise CommandRefused("Only the hand that was closed last goes on as it was.")
    before = {seat.player: seat.stack for seat in event.opened.seats}
    return replace(
        laid,
        reopened="",
        misdealt=False,
        previous_settlement=None,
        suspended_state=None,
        paid=frozenset(event.paid),
        stacks={**laid.stacks, **before},
        fantasyland=frozenset(event.opened.fantasyland),
    )


def _closed_again(state: State, settlement: Mapping[str, Any], waiting: frozenset[str]) -> State:
    """Return the table's own state with the new paybacks. Chips move when a payback is marked."""
    suspended_state = state.suspended_state
    assert suspended_state is not None

    def called(player: str) -> str:
        return state.names.get(player, player)

    change = _won(state, settlement)
    for player, won in _won(state, state.previous_settlement or {}).items():
        change[player] -= won
    owed = tuple(
        ev.Payback(state.hand, called(transfer.payer), called(transfer.winner), transfer.amount)
        for transfer in chips_plan(change)
    )
    is_last = suspended_state.hand == state.hand
    if is_last and settlement:
        suspended_state = replace(
            suspended_state, phase=Phase.ARCHIVED, void_reason="", settlement=dict(settlement)
        )
    elif is_last:
        suspended_state = replace(
            suspended_state, settlement=None
        )  # the hand is void now, so its previous settlement no longer counts
    return replace(
        suspended_state,
        puck=state.puck,
        faults=state.faults,
        people=state.people,
        dealer=state.dealer,
        down=state.down,
        house=state.house,
        disputed=state.disputed,
        paybacks=(*suspended_state.paybacks, *owed),
        fantasyland=frozenset(map(called, waiting)) & suspended_state.stacks.keys()
        if is_last
        else suspended_state.fantasyland,
    )


def _won(state: State, settlement: Mapping[str, Any]) -> dict[str, int]:
    """Return what each player of the hand won, in cents."""
    won = {seat.player: 0 for seat in state.seats}
    for seat in state.seats:
        won[seat.player] += settlement.get("paid", {}).get(str(seat.seat), 0)
    return won


def _payback_marked(state: State, event: ev.PaybackMarked) -> State:
    index = event.number - 1
    if not 0 <= index < len(state.paybacks):
        raise CommandRefused("There is no payback %(number)s.", number=event.number)
    back = state.paybacks[index]
    if back.paid == event.paid:
        raise CommandRefused(
            Message("It is marked paid back already.")
            if event.paid
            else Message("It is not marked paid back.")
        )
    stacks = dict(state.stacks)
    amount = back.amount if event.paid else -back.amount
    for player, cents in ((back.payer, -amount), (back.winner, amount)):
        stack = stacks.get(player)
        if stack is None:
            continue  # his stack is not tracked
        if stack + cents < 0:
            raise CommandRefused(
                "%(player)s has less than that on the table; count %(player)s's stack first.", player=player
            )
        stacks[player] = stack + cents
    marked = (*state.paybacks[:index], replace(back, paid=event.paid), *state.paybacks[index + 1 :])
    return replace(state, paybacks=marked, stacks=stacks)


def _button_kept(state: State, event: ev.ButtonKept) -> State:
    need_antenna(event.seat)
    return replace(state, button_kept=event.seat)


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.HandArchived: _hand_archived,
    ev.HandVoided: _hand_voided,
    ev.HandMisdealt: _hand_misdealt,
    ev.HandWithdrawn: _hand_withdrawn,
    ev.HandReopened: _hand_reopened,
    ev.PaybackMarked: _payback_marked,
    ev.ButtonKept: _button_kept,
}
