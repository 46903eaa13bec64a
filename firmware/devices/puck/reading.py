"""Where the button lies: what a puck reader tells, and how one sweep of its antennas is judged.

Two white disks carry a tag each: DEALER and ACTION. Both normally lie at one seat. A reading never repeats
what was true a while ago: what is not freshly known is `UNKNOWN`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from firmware.devices.errors import DeviceSettings


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
    ours: tuple[tuple[int, str], ...] = ()
    """The same of the disks' tags."""

    def same_as(self, other: PuckReading | None) -> bool:
        """Whether both say the same, whenever they were judged."""
        return other is not None and self._key() == other._key()

    def _key(self) -> tuple[object, ...]:
        return (
            self.state,
            self.seat,
            self.detail,
            self.readers_ok,
            self.dealer_at,
            self.action_at,
            self.strangers,
            self.ours,
        )


class PuckReader(Protocol):
    """A device that tells where the button lies."""

    def start(self, put: Callable[[PuckReading], None]) -> None:
        """Begin; `put` gets a first reading at once and then every change, on the device's own thread.

        Never raises for a device that is absent: that is a reading, and the device is waited for, for ever.
        """

    def use(self, disks: Disks) -> None:
        """Go by these disks from now on. From any thread."""

    def close(self) -> None:
        """Stop and let go of the port. Nothing is put afterwards. May be called twice."""


_TAG = re.compile(r"(?:[0-9A-F]{2}){4,10}")


@dataclass(frozen=True, slots=True)
class Disks:
    """The house's disks: the tag ids, in hex, that count as DEALER and as ACTION.

    Several ids per disk are its spares; without a dealer disk no seat is ever told. Colons, blanks and small letters
    are read too. Raises DeviceSettings.
    """

    dealer: frozenset[str] = frozenset()
    action: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "dealer", frozenset(map(_tag_id, self.dealer)))
        object.__setattr__(self, "action", frozenset(map(_tag_id, self.action)))
        if both := self.dealer & self.action:
            raise DeviceSettings(f"The tag {min(both)} is named for both disks: give each its own.")


def _tag_id(text: str) -> str:
    tag = re.sub(r"[\s:]", "", text).upper()
    if not _TAG.fullmatch(tag):
        raise DeviceSettings(f"{text!r} is no tag id: 4 to 10 bytes in hex are, such as 04A1B2C3D4E580.")
    return tag


@dataclass(frozen=True, slots=True)
class Sweep:
    """What the antennas saw in one round."""

    tags: frozenset[tuple[int, str]]
    """(seat, tag id) of every tag seen."""
    readers_ok: frozenset[int]
    """The seats whose antenna answered."""


def judge(sweep: Sweep, disks: Disks, seats: frozenset[int], at: float) -> PuckReading:
    """What one sweep says about the button at a table with these seats.

    A dead antenna matters only where it could hide the dealer disk: a disk that is seen is where it is seen.
    """
    dealer_at = tuple(sorted(seat for seat, tag in sweep.tags if tag in disks.dealer))
    action_at = tuple(sorted(seat for seat, tag in sweep.tags if tag in disks.action))
    ours = disks.dealer | disks.action
    of_ours = tuple(sorted((seat, tag) for seat, tag in sweep.tags if tag in ours))
    strangers = tuple(sorted(sweep.tags - set(of_ours)))
    beyond = sorted({seat for seat, _ in sweep.tags} - seats)
    dead = sorted(seats - sweep.readers_ok)
    notes = [f"{_seats(dead)}: the antenna does not answer."] if dead else []
    notes += [f"Seat {seat}: a tag that is not ours ({tag})." for seat, tag in strangers]

    state, seat = PuckState.NONE, None
    if beyond:
        state = PuckState.FAULT
        notes.insert(0, f"The puck reader reports {_seats(beyond).lower()}, which this table does not have.")
    elif not sweep.readers_ok & seats:
        state = PuckState.FAULT
        notes = ["No antenna of the puck reader answers: check its wiring, then unplug it and plug it in."]
    elif not disks.dealer:
        state = PuckState.FAULT
        notes = [NO_DISK]
    elif len(dealer_at) > 1:
        state = PuckState.AMBIGUOUS
        notes.insert(0, f"The dealer disk is seen at {_seats(dealer_at).lower()}.")
    elif len(action_at) > 1:
        state = PuckState.AMBIGUOUS
        notes.insert(0, f"The action disk is seen at {_seats(action_at).lower()}.")
    elif dealer_at and action_at and dealer_at != action_at:
        state = PuckState.APART
        notes.insert(
            0, f"The dealer disk lies at seat {dealer_at[0]}, the action disk at seat {action_at[0]}."
        )
    elif dealer_at:
        state, seat = PuckState.SEAT, dealer_at[0]
        if disks.action and not action_at:
            notes.insert(0, "The action disk is not seen.")
    elif dead:
        state = PuckState.UNKNOWN
        notes.insert(0, "The dealer disk is not seen, and a dead antenna may hide it.")
    elif action_at:
        notes.insert(0, f"Only the action disk is seen, at seat {action_at[0]}.")
    detail = " ".join(notes)
    answering = sweep.readers_ok & seats
    return PuckReading(state, seat, detail, answering, at, dealer_at, action_at, strangers, of_ours)


def _seats(seats: Iterable[int]) -> str:
    names = [str(seat) for seat in seats]
    return f"Seat {names[0]}" if len(names) == 1 else f"Seats {', '.join(names[:-1])} and {names[-1]}"


NO_DISK = "No tag is named for the dealer disk. A technician names it in the set-up, at the puck reader."
SAYS_NOTHING = (
    "The puck reader is connected but does not tell where the button lies: "
    "unplug it and plug it in, or key the seat."
)
STALE_AFTER = 1.5
"""Seconds without a fresh sweep after which nothing is known (three missed snapshots)."""


class Tracker:
    """Follows sweeps and says what is known now. Pure: every time is passed in, in monotonic seconds.

    A change counts when two sweeps in a row agree on it, so that no single mis-read or damaged line moves the
    button; what no sweep has verified for `stale_after` seconds is not known.
    """

    def __init__(self, disks: Disks, seats: Iterable[int], stale_after: float = STALE_AFTER) -> None:
        self._disks = disks
        self._seats = frozenset(seats)
        if not self._seats or min(self._seats) < 1:
            raise DeviceSettings("A puck reader needs at least one seat, and seats count from 1.")
        self._stale_after = stale_after
        self._sweep: Sweep | None = None
        self._verified_at = 0.0
        self._candidate: Sweep | None = None
        self._candidate_at = 0.0

    def use(self, disks: Disks) -> None:
        """Go by these disks from now on."""
        self._disks = disks

    def receive(self, sweep: Sweep, at: float) -> bool:
        """Take in one sweep. True when it differs from what is known: a second one is wanted soon."""
        known = self._sweep if at - self._verified_at <= self._stale_after else None
        candidate = self._candidate if at - self._candidate_at <= self._stale_after else None
        if sweep in (known, candidate):
            self._sweep, self._verified_at, self._candidate = sweep, at, None
            return False
        self._candidate, self._candidate_at = sweep, at
        return True

    def forget(self) -> None:
        """Know nothing: the reader went away or was held up."""
        self._sweep = self._candidate = None

    def reading(self, now: float, why_unknown: str) -> PuckReading:
        """What is known now; `why_unknown` is the sentence for the dealer where nothing is."""
        if self._sweep is not None and now - self._verified_at <= self._stale_after:
            return judge(self._sweep, self._disks, self._seats, now)
        return PuckReading(PuckState.UNKNOWN, None, why_unknown, frozenset(), now)
