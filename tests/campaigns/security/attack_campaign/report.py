"""What a campaign found, for a terminal and as a page of the book."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import get_args

from firmware.bench.harness import machine
from tests.campaigns.security.attack_campaign.attack import Attack, Result
from tests.campaigns.security.attack_campaign.flips import FlipResult, Outcome
from tests.campaigns.security.attack_campaign.pages import FILES, Part

SHOWN = 20
"""Problems that are printed one by one."""


@dataclass(frozen=True)
class AttackTrial:
    """An attack, and what came of it with its defence and without."""

    attack: Attack
    defended: Result | None
    naive: Result

    def problems(self) -> Iterator[str]:
        """Yield what did not come out as it must."""
        if self.defended is not None and not self.attack.is_as_it_must(self.defended, is_naive=False):
            yield f"attack {self.attack.number} ({self.attack.what}) got through: {self.defended.words}"
        if not self.attack.is_as_it_must(self.naive, is_naive=True):
            yield f"attack {self.attack.number} shows nothing: without its defence {self.naive.words}"


@dataclass(frozen=True)
class Faults:
    """The fault campaign's exit status and words, with the defence and without."""

    rounds: int
    defended: tuple[int, str]
    naive: tuple[int, str]

    def problems(self) -> Iterator[str]:
        """Yield what did not come out as it must."""
        if self.defended[0]:
            yield f"the fault campaign found problems: {self.defended[1]}"
        if not self.naive[0]:
            yield "the fault campaign finds nothing without the defence"


@dataclass(frozen=True)
class Campaign:
    """All that was done."""

    hands: int
    seed: int
    parts: Sequence[Part]
    flips: Sequence[FlipResult]
    attacks: Sequence[AttackTrial]
    faults: Faults | None
    seconds: float
    is_naive: bool

    def problems(self) -> list[str]:
        """Return everything that must not be. Without the defences that is what got through."""
        silent = [
            f"flip {one.flip} ({one.flip.what}): {one.words}"
            for one in self.flips
            if one.outcome == "PROBLEM"
        ]
        if self.is_naive:
            return silent + [
                f"attack {one.attack.number}: {one.naive.words}" for one in self.attacks if one.naive.through
            ]
        found = [problem for one in self.attacks for problem in one.problems()]
        return [*silent, *found, *(self.faults.problems() if self.faults else ())]

    def text(self) -> str:
        """Return it for a terminal: what was flipped, what was tried, what must not be."""
        lines = [" | ".join(map(str, row)) for row in self._by_part()]
        for one in self.attacks:
            defended = "" if one.defended is None else f"with: {one.defended.words}; "
            lines.append(f"{one.attack.number} {one.attack.what}: {defended}without: {one.naive.words}")
        if self.faults:
            lines.append(self.faults.defended[1])
        found = self.problems()
        lines += [f"PROBLEM: {problem}" for problem in found[:SHOWN]]
        lines.append(
            f"{len(self.flips)} flips, {len(self.attacks)} attacks, seed {self.seed}, {self.seconds:.0f} s: "
            f"{len(found)} {'got through without the defences' if self.is_naive else 'problems'}"
        )
        return "\n".join(lines)

    def _by_part(self) -> list[tuple[str | int, ...]]:
        """Return a row for each file and kind of part: how many there are, how many were hit, and outcomes."""
        kinds = Counter((part.file, part.what) for part in self.parts)
        hit = Counter((part.file, part.what) for part in {self._part_of(one) for one in self.flips} if part)
        outcomes = Counter((one.flip.file, one.flip.what, one.outcome) for one in self.flips)
        rows: list[tuple[str | int, ...]] = []
        for (file, what), number in sorted(kinds.items(), key=lambda kind: FILES.index(kind[0][0])):
            told = [outcomes[file, what, outcome] for outcome in get_args(Outcome)]
            rows.append((file, what, number, hit[file, what], sum(told), *told))
        return rows

    def _part_of(self, judged: FlipResult) -> Part | None:
        of_file = self._by_file.get((judged.flip.record, judged.flip.file), [])
        at = bisect_right(of_file, judged.flip.offset, key=lambda part: part.begin) - 1
        return of_file[at] if at >= 0 else None

    @cached_property
    def _by_file(self) -> dict[tuple[str, str], list[Part]]:
        found: dict[tuple[str, str], list[Part]] = {}
        for part in sorted(self.parts, key=lambda part: part.begin):
            found.setdefault((part.record, part.file), []).append(part)
        return found

    def page(self) -> str:
        """Return it as a page of the book."""
        rows = self._by_part()
        sums = [sum(int(row[at]) for row in rows) for at in range(2, 9)]
        table = "\n".join("| " + " | ".join(_cell(value) for value in row) + " |" for row in rows)
        attacks = "\n".join(
            f"| {one.attack.number} | {one.attack.what} | {one.attack.defence} | {_short(one.defended)} "
            f"| {_naive(one)} |"
            for one in self.attacks
        )
        command = f"--flips {len(self.flips)} --hands {self.hands} --seed {self.seed}"
        return f"""# The record under attack

Written by `python -m tests.campaigns.security.attack_campaign {command} --write docs/attack-report.md`
on {datetime.now(UTC).date()}: {machine()}; {self.seconds / 60:.0f} minutes. **{len(self.problems())} problems.**

An evening of {self.hands} simulated hands through the table process itself, with naturals, corrections, a reopened
hand, a dispute, a renamed player, a signed head and captures, lies there in three ways: closed; as a kill leaves it,
its rows in the `-wal`; closed, with free pages in its file.

## One bit

Each flip is made in a fresh copy. *Refused*: `hands verify --all` names it and the table does not start. *Said*: it
is named, and the table starts with an event that stops play until somebody has read it. *Nothing*: `hands list`, every
`hands show` and `audit --no-pictures`, then the state after a start, then the list, every row and every content that
the start left are those of the intact record. *Problem*: anything else, a process that ends or hangs included.
A part is a page, a frame or a header; *hit* is how many of them had a bit flipped.

| file | part | parts | hit | flips | refused | said | nothing | problems |
|---|---|---:|---:|---:|---:|---:|---:|---:|
{table}
| all | | {" | ".join(_cell(value) for value in sums)} |

## By name

Each attack is made with the defence that it is up against, and without.

| | attack | defence | with it | without |
|---|---|---|---|---|
{attacks}

{self._of_faults()}"""

    def _of_faults(self) -> str:
        if self.faults is None:
            return "Failing writes and syncs were not tried in this run.\n"
        said = "\n".join(f"> {line}" for line in self.faults.defended[1].splitlines())
        last = self.faults.naive[1].splitlines()
        problems = next((line for line in last if line.endswith("problems.")), "")
        return f"""## Failing writes, syncs, truncations and removals

`python -m tests.campaigns.appliance.fault_campaign`, {self.faults.rounds} rounds:

{said}

Without the defence (`--naive`), in three times as many rounds: {problems.rsplit("; ", 1)[-1] or "nothing was found"}
"""


def _cell(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else value


def _short(result: Result | None) -> str:
    if result is None:
        return ""
    words = " ".join(result.words.split()).replace("|", "\\|")
    return f"{'**through**: ' if result.through else ''}{words}"


def _naive(one: AttackTrial) -> str:
    if one.attack.forbids and not one.naive.through:
        return f"made impossible: {one.attack.forbids}"
    return _short(one.naive)
