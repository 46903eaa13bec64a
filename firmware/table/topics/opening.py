"""Hands are opened, and past hands reopened. A hand closed too soon goes on as it was."""

from dataclasses import field, replace
from typing import Any, Literal

from pydantic import JsonValue

from firmware.messages import Message
from firmware.rules import offers_fantasyland
from firmware.table.checks import need_antenna, need_card, need_no_trial, need_reason, without_reading
from firmware.table.command import Command, Context, Past, Reason
from firmware.table.dealing import seats_to_deal, told_button
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, leads_to
from firmware.table.house import House
from firmware.table.people import AT_TABLE, FLOOR
from firmware.table.phase import BEFORE_CARDS, BETWEEN_HANDS, OPEN, Phase
from firmware.table.readings import NO_FACES, ROWS, Capture, Row
from firmware.table.state import Card, Seat, State
from firmware.table.values import SHEETS, Opening, SeatEnd


class HandOpened(Opening, Event, leads=leads_to(BETWEEN_HANDS, Phase.DEALING)):
    """A hand is opened. Recovery needs no earlier row."""

    type = "hand_opened"
    title = Message("Hand opened")

    def apply(self, state: State) -> State:
        if self.hand != state.next_hand and state.opened is not None:
            raise CommandRefused(
                "Hand %(hand)s cannot follow hand %(last)s.", hand=self.hand, last=state.next_hand - 1
            )
        need_no_trial(state)
        if not 2 <= len(self.seats) <= 4:
            raise CommandRefused("Two to four seats play a hand, not %(count)s.", count=len(self.seats))
        if len({seat.seat for seat in self.seats}) != len(self.seats):
            raise CommandRefused("One seat is given to two hands; give each its own.")
        if len({seat.place for seat in self.seats}) != len(self.seats):
            raise CommandRefused("One place is given to two hands; give each its own.")
        for seat in self.seats:
            need_antenna(seat.seat)
        if self.button is not None:
            need_antenna(self.button)
        return State(
            phase=Phase.DEALING,
            hand=self.hand,
            opened=self,
            seats=tuple(Seat(**vars(seat)) for seat in self.seats),
            button=self.button,
            button_keyed=self.button_keyed,
            stacks={**self.stacks, **{s.player: s.stack for s in self.seats}},
            set_up=True,
            fantasyland=self.in_fantasyland,
            sits_out=frozenset(self.sits_out),
            paybacks=self.paybacks,
            disputed=frozenset(self.disputed),
            **self.lasting,
        )


class HandWithdrawn(Event, leads=leads_to(BEFORE_CARDS, Phase.VOID)):
    """A hand's opening is taken back before a card was seen, because the previous hand was closed too soon.

    The number is not used again; the next hand has the number after it.
    """

    type = "hand_withdrawn"
    title = Message("Hand withdrawn")

    def apply(self, state: State) -> State:
        assert state.opened is not None
        if not state.opened.closed:
            raise CommandRefused("There is no closing to take back.")
        if is_dealt(state):
            raise CommandRefused("Cards of hand %(hand)s lie on the table.", hand=state.hand)
        return replace(
            state,
            phase=Phase.VOID,
            misdealt=True,
            withdrawn=state.hand,
            passes=frozenset(state.opened.passed),
        )


class HandReopened(Event, leads=leads_to(frozenset(Phase) - {Phase.IDLE}, Phase.SETTLED, Phase.REVIEW)):
    """A past hand is reopened, between hands or while a later one is played, which then waits.

    Contains that hand's whole end state, so that recovery needs no earlier row.

    `names`: the current names of its players who were renamed since. `resumed`: the last hand was closed too soon, and
    continues as it was, with the payments in `paid` marked; nothing is corrected.
    """

    type = "hand_reopened"
    title = Message("Hand reopened")
    reason: str
    opened: HandOpened
    button: int
    seats: tuple[SeatEnd, ...]
    settlement: dict[str, JsonValue]
    frame: Capture | None = None
    names: dict[str, str] = field(default_factory=dict)
    resumed: bool = False
    paid: tuple[tuple[int, int], ...] = ()

    def apply(self, state: State) -> State:
        need_no_trial(state)
        need_reason(self.reason, Message("Say why the hand is reopened."))
        if state.suspended_state is not None:
            raise CommandRefused("Hand %(hand)s is reopened; close it first.", hand=state.hand)
        if self.opened.hand > state.hand:
            raise CommandRefused("Hand %(hand)s has not been played.", hand=self.opened.hand)
        if self.opened.hand == state.hand and state.phase in OPEN:
            raise CommandRefused("Hand %(hand)s is still open.", hand=state.hand)
        ends = {seat.seat: seat for seat in self.seats}
        seats = []
        for was in self.opened.seats:
            end = ends.get(was.seat, SeatEnd(was.seat))
            for card in (card for row in end.rows.values() for card in row):
                need_card(card)
            cards: dict[str, Any] = {row: tuple(Card(c, True) for c in end.rows.get(row, ())) for row in ROWS}
            seats.append(Seat(**vars(was), **end.decisions, **cards))
        phase = Phase.SETTLED if self.settlement else Phase.REVIEW
        laid = replace(
            without_reading(state, phase, tuple(seats)),
            hand=self.opened.hand,
            opened=self.opened,
            button=self.button,
            button_keyed=True,
            frame=self.frame,
            keyed="",
            settlement=self.settlement or None,
            paid=frozenset(),
            irregularities=(),
            irregularities_seen=0,
            dismissed=frozenset(),
            misdealt=False,
            button_kept=None,
            puck_awaited=False,
            reopened=self.reason,
            previous_settlement=self.settlement,
            suspended_state=replace(state, puck_awaited=False),
            names=self.names,
        )
        return _resume(laid, self) if self.resumed else laid


class Reopen(Command, roles=FLOOR):
    """Reopen a past hand for correction."""

    do: Literal["reopen"] = "reopen"
    past: int
    reason: Reason

    def decide(self, context: Context) -> tuple[Event, ...]:
        return (reopen(context.past(self.past), self.reason),)


class UndoClose(Command, roles=AT_TABLE):
    """Undo the last hand's closing; its payments continue where they were."""

    do: Literal["undo_close"] = "undo_close"

    def decide(self, context: Context) -> tuple[Event, ...]:
        if context.state.phase in OPEN:
            return opening_withdrawn(context.state, context.past)
        return (closing_undone(context.state),)


def open_hand(state: State, house: House) -> HandOpened:
    """Return the next hand's opening. Raises CommandRefused if no hand can be dealt.

    Stacks continue from the last hand; a new player starts with the configured stack.
    """
    if (full := state.faults.get("disk")) is not None:
        raise CommandRefused(full)
    if (why := state.faults.get("rules")) is not None:
        raise CommandRefused(
            "No new hand opens: the rules of %(title)s contradict each other. %(why)s Put another game in force under"
            " Game rules, or change this one there.",
            title=house.rules.title,
            why=why,
        )
    if state.deck_unchecked:
        raise CommandRefused(
            "The deck %(name)s came from the pit and was not checked yet. Check it before its first hand, or use"
            " another deck.",
            name=state.calibrations["deck"].name,
        )
    stacks = {seat.player: state.stacks.get(seat.player, seat.stack) for seat in house.seats}
    told = told_button(state, house)
    lucky = dict(state.fantasyland) if offers_fantasyland(house.rules) else {}
    return HandOpened(
        profile=house.profile,
        profile_hash=house.profile_hash,
        unit=house.unit,
        layout_hash=_layout_hash(state, house),
        model_hash=house.model_hash,
        software=house.software,
        **state.lasting,
        hand=state.next_hand,
        seats=seats_to_deal(state, house, stacks),
        button=state.puck.seat if told is None else told,
        button_keyed=told not in (None, state.puck.seat),
        options=dict(house.options),
        stacks={**state.stacks, **stacks},
        fantasyland=tuple(sorted(lucky)),
        fantasyland_cards=lucky,
        street_cards=house.rules.deal.street_cards,
        sits_out=tuple(sorted(state.sits_out)),
        paybacks=tuple(back for back in state.paybacks if not back.paid),
        disputed=tuple(sorted(state.disputed)),
        closed=_can_be_taken_back(state),
        passed=tuple(sorted(state.passes)),
    )


def _layout_hash(state: State, house: House) -> str:
    """Return the layout in force: the house's, or that of the sheets on which the felt's calibration stands."""
    felt = state.calibrations.get("felt")
    return felt.stands_on["layout"] if felt is not None and SHEETS in felt.stands_on else house.layout_hash


def _can_be_taken_back(state: State) -> int:
    """Return the hand whose closing can still be undone, 0 for none."""
    try:
        return closing_undone(state).opened.hand
    except CommandRefused:
        return 0


def _resume(laid: State, event: HandReopened) -> State:
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
        fantasyland=event.opened.in_fantasyland,
    )


def reopen(past: State, reason: str) -> HandReopened:
    """Return the reopening of a past hand that was settled or void.

    Raises CommandRefused for a misdeal, and for a hand whose button is unknown.
    """
    if not isinstance(past.opened, HandOpened) or past.button is None or past.misdealt:
        raise CommandRefused(
            "Hand %(hand)s was not played to its end; there is nothing to correct.", hand=past.hand
        )
    doubtful = _doubtful(past)
    return HandReopened(
        reason,
        past.opened,
        past.button,
        tuple(_end(seat, doubtful) for seat in past.seats),
        dict(past.settlement or {}),
        past.frame,
        dict(past.names),
    )


def closing_undone(state: State) -> HandReopened:
    """Return the event that undoes the closing of the last hand. Raises CommandRefused."""
    if state.phase is not Phase.ARCHIVED or state.settlement is None or state.opened is None:
        raise CommandRefused("There is no closing to take back.")
    after = state.settlement.get("stacks", {})
    changed = any(state.stacks.get(s.player, -1) != after.get(s.player, s.stack) for s in state.seats)
    if changed or any(back.hand == state.hand for back in state.paybacks):
        raise CommandRefused(
            "Chips or players have changed since hand %(hand)s was closed; reopen it as a disputed hand.",
            hand=state.hand,
        )
    return replace(reopen(state, "Closed too soon"), resumed=True, paid=tuple(sorted(state.paid)))


def is_dealt(state: State) -> bool:
    """Return whether the camera or the dealer has said that a card of the open hand lies there, or what it holds."""
    return bool(state.keyed) or any(seat.placed or seat.declares or seat.surrenders for seat in state.seats)


def opening_withdrawn(state: State, past: Past) -> tuple[Event, ...]:
    """Return the events that withdraw the open hand and undo the closing of the one before. Raises CommandRefused."""
    if state.opened is None or not state.opened.closed:
        raise CommandRefused("There is no closing to take back.")
    if state.phase not in BEFORE_CARDS or is_dealt(state):
        raise CommandRefused(
            "Cards of hand %(hand)s are dealt; when it is over, reopen hand %(closed)s as a disputed hand.",
            hand=state.hand,
            closed=state.opened.closed,
        )
    end = past(state.opened.closed)
    again = replace(reopen(end, "Closed too soon"), resumed=True, paid=tuple(sorted(end.paid)))
    return HandWithdrawn(), again


def _doubtful(past: State) -> frozenset[tuple[int, Row]]:
    """Return the rows with open questions other than about a card's name when a hand was voided."""
    irregular = {(seen.seat, seen.row) for seen in past.irregularities}
    moved_to = {(i.to_seat, i.to_row) for i in past.irregularities if i.to_seat and i.to_row}
    faceless = {
        (seat.seat, row)
        for seat in past.seats
        for row in ROWS
        if not NO_FACES.isdisjoint(seat.things.get(row, ()))
    }
    return frozenset(irregular | moved_to | faceless)


def _end(seat: Seat, doubtful: frozenset[tuple[int, Row]]) -> SeatEnd:
    """Return a seat's certain cards and declarations; incomplete rows are asked about after the reopening."""
    rows = {
        row: tuple(card.card for card in seat.row(row) if card.sure and card.card is not None)
        for row in ROWS
        if (seat.seat, row) not in doubtful
    }
    return SeatEnd(seat.seat, rows=rows, **seat.decisions)
