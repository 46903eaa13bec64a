"""The events of a hand, from its opening to paybacks after a correction; `firmware.table.events` lists all events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from pydantic import JsonValue

from firmware.messages import Text
from firmware.table.events.base import Event
from firmware.table.events.camera import Calibration
from firmware.table.events.devices import Puck
from firmware.table.people import Person
from firmware.table.phase import Phase
from firmware.table.seen import Capture, Row, RowReading, Thing
from firmware.table.settings import HouseSettings


@dataclass(frozen=True)
class SeatOpened:
    """A seat that plays: its place on the felt, and the stack before the hand in cents (None: uncapped).

    `open`: its cards are placed face up; `fantasyland`: its player plays a Fantasy Land hand.
    """

    seat: int
    player: str
    place: str
    stack: int | None = None
    open: bool = False
    fantasyland: bool = False


@dataclass(frozen=True)
class Payback:
    """A payment that a correction requires: `payer` owes `winner` this many cents, until it is marked as paid back."""

    hand: int
    payer: str
    winner: str
    amount: int
    paid: bool = False


@dataclass(frozen=True)
class HandOpened(Event):
    """A hand is opened. Contains the whole table state, so that recovery needs no earlier row.

    - `profile_hash`, `layout_hash`: SHA-256 of texts in the journal's content table. `options`: the profile options
      that the house overrides, by dotted path. `unit`: cents a point.
    - `button`: the puck's seat, if known. `puck`, `faults`: the state of the devices.
    - `stacks`: those of all players, including players who do not play. `fantasyland`, `sits_out`: names of players.
      `passed`: the players who pass this hand. `recent`: the players who left recently, the last one first.
    - `paybacks`: those still open. `disputed`: the hands under dispute.
    - `house`: the table's settings. `calibrations`: those in force, by "felt", "lens", "deck".
    - `closed`: the hand whose closing can be undone until a card is dealt, 0 for none.
    """

    type: ClassVar[str] = "hand_opened"
    hand: int
    profile: str
    profile_hash: str
    unit: int
    seats: tuple[SeatOpened, ...]
    button: int | None = None
    puck: Puck = field(default_factory=Puck)
    faults: dict[str, Text] = field(default_factory=dict)
    options: dict[str, JsonValue] = field(default_factory=dict)
    layout_hash: str = ""
    model_hash: str = ""
    software: str = ""
    dealer: str = ""
    down: int = 0
    people: tuple[Person, ...] = ()
    stacks: dict[str, int | None] = field(default_factory=dict)
    fantasyland: tuple[str, ...] = ()
    sits_out: tuple[str, ...] = ()
    two_hands: bool = False
    paybacks: tuple[Payback, ...] = ()
    house: HouseSettings = field(default_factory=HouseSettings)
    disputed: tuple[int, ...] = ()
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    recent: tuple[str, ...] = ()
    closed: int = 0
    passed: tuple[str, ...] = ()


@dataclass(frozen=True)
class ButtonKeyed(Event):
    """The dealer keyed the button's seat."""

    type: ClassVar[str] = "button_keyed"
    seat: int


@dataclass(frozen=True)
class PhaseAdvanced(Event):
    """The hand moves to its next phase: setting or placing (cards are dealt), showdown (the signal), or reading.

    A keyed hand moves from the showdown to review.
    """

    type: ClassVar[str] = "phase_advanced"
    to: Phase


@dataclass(frozen=True)
class NaturalDeclared(Event):
    """A player declared a natural."""

    type: ClassVar[str] = "natural_declared"
    seat: int


@dataclass(frozen=True)
class NaturalWithdrawn(Event):
    """A declaration was taken back, or had been keyed at the wrong seat."""

    type: ClassVar[str] = "natural_withdrawn"
    seat: int


@dataclass(frozen=True)
class Surrendered(Event):
    """A player surrendered."""

    type: ClassVar[str] = "surrendered"
    seat: int


@dataclass(frozen=True)
class SurrenderWithdrawn(Event):
    """A surrender was taken back, or had been keyed at the wrong seat."""

    type: ClassVar[str] = "surrender_withdrawn"
    seat: int


@dataclass(frozen=True)
class CardsAwaited(Event):
    """A reading after the showdown signal found too few cards at these seats; it is repeated automatically.

    `empty`: those of the seats without any card.
    """

    type: ClassVar[str] = "cards_awaited"
    seats: tuple[int, ...]
    empty: tuple[int, ...] = ()


@dataclass(frozen=True)
class SettingResumed(Event):
    """The showdown was signalled too early: the players continue setting, and may still declare or surrender."""

    type: ClassVar[str] = "setting_resumed"


@dataclass(frozen=True)
class ButtonKept(Event):
    """Between hands: the button stays at this seat for the next hand, although it should have moved."""

    type: ClassVar[str] = "button_kept"
    seat: int


@dataclass(frozen=True)
class ReadingTaken(Event):
    """The camera read the table. `verdicts` are vision's checks of the picture; `ms` are durations in milliseconds.

    `things` are other objects in the zones of the seats that play.
    """

    type: ClassVar[str] = "reading_taken"
    WHOLE: ClassVar[frozenset[str]] = frozenset({"frames", "all_frames", "longest_frame", "images"})
    """Keys of `ms` for the whole reading; the others are the stages of its last frame."""
    rows: tuple[RowReading, ...]
    frame: Capture | None = None
    verdicts: dict[str, JsonValue] = field(default_factory=dict)
    ms: dict[str, JsonValue] = field(default_factory=dict)
    things: tuple[Thing, ...] = ()

    @property
    def frame_ms(self) -> float:
        """Milliseconds from the last frame's pixels to named cards; 0 if `ms` is empty."""
        stages = (ms for stage, ms in self.ms.items() if stage not in self.WHOLE)
        return sum(ms for ms in stages if isinstance(ms, int | float))


@dataclass(frozen=True)
class ReadingFailed(Event):
    """The camera could not read the table; `reason` is a message for the dealer."""

    type: ClassVar[str] = "reading_failed"
    reason: Text
    frame: Capture | None = None


@dataclass(frozen=True)
class LookedAgain(Event):
    """The red button: the table is read again. `seat` is the seat whose natural was being shown, if any."""

    type: ClassVar[str] = "looked_again"
    seat: int | None = None


@dataclass(frozen=True)
class CardResolved(Event):
    """The dealer named an unsure card. `index` counts from 0."""

    type: ClassVar[str] = "card_resolved"
    seat: int
    row: Row
    index: int
    card: str


@dataclass(frozen=True)
class CardCorrected(Event):
    """The dealer changed a card that had been certain."""

    type: ClassVar[str] = "card_corrected"
    seat: int
    row: Row
    index: int
    card: str
    was: str | None = None


@dataclass(frozen=True)
class RowKeyed(Event):
    """The dealer keyed a whole row."""

    type: ClassVar[str] = "row_keyed"
    seat: int
    row: Row
    cards: tuple[str, ...]


@dataclass(frozen=True)
class NaturalFound(Event):
    """A seat's cards hold a natural, which counts undeclared under the rules of this hand."""

    type: ClassVar[str] = "natural_found"
    seat: int
    kind: str


@dataclass(frozen=True)
class NaturalConfirmed(Event):
    """The green button: the verdict shown is confirmed. `kind` is None if the cards do not verify the declaration."""

    type: ClassVar[str] = "natural_confirmed"
    seat: int
    kind: str | None
    value: int = 0


@dataclass(frozen=True)
class NaturalUnconfirmed(Event):
    """A confirmation was taken back."""

    type: ClassVar[str] = "natural_unconfirmed"
    seat: int


@dataclass(frozen=True)
class Settled(Event):
    """The hand's settlement, in the JSON of `feltwatch settle --json`."""

    type: ClassVar[str] = "settled"
    settlement: dict[str, JsonValue]


@dataclass(frozen=True)
class PaymentMarked(Event):
    """The payment between `a` and `b` (as in the settlement's pairs) was made, or its mark taken back."""

    type: ClassVar[str] = "payment_marked"
    a: int
    b: int
    paid: bool = True


@dataclass(frozen=True)
class HandArchived(Event):
    """The hand is over and its settlement is final.

    `unmarked`: payments that were not marked as made; the players settled them among themselves.
    """

    type: ClassVar[str] = "hand_archived"
    unmarked: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class HandVoided(Event):
    """The hand is over and settles nothing."""

    type: ClassVar[str] = "hand_voided"
    reason: str


@dataclass(frozen=True)
class HandMisdealt(Event):
    """The deal was wrong: the hand is over and settles nothing, and the button stays."""

    type: ClassVar[str] = "hand_misdealt"
    reason: str


@dataclass(frozen=True)
class HandWithdrawn(Event):
    """A hand's opening is taken back before a card was dealt, because the previous hand was closed too soon.

    The number is not used again; the next hand has the number after it.
    """

    type: ClassVar[str] = "hand_withdrawn"


@dataclass(frozen=True)
class SeatEnd:
    """A seat at the end of a hand: its declaration or surrender, the order of these, and its certain cards by row."""

    seat: int
    declares: bool = False
    confirmed: bool = False
    surrenders: bool = False
    rows: dict[Row, tuple[str, ...]] = field(default_factory=dict)
    captures: dict[Row, Capture] = field(default_factory=dict)
    found: bool = False
    acted: int | None = None


@dataclass(frozen=True)
class HandReopened(Event):
    """A past hand is reopened. Contains that hand's whole end state, so that recovery needs no earlier row.

    `names`: the current names of its players who were renamed since. `resumed`: the last hand was closed too soon, and
    continues as it was, with the payments in `paid` marked; nothing is corrected.
    """

    type: ClassVar[str] = "hand_reopened"
    reason: str
    opened: HandOpened
    button: int
    seats: tuple[SeatEnd, ...]
    settlement: dict[str, JsonValue]
    frame: Capture | None = None
    names: dict[str, str] = field(default_factory=dict)
    resumed: bool = False
    paid: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class PaybackMarked(Event):
    """A payback was marked as made, or its mark was taken back. `number` counts from 1."""

    type: ClassVar[str] = "payback_marked"
    number: int
    paid: bool = True
