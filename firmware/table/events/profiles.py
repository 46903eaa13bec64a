"""The events of the house's own rule profiles, and of a record that is no game's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from firmware.table.events.base import Event


@dataclass(frozen=True)
class ProfileKept(Event):
    """A version of a house's own profile was written down, with the reason; it is not in force by that.

    `hash` is the SHA-256 of its text in the journal's content table. The same hash again: the house went back to it.
    """

    type: ClassVar[str] = "profile_kept"
    name: str
    hash: str
    reason: str


@dataclass(frozen=True)
class TrainingBegun(Event):
    """The first row of a training record: no hand in it was ever played, and no table goes on with it."""

    type: ClassVar[str] = "training_begun"
