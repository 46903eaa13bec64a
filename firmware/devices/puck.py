"""Where the button lies: what a puck reader tells, and how one sweep of its antennas is judged.

Two white disks carry a tag each: DEALER and ACTION. Both normally lie at one seat. A reading never repeats
what was true a while ago: what is not freshly known is `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class PuckState(StrEnum):
    """What is known about the button, now."""

    SEAT = "seat"
    """The dealer disk lies at one seat, and the action disk with it or nowhere in sight."""
    NONE = "none"
    """Every antenna works and none sees the dealer disk."""
    UNKNOWN = "unknown"
    """Nothing can be said: not connected, silent too long, or a dead antenna may hide the disk."""
    AMBIGUOUS = "ambiguous"
    """One disk is seen at two seats."""
    APART = "apart"
    """The two disks lie at different seats: an irregularity to show, nothing to pick from."""
    FAULT = "fault"
    """The reader talks but cannot do its work: all antennas dead, or it is not a reader we know."""


@dataclass(frozen=True, slots=True)
class PuckReading:
    """One judgement about the button. `seat` is set only in the state SEAT."""

    state: PuckState
    seat: int | None
    """The button's seat, 1 and up; None in every state but SEAT."""
    detail: str
    """A sentence for the dealer; empty where there is nothing to add."""
    readers_ok: frozenset[int]
    """The seats whose antenna answers; empty while nothing is known."""
    at: float
    """Monotonic seconds at which this was judged."""
    dealer_at: tuple[int, ...] = ()
    """Every seat where the dealer disk is seen."""
    action_at: tuple[int, ...] = ()
    """Every seat where the action disk is seen."""
    strangers: tuple[tuple[int, str], ...] = ()
    """Tags that are not ours, as (seat, tag id in hex): reported, never used."""

    def same_as(self, other: PuckReading | None) -> bool:
        """Whether both say the same, whenever they were judged."""
        return other is not None and self._said() == other._said()

    def _said(self) -> tuple[object, ...]:
        return (
            self.state,
            self.seat,
            self.detail,
            self.readers_ok,
            self.dealer_at,
            self.action_at,
            self.strangers,
        )


class PuckReader(Protocol):
    """A device that tells where the button lies."""

    def start(self, put: Callable[[PuckReading], None]) -> None:
        """Begin; `put` gets a first reading at once and then every change, on the device's own thread.

        Never raises for a device that is absent: that is a reading, and the device is waited for, for ever.
        """

    def close(self) -> None:
        """Stop and let go of the port. Nothing is put afterwards. May be called twice."""
