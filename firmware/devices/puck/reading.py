"""The puck's position: the puck reader's output, and how one sweep of its antennas is evaluated.

Two white disks carry a tag each: DEALER and ACTION. Both normally lie at one seat. A reading never repeats an old
state: what is not currently known is `UNKNOWN`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from firmware.devices.errors import DeviceSettings
from firmware.messages import Message, Text, all_of, in_turn, join_words


class PuckState(StrEnum):
    """What is known about the puck now."""

    SEAT = "seat"
    """The dealer disk is at one seat, and the action disk is there too or not seen."""
    NONE = "none"
    """Every antenna works and none detects the dealer disk."""
    UNKNOWN = "unknown"
    """Unknown: not connected, silent too long, or a dead antenna may hide the disk."""
    AMBIGUOUS = "ambiguous"
    """One disk is detected at two seats."""
    APART = "apart"
    """The two disks are at different seats: an irregularity to show; no seat is chosen."""
    FAULT = "fault"
    """The reader answers but cannot work: all antennas are dead, or its type is unknown."""


@dataclass(frozen=True, slots=True)
class PuckReading:
    """A decision about the puck. `seat` is set only in the state SEAT."""

    state: PuckState
    seat: int | None
    """The puck's seat, 1 and up; None in every other state."""
    detail: Text
    """A message for the dealer; empty if there is none."""
    readers_ok: frozenset[int]
    """The seats whose antenna answers; empty while nothing is known."""
    at: float
    """Monotonic seconds of the decision."""
    dealer_at: tuple[int, ...] = ()
    """Every seat where the dealer disk is detected."""
    action_at: tuple[int, ...] = ()
    """Every seat where the action disk is detected."""
    strangers: tuple[tuple[int, str], ...] = ()
    """Unknown tags as (seat, tag id in hex): reported, never used."""
    ours: tuple[tuple[int, str], ...] = ()
    """The same for the disks' tags."""
    badges: tuple[tuple[int, str], ...] = ()
    """The same for the tags of badges: they are neither a puck nor unknown tags."""

    def same_as(self, other: PuckReading | None) -> bool:
        """Return whether both are equal apart from their times."""
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
            self.badges,
        )


class PuckReader(Protocol):
    """A device that detects the puck's position."""

    def start(self, put: Callable[[PuckReading], None]) -> None:
        """Start; `put` receives a first reading at once and then every change, on the device's own thread.

        Never raises for an absent device: the reading shows that, and connecting is retried for ever.
        """

    def use(self, disks: Disks) -> None:
        """Use these disks from now on. From any thread."""

    def close(self) -> None:
        """Stop and release the port. Nothing is put afterwards. May be called twice."""


_TAG = re.compile(r"(?:[0-9A-F]{2}){4,10}")


@dataclass(frozen=True, slots=True)
class Disks:
    """The house's disks: the tag ids, in hex, that count as DEALER and as ACTION.

    Several ids per disk are its spares; without a dealer disk no seat is ever reported. `badges`: people's tags; an
    id that belongs to a disk is never a badge. Ids may contain colons, blanks and lower-case letters.
    Raises DeviceSettings.
    """

    dealer: frozenset[str] = frozenset()
    action: frozenset[str] = frozenset()
    badges: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "dealer", frozenset(map(_tag_id, self.dealer)))
        object.__setattr__(self, "action", frozenset(map(_tag_id, self.action)))
        object.__setattr__(self, "badges", frozenset(map(_tag_id, self.badges)) - self.dealer - self.action)
        if both := self.dealer & self.action:
            raise DeviceSettings("The tag %(tag)s is named for both disks: give each its own.", tag=min(both))


def _tag_id(text: str) -> str:
    tag = re.sub(r"[\s:]", "", text).upper()
    if not _TAG.fullmatch(tag):
        raise DeviceSettings(
            "%(text)s is no tag id: 4 to 10 bytes in hex are, such as 04A1B2C3D4E580.", text=f"{text!r}"
        )
    return tag


@dataclass(frozen=True, slots=True)
class Sweep:
    """The result of one round of all antennas."""

    tags: frozenset[tuple[int, str]]
    """(seat, tag id) of every detected tag."""
    readers_ok: frozenset[int]
    """The seats whose antenna answered."""


def judge(sweep: Sweep, disks: Disks, seats: frozenset[int], at: float) -> PuckReading:
    """Return the puck's position from one sweep, at a table with these seats.

    A dead antenna matters only if it could hide the dealer disk: a disk that is detected is not hidden.
    """
    dealer_at = tuple(sorted(seat for seat, tag in sweep.tags if tag in disks.dealer))
    action_at = tuple(sorted(seat for seat, tag in sweep.tags if tag in disks.action))
    ours = disks.dealer | disks.action
    of_ours = tuple(sorted((seat, tag) for seat, tag in sweep.tags if tag in ours))
    badges = tuple(sorted((seat, tag) for seat, tag in sweep.tags if tag in disks.badges))
    strangers = tuple(sorted(sweep.tags - {*of_ours, *badges}))
    beyond = sorted({seat for seat, _ in sweep.tags} - seats)
    dead = sorted(seats - sweep.readers_ok)
    notes = [Message("The antenna does not answer at %(seats)s.", seats=_seats(dead))] if dead else []
    notes += [
        Message("Seat %(seat)s: a tag that is not ours (%(tag)s).", seat=seat, tag=tag)
        for seat, tag in strangers
    ]

    state, seat = PuckState.NONE, None
    if beyond:
        state = PuckState.FAULT
        notes.insert(
            0,
            Message(
                "The puck reader reports %(seats)s, which this table does not have.", seats=_seats(beyond)
            ),
        )
    elif not sweep.readers_ok & seats:
        state = PuckState.FAULT
        notes = [
            Message("No antenna of the puck reader answers: check its wiring, then unplug it and plug it in.")
        ]
    elif not disks.dealer:
        state = PuckState.FAULT
        notes = [NO_DISK]
    elif len(dealer_at) > 1:
        state = PuckState.AMBIGUOUS
        notes.insert(0, Message("The dealer disk is seen at %(seats)s.", seats=_seats(dealer_at)))
    elif len(action_at) > 1:
        state = PuckState.AMBIGUOUS
        notes.insert(0, Message("The action disk is seen at %(seats)s.", seats=_seats(action_at)))
    elif dealer_at and action_at and dealer_at != action_at:
        state = PuckState.APART
        notes.insert(
            0,
            Message(
                "The dealer disk lies at seat %(seat)s, the action disk at seat %(other)s.",
                seat=dealer_at[0],
                other=action_at[0],
            ),
        )
    elif dealer_at:
        state, seat = PuckState.SEAT, dealer_at[0]
        if disks.action and not action_at:
            notes.insert(0, Message("The action disk is not seen."))
    elif dead:
        state = PuckState.UNKNOWN
        notes.insert(0, Message("The dealer disk is not seen, and a dead antenna may hide it."))
    elif action_at:
        notes.insert(0, Message("Only the action disk is seen, at seat %(seat)s.", seat=action_at[0]))
    detail = in_turn(notes)
    answering = sweep.readers_ok & seats
    return PuckReading(state, seat, detail, answering, at, dealer_at, action_at, strangers, of_ours, badges)


def _seats(seats: Sequence[int]) -> Message:
    if len(seats) == 1:
        return Message("seat %(seat)s", seat=seats[0])
    return Message("seats %(seats)s", seats=all_of([join_words(seats[:-1]), seats[-1]]))


NO_DISK = Message(
    "No tag is named for the dealer disk. A technician names it in the set-up, at the puck reader."
)
SAYS_NOTHING = Message(
    "The puck reader is connected but does not tell where the puck lies: unplug it and "
    "plug it in, or key the seat."
)
STALE_AFTER = 1.5
"""Seconds without a new sweep after which the position is unknown (three missed snapshots)."""


class Tracker:
    """Follows sweeps and returns the current position. Pure: times are passed in, in monotonic seconds.

    A change counts when two consecutive sweeps agree on it, so that no single misread or damaged line moves the puck.
    A position that no sweep has confirmed for `stale_after` seconds is unknown.
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
        """Use these disks from now on."""
        self._disks = disks

    def receive(self, sweep: Sweep, at: float) -> bool:
        """Process one sweep. Return True if it differs from the known position: another sweep is needed soon."""
        known = self._sweep if at - self._verified_at <= self._stale_after else None
        candidate = self._candidate if at - self._candidate_at <= self._stale_after else None
        if sweep in (known, candidate):
            self._sweep, self._verified_at, self._candidate = sweep, at, None
            return False
        self._candidate, self._candidate_at = sweep, at
        return True

    def forget(self) -> None:
        """Reset to unknown: the reader was disconnected or delayed."""
        self._sweep = self._candidate = None

    def reading(self, now: float, why_unknown: Text) -> PuckReading:
        """Return the current position; `why_unknown` is the message for the dealer if it is unknown."""
        if self._sweep is not None and now - self._verified_at <= self._stale_after:
            return judge(self._sweep, self._disks, self._seats, now)
        return PuckReading(PuckState.UNKNOWN, None, why_unknown, frozenset(), now)
