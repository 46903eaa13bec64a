"""How a table stands to the release of its channel: a pure function of what is known of it.

A table is updated when the release itself has said that it runs there, and has opened and settled a hand since, without
a fault. Nothing that the pit asked for, and nothing that was fetched or installed, counts. A table that fails stops the
release; one that a person has left out does not.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from firmware.messages import Message, Text

SILENT_S: Final = 1800
"""Seconds after which a table that was asked and is not heard of stops the release."""
WITHIN_S: Final = 86_400
"""Seconds within which a table that was asked runs the release and settles a hand: a night and a house's hours."""
MIN_CARDS, MIN_ASKED_CARDS = 200, 5
"""Cards before, and after, and asked cards, below which a share of asked cards says nothing."""
DEVIATIONS: Final = 5.0
"""Standard deviations above what is expected from which on a share is not chance. It is judged after each hand. Of
1,000 tables whose share stays as it was, 5 at most come above it within 500 hands; with 3 deviations 50 do."""
Mark = StrEnum(
    "Mark", ["WAITS", "ASKED", "RUNS", "UPDATED", "SILENT", "LATE", "WENT_BACK", "REFUSED", "ASKS"]
)
"""How far a table is; stored. WAITS: it is not asked, the release was stopped before it took it, or it was left out."""
FAILURES: Final = {
    Mark.SILENT: Message("not heard of"),
    Mark.LATE: Message("not updated in time"),
    Mark.WENT_BACK: Message("runs another release again"),
    Mark.REFUSED: Message("refused the release"),
    Mark.ASKS: Message("asks about twice as many cards"),
}
"""Marks of a table that stops a release, in words."""
MARKS: Final = FAILURES | {
    Mark.WAITS: Message("not asked"),
    Mark.ASKED: Message("asked"),
    Mark.RUNS: Message("started, no hand settled well yet"),
    Mark.UPDATED: Message("updated"),
}


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

    @property
    def share(self) -> str:
        """Asked cards of 100."""
        return f"{100 * self.asked / self.read:.1f}"


@dataclass(frozen=True)
class Member:
    """What is known of a table that a release goes to. Times are the database's, in seconds since 1970.

    `reached_at`: since when it is waited for. `starts`: of its newest record. `settled`: a hand was opened and settled
    since the release runs. `was_updated`: it was called updated before. `mark`: as it was judged last. `trouble`: a
    fault, or a record that differs. `before`, `after`: cards before the release and since.
    """

    reached_at: float
    is_left_out: bool = False
    was_updated: bool = False
    mark: Mark = Mark.WAITS
    heard_at: float | None = None
    starts: frozenset[Start] = frozenset()
    settled: bool = False
    before: Cards = Cards()
    after: Cards = Cards()
    trouble: Text = ""
    refused: Text = ""


@dataclass(frozen=True)
class Judgement:
    """How far a table is, since when, and why."""

    mark: Mark
    since: float | None = None
    why: Text = ""


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
    if before.read < MIN_CARDS or after.read < MIN_CARDS or after.asked < MIN_ASKED_CARDS:
        return False
    ratio = after.read / before.read
    expected = (before.asked + 1) * ratio  # at least one: of no asked card at all, nothing is known
    is_no_chance = after.asked - expected >= DEVIATIONS * math.sqrt(expected * (1 + ratio))
    return is_no_chance and after.asked >= 2 * before.asked * ratio


def judge(one: Member, release: str, now: float, listening: float, *, is_stopped: bool) -> Judgement:
    """Return how far a table is. No table is awaited for a release that was stopped.

    `listening`: since when the pit has been there to hear: nobody was silent before.
    """
    runs = first_start(one.starts, release)
    # the release ran, another one did, and now it runs again: what it showed before counts no more
    is_back = runs is not None and any(s.release == release and s.seq < runs.seq for s in one.starts)
    if runs is None:
        found = _not_there(one, release)
    elif asks_twice(one.before, one.after):
        shares = {"after": one.after.share, "before": one.before.share}
        why = Message("Asked about %(after)s of 100 cards, before the release %(before)s.", **shares)
        return Judgement(Mark.ASKS, runs.at, why)
    elif (one.was_updated and not is_back) or (one.settled and not one.trouble):
        return Judgement(Mark.UPDATED, runs.at)
    else:
        found = Judgement(Mark.RUNS, runs.at, one.trouble)
    if found.mark in FAILURES:
        return found
    if is_stopped and one.mark in FAILURES:  # that it is back does not hide why the release was stopped
        return Judgement(one.mark, found.since, found.why)
    if is_stopped or one.is_left_out:
        return Judgement(Mark.WAITS) if found.mark is Mark.ASKED else found
    if now - max(one.heard_at or 0.0, one.reached_at, listening) >= SILENT_S:
        return Judgement(Mark.SILENT, one.heard_at, found.why)
    if now - one.reached_at >= WITHIN_S:
        return Judgement(Mark.LATE, one.reached_at, found.why)
    return found


def _not_there(one: Member, release: str) -> Judgement:
    newest = max(one.starts, key=lambda start: start.seq, default=None)
    had_it = one.was_updated or any(s.release == release and s.at >= one.reached_at for s in one.starts)
    if newest is not None and had_it:
        why = Message("It runs %(release)s.", release=newest.release)
        return Judgement(Mark.WENT_BACK, newest.at, why)
    if one.refused:
        return Judgement(Mark.REFUSED, one.reached_at, one.refused)
    return Judgement(Mark.ASKED, one.reached_at)


def turn(
    release: str, members: Mapping[int, Member], now: float, listening: float, *, is_stopped: bool
) -> tuple[dict[int, Judgement], list[int]]:
    """Return how each table of a release is, and the tables that stop it now.

    A table that is judged as asked is to be asked. Pure: equal facts give equal answers, in whatever order they came.
    """
    args = (release, now, listening)
    judged = {key: judge(one, *args, is_stopped=is_stopped) for key, one in members.items()}
    causes = sorted(
        key for key, one in judged.items() if one.mark in FAILURES and not members[key].is_left_out
    )
    if is_stopped or not causes:
        return judged, []
    at_rest = {key: judge(one, *args, is_stopped=True) for key, one in members.items()}
    return at_rest | {key: judged[key] for key in causes}, causes
