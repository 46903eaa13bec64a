"""Cards placed face up, irregularities, and hands that the dealer keys."""

from dataclasses import replace
from typing import Literal

from firmware.messages import Message
from firmware.table.checks import need_card, need_open_seat, need_reason, need_room, with_card, with_seat
from firmware.table.command import Command, Context, Reason
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, leads_to, stays
from firmware.table.people import AT_TABLE
from firmware.table.phase import WATCHING, Phase
from firmware.table.readings import Capture, CardReading, Row
from firmware.table.state import Card, Seat, State
from firmware.table.values import Irregularity, Stands


class CardPlaced(Event, leads=stays(WATCHING)):
    """A reading of an open seat shows a new card; `capture` is the picture of its zone."""

    type = "card_placed"
    title = Message("Card placed")
    seat: int
    row: Row
    card: CardReading
    capture: Capture | None = None

    def apply(self, state: State) -> State:
        seat = need_open_seat(state, self.seat)
        need_room(seat, self.row)
        cards = (*seat.row(self.row), as_card(self.card))
        captures = _with_capture(seat, self.row, self.capture)
        return with_seat(state, self.seat, captures=captures, **{self.row: cards})


class CardReread(Event, leads=stays(WATCHING)):
    """A later reading names with certainty a placed card that was unsure. `index` counts from 0."""

    type = "card_reread"
    title = Message("Card reread")
    seat: int
    row: Row
    index: int
    card: CardReading
    capture: Capture | None = None

    def apply(self, state: State) -> State:
        seat = need_open_seat(state, self.seat)
        cards = seat.row(self.row)
        if not 0 <= self.index < len(cards) or cards[self.index].sure:
            raise CommandRefused(
                "No unsure card lies there; a certain one changes by the dealer's word only."
            )
        if not self.card.sure:
            raise CommandRefused("That look is no surer.")
        captures = _with_capture(seat, self.row, self.capture)
        return with_card(state, self.seat, self.row, self.index, as_card(self.card), captures=captures)


class IrregularitySeen(Irregularity, Event, leads=stays(WATCHING)):
    """A reading of the open seats contradicts the record."""

    type = "irregularity_seen"
    title = Message("Irregularity seen")

    def apply(self, state: State) -> State:
        need_open_seat(state, self.seat)
        if self.to_seat is not None:
            need_open_seat(state, self.to_seat)
        if self.number != state.irregularities_seen + 1:
            raise CommandRefused(
                "Irregularity %(number)s does not follow %(last)s.",
                number=self.number,
                last=state.irregularities_seen,
            )
        if self.seen is not None:
            as_card(self.seen)
        return replace(state, irregularities=(*state.irregularities, self), irregularities_seen=self.number)


class IrregularityEnded(Event, leads=stays({*WATCHING, Phase.REVIEW})):
    """An irregularity is resolved; `stands` says what was right.

    `by`: `camera`: a later reading ended it. `table`: a card that was recorded twice is there only once.
    """

    type = "irregularity_ended"
    title = Message("Irregularity ended")
    number: int
    stands: Stands = "record"
    by: Literal["camera", "dealer", "table"] = "camera"

    def apply(self, state: State) -> State:
        irregularity = next((i for i in state.irregularities if i.number == self.number), None)
        if irregularity is None:
            raise CommandRefused("Irregularity %(number)s is not open.", number=self.number)
        if state.phase is Phase.REVIEW and self.by == "camera":
            raise CommandRefused("The camera does not look now.")
        rest = tuple(i for i in state.irregularities if i.number != self.number)
        dismissed = state.dismissed | {irregularity.finding} if self.by == "dealer" else state.dismissed
        state = replace(state, irregularities=rest, dismissed=dismissed)
        if self.by == "dealer":
            return _apply_answer(state, irregularity, self.stands)
        if self.stands == "table":
            raise CommandRefused("What lies on the table stands by the dealer's word only.")
        return state


class KeyingBegun(
    Event,
    leads=stays({Phase.SETTING, Phase.PLACING}) | leads_to({Phase.SHOWDOWN, Phase.READING}, Phase.REVIEW),
):
    """The dealer keys this hand; the camera does not read it."""

    type = "keying_begun"
    title = Message("Keying begun")
    reason: str

    def apply(self, state: State) -> State:
        need_reason(self.reason, Message("Say why the hand is keyed."))
        if state.keyed:
            raise CommandRefused("This hand is keyed already.")
        is_being_set = state.phase in (Phase.SETTING, Phase.PLACING)
        return replace(
            state,
            phase=state.phase if is_being_set else Phase.REVIEW,
            keyed=self.reason,
            reading_failure="" if is_being_set else self.reason,
        )


class Resolve(Command, roles=AT_TABLE):
    """Resolve an irregularity: the record is right, or the table is."""

    do: Literal["resolve"] = "resolve"
    number: int
    stands: Literal["record", "table"]

    def decide(self, context: Context) -> tuple[Event, ...]:
        return (IrregularityEnded(self.number, self.stands, "dealer"),)


class KeyHand(Command, roles=AT_TABLE, causes=KeyingBegun):
    """Switch to keying this hand, because the camera does not work."""

    do: Literal["key_hand"] = "key_hand"
    reason: Reason


def as_card(read: CardReading) -> Card:
    """Return the card of a camera reading. Raises CommandRefused for an invalid card."""
    if read.card is not None:
        need_card(read.card)
    elif read.sure:
        raise CommandRefused("A card cannot be sure and unknown at once.")
    return Card(read.card, read.sure, "camera", read.confidence, read.candidates, read.corners)


def _with_capture(seat: Seat, row: Row, capture: Capture | None) -> dict[Row, Capture]:
    return {**seat.captures, row: capture} if capture else dict(seat.captures)


def _apply_answer(state: State, irregularity: Irregularity, stands: Stands) -> State:
    match irregularity.what, stands:
        case "card_twice", _:
            raise CommandRefused("Say which of the two is another card.")
        case (("extra_card" | "face_down"), "table"):
            raise CommandRefused("That cannot stand: take it away, key the row, or void the hand.")
        case "out_of_turn", "table":
            return state
        case "out_of_turn", "record":
            return _remove(state, irregularity)
        case "card_moved", "table":
            return _move(state, irregularity)
        case "card_missing", "table":
            return _remove(state, irregularity)
        case "card_changed", _:
            return _change(state, irregularity, stands)
    return state


def _recorded_card(state: State, irregularity: Irregularity) -> tuple[Card, int]:
    """Return the recorded card and its current index, which changes when cards before it are removed."""
    cards = need_open_seat(state, irregularity.seat).row(irregularity.row)
    code, index = irregularity.card, irregularity.index
    index = next((k for k, card in enumerate(cards) if code and card.card == code), index)
    if index is None or not 0 <= index < len(cards):
        raise CommandRefused("The record has no such card any more; answer with the record.")
    return cards[index], index


def _remove(state: State, irregularity: Irregularity) -> State:
    _, index = _recorded_card(state, irregularity)
    return with_card(state, irregularity.seat, irregularity.row, index)


def _move(state: State, irregularity: Irregularity) -> State:
    card, _ = _recorded_card(state, irregularity)
    assert irregularity.to_seat is not None
    assert irregularity.to_row is not None
    card = replace(card, corners=irregularity.seen.corners if irregularity.seen else ())
    state = _remove(state, irregularity)
    to = need_open_seat(state, irregularity.to_seat)
    return with_seat(state, to.seat, **{irregularity.to_row: (*to.row(irregularity.to_row), card)})


def _change(state: State, irregularity: Irregularity, stands: Stands) -> State:
    """Set the card that the dealer confirmed, and remember the camera's name for it."""
    card, index = _recorded_card(state, irregularity)
    assert irregularity.seen is not None
    code, corners = irregularity.seen.card if stands == "table" else card.card, irregularity.seen.corners
    card = replace(card, card=code, sure=True, by="dealer", seen=irregularity.seen.card, corners=corners)
    return with_card(state, irregularity.seat, irregularity.row, index, card)
