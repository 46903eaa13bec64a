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
from firmware.table.phase import Phase

Row = Literal["front", "middle", "back"]
ROWS: Final[dict[Row, int]] = {"front": 3, "middle": 5, "back": 5}
"""The rows and how many cards each takes, from the table's centre to the player."""

PuckState = Literal["seat", "none", "unknown", "ambiguous", "apart", "fault"]


@dataclass(frozen=True)
class Event:
    """Something that happened. Who did it and when stands in its journal row."""

    type: ClassVar[str]


@dataclass(frozen=True)
class TableStarted(Event):
    """The table process started; nothing that a device said before holds any longer."""

    type: ClassVar[str] = "table_started"
    software: str = ""


@dataclass(frozen=True)
class SeatOpened:
    """A seat that plays: its place on the felt, and the stack before the hand in cents (None: uncapped)."""

    seat: int
    player: str
    place: str
    stack: int | None = None


@dataclass(frozen=True)
class Puck:
    """What the puck reader says; a seat only in state "seat"."""

    state: PuckState = "unknown"
    seat: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class HandOpened(Event):
    """A hand opens. Carries the whole table state, so that recovery needs no earlier row.

    `profile_hash` and `layout_hash` are SHA-256 of texts in the journal's content table; `options` are the
    profile options that the house overrides, by dotted path; `unit` is cents a point; `button` the puck's
    seat, if known; `puck` and `faults` what the devices said at that moment.
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
    """The hand goes on: to setting (cards are out), showdown (the signal) or reading (the camera looks)."""

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
class Capture:
    """A stored image: its name below the captures folder, the SHA-256 of its bytes, its size in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class CardReading:
    """One card as vision saw it. `card` is the best guess; only a `sure` one is used without asking.

    `candidates` are the cards it may be, best first; `corners` four (x, y) in pixels of the full frame, empty
    where unknown.
    """

    card: str | None
    confidence: float
    sure: bool
    candidates: tuple[str, ...] = ()
    corners: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class RowReading:
    """The cards in one zone, left to right as its player sees them; `capture` is the zone, upright."""

    seat: int
    row: Row
    place: str
    cards: tuple[CardReading, ...]
    capture: Capture | None = None


@dataclass(frozen=True)
class ReadingTaken(Event):
    """The camera read the table. `verdicts` are vision's own about the picture; `ms` its times."""

    type: ClassVar[str] = "reading_taken"
    rows: tuple[RowReading, ...]
    frame: Capture | None = None
    verdicts: dict[str, JsonValue] = field(default_factory=dict)
    ms: dict[str, JsonValue] = field(default_factory=dict)


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
    DeviceFault,
    DeviceRecovered,
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
