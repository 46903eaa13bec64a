"""A hand ends: archived, void, or a misdeal. What a correction changed is paid back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, Literal

from pydantic import Field

from firmware.messages import Message
from firmware.rules import LAID, chips_plan
from firmware.table.checks import need_reason, without_puck_word
from firmware.table.command import Command, Context, Reason
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, leads_to, stays
from firmware.table.people import AT_TABLE
from firmware.table.phase import BETWEEN_HANDS, MISDEALING, OPEN, Phase
from firmware.table.state import State
from firmware.table.topics.devices import with_puck
from firmware.table.values import Payback

PASSED_ON: Final = (
    "puck",
    "faults",
    "people",
    "wrong_pins",
    "dealer",
    "down",
    "house",
    "disputed",
    "floor_called",
)
"""Fields of the state that change while a past hand is reopened, and stay so when it is closed."""


class HandArchived(Event, leads=leads_to({Phase.SETTLED}, *Phase)):
    """The hand is over and its settlement is final. A reopened hand leads back to where the table's own hand was.

    `unmarked`: payments that were not marked as made; the players settled them among themselves.
    """

    type = "hand_archived"
    title = Message("Hand archived")
    unmarked: tuple[tuple[int, int], ...] = ()

    def apply(self, state: State) -> State:
        settlement = state.settlement or {}
        waiting = _fantasyland(state, settlement)
        if state.suspended_state is not None:
            return _close_again(state, settlement, waiting)
        after = settlement.get("stacks", {})
        stacks = {player: after.get(player, stack) for player, stack in state.stacks.items()}
        return replace(state, phase=Phase.ARCHIVED, stacks=stacks, fantasyland=waiting, puck_awaited=False)


class HandVoided(Event, leads=leads_to(OPEN, *Phase)):
    """The hand is over and settles nothing."""

    type = "hand_voided"
    title = Message("Hand voided")
    reason: str

    def apply(self, state: State) -> State:
        need_reason(self.reason, Message("Say why the hand is void."))
        if state.suspended_state is not None:
            assert state.opened is not None
            return _close_again(state, {}, state.opened.in_fantasyland)
        return _void(state, self.reason)


class HandMisdealt(Event, leads=leads_to(MISDEALING, Phase.VOID)):
    """The deal was wrong: the hand is over and settles nothing, and the puck stays."""

    type = "hand_misdealt"
    title = Message("Hand misdealt")
    reason: str

    def apply(self, state: State) -> State:
        need_reason(self.reason, Message("Say why it is a misdeal."))
        return replace(_void(state, self.reason), misdealt=True)


class PaybackMarked(Event, leads=stays(BETWEEN_HANDS)):
    """A payback was marked as made, or its mark was taken back. `number` counts from 1."""

    type = "payback_marked"
    title = Message("Payback marked")
    number: int
    paid: bool = True

    def apply(self, state: State) -> State:
        index = self.number - 1
        if not 0 <= index < len(state.paybacks):
            raise CommandRefused("There is no payback %(number)s.", number=self.number)
        back = state.paybacks[index]
        if back.paid == self.paid:
            raise CommandRefused(
                Message("It is marked paid back already.")
                if self.paid
                else Message("It is not marked paid back.")
            )
        stacks = dict(state.stacks)
        amount = back.amount if self.paid else -back.amount
        for player, cents in ((back.payer, -amount), (back.winner, amount)):
            stack = stacks.get(player)
            if stack is None:
                continue  # their stack is not tracked
            if stack + cents < 0:
                raise CommandRefused(
                    "%(player)s has less than that on the table; count %(player)s's stack first.",
                    player=player,
                )
            stacks[player] = stack + cents
        marked = (*state.paybacks[:index], replace(back, paid=self.paid), *state.paybacks[index + 1 :])
        return replace(state, paybacks=marked, stacks=stacks)


class CloseHand(Command, roles=AT_TABLE):
    """Close a settled hand without opening the next. The players settle open payments among themselves."""

    do: Literal["archive"] = "archive"

    def decide(self, context: Context) -> tuple[Event, ...]:
        return (HandArchived(() if context.state.reopened else context.state.unpaid),)


class Void(Command, roles=AT_TABLE, causes=HandVoided):
    """Void the hand: it settles nothing."""

    do: Literal["void"] = "void"
    reason: str = Field(min_length=1, max_length=200)


class Misdeal(Command, roles=AT_TABLE, causes=HandMisdealt):
    """Call a misdeal; the hand settles nothing."""

    do: Literal["misdeal"] = "misdeal"
    reason: Reason


class MarkPaidBack(Command, roles=AT_TABLE, causes=PaybackMarked):
    """Mark a payback as made, or take the mark back."""

    do: Literal["mark_paid_back"] = "mark_paid_back"
    number: int
    paid: bool = True


def _fantasyland(state: State, settlement: Mapping[str, Any]) -> dict[str, int]:
    """Return the players with Fantasy Land in their next hand, with its cards: earned, kept, or not yet played."""
    player = {seat.seat: seat.player for seat in state.seats}
    had = state.opened.in_fantasyland if state.opened else {}
    lucky = {name: cards for name, cards in had.items() if name not in player.values()}
    for hand in settlement.get("hands", ()):
        if hand.get("fantasyland_next"):
            name = player[hand["seat"]]
            lucky[name] = max(lucky.get(name, 0), hand.get("fantasyland_cards", LAID))
    return lucky


def _void(state: State, reason: str) -> State:
    return replace(
        without_puck_word(state),
        phase=Phase.VOID,
        void_reason=reason,
        settlement=None,
        paid=frozenset(),
        irregularities=(),
    )


def _close_again(state: State, settlement: Mapping[str, Any], waiting: Mapping[str, int]) -> State:
    """Return the table's own state with the new paybacks. Chips move when a payback is marked.

    The table's own hand continues where it was; a change of the puck during the correction applies to it, too.
    """
    table = state.suspended_state
    assert table is not None

    def called(player: str) -> str:
        return state.names.get(player, player)

    change = _winnings(state, settlement)
    for player, won in _winnings(state, state.previous_settlement or {}).items():
        change[player] -= won
    owed = tuple(
        Payback(state.hand, called(transfer.payer), called(transfer.winner), transfer.amount)
        for transfer in chips_plan(change)
    )
    if table.hand == state.hand:
        fantasyland = {called(name): cards for name, cards in waiting.items() if called(name) in table.stacks}
        table = replace(table, settlement=dict(settlement) or None, fantasyland=fantasyland)
        if settlement:
            table = replace(table, phase=Phase.ARCHIVED, void_reason="")
    if table.opened is not None and table.opened.closed == state.hand:
        # what the correction says of that hand would be lost by taking its closing back
        table = replace(table, opened=replace(table.opened, closed=0))
    passed = {name: getattr(state, name) for name in PASSED_ON}
    table = replace(table, paybacks=(*table.paybacks, *owed), **passed)
    return with_puck(table, state.puck)


def _winnings(state: State, settlement: Mapping[str, Any]) -> dict[str, int]:
    """Return what each player of the hand won, in cents."""
    won = {seat.player: 0 for seat in state.seats}
    for seat in state.seats:
        won[seat.player] += settlement.get("paid", {}).get(str(seat.seat), 0)
    return won
