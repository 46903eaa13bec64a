"""The table's start, and what its devices tell; `firmware.table.events` lists all events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from firmware.table.events.base import Event
from firmware.table.settings import HouseSettings

PuckState = Literal["seat", "none", "unknown", "ambiguous", "apart", "fault"]


@dataclass(frozen=True)
class TableStarted(Event):
    """The table process started; nothing that a device said before holds any longer. `house` is configured."""

    type: ClassVar[str] = "table_started"
    software: str = ""
    house: HouseSettings | None = None


@dataclass(frozen=True)
class Puck:
    """What the puck reader says; a seat only in state "seat"."""

    state: PuckState = "unknown"
    seat: int | None = None
    detail: str = ""


@dataclass(frozen=True)
class PuckSeen(Event):
    """The puck reader's answer changed. `seat` is set when `state` is "seat"."""

    type: ClassVar[str] = "puck_seen"
    state: PuckState
    seat: int | None = None
    detail: str = ""


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
