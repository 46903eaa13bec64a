"""The events about people: the list of people, PIN attempts, and the dealers' downs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from firmware.table.events.base import Event
from firmware.table.people import Role


@dataclass(frozen=True)
class PersonListed(Event):
    """A person was listed or given another role. `pin` is the id of a verifier in the PIN store, never the PIN."""

    type: ClassVar[str] = "person_listed"
    person: str
    role: Role
    pin: str = ""


@dataclass(frozen=True)
class PersonStruck(Event):
    """A person was removed from the list."""

    type: ClassVar[str] = "person_struck"
    person: str


@dataclass(frozen=True)
class PinSet(Event):
    """A person's PIN was changed; `pin` is the id of its verifier."""

    type: ClassVar[str] = "pin_set"
    person: str
    pin: str


@dataclass(frozen=True)
class PinTried(Event):
    """A PIN was entered. Recorded before it is checked, so that pulling the plug gives no free attempt."""

    type: ClassVar[str] = "pin_tried"
    person: str


@dataclass(frozen=True)
class PinAccepted(Event):
    """The last PIN that was tried was right. A `PinTried` without this event was a wrong PIN."""

    type: ClassVar[str] = "pin_accepted"
    person: str


@dataclass(frozen=True)
class LoggedOn(Event):
    """A dealer began a down: the row's time is its start, `down` is its number at this table."""

    type: ClassVar[str] = "logged_on"
    person: str
    down: int


@dataclass(frozen=True)
class LoggedOff(Event):
    """The dealer left and nobody took over."""

    type: ClassVar[str] = "logged_off"
