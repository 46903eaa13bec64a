"""The event of the house's own rule profiles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from firmware.table.event import Event


@dataclass(frozen=True)
class ProfileKept(Event):
    """A version of a house's own profile was written down, with the reason; it is not in force by that.

    `hash` is the SHA-256 of its text in the journal's content table. The same hash again: the house went back to it.
    """

    type: ClassVar[str] = "profile_kept"
    name: str
    hash: str
    reason: str
