"""The table's state: a pure fold over the events.

`State` is what the events say about now; `firmware.table.effects` says what each event does to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Literal

from firmware.table.events import (
    ROWS,
    Calibration,
    Capture,
    CardsAwaited,
    HandOpened,
    HouseSettings,
    IrregularitySeen,
    Payback,
    Puck,
    RecordFault,
    Row,
)
from firmware.table.people import Person
from firmware.table.phase import Phase
from firmware.table.seen import NO_FACES


@dataclass(frozen=True)
class Card:
    """A card on the table. `sure`: read beyond doubt, or said by the dealer; only then is `card` used.

    `seen` is what the camera took it for where the dealer said otherwise.
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
        """Whether nobody says otherwise than the camera."""
        return self.by == "camera" or self.seen == self.card


@dataclass(frozen=True)
class Seat:
    """A seat that plays this hand. `stack` is cents before the hand, None for uncapped.

    An `open` seat's cards are placed face up, in the order in which `row` has them. `things` are what else the last
    reading saw in a row. `found`: the cards hold a natural that counts undeclared. `acted` is the place of its
    declaration or surrender among the hand's, from 1.
    """

    seat: int
    player: str
    place: str
    stack: int | None = None
    open: bool = False
    fantasyland: bool = False
    declares: bool = False
    found: bool = False
    confirmed: bool = False
    surrenders: bool = False
    acted: int | None = None
    front: tuple[Card, ...] = ()
    middle: tuple[Card, ...] = ()
    back: tuple[Card, ...] = ()
    captures: Mapping[Row, Capture] = field(default_factory=dict)
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
        """How many cards lie in the rows."""
        return sum(len(cards) for cards in self.rows.values())


class Ask(StrEnum):
    """What the dealer can be asked, in the order of asking."""

    IRREGULARITY = "irregularity"
    BUTTON = "button"
    COUNT = "count"
    DUPLICATE = "duplicate"
    CARD = "card"
    NATURAL = "natural"


@dataclass(frozen=True)
class Question:
    """Something the dealer must answer before the hand settles.

    `cards`: the candidates of an unsure card, best first; the card seen twice; the cards seen in a row of the
    wrong count ("??" for an unsure one). `things` lie in that row and are no card that was read. `number` is the
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
class State:
    """Everything the events say about now.

    `stacks` is by player: what each has when no hand is open. `keyed` is why the dealer keys the hand.
    `irregularities` are those still open, of `irregularities_seen`; `dismissed` the findings that the dealer has
    answered with the record. `fantasyland`, `sits_out` and `passes` name players. `house` is what the next hand opens
    with. While a past hand is reopened, `reopened` says why, `previous_settlement` is what it was settled to,
    `suspended_state` the table's own state, and `names` how its players are called by now, where it is otherwise.
    `set_up`: the first set-up is over, or hands were played. `on_trial`: devices are being tried, and no hand opens.
    """

    phase: Phase = Phase.IDLE
    hand: int = 0
    opened: HandOpened | None = None
    seats: tuple[Seat, ...] = ()
    button: int | None = None
    button_keyed: bool = False
    puck: Puck = field(default_factory=Puck)
    frame: Capture | None = None
    reading_failure: str = ""
    awaited: CardsAwaited | None = None
    """Where the last look saw too few cards; the next one comes by itself."""
    button_kept: int | None = None
    """Between hands: the seat at which the button stays, though it should have moved."""
    verdicts: Mapping[str, Any] = field(default_factory=dict)
    settlement: Mapping[str, Any] | None = None
    settlements: int = 0
    paid: frozenset[tuple[int, int]] = frozenset()
    stacks: Mapping[str, int | None] = field(default_factory=dict)
    void_reason: str = ""
    misdealt: bool = False
    withdrawn: int = 0
    """The number of the last hand, where its opening was taken back: it is used up."""
    keyed: str = ""
    irregularities: tuple[IrregularitySeen, ...] = ()
    irregularities_seen: int = 0
    dismissed: frozenset[tuple[Any, ...]] = frozenset()
    fantasyland: frozenset[str] = frozenset()
    sits_out: frozenset[str] = frozenset()
    passes: frozenset[str] = frozenset()
    recent: tuple[str, ...] = ()
    """Who left the table lately, the last one first."""
    two_hands: bool = False
    paybacks: tuple[Payback, ...] = ()
    reopened: str = ""
    previous_settlement: Mapping[str, Any] | None = None
    suspended_state: State | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    house: HouseSettings = field(default_factory=HouseSettings)
    disputed: frozenset[int] = frozenset()
    """Hands under dispute."""
    calibrations: Mapping[str, Calibration] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    people: tuple[Person, ...] = ()
    dealer: str = ""
    down: int = 0
    record_fault: RecordFault | None = None
    """What is wrong with the record and not yet read by a floor person: nothing is played."""
    set_up: bool = False
    on_trial: bool = False

    def person(self, name: str) -> Person | None:
        """Return the person listed under this name, or None."""
        return next((person for person in self.people if person.name == name), None)

    def seat(self, number: int) -> Seat | None:
        """Return the seat with this number, or None if it does not play."""
        return next((seat for seat in self.seats if seat.seat == number), None)

    @property
    def next_hand(self) -> int:
        """The number that the next hand has."""
        return max(self.hand, self.withdrawn) + 1

    @property
    def unpaid(self) -> tuple[tuple[int, int], ...]:
        """The pairs between which a payment is still to be made, in the order of payment."""
        pairs = ((pair["a"], pair["b"]) for pair in (self.settlement or {}).get("pairs", ()) if pair["paid"])
        return tuple(pair for pair in pairs if pair not in self.paid)

    @property
    def questions(self) -> tuple[Question, ...]:
        """What the dealer must answer before the hand can settle, in the order of asking."""
        asked: list[Question] = []
        showing = [seat for seat in self.seats if not seat.surrenders]
        asked += _irregular(self.irregularities)
        if self.phase in _BUTTON_ASKED and self.button is None:
            asked.append(Question(Ask.BUTTON))
        if self.phase is Phase.PLACING:
            asked += _duplicates(showing)
            asked += _unsure(showing, placing=True)
        if self.phase is Phase.REVIEW:
            asked += _counts(showing)
            asked += _duplicates(showing)
            asked += _unsure(showing)
            asked += [
                Question(Ask.NATURAL, s.seat) for s in showing if (s.declares or s.found) and not s.confirmed
            ]
        return tuple(asked)


INITIAL: Final = State()

_BUTTON_ASKED: Final = frozenset({Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN, Phase.READING, Phase.REVIEW})


def _irregular(irregularities: Iterable[IrregularitySeen]) -> Iterator[Question]:
    for seen in irregularities:
        if seen.what != "card_twice":  # the question about the card, at each spot, is the same question
            cards = (seen.card,) if seen.card else ()
            yield Question(Ask.IRREGULARITY, seen.seat, seen.row, seen.index, cards, number=seen.number)


def wrong_count(seat: Seat, row: Row) -> bool:
    """Say whether a row has not exactly its cards: a back or a joker in it is one too many or one too few."""
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
                continue  # the row is asked as a whole
            for index, card in enumerate(cards):
                if not card.sure or card.card is None:
                    yield Question(Ask.CARD, seat.seat, row, index, card.candidates)
