"""The events: everything that happens at the table, as frozen dataclasses.

Each has a type name that is stored with it and never changes, and a canonical JSON form: `payload(event)`
writes it, `parse(type, payload)` reads it back. Unknown fields are ignored and absent ones take their
default, so that releases can read each other's journals. Cards are rank `23456789TJQKA` + suit `cdhs`; rows
are "front", "middle", "back".
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from firmware.table.errors import UnknownEvent
from firmware.table.event import Event as Event
from firmware.table.events_camera import Calibrated as Calibrated
from firmware.table.events_camera import Calibration as Calibration
from firmware.table.events_camera import CalibrationDropped as CalibrationDropped
from firmware.table.events_camera import DeckChecked as DeckChecked
from firmware.table.events_camera import DeckEnrolled as DeckEnrolled
from firmware.table.events_devices import DeviceFault as DeviceFault
from firmware.table.events_devices import DeviceRecovered as DeviceRecovered
from firmware.table.events_devices import Puck as Puck
from firmware.table.events_devices import PuckSeen as PuckSeen
from firmware.table.events_devices import PuckState as PuckState
from firmware.table.events_devices import TableStarted as TableStarted
from firmware.table.events_evidence import DisputeClosed as DisputeClosed
from firmware.table.events_evidence import HandDisputed as HandDisputed
from firmware.table.events_evidence import HandReviewed as HandReviewed
from firmware.table.events_evidence import HeadSigned as HeadSigned
from firmware.table.events_evidence import ImagesDropped as ImagesDropped
from firmware.table.events_evidence import KeyAnnounced as KeyAnnounced
from firmware.table.events_evidence import RecordFault as RecordFault
from firmware.table.events_evidence import RecordFaultRead as RecordFaultRead
from firmware.table.events_evidence import RecordRestored as RecordRestored
from firmware.table.events_hand import ButtonKept as ButtonKept
from firmware.table.events_hand import ButtonKeyed as ButtonKeyed
from firmware.table.events_hand import CardCorrected as CardCorrected
from firmware.table.events_hand import CardResolved as CardResolved
from firmware.table.events_hand import CardsAwaited as CardsAwaited
from firmware.table.events_hand import HandArchived as HandArchived
from firmware.table.events_hand import HandMisdealt as HandMisdealt
from firmware.table.events_hand import HandOpened as HandOpened
from firmware.table.events_hand import HandReopened as HandReopened
from firmware.table.events_hand import HandVoided as HandVoided
from firmware.table.events_hand import LookedAgain as LookedAgain
from firmware.table.events_hand import NaturalConfirmed as NaturalConfirmed
from firmware.table.events_hand import NaturalDeclared as NaturalDeclared
from firmware.table.events_hand import NaturalFound as NaturalFound
from firmware.table.events_hand import NaturalUnconfirmed as NaturalUnconfirmed
from firmware.table.events_hand import NaturalWithdrawn as NaturalWithdrawn
from firmware.table.events_hand import Payback as Payback
from firmware.table.events_hand import PaybackMarked as PaybackMarked
from firmware.table.events_hand import PaymentMarked as PaymentMarked
from firmware.table.events_hand import PhaseAdvanced as PhaseAdvanced
from firmware.table.events_hand import ReadingFailed as ReadingFailed
from firmware.table.events_hand import ReadingTaken as ReadingTaken
from firmware.table.events_hand import RowKeyed as RowKeyed
from firmware.table.events_hand import SeatEnd as SeatEnd
from firmware.table.events_hand import SeatOpened as SeatOpened
from firmware.table.events_hand import SettingResumed as SettingResumed
from firmware.table.events_hand import Settled as Settled
from firmware.table.events_hand import Surrendered as Surrendered
from firmware.table.events_hand import SurrenderWithdrawn as SurrenderWithdrawn
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
from firmware.table.events_setup import ClockSet as ClockSet
from firmware.table.events_setup import DeviceTried as DeviceTried
from firmware.table.events_setup import DisksNamed as DisksNamed
from firmware.table.events_setup import SetUpEnded as SetUpEnded
from firmware.table.events_setup import StepSettled as StepSettled
from firmware.table.events_setup import TrialBegun as TrialBegun
from firmware.table.events_setup import TrialEnded as TrialEnded
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
    """Return the one JSON text of a value: sorted keys, no spaces, UTF-8 as is, no NaN."""
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
            f"This release does not know the event {type_name!r}; read the journal with a later one."
        )
    try:
        return _adapter(type_name).validate_json(text, strict=True)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UnknownEvent(
            f"A {type_name} event in the journal cannot be read ({where}: {error.errors()[0]['msg']})."
        ) from error
