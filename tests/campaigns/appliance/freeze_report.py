"""What was painted, frozen and confirmed in a freeze campaign: the comparison, and the report."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firmware.record.evidence.verify import verify
from firmware.record.journal.journal import Entry, JournalReader
from firmware.table import INITIAL, State, apply
from tests.appliance.simulated_table import STACK_UNITS
from tests.campaigns.browser.clumsy_evening import summed

TARGETS: Final = ("table", "page", "reading", "renderer", "browser")
PROMISED: Final = {"table": 3.0, "page": 3.0, "reading": 3.0, "renderer": 5.0, "browser": 5.0}
"""Seconds within which it is promised to be shown, on a machine with a core to spare."""
NEVER: Final = float("inf")


@dataclass
class Freeze:
    """One part that was stopped; wall clock, seconds."""

    target: str
    began: float
    seconds: float
    beside: str = ""
    """What was frozen at the same time."""

    @property
    def ended(self) -> float:
        return self.began + self.seconds


@dataclass
class Observations:
    """What the witnesses saw, each by the wall clock; they are in other threads and in the browser."""

    painted: list[dict[str, Any]] = field(default_factory=list)
    lamps: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    healthz: list[tuple[float, bool]] = field(default_factory=list)
    presses: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Comparison:
    """What the comparison found."""

    payments: int = 0
    others: int = 0
    """Further rows that a push-button wrote."""
    in_freeze: int = 0
    """Payments confirmed while something was frozen."""
    latest_s: float = 0.0
    """The latest that a payment was confirmed after page or renderer was frozen, and still was."""
    painted_on: int = 0
    """Payments confirmed while the browser's own process was frozen, and its others painted on."""
    hands: int = 0
    rows: int = 0
    notices: int = 0
    problems: list[str] = field(default_factory=list)


def _due(state: State) -> tuple[object, ...]:
    """What a push-button's effect depends on."""
    return state.hand, state.phase, state.questions, state.paid, state.paybacks, state.settlement


def judge(data: Path, seen: Observations, freezes: Sequence[Freeze]) -> Comparison:
    """Compare the record with what was painted."""
    verdict = Comparison(problems=list(seen.problems))
    entries = JournalReader(data).events_since(0, limit=10_000_000)
    states, state = {0: INITIAL}, INITIAL
    for entry in entries:
        state = apply(state, entry.event)
        states[entry.seq] = state
    verdict.rows = len(entries)
    done: tuple[str, int] = ("", 0)
    for entry in entries:
        verdict.hands += entry.type == "hand_archived"
        if not entry.actor.startswith("button"):
            continue
        if entry.actor == done[0] and entry.seq == done[1] + 1 and entry.type != "payment_marked":
            done = (entry.actor, entry.seq)  # another row of the same press
            continue
        done = (entry.actor, entry.seq)
        _judge(entry, states, seen, freezes, verdict)
    verdict.notices = len({one["at_ms"] // 30_000 for one in seen.painted if one["alert"] == "Not done"})
    found = verify(data)
    if not found.ok:
        verdict.problems.append(f"The record does not verify: {found.problems[0].what}")
    expected, stacks = summed(entries), dict(state.stacks)
    if any(stacks.get(player) != chips for player, chips in expected.items()):
        verdict.problems.append(f"The stacks are {stacks}, the settlements come to {expected}.")
    if sum(expected.values()) != 4 * STACK_UNITS * 100:
        verdict.problems.append("Chips came or went.")
    return verdict


def _judge(
    entry: Entry,
    states: Mapping[int, State],
    seen: Observations,
    freezes: Sequence[Freeze],
    verdict: Comparison,
) -> None:
    before = states[entry.seq - 1]
    is_payment = entry.type == "payment_marked"
    verdict.payments += is_payment
    verdict.others += not is_payment
    views = [
        one
        for one in seen.painted
        if one["at_ms"] <= entry.wall_ms
        and not one["notlive"]
        and not one["covered"]
        and 0 <= one["seq"] < entry.seq
        and _due(states[one["seq"]]) == _due(before)
    ]
    if is_payment:
        moving = [pair for pair in (before.settlement or {})["pairs"] if pair["paid"]]
        stage = f"Payment {len(before.paid) + 1} of {len(moving)}"
        views = [
            one for one in views if one["stage"] == stage and one["amount"] and one["hand"] == entry.hand
        ]
    if not views:
        verdict.problems.append(
            f"Row {entry.seq} ({entry.type}) was written by a push-button and not painted."
        )
        return
    at = entry.wall_ms / 1000
    if is_payment:
        verdict.in_freeze += any(one.began < at < one.ended for one in freezes)
        lost = [one for one in freezes if one.began < at < one.ended]
        verdict.painted_on += any(one.target == "browser" for one in lost)
        for one in lost:
            if one.target in ("page", "renderer"):
                verdict.latest_s = max(verdict.latest_s, at - one.began)


def signals(seen: Observations, freezes: Sequence[Freeze]) -> dict[tuple[str, str], list[float]]:
    """Return after how many seconds each kind of freeze was shown by page, lamps and /healthz; infinity: not at all.

    A freeze that is shorter than what is promised, and a sign that was itself frozen, are left out.
    """
    times: dict[tuple[str, str], list[float]] = {}
    signs: list[tuple[str, frozenset[str], frozenset[str], list[tuple[float, bool]]]] = [
        (
            "page greyed",
            frozenset({"table", "page"}),
            frozenset({"renderer", "browser"}),
            [(one["at_ms"] / 1000, not one["notlive"]) for one in seen.painted],
        ),
        (
            "fault lamp",
            frozenset({"page", "reading", "renderer", "browser"}),
            frozenset({"table"}),
            [(at, "fault" not in lit) for at, lit in seen.lamps],
        ),
        ("/healthz 503", frozenset({"table", "renderer", "browser"}), frozenset({"page"}), seen.healthz),
    ]
    for one in freezes:
        for name, targets, needs, looks in signs:
            if one.target not in targets or one.seconds < PROMISED[one.target] + 1:
                continue
            hidden = any(
                other.target in needs and other.began < one.ended and one.began < other.ended
                for other in freezes
            )
            if hidden or (one.target == "browser" and not _stops_painting(one, seen)):
                continue
            shown = [at for at, well in looks if not well and one.began <= at <= one.ended]
            times.setdefault((one.target, name), []).append(shown[0] - one.began if shown else NEVER)
    return times


def _stops_painting(freeze: Freeze, seen: Observations) -> bool:
    """Return whether the renderer painted nothing while the browser's process was frozen."""
    begins, ends = freeze.began + 1, freeze.ended - 0.5
    return not any(begins < one["at_ms"] / 1000 < ends for one in seen.painted)


def report(seed: int, seen: Observations, freezes: Sequence[Freeze], verdict: Comparison, busy: float) -> str:
    """Say it as a page of the book."""
    counts = ", ".join(f"{target} {sum(one.target == target for one in freezes)}" for target in TARGETS)
    twos = sum(bool(one.beside) for one in freezes)
    unpainted = sum("not painted" in one for one in verdict.problems)
    text = f"""
# Freezes in a played evening

`python -m tests.campaigns.appliance.freeze_campaign --freezes {len(freezes)} --seed {seed}`, on
{platform.machine()} with {os.cpu_count()} cores; {busy:.1f} running programs for each core on average.

A simulated dealer plays with mock push-buttons. A second finger presses white at any moment while a payment is due. A
headless Chromium is the kiosk. SIGSTOP freezes parts for 1 to 20 s. A witness in the browser says by itself what was
painted and when. The kiosk's supervisor is not part of it: nothing is started again.

- {len(freezes)} freezes, {sum(one.seconds for one in freezes):.0f} s in all, {twos} of them with another: {counts}.
- {verdict.hands} hands; {verdict.payments} payments confirmed by push-button, {verdict.in_freeze} of them while a part
  was frozen; {verdict.others} further rows by push-button. The second finger pressed {seen.presses} times.
- **Confirmed and not painted: {unpainted}.**
- The latest confirmation after page or renderer was frozen: {verdict.latest_s:.1f} s.
- While the browser's own process was frozen, its others painted on, and {verdict.painted_on} payments were confirmed
  that they had painted. Headless there is no screen: whether cage then shows the picture is not seen here.
- "Not done" was on the screen in {verdict.notices} half minutes, once it was back.
- Each chip is where an independent sum has it, and the record verifies ({verdict.rows:,} rows).

Seconds from the freeze until it was shown. Left out: freezes that were over by then, and signs that were frozen, too.

| frozen | shown by | times | median | longest | promised | later |
|---|---|---|---|---|---|---|
"""
    for (target, name), times in sorted(signals(seen, freezes).items()):
        within = PROMISED[target]
        shown = [one for one in times if one != NEVER]
        figures = f"{statistics.median(shown):.1f} s | {max(shown):.1f} s" if shown else "– | –"
        later = sum(one > within for one in times)
        text += f"| {target} | {name} | {len(times)} | {figures} | {within:g} s | {later} |\n"
    text += "".join(f"\n- PROBLEM: {one}" for one in verdict.problems)
    return text.strip() + "\n"
