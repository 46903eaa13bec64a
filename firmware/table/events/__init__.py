"""The events: everything that happens at the table, as frozen dataclasses.

Each has a type name, which is stored with it and never changes, and a canonical JSON form: `payload(event)` writes it,
`parse(type, payload)` reads it. Unknown fields are ignored and missing fields take their default, so that releases can
read each other's journals. A card is a rank of `23456789TJQKA` and a suit of `cdhs`; the rows are "front", "middle",
"back".
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from firmware.table.errors import UnknownEvent
from firmware.table.events.base import Event as Event
from firmware.table.events.camera import Calibrated as Calibrated
from firmware.table.events.camera import Calibration as Calibration
from firmware.table.events.camera import CalibrationDropped as CalibrationDropped
from firmware.table.events.camera import DeckChecked as DeckChecked
from firmware.table.events.camera import DeckEnrolled as DeckEnrolled
from firmware.table.events.devices import DeviceFault as DeviceFault
from firmware.table.events.devices import DeviceRecovered as DeviceRecovered
from firmware.table.events.devices import Puck as Puck
from firmware.table.events.devices import PuckSeen as PuckSeen
from firmware.table.events.devices import PuckState as PuckState
from firmware.table.events.devices import TableStarted as TableStarted
from firmware.table.events.evidence import DisputeClosed as DisputeClosed
from firmware.table.events.evidence import HandDisputed as HandDisputed
from firmware.table.events.evidence import HandReviewed as HandReviewed
from firmware.table.events.evidence import HeadSigned as HeadSigned
from firmware.table.events.evidence import ImagesDropped as ImagesDropped
from firmware.table.events.evidence import KeyAnnounced as KeyAnnounced
from firmware.table.events.evidence import RecordFault as RecordFault
from firmware.table.events.evidence import RecordFaultRead as RecordFaultRead
from firmware.table.events.evidence import RecordRestored as RecordRestored
from firmware.table.events.hand import ButtonKept as ButtonKept
from firmware.table.events.hand import ButtonKeyed as ButtonKeyed
from firmware.table.events.hand import CardCorrected as CardCorrected
from firmware.table.events.hand import CardResolved as CardResolved
from firmware.table.events.hand import CardsAwaited as CardsAwaited
from firmware.table.events.hand import HandArchived as HandArchived
from firmware.table.events.hand import HandMisdealt as HandMisdealt
from firmware.table.events.hand import HandOpened as HandOpened
from firmware.table.events.hand import HandReopened as HandReopened
from firmware.table.events.hand import HandVoided as HandVoided
from firmware.table.events.hand import HandWithdrawn as HandWithdrawn
from firmware.table.events.hand import LookedAgain as LookedAgain
from firmware.table.events.hand import NaturalConfirmed as NaturalConfirmed
from firmware.table.events.hand import NaturalDeclared as NaturalDeclared
from firmware.table.events.hand import NaturalFound as NaturalFound
from firmware.table.events.hand import NaturalUnconfirmed as NaturalUnconfirmed
from firmware.table.events.hand import NaturalWithdrawn as NaturalWithdrawn
from firmware.table.events.hand import Payback as Payback
from firmware.table.events.hand import PaybackMarked as PaybackMarked
from firmware.table.events.hand import PaymentMarked as PaymentMarked
from firmware.table.events.hand import PhaseAdvanced as PhaseAdvanced
from firmware.table.events.hand import ReadingFailed as ReadingFailed
from firmware.table.events.hand import ReadingTaken as ReadingTaken
from firmware.table.events.hand import RowKeyed as RowKeyed
from firmware.table.events.hand import SeatEnd as SeatEnd
from firmware.table.events.hand import SeatOpened as SeatOpened
from firmware.table.events.hand import SettingResumed as SettingResumed
from firmware.table.events.hand import Settled as Settled
from firmware.table.events.hand import Surrendered as Surrendered
from firmware.table.events.hand import SurrenderWithdrawn as SurrenderWithdrawn
from firmware.table.events.house import AddedOn as AddedOn
from firmware.table.events.house import BoughtIn as BoughtIn
from firmware.table.events.house import HouseSet as HouseSet
from firmware.table.events.house import PlayerLeft as PlayerLeft
from firmware.table.events.house import PlayerRenamed as PlayerRenamed
from firmware.table.events.house import PlayerSeated as PlayerSeated
from firmware.table.events.house import SeatingChanged as SeatingChanged
from firmware.table.events.house import StackCounted as StackCounted
from firmware.table.events.people import LoggedOff as LoggedOff
from firmware.table.events.people import LoggedOn as LoggedOn
from firmware.table.events.people import PersonListed as PersonListed
from firmware.table.events.people import PersonStruck as PersonStruck
from firmware.table.events.people import PinAccepted as PinAccepted
from firmware.table.events.people import PinSet as PinSet
from firmware.table.events.people import PinTried as PinTried
from firmware.table.events.placing import CardPlaced as CardPlaced
from firmware.table.events.placing import CardReread as CardReread
from firmware.table.events.placing import IrregularityEnded as IrregularityEnded
from firmware.table.events.placing import IrregularitySeen as IrregularitySeen
from firmware.table.events.placing import KeyingBegun as KeyingBegun
from firmware.table.events.profiles import ProfileKept as ProfileKept
from firmware.table.events.profiles import TrainingBegun as TrainingBegun
from firmware.table.events.setup import ClockSet as ClockSet
from firmware.table.events.setup import DeviceTried as DeviceTried
from firmware.table.events.setup import DisksNamed as DisksNamed
from firmware.table.events.setup import SetUpEnded as SetUpEnded
from firmware.table.events.setup import StepSettled as StepSettled
from firmware.table.events.setup import TrialBegun as TrialBegun
from firmware.table.events.setup import TrialEnded as TrialEnded
from firmware.table.seen import ROWS as ROWS
from firmware.table.seen import Capture as Capture
from firmware.table.seen import CardReading as CardReading
from firmware.table.seen import Row as Row
from firmware.table.seen import RowReading as RowReading
from firmware.table.seen import Thing as Thing
from firmware.table.settings import HouseSeat as HouseSeat
from firmware.table.settings import HouseSettings as HouseSettings

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
    CardsAwaited,
    SettingResumed,
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
    NaturalFound,
    NaturalUnconfirmed,
    Settled,
    PaymentMarked,
    HandArchived,
    HandVoided,
    HandMisdealt,
    HandWithdrawn,
    HandReopened,
    PaybackMarked,
    ButtonKept,
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
    ClockSet,
    DisksNamed,
    SetUpEnded,
    HandDisputed,
    DisputeClosed,
    HandReviewed,
    ImagesDropped,
    KeyAnnounced,
    HeadSigned,
    RecordRestored,
    RecordFault,
    RecordFaultRead,
)
BY_TYPE: Final[dict[str, type[Event]]] = {event.type: event for event in EVENTS}


_FORM: Final[dict[str, Any]] = {
    "sort_keys": True,
    "separators": (",", ":"),
    "ensure_ascii": False,
    "allow_nan": False,
}
_VALUE: Final = json.JSONEncoder(**_FORM)
_FIELDS: Final = json.JSONEncoder(**_FORM, default=vars)


def canonical(value: JsonValue | dict[str, Any] | list[Any]) -> str:
    """Return the canonical JSON of a value: sorted keys, no spaces, no escapes for non-ASCII characters, no NaN."""
    return _VALUE.encode(value)


def payload(event: Event) -> str:
    """Return the event's fields as canonical JSON."""
    return _FIELDS.encode(event)


@cache
def _adapter(type_name: str) -> TypeAdapter[Event]:
    return TypeAdapter(BY_TYPE[type_name])


def parse(type_name: str, text: str) -> Event:
    """Return the event that `payload` wrote.

    Raises UnknownEvent for a type of a later release or a payload that does not fit its type.
    """
    if type_name not in BY_TYPE:
        raise UnknownEvent(
            "This release does not know the event %(type)s; read the journal with a later one.",
            type=f"{type_name!r}",
        )
    try:
        return _adapter(type_name).validate_json(text, strict=True)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UnknownEvent(
            "A %(type)s event in the journal cannot be read (%(where)s: %(why)s).",
            type=type_name,
            where=where,
            why=error.errors()[0]["msg"],
        ) from error
