"""The events about people: who is listed, PINs tried, downs begun and ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from firmware.table.events.base import Event
from firmware.table.people import Role


@dataclass(frozen=True)
class PersonListed(Event):
    """Somebody was listed, or given another role. `pin` names a verifier in the PIN store, never the PIN."""

    type: ClassVar[str] = "person_listed"
    person: str
    role: Role
    pin: str = ""


@dataclass(frozen=True)
class PersonStruck(Event):
    """Somebody was taken off the list."""

    type: ClassVar[str] = "person_struck"
    person: str


@dataclass(frozen=True)
class PinSet(Event):
    """Somebody has another PIN; `pin` names its verifier."""

    type: ClassVar[str] = "pin_set"
    person: str
    pin: str


@dataclass(frozen=True)
class PinTried(Event):
    """A PIN was keyed for somebody. Counted before it is compared: pulling the plug gives no free try."""

    type: ClassVar[str] = "pin_tried"
    person: str


@dataclass(frozen=True)
class PinAccepted(Event):
    """The PIN tried last was right. One that was tried and never accepted was wrong."""

    type: ClassVar[str] = "pin_accepted"
    person: str


@dataclass(frozen=True)
class LoggedOn(Event):
    """A dealer began a down: the row's time is its start, `down` its number at this table."""

    type: ClassVar[str] = "logged_on"
    person: str
    down: int


@dataclass(frozen=True)
class LoggedOff(Event):
    """The dealer left and nobody took over."""

    type: ClassVar[str] = "logged_off"
