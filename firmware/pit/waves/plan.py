"""How a wave goes on: a pure function of what is known of its tables.

A table is updated when the new release itself has said that it runs there, and has opened and settled a hand since,
without a fault. Nothing that the pit asked for, and nothing that was fetched or installed, counts. A table that fails
stops the wave; what a person has accepted does not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Final

from firmware.messages import Message, Text

STEPS: Final = 3
SILENT_S: Final = 1800
"""Seconds after which a table that is waited for and not heard of stops the wave."""
WITHIN_S: Final = 86_400
"""Seconds within which a table that was asked runs the release and settles a hand: a night and a house's hours."""
SHARE: Final = 10
"""Per cent of the tables that follow the first one."""
LEAST_CARDS: Final = 200
"""Cards before, and after, below which a share of asked cards says nothing."""
LEAST_ASKED: Final = 5
"""Asked cards below which a share says nothing."""
DEVIATIONS: Final = 5.0
"""Standard deviations above what is expected from which on a share is no chance. It is judged after each hand: of 1,000
tables whose share stays as it was, 5 at most come above it within 500 hands; with 3 deviations 50 do."""


class Phase(StrEnum):
    """What a wave does. The values are stored."""

    RUNNING = "running"
    STOPPED = "stopped"
    DONE = "done"


class Mark(StrEnum):
    """How far a table is. The values are stored."""

    WAITS = "waits"
    """Its turn has not come, or the wave was stopped before it took the release."""
    ASKED = "asked"
    RUNS = "runs"
    """The new release runs there and has not shown yet that it is well."""
    UPDATED = "updated"
    FAILED = "failed"
    STRUCK = "struck"


class Failure(StrEnum):
    """Why a table stops a wave. The values are stored."""

    SILENT = "silent"
    LATE = "late"
    WENT_BACK = "went_back"
    REFUSED = "refused"
    ASKS = "asks"


class Accepted(IntEnum):
    """What a person has accepted of a table. The values are stored."""

    NOTHING = 0
    NO_WAIT = 1
    """It takes the release when it comes back; the wave does not wait for it."""
    LEFT_OUT = 2
    """The wave goes on without it, and asks it no more."""


_OF_TIME: Final = frozenset({Failure.SILENT, Failure.LATE})


@dataclass(frozen=True)
class Rules:
    """The house's numbers: seconds, and the second step's share in per cent."""

    share: int = SHARE
    silent_s: int = SILENT_S
    within_s: int = WITHIN_S


@dataclass(frozen=True)
class Start:
    """A row that says which release started; `at` is when the pit took it, in seconds since 1970."""

    seq: int
    release: str
    at: float


@dataclass(frozen=True)
class Cards:
    """Cards read in some hands, and how many of them the dealer was asked about."""

    read: int = 0
    asked: int = 0


@dataclass(frozen=True)
class Member:
    """What is known of a table of a wave. Times are the database's, in seconds since 1970.

    `place`: its number in the wave's order. `reached_at`: since when the wave waits for it. `starts`: of its newest
    record. `settled`: whether a hand was opened and settled since the release runs. `was_updated`: it was called
    updated before. `stopped_for`: why it has stopped the wave. `trouble`: a fault, or a record that differs.
    """

    place: int
    reached_at: float | None = None
    accepted: Accepted = Accepted.NOTHING
    is_struck: bool = False
    heard_at: float | None = None
    starts: frozenset[Start] = frozenset()
    settled: bool = False
    was_updated: bool = False
    trouble: Text = ""
    refused: Text = ""
    before: Cards = Cards()
    after: Cards = Cards()
    stopped_for: Failure | None = None

    @property
    def is_waited_for(self) -> bool:
        """Whether the wave goes on only when this table is updated."""
        return not self.is_struck and self.accepted is Accepted.NOTHING


@dataclass(frozen=True)
class Judged:
    """How far a table is, since when, and why."""

    mark: Mark
    since: float | None = None
    failure: Failure | None = None
    why: Text = ""


@dataclass(frozen=True)
class Turn:
    """What is to be done: the wave's phase, each table's mark, who is reached now, who is asked for the release.

    `step`: 0 to 2; `causes`: the tables that stop the wave. A wave that stops without one has no table left.
    """

    phase: Phase
    step: int
    judged: Mapping[int, Judged]
    reached: frozenset[int]
    asked: frozenset[int]
    causes: tuple[int, ...] = ()


def first_start(starts: Iterable[Start], release: str) -> Start | None:
    """Return the start since which only this release has started; None where another one runs, or none ever did."""
    found = None
    for start in sorted(starts, key=lambda one: one.seq, reverse=True):
        if start.release != release:
            break
        found = start
    return found


def asks_twice(before: Cards, after: Cards) -> bool:
    """Return whether the share of asked cards has doubled, beyond what chance makes of so few cards."""
    if before.read < LEAST_CARDS or after.read < LEAST_CARDS or after.asked < LEAST_ASKED:
        return False
    ratio = after.read / before.read
    expected = (before.asked + 1) * ratio  # at least one: of no asked card at all, nothing is known
    is_no_chance = after.asked - expected >= DEVIATIONS * math.sqrt(expected * (1 + ratio))
    return is_no_chance and after.asked >= 2 * before.asked * ratio


def judge(one: Member, release: str, rules: Rules, now: float, listening: float, *, is_timed: bool) -> Judged:
    """Return how far a table is.

    `listening`: since when the pit has been there to hear: nobody was silent before. Without `is_timed` nobody is
    waited for.
    """
    if one.is_struck:
        return Judged(Mark.STRUCK)
    runs = first_start(one.starts, release)
    if runs is None:
        found = _not_there(one, release)
    elif asks_twice(one.before, one.after):
        found = Judged(Mark.FAILED, runs.at, Failure.ASKS, _share(one.before, one.after))
    elif (one.was_updated and not _ran_before(one, runs)) or (one.settled and not one.trouble):
        found = Judged(Mark.UPDATED, runs.at)
    else:
        found = Judged(Mark.RUNS, runs.at, why=one.trouble)
    if found.mark not in (Mark.WAITS, Mark.ASKED, Mark.RUNS):
        return found
    if one.stopped_for is not None and not is_timed:
        return Judged(Mark.FAILED, found.since, one.stopped_for, found.why)
    if one.reached_at is None or one.accepted is Accepted.LEFT_OUT:
        return found
    if not is_timed:
        return Judged(Mark.WAITS) if found.mark is Mark.ASKED else found
    heard = max(one.heard_at or 0.0, one.reached_at, listening)
    if now - heard >= rules.silent_s:
        return Judged(Mark.FAILED, one.heard_at, Failure.SILENT, found.why)
    if now - one.reached_at >= rules.within_s and one.accepted is Accepted.NOTHING:
        return Judged(Mark.FAILED, one.reached_at, Failure.LATE, found.why)
    return found


def _ran_before(one: Member, runs: Start) -> bool:
    """Return whether the release ran, another one did, and now it runs again: what it showed before counts no more."""
    return any(start.release == runs.release and start.seq < runs.seq for start in one.starts)


def _not_there(one: Member, release: str) -> Judged:
    newest = max(one.starts, key=lambda start: start.seq, default=None)
    since = math.inf if one.reached_at is None else one.reached_at
    had_it = one.was_updated or any(start.release == release and start.at >= since for start in one.starts)
    if newest is not None and had_it:
        why = Message("It runs %(release)s.", release=newest.release)
        return Judged(Mark.FAILED, newest.at, Failure.WENT_BACK, why)
    if one.reached_at is None:
        return Judged(Mark.WAITS)
    if one.refused:
        return Judged(Mark.FAILED, one.reached_at, Failure.REFUSED, one.refused)
    if one.accepted is Accepted.LEFT_OUT:
        return Judged(Mark.WAITS)
    return Judged(Mark.ASKED, one.reached_at)


def _share(before: Cards, after: Cards) -> Message:
    return Message(
        "Asked about %(after)s of 100 cards, before the release %(before)s.",
        after=f"{100 * after.asked / after.read:.1f}",
        before=f"{100 * before.asked / before.read:.1f}",
    )


def _stops(one: Member, judged: Judged) -> bool:
    if judged.failure is None or one.accepted is Accepted.LEFT_OUT:
        return False
    return one.accepted is Accepted.NOTHING or judged.failure not in _OF_TIME


def turn(
    phase: Phase, release: str, rules: Rules, members: Mapping[int, Member], now: float, listening: float
) -> Turn:
    """Return what is to be done now. Pure: equal facts give equal answers, in whatever order they came."""
    is_timed = phase is not Phase.STOPPED
    judged = {
        key: judge(one, release, rules, now, listening, is_timed=is_timed) for key, one in members.items()
    }
    step, reached, is_over = _reach(members, judged, rules)
    if phase is Phase.RUNNING:
        order = sorted(members, key=lambda key: members[key].place)
        causes = tuple(key for key in order if _stops(members[key], judged[key]))
        if causes or not any(one.is_waited_for for one in members.values()):
            at_rest = turn(Phase.STOPPED, release, rules, members, now, listening).judged
            judged = {key: judged[key] if key in causes else at_rest[key] for key in judged}
            return Turn(Phase.STOPPED, step, judged, frozenset(), frozenset(), causes)
        phase = Phase.DONE if is_over else Phase.RUNNING
    before = frozenset(key for key, one in members.items() if one.reached_at is not None)
    if phase is Phase.STOPPED:
        return Turn(phase, step, judged, frozenset(), frozenset())
    asked = frozenset(key for key in reached if _is_asked(members[key], judged[key], release))
    for key in asked:
        if judged[key].mark is Mark.WAITS:
            judged[key] = Judged(Mark.ASKED, now)
    return Turn(phase, step, judged, reached - before, asked)


def go_on(
    members: Mapping[int, Member], judged: Mapping[int, Judged], without: Collection[int], now: float
) -> dict[int, Member]:
    """Return the tables of a stopped wave as a person lets it go on: `without` some of those that fail.

    A table that is not there in time takes the release when it comes back; any other one is left out. All others that
    are not updated are tried again, from now on.
    """
    found: dict[int, Member] = {}
    for key, one in members.items():
        failure = judged[key].failure
        if failure is not None and key in without:
            accepted = Accepted.NO_WAIT if failure in _OF_TIME else Accepted.LEFT_OUT
            one = replace(one, accepted=accepted)
        elif one.is_waited_for and one.reached_at is not None and judged[key].mark is not Mark.UPDATED:
            one = replace(one, reached_at=now, was_updated=False)
        found[key] = replace(one, stopped_for=None)
    return found


def steps_of(members: Mapping[int, Member], rules: Rules) -> dict[int, int]:
    """Return in which step the wave comes to each table: 0 for the first one, 1 for the share, 2 for the rest.

    A table that is not waited for does not count: the next one takes its place in the step.
    """
    waited_for = sum(one.is_waited_for for one in members.values())
    counts = (1, max(1, math.ceil(waited_for * rules.share / 100)))
    found: dict[int, int] = {}
    before = 0
    for key in sorted(members, key=lambda key: members[key].place):
        found[key] = sum(before >= count for count in counts)
        before += members[key].is_waited_for
    return found


def _reach(
    members: Mapping[int, Member], judged: Mapping[int, Judged], rules: Rules
) -> tuple[int, frozenset[int], bool]:
    """Return the step, the tables that are reached in it, and whether all that are waited for are updated."""
    steps = steps_of(members, rules)
    reached: frozenset[int] = frozenset()
    for step in range(STEPS):
        reached = frozenset(
            key for key, one in members.items() if one.reached_at is not None or steps[key] <= step
        )
        if any(members[key].is_waited_for and judged[key].mark is not Mark.UPDATED for key in reached):
            return step, reached, False
    return STEPS - 1, reached, True


def _is_asked(one: Member, judged: Judged, release: str) -> bool:
    if one.accepted is Accepted.LEFT_OUT or first_start(one.starts, release) is not None:
        return False
    return judged.mark in (Mark.WAITS, Mark.ASKED) or judged.failure in _OF_TIME
