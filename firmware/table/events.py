"""The events: everything that happens at the table, as frozen dataclasses.

Each has a type name that is stored with it and never changes, and a canonical JSON form: `payload(event)`
writes it, `parse(type, payload)` reads it back. Unknown fields are ignored and absent ones take their
default, so that releases can read each other's journals. Cards are rank `23456789TJQKA` + suit `cdhs`; rows
are "front", "middle", "back".
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Final, Literal

from pydantic import JsonValue, TypeAdapter, ValidationError

from firmware.table.errors import UnknownEvent
from firmware.table.event import Event as Event
from firmware.table.events_camera import Calibrated as Calibrated
from firmware.table.events_camera import Calibration as Calibration
from firmware.table.events_camera import CalibrationDropped as CalibrationDropped
from firmware.table.events_camera import DeckChecked as DeckChecked
from firmware.table.events_camera import DeckEnrolled as DeckEnrolled
from firmware.table.events_evidence import DisputeClosed as DisputeClosed
from firmware.table.events_evidence import HandDisputed as HandDisputed
from firmware.table.events_evidence import HandReviewed as HandReviewed
from firmware.table.events_evidence import HeadSigned as HeadSigned
from firmware.table.events_evidence import ImagesDropped as ImagesDropped
from firmware.table.events_evidence import KeyAnnounced as KeyAnnounced
from firmware.table.events_evidence import RecordRestored as RecordRestored
from firmware.table.events_house import AddedOn as AddedOn
from firmware.table.events_house import BoughtIn as BoughtIn
from firmware.table.events_house import HouseSet as HouseSet
from firmware.table.events_house import PlayerLeft as PlayerLeft
from firmware.table.events_house import PlayerRenamed as PlayerRenamed
from firmware.table.events_house import PlayerSeated as PlayerSeated
from firmware.table.events_house import SeatingChanged as SeatingChanged
from firmware.table.events_house import StackCounted as StackCounted
from firmware.table.events_people import LoggedOff as LoggedOff
from firmware.table.events_people import LoggedOn as LoggedOn
from firmware.table.events_people import PersonListed as PersonListed
from firmware.table.events_people import PersonStruck as PersonStruck
from firmware.table.events_people import PinAccepted as PinAccepted
from firmware.table.events_people import PinSet as PinSet
from firmware.table.events_people import PinTried as PinTried
from firmware.table.events_placing import CardPlaced as CardPlaced
from firmware.table.events_placing import CardReread as CardReread
from firmware.table.events_placing import IrregularityEnded as IrregularityEnded
from firmware.table.events_placing import IrregularitySeen as IrregularitySeen
from firmware.table.events_placing import KeyingBegun as KeyingBegun
from firmware.table.events_profiles import ProfileKept as ProfileKept
from firmware.table.events_profiles import TrainingBegun as TrainingBegun
from firmware.table.events_setup import DeviceTried as DeviceTried
from firmware.table.events_setup import SetUpEnded as SetUpEnded
from firmware.table.events_setup import StepSettled as StepSettled
from firmware.table.events_setup import TrialBegun as TrialBegun
from firmware.table.events_setup import TrialEnded as TrialEnded
from firmware.table.people import Person
from firmware.table.phase import Phase
from firmware.table.seen import ROWS as ROWS
from firmware.table.seen import Capture as Capture
from firmware.table.seen import CardReading as CardReading
from firmware.table.seen import Row as Row
from firmware.table.seen import RowReading as RowReading
from firmware.table.seen import Thing as Thing
from firmware.table.settings import HouseSeat as HouseSeat
from firmware.table.settings import HouseSettings as HouseSettings

PuckState = Literal["seat", "none", "unknown", "ambiguous", "apart", "fault"]


@dataclass(frozen=True)
class TableStarted(Event):
    """The table process started; nothing that a device said before holds any longer. `house` is configured."""

    type: ClassVar[str] = "table_started"
    software: str = ""
    house: HouseSettings | None = None


@dataclass(frozen=True)
class SeatOpened:
    """A seat that plays: its place on the felt, and the stack before the hand in cents (None: uncapped).

    `open`: its cards are placed face up; `fantasyland`: this is a Fantasy Land hand of its player.
    """

    seat: int
    player: str
    place: str
    stack: int | None = None
    open: bool = False
    fantasyland: bool = False


@dataclass(frozen=True)
class Puck:
    """What the puck reader says; a seat only in state "seat"."""

    state: PuckState = "unknown"
    seat: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class Payback:
    """What a reopened hand moved: `payer` owes `winner` so many cents, until it is marked paid back."""

    hand: int
    payer: str
    winner: str
    amount: int
    paid: bool = False


@dataclass(frozen=True)
class HandOpened(Event):
    """A hand opens. Carries the whole table state, so that recovery needs no earlier row.

    `profile_hash` and `layout_hash` are SHA-256 of texts in the journal's content table; `options` are the
    profile options that the house overrides, by dotted path; `unit` is cents a point; `button` the puck's
    seat, if known; `puck` and `faults` what the devices said at that moment. `stacks` are those of all players,
    also of who does not play; `fantasyland` and `sits_out` name players; `paybacks` are those still to be made;
    `house` is what holds at the table from hand to hand; `disputed` are the hands under dispute;
    `calibrations` what the camera reads by: "felt", "lens", "deck", where there is one.
    """

    type: ClassVar[str] = "hand_opened"
    hand: int
    profile: str
    profile_hash: str
    unit: int
    seats: tuple[SeatOpened, ...]
    button: int | None = None
    puck: Puck = field(default_factory=Puck)
    faults: dict[str, str] = field(default_factory=dict)
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


@dataclass(frozen=True)
class PuckSeen(Event):
    """The puck reader's answer changed. `seat` is set when `state` is "seat"."""

    type: ClassVar[str] = "puck_seen"
    state: PuckState
    seat: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class ButtonKeyed(Event):
    """The dealer keyed the button's seat."""

    type: ClassVar[str] = "button_keyed"
    seat: int


@dataclass(frozen=True)
class PhaseAdvanced(Event):
    """The hand goes on: to setting or placing (cards are out), showdown (the signal), reading (the camera looks).

    A keyed hand goes from the showdown to review.
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
class ReadingTaken(Event):
    """The camera read the table. `verdicts` are vision's own about the picture; `ms` its times.

    `things` are those in the zones of the seats that play.
    """

    type: ClassVar[str] = "reading_taken"
    WHOLE: ClassVar[frozenset[str]] = frozenset({"frames", "all_frames", "longest_frame", "images"})
    """Times of the whole look; the others in `ms` are the stages of its last frame."""
    rows: tuple[RowReading, ...]
    frame: Capture | None = None
    verdicts: dict[str, JsonValue] = field(default_factory=dict)
    ms: dict[str, JsonValue] = field(default_factory=dict)
    things: tuple[Thing, ...] = ()

    @property
    def frame_ms(self) -> float:
        """Milliseconds from the last frame's pixels to named cards; 0 where no times were told."""
        stages = (ms for stage, ms in self.ms.items() if stage not in self.WHOLE)
        return sum(ms for ms in stages if isinstance(ms, int | float))


@dataclass(frozen=True)
class ReadingFailed(Event):
    """The camera could not read the table; `reason` is a sentence for the dealer."""

    type: ClassVar[str] = "reading_failed"
    reason: str
    frame: Capture | None = None


@dataclass(frozen=True)
class LookedAgain(Event):
    """Red: the table is read again. `seat` is the natural's seat that was being shown, if any."""

    type: ClassVar[str] = "looked_again"
    seat: int | None = None


@dataclass(frozen=True)
class CardResolved(Event):
    """The dealer said what an unsure card is. `index` counts from 0."""

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
class NaturalConfirmed(Event):
    """Green: the verdict shown stands. `kind` is None where the cards do not bear the declaration out."""

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
    """The hand is over and its settlement stands."""

    type: ClassVar[str] = "hand_archived"


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
class SeatEnd:
    """How a seat ended a hand: what it said, and its certain cards, by row."""

    seat: int
    declares: bool = False
    confirmed: bool = False
    surrenders: bool = False
    rows: dict[Row, tuple[str, ...]] = field(default_factory=dict)
    captures: dict[Row, Capture] = field(default_factory=dict)


@dataclass(frozen=True)
class HandReopened(Event):
    """A past hand is disputed. Carries that hand's whole end, so that recovery needs no earlier row.

    `names`: how players of that hand are called by now, where it is otherwise.
    """

    type: ClassVar[str] = "hand_reopened"
    reason: str
    opened: HandOpened
    button: int
    seats: tuple[SeatEnd, ...]
    settlement: dict[str, JsonValue]
    frame: Capture | None = None
    names: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class PaybackMarked(Event):
    """What a reopened hand moved was paid back, or the mark is taken back. `number` counts from 1."""

    type: ClassVar[str] = "payback_marked"
    number: int
    paid: bool = True


@dataclass(frozen=True)
class DeviceFault(Event):
    """A device dropped out; `detail` is a sentence for the dealer."""

    type: ClassVar[str] = "device_fault"
    device: str
    detail: str


@dataclass(frozen=True)
class DeviceRecovered(Event):
    """A device came back."""

    type: ClassVar[str] = "device_recovered"
    device: str


EVENTS: Final[tuple[type[Event], ...]] = (
    TableStarted,
    HandOpened,
    PuckSeen,
    ButtonKeyed,
    PhaseAdvanced,
    NaturalDeclared,
    NaturalWithdrawn,
    Surrendered,
    SurrenderWithdrawn,
    ReadingTaken,
    ReadingFailed,
    CardPlaced,
    CardReread,
    IrregularitySeen,
    IrregularityEnded,
    KeyingBegun,
    LookedAgain,
    CardResolved,
    CardCorrected,
    RowKeyed,
    NaturalConfirmed,
    NaturalUnconfirmed,
    Settled,
    PaymentMarked,
    HandArchived,
    HandVoided,
    HandMisdealt,
    HandReopened,
    PaybackMarked,
    StackCounted,
    SeatingChanged,
    HouseSet,
    ProfileKept,
    TrainingBegun,
    PlayerSeated,
    PlayerLeft,
    PlayerRenamed,
    BoughtIn,
    AddedOn,
    DeviceFault,
    DeviceRecovered,
    PersonListed,
    PersonStruck,
    PinSet,
    PinTried,
    PinAccepted,
    LoggedOn,
    LoggedOff,
    Calibrated,
    DeckEnrolled,
    CalibrationDropped,
    DeckChecked,
    StepSettled,
    TrialBegun,
    TrialEnded,
    DeviceTried,
    SetUpEnded,
    HandDisputed,
    DisputeClosed,
    HandReviewed,
    ImagesDropped,
    KeyAnnounced,
    HeadSigned,
    RecordRestored,
)
BY_TYPE: Final[dict[str, type[Event]]] = {event.type: event for event in EVENTS}


def canonical(value: JsonValue | dict[str, Any] | list[Any]) -> str:
    """Return the one JSON text of a value: sorted keys, no spaces, UTF-8 as is, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def payload(event: Event) -> str:
    """Return the event's fields as canonical JSON."""
    return canonical(dataclasses.asdict(event))


@cache
def _adapter(type_name: str) -> TypeAdapter[Event]:
    return TypeAdapter(BY_TYPE[type_name])


def parse(type_name: str, text: str) -> Event:
    """Return the event that `payload` wrote.

    Raises UnknownEvent for a type of a later release or a payload that does not fit its type.
    """
    if type_name not in BY_TYPE:
        raise UnknownEvent(
            f"This release does not know the event {type_name!r}; read the journal with a later one."
        )
    try:
        return _adapter(type_name).validate_json(text, strict=True)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UnknownEvent(
            f"A {type_name} event in the journal cannot be read ({where}: {error.errors()[0]['msg']})."
        ) from error
