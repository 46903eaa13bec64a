"""Events and commands for the camera's readings after the showdown, and for the cards that the dealer names."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any, ClassVar, Final, Literal

from pydantic import JsonValue

from firmware.messages import Message, Text
from firmware.table.checks import (
    back_to_review,
    need_card,
    need_no_payment,
    need_open_seat,
    need_seat,
    with_card,
    with_seat,
    without_puck_word,
    without_reading,
)
from firmware.table.command import Command, Context
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, leads_to, stays
from firmware.table.people import AT_TABLE
from firmware.table.phase import Phase
from firmware.table.readings import ROWS, Capture, Row, RowReading, Thing
from firmware.table.settling import pending_natural
from firmware.table.state import Card, Seat, State
from firmware.table.swaps import swap
from firmware.table.topics.placing import as_card
from firmware.table.values import AwaitedCards, ComparedCards

_EDIT_LEADS: Final = stays({Phase.PLACING}) | leads_to({Phase.REVIEW, Phase.SETTLED}, Phase.REVIEW)
"""The phases in which the dealer may change cards, each with the phase that follows."""

_UNCONFIRMED: Final[dict[str, Any]] = {"found": False, "confirmed": False}
"""Changes to a seat when its cards change. Its natural must be found and confirmed again."""


class CardsAwaited(AwaitedCards, Event, leads=stays({Phase.READING})):
    """A reading after the showdown signal found too few cards at these seats. The reading is repeated automatically."""

    type = "cards_awaited"
    title = Message("Cards awaited")

    def apply(self, state: State) -> State:
        for number in self.seats:
            need_seat(state, number)
        return replace(state, awaited=self)


class CardsCompared(ComparedCards, Event, leads=stays({Phase.READING, Phase.SETTLED})):
    """The camera looked at the table again after the reading.

    Changes are shown. They ask the dealer nothing and do not change the settlement.
    """

    type = "cards_compared"
    title = Message("Cards compared")

    def apply(self, state: State) -> State:
        for number in (*(row.seat for row in self.changed), *(row.seat for row in self.not_compared)):
            need_seat(state, number)
        known = {row.finding for row in state.changed}
        new = tuple(row for row in self.changed if row.finding not in known)
        return replace(state, changed=(*state.changed, *new), compared=state.compared or self.last)


class ReadingTaken(Event, leads=leads_to({Phase.READING}, Phase.REVIEW)):
    """The camera read the table.

    `verdicts` are the checks of the picture by the vision package. `ms` are durations in milliseconds. `things` are
    objects other than readable cards, in the zones of the seats in play.
    """

    type = "reading_taken"
    title = Message("Reading taken")
    WHOLE: ClassVar[frozenset[str]] = frozenset({"frames", "all_frames", "longest_frame", "images"})
    """Keys of `ms` that describe the whole reading. The other keys are the stages of its last frame."""
    rows: tuple[RowReading, ...]
    frame: Capture | None = None
    verdicts: dict[str, JsonValue] = field(default_factory=dict)
    ms: dict[str, JsonValue] = field(default_factory=dict)
    things: tuple[Thing, ...] = ()

    @property
    def frame_ms(self) -> float:
        """The time from the last frame's pixels to named cards, in milliseconds; 0 if `ms` is empty."""
        stages = (ms for stage, ms in self.ms.items() if stage not in self.WHOLE)
        return sum(ms for ms in stages if isinstance(ms, int | float))

    def apply(self, state: State) -> State:
        seen: dict[int, _ReadRows] = {seat.seat: {} for seat in state.seats}
        for reading in self.rows:
            need_seat(state, reading.seat)
            if reading.row in seen[reading.seat]:
                raise CommandRefused(
                    "Seat %(seat)s's %(row)s row was read twice in one reading.",
                    seat=reading.seat,
                    row=reading.row,
                )
            seen[reading.seat][reading.row] = reading, tuple(map(as_card, reading.cards))
        things: dict[int, dict[Row, tuple[str, ...]]] = {seat.seat: {} for seat in state.seats}
        for thing in self.things:
            need_seat(state, thing.seat)
            by_row = things[thing.seat]
            by_row[thing.row] = (*by_row.get(thing.row, ()), thing.what)
        seats = tuple(_with_reading(seat, seen[seat.seat], things[seat.seat]) for seat in state.seats)
        state = without_reading(state, Phase.REVIEW, seats)
        return replace(state, frame=self.frame, verdicts=self.verdicts)


class ReadingFailed(Event, leads=leads_to({Phase.READING}, Phase.REVIEW)):
    """The camera could not read the table; `reason` is a message for the dealer."""

    type = "reading_failed"
    title = Message("Reading failed")
    reason: Text
    frame: Capture | None = None

    def apply(self, state: State) -> State:
        seats = tuple(_with_reading(seat, {}) for seat in state.seats)
        state = without_reading(state, Phase.REVIEW, seats)
        return replace(state, frame=self.frame, reading_failure=self.reason)


class LookedAgain(Event, leads=leads_to({Phase.REVIEW, Phase.SETTLED}, Phase.READING)):
    """The table is read again (the red button). `seat` is the seat whose natural was being shown, if any."""

    type = "looked_again"
    title = Message("Looked again")
    seat: int | None = None

    def apply(self, state: State) -> State:
        need_no_payment(state)
        if state.reopened:
            raise CommandRefused(
                "A past hand is on the page; its cards no longer lie on the table. Correct it by its pictures."
            )
        seats = tuple(replace(seat, found=seat.found and seat.confirmed) for seat in state.seats)
        return replace(
            without_puck_word(state),
            phase=Phase.READING,
            seats=seats,
            settlement=None,
            keyed="",
            awaited=None,
            dismissed=frozenset(),
        )


class CardResolved(Event, leads=stays({Phase.PLACING, Phase.REVIEW})):
    """The dealer named an unsure card. `index` counts from 0."""

    type = "card_resolved"
    title = Message("Card resolved")
    seat: int
    row: Row
    index: int
    card: str

    def apply(self, state: State) -> State:
        before, after = _put_card(state, self.seat, self.row, self.index, self.card)
        if before.sure:
            raise CommandRefused(
                "That card is certain (%(card)s); correct it instead.", card=str(before.card)
            )
        return after


class CardCorrected(Event, leads=_EDIT_LEADS):
    """The dealer changed a card that had been certain."""

    type = "card_corrected"
    title = Message("Card corrected")
    seat: int
    row: Row
    index: int
    card: str
    was: str | None = None

    def apply(self, state: State) -> State:
        before, after = _put_card(state, self.seat, self.row, self.index, self.card)
        if not before.sure:
            raise CommandRefused("That card is unsure; answer it instead.")
        if before.card == self.card:
            raise CommandRefused("That card is already %(card)s.", card=self.card)
        return back_to_review(with_seat(after, self.seat, **_UNCONFIRMED))


class RowKeyed(Event, leads=_EDIT_LEADS):
    """The dealer keyed a whole row."""

    type = "row_keyed"
    title = Message("Row keyed")
    seat: int
    row: Row
    cards: tuple[str, ...]

    def apply(self, state: State) -> State:
        size = ROWS[self.row]
        placing = state.phase is Phase.PLACING
        seat = need_open_seat(state, self.seat) if placing else need_seat(state, self.seat)
        if len(self.cards) > size or (len(self.cards) < size and not placing):
            raise CommandRefused(
                "A %(row)s row has %(size)s cards, not %(count)s.",
                row=self.row,
                size=size,
                count=len(self.cards),
            )
        for card in self.cards:
            need_card(card)
        known = {card.card: card for card in seat.row(self.row)}
        cards = tuple(
            replace(known[code], sure=True, by="dealer") if code in known else Card(code, True, "dealer")
            for code in self.cards
        )
        things = {row: what for row, what in seat.things.items() if row != self.row}
        changes: dict[str, Any] = {self.row: cards, "things": things} | _UNCONFIRMED
        return back_to_review(with_seat(state, self.seat, **changes))


class LookAgain(Command, roles=AT_TABLE):
    """Read the table again, with the red button."""

    do: Literal["look_again"] = "look_again"

    def decide(self, context: Context) -> tuple[Event, ...]:
        return (LookedAgain(pending_natural(context.state, context.rules)),)


class SetCard(Command, roles=AT_TABLE):
    """Name an unsure card, or correct a card.

    `swap`: if the camera gave this name to another card and all 52 names are on the table, swap the two cards.
    """

    do: Literal["set_card"] = "set_card"
    seat: int
    row: Row
    index: int
    card: str
    swap: bool = False

    def decide(self, context: Context) -> tuple[Event, ...]:
        need_no_payment(context.state)
        seat = context.state.seat(self.seat)
        cards = seat.row(self.row) if seat else ()
        current = cards[self.index] if 0 <= self.index < len(cards) else None
        code = _code(self.card)
        pair = swap(context.state, self.seat, self.row, self.index, code) if self.swap else None
        if pair is not None:
            one, other = pair
            return (
                CardCorrected(one.seat, one.row, one.index, other.code, one.code),
                CardCorrected(other.seat, other.row, other.index, one.code, other.code),
            )
        if current is not None and current.sure:
            return (CardCorrected(self.seat, self.row, self.index, code, current.card),)
        return (CardResolved(self.seat, self.row, self.index, code),)


class KeyRow(Command, roles=AT_TABLE):
    """Key a whole row, left to right."""

    do: Literal["key_row"] = "key_row"
    seat: int
    row: Row
    cards: str

    def decide(self, context: Context) -> tuple[Event, ...]:
        need_no_payment(context.state)
        return (RowKeyed(self.seat, self.row, tuple(_code(card) for card in self.cards.split())),)


class PlaceCard(Command, roles=AT_TABLE):
    """Key the next card of an open seat's row."""

    do: Literal["place_card"] = "place_card"
    seat: int
    row: Row
    card: str

    def decide(self, context: Context) -> tuple[Event, ...]:
        seat = context.state.seat(self.seat)
        placed = seat.row(self.row) if seat else ()
        if any(not card.sure or card.card is None for card in placed):
            raise CommandRefused("Name the unsure card of that row first.")
        cards = (*(card.card for card in placed if card.card), _code(self.card))
        return (RowKeyed(self.seat, self.row, cards),)


def _code(text: str) -> str:
    """Convert 10h to Th, as the settlement JSON does. `apply` refuses invalid cards."""
    return "T" + text[2:] if text.startswith("10") else text


_ReadRows = dict[Row, tuple[RowReading, tuple[Card, ...]]]
"""A seat's rows in one reading: the camera's report of each row, and the cards made from it."""


def _with_reading(seat: Seat, rows: _ReadRows, things: Mapping[Row, tuple[str, ...]] | None = None) -> Seat:
    """Return a seat after a reading. A closed seat takes the camera's cards.

    A confirmed natural keeps its cards, because the marker on it hides them. An open seat keeps its recorded cards.
    If the reading differs from them, the differences become irregularities.
    """
    if seat.open:
        return replace(seat, captures={**seat.captures, **_captures(rows)})
    if seat.confirmed:
        return seat
    cards: dict[str, Any] = {row: rows[row][1] if row in rows else () for row in ROWS}
    return replace(seat, captures=_captures(rows), things=things or {}, found=False, **cards)


def _captures(rows: _ReadRows) -> dict[Row, Capture]:
    return {row: reading.capture for row, (reading, _) in rows.items() if reading.capture is not None}


def _put_card(state: State, number: int, row: Row, index: int, card: str) -> tuple[Card, State]:
    """Return the previous card and the state with the dealer's card in its place."""
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
    return before, with_card(state, number, row, index, named)
