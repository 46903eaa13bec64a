"""The events of the house's own rule profiles and of training records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from firmware.table.events.base import Event


@dataclass(frozen=True)
class ProfileKept(Event):
    """A version of a house's own profile was stored, with the reason; this does not put it in force.

    `hash` is the SHA-256 of its text in the journal's content table. A repeated hash means a return to that version.
    """

    type: ClassVar[str] = "profile_kept"
    name: str
    hash: str
    reason: str


@dataclass(frozen=True)
class TrainingBegun(Event):
    """The first event of a training record: its hands are no real games, and no table opens it."""

    type: ClassVar[str] = "training_begun"
