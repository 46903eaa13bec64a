"""The events of the table's start and of its devices; `firmware.table.events` lists all events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from firmware.messages import Text
from firmware.table.events.base import Event
from firmware.table.settings import HouseSettings

PuckState = Literal["seat", "none", "unknown", "ambiguous", "apart", "fault"]


@dataclass(frozen=True)
class TableStarted(Event):
    """The table process started; earlier device states are no longer valid. `house` is the configuration."""

    type: ClassVar[str] = "table_started"
    software: str = ""
    house: HouseSettings | None = None


@dataclass(frozen=True)
class Puck:
    """The puck reader's state; `seat` is set only in state "seat"."""

    state: PuckState = "unknown"
    seat: int | None = None
    detail: Text = ""


@dataclass(frozen=True)
class PuckSeen(Event):
    """The puck reader's state changed. `seat` is set only when `state` is "seat"."""

    type: ClassVar[str] = "puck_seen"
    state: PuckState
    seat: int | None = None
    detail: Text = ""


@dataclass(frozen=True)
class DeviceFault(Event):
    """A device failed; `detail` is a message for the dealer."""

    type: ClassVar[str] = "device_fault"
    device: str
    detail: Text


@dataclass(frozen=True)
class DeviceRecovered(Event):
    """A device works again."""

    type: ClassVar[str] = "device_recovered"
    device: str
