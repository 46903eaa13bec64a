"""The table's state: a pure fold over the events.

`State` is the current state; each event's `apply` defines how it changes (`firmware.table.topics`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Final, Literal

from firmware.messages import Text
from firmware.table.people import Person
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.readings import NO_FACES, ROWS, Capture, Row
from firmware.table.values import (
    AwaitedCards,
    Calibrates,
    ChangedRow,
    Irregularity,
    LastingState,
    Opening,
    Payback,
    RecordDamage,
    SeatDecisions,
    SeatOpened,
)


@dataclass(frozen=True)
class Card:
    """A card on the table. `sure`: read with certainty, or named by the dealer; only then is `card` used.

    `seen` is the camera's name for it, if the dealer gave another one.
    """

    card: str | None
    sure: bool
    by: Literal["camera", "dealer"] = "camera"
    confidence: float = 0.0
    candidates: tuple[str, ...] = ()
    corners: tuple[tuple[float, float], ...] = ()
    seen: str | None = None

    @property
    def as_read(self) -> bool:
        """Whether the card's name is the camera's."""
        return self.by == "camera" or self.seen == self.card


@dataclass(frozen=True)
class Seat(SeatOpened, SeatDecisions):
    """A seat in this hand.

    An `open` seat's cards are placed face up, in the order in which `row` has them. `things` are other objects that the
    last reading saw in a row.
    """

    front: tuple[Card, ...] = ()
    middle: tuple[Card, ...] = ()
    back: tuple[Card, ...] = ()
    things: Mapping[Row, tuple[str, ...]] = field(default_factory=dict)

    def row(self, row: Row) -> tuple[Card, ...]:
        """Return the cards of one row, left to right as the player sees them."""
        return {"front": self.front, "middle": self.middle, "back": self.back}[row]

    @property
    def rows(self) -> dict[Row, tuple[Card, ...]]:
        """All three rows."""
        return {row: self.row(row) for row in ROWS}

    @property
    def placed(self) -> int:
        """The number of cards in the rows."""
        return sum(len(cards) for cards in self.rows.values())


class Ask(StrEnum):
    """The kinds of questions for the dealer, in the order in which they are asked."""

    IRREGULARITY = "irregularity"
    BUTTON = "button"
    COUNT = "count"
    DUPLICATE = "duplicate"
    CARD = "card"
    NATURAL = "natural"


@dataclass(frozen=True)
class Question:
    """A question that the dealer must answer before the hand settles.

    `cards`: the candidates of an unsure card, best first; or the card seen twice; or the cards seen in a row with a
    wrong number of cards ("??" for an unsure one). `things` are other objects in that row. `number` is the
    irregularity's.
    """

    what: Ask
    seat: int | None = None
    row: Row | None = None
    index: int | None = None
    cards: tuple[str, ...] = ()
    things: tuple[str, ...] = ()
    number: int | None = None


@dataclass(frozen=True)
class State(LastingState):
    """The table's current state, as the events imply it.

    - `stacks`: cents by player, valid while no hand is open.
    - `keyed`: why the dealer keys the hand; "" if the camera reads it.
    - `irregularities`: those still open, of `irregularities_seen`. `dismissed`: findings for which the dealer
      confirmed the record.
    - `sits_out`, `passes`: names of players. `fantasyland`: the cards that they are dealt there, by player.
    - While a past hand is reopened: `reopened` is the reason, `previous_settlement` its settlement before,
      `suspended_state` the table's own state, `names` the current names of players who were renamed since.
    - `set_up`: the first set-up is over, or hands were played. `on_trial`: devices are being tested; no hand opens.
    """

    phase: Phase = Phase.IDLE
    hand: int = 0
    opened: Opening | None = None
    seats: tuple[Seat, ...] = ()
    button: int | None = None
    button_keyed: bool = False
    frame: Capture | None = None
    reading_failure: Text = ""
    awaited: AwaitedCards | None = None
    """The seats at which the last reading saw too few cards; the table is read again automatically."""
    button_kept: int | None = None
    """For the next hand: the seat of the puck by the dealer's word; None without one."""
    puck_awaited: bool = False
    """Whether white has asked for the next hand, which opens as soon as the puck lies right."""
    verdicts: Mapping[str, Any] = field(default_factory=dict)
    settlement: Mapping[str, Any] | None = None
    settlements: int = 0
    paid: frozenset[tuple[int, int]] = frozenset()
    stacks: Mapping[str, int | None] = field(default_factory=dict)
    void_reason: str = ""
    misdealt: bool = False
    withdrawn: int = 0
    """The number of the last hand if its opening was taken back; the number is not used again."""
    keyed: str = ""
    changed: tuple[ChangedRow, ...] = ()
    """Rows in which a later reading saw other cards than the first one."""
    compared: bool = False
    """Whether the table was looked at after the last payment, or the record says why not."""
    irregularities: tuple[Irregularity, ...] = ()
    irregularities_seen: int = 0
    dismissed: frozenset[tuple[Any, ...]] = frozenset()
    fantasyland: Mapping[str, int] = field(default_factory=dict)
    sits_out: frozenset[str] = frozenset()
    passes: frozenset[str] = frozenset()
    paybacks: tuple[Payback, ...] = ()
    reopened: str = ""
    previous_settlement: Mapping[str, Any] | None = None
    suspended_state: State | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    disputed: frozenset[int] = frozenset()
    """Hands under dispute."""
    deck_unchecked: bool = False
    """Whether the deck in force came from a pit and was not checked at this table yet; no hand opens before."""
    record_fault: RecordDamage | None = None
    """What is wrong with the record, until a floor person has read it; nothing is played until then."""
    set_up: bool = False
    on_trial: bool = False

    def person(self, name: str) -> Person | None:
        """Return the person listed under this name, or None."""
        return next((person for person in self.people if person.name == name), None)

    def seat(self, number: int) -> Seat | None:
        """Return the seat with this number, or None if it does not play."""
        return next((seat for seat in self.seats if seat.seat == number), None)

    def calibration_hash(self, what: Calibrates) -> str:
        """Return the hash of a calibration in force; "" without one."""
        made = self.calibrations.get(what)
        return made.hash if made else ""

    def stack_of(self, player: str) -> int | None:
        """Return a player's stack in cents; before their first hand, the stack they came with. None: not tracked."""
        came = next((seat.stack for seat in self.house.seats_of(player)), None)
        return self.stacks.get(player, came)

    @property
    def last_hand(self) -> int:
        """The number of the hand opened last, also while a past hand is reopened."""
        return (self.suspended_state or self).hand

    @property
    def waiting(self) -> State | None:
        """The running hand that waits while a past hand is corrected; None without one."""
        table = self.suspended_state
        return table if table is not None and table.phase not in BETWEEN_HANDS else None

    @property
    def next_hand(self) -> int:
        """The number of the next hand."""
        return max(self.hand, self.withdrawn) + 1

    @property
    def unpaid(self) -> tuple[tuple[int, int], ...]:
        """The pairs of seats with an open payment, in the order of payment."""
        pairs = ((pair["a"], pair["b"]) for pair in (self.settlement or {}).get("pairs", ()) if pair["paid"])
        return tuple(pair for pair in pairs if pair not in self.paid)

    @property
    def is_paid(self) -> bool:
        """Whether the hand is settled and not reopened, and all its payments are marked."""
        return self.phase is Phase.SETTLED and not self.reopened and not self.unpaid

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions that the dealer must answer before the hand can settle, in order."""
        questions: list[Question] = []
        showing = [seat for seat in self.seats if not seat.surrenders]
        questions += _irregular(self.irregularities)
        if self.phase in _BUTTON_ASKED and self.button is None:
            questions.append(Question(Ask.BUTTON))
        if self.phase is Phase.PLACING:
            questions += _duplicates(showing)
            questions += _unsure(showing, placing=True)
        if self.phase is Phase.REVIEW:
            questions += _counts(showing)
            questions += _duplicates(showing)
            questions += _unsure(showing)
            questions += [
                Question(Ask.NATURAL, s.seat) for s in showing if (s.declares or s.found) and not s.confirmed
            ]
        return tuple(questions)


INITIAL: Final = State()

_BUTTON_ASKED: Final = frozenset({Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN, Phase.READING, Phase.REVIEW})


def _irregular(irregularities: Iterable[Irregularity]) -> Iterator[Question]:
    for seen in irregularities:
        if seen.what != "card_twice":  # `_duplicates` asks about those
            cards = (seen.card,) if seen.card else ()
            yield Question(Ask.IRREGULARITY, seen.seat, seen.row, seen.index, cards, number=seen.number)


def wrong_count(seat: Seat, row: Row) -> bool:
    """Return whether a row has a wrong number of cards; a card back or a joker in it always makes it wrong."""
    return len(seat.row(row)) != ROWS[row] or not NO_FACES.isdisjoint(seat.things.get(row, ()))


def _counts(seats: list[Seat]) -> Iterator[Question]:
    for seat in seats:
        for row, cards in seat.rows.items():
            if wrong_count(seat, row):
                seen = tuple(card.card if card.sure and card.card else "??" for card in cards)
                yield Question(Ask.COUNT, seat.seat, row, None, seen, seat.things.get(row, ()))


def _duplicates(seats: list[Seat]) -> Iterator[Question]:
    spots = [
        (seat.seat, row, index, card.card)
        for seat in seats
        for row, cards in seat.rows.items()
        for index, card in enumerate(cards)
        if card.sure and card.card
    ]
    times = Counter(card for *_, card in spots)
    for seat_number, row, index, card in spots:
        if times[card] > 1:
            yield Question(Ask.DUPLICATE, seat_number, row, index, (card,))


def _unsure(seats: list[Seat], *, placing: bool = False) -> Iterator[Question]:
    for seat in seats:
        for row, cards in seat.rows.items():
            if wrong_count(seat, row) and not placing:
                continue  # the whole row is asked about instead
            for index, card in enumerate(cards):
                if not card.sure or card.card is None:
                    yield Question(Ask.CARD, seat.seat, row, index, card.candidates)
