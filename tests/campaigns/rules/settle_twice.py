"""Hands settled twice: by the rules core, and by a second implementation written from the documents alone.

The hands are the random ones of `tests.firmware.rules.random_settlements`, and more that the same code draws from a
stacked deck, for the naturals, bonuses and equal rows that chance would not deal.

python -m tests.campaigns.rules.settle_twice --each 12500 --write docs/settled-twice.md
"""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final

import click

from firmware.rules import profile_names
from firmware.terminal import say
from tests.campaigns.rules.comparison import PLANTED, Comparison, compare, found_after
from tests.campaigns.rules.second_rules import covered_profile
from tests.campaigns.rules.second_strength import CATEGORIES, ROWS

COLUMNS: Final = ("hands", "pairs", "fouls", "naturals", "surrenders", "bonuses", "short")
REPORT: Final = """# Hands settled twice

    python -m tests.campaigns.rules.settle_twice {how} --write docs/settled-twice.md

Each hand is settled by the rules core (`feltwatch settle`) and by a second implementation
(`tests/campaigns/rules/second_rules.py` and `second_strength.py`). The second one was written from the source
documents, the profiles' files and the printed house rules, without reading the rules core. It ranks rows by counting
and sorting, and reads the profiles itself. What the eight profiles do not use it refuses.

Compared for each hand: the order of the seats; each seat's foul, natural, declaration, Fantasy Land, bonuses and the
categories of its rows; for each pair the points by reason, what is owed, paid and short; the totals of each seat and
the stacks after the hand.

**{hands:,} hands, {differences} differences**, in {seconds:.0f} seconds ({machine}).{listed}

| profile | {columns} | differences |
|---|{rule}
{profiles}

Fouls, naturals and bonuses are counted by seat, surrenders and *short* by pair; short is a pair that a stack did not
reach for. A stacked deck deals some seats a rare hand; the rest is random. About half of the hands are set in several
tries until the rules core calls them no foul: it chooses what is settled, not how.

Naturals that counted: {naturals}.

| rows set | front | middle | back |
|---|---:|---:|---:|
{rows}

## What the first run found

Of 8,000 hands 8 differed, all in Fantasy Land under california-face-up; points and chips never did.

- In 7 a player had two hands. The second implementation gave `fantasyland_next` to both, as the house rules say of the
  hands that are dealt next. `feltwatch settle` gives it to the hand that earned it, and the table deals both. The
  description of the answer did not say so; now it does. The second implementation was mended.
- In 1 a player in Fantasy Land had queens in front and nothing else. The second implementation let that keep it; by
  the document one must make one of the hands listed "to stay". The second implementation was mended. The printed house
  rules say now that the document leaves room here.

## What the documents leave open

- 000: queens in front "trigger" Fantasy Land, and "to stay" one must make one of three hands. Whether queens set in
  Fantasy Land trigger it again is not said; both implementations read that they do not.
- 000: naturals of equal value "are pushed", and the "higher ranking" one collects: `naturals.tie` has both readings.
- 002: two of the four suit symbols are missing; `foul.suit_tiebreak` has both orders.
- 001 and 004: "the maximum win or loss" is read of the hand's result; `stakes.cap` has the other reading.
- 004: who declares falsely is excused if an opponent had "already" surrendered; `naturals.order_unknown` says what
  holds where nobody knows.

Both implementations follow the profiles in these points, so their agreement decides none of them. A document that was
misread when its profile was written would not be found here either.

## Faults that must be found

The rules core alone is given another value for an option. Half of the hands are random, half from a stacked deck.

| profile | the rules core's value | found after hands |
|---|---|---:|
{planted}
"""
PARTS: Final = 8
"""Pieces of each profile's hands, spread over the processes."""


def _part(asked: tuple[str, str, int, bool]) -> tuple[str, bool, Comparison]:
    name, seed, each, stacked = asked
    return name, stacked, compare(name, seed, each, stacked=stacked)


def _planted(asked: tuple[str, dict[str, object], str]) -> int | None:
    return found_after(*asked, most=20_000)


def _written(options: Mapping[str, object]) -> str:
    return ", ".join(f"{option} = {value!r}" for option, value in options.items())


@click.command(context_settings={"show_default": True})
@click.option("--each", default=12_500, help="Random hands of each profile.")
@click.option("--stacked", default=12_500, help="More hands of each profile, from a stacked deck.")
@click.option("--seed", default="1")
@click.option("--jobs", default=2, help="Processes.")
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path), help="Where the report goes.")
def main(each: int, stacked: int, seed: str, jobs: int, write: Path | None) -> None:
    """Settle hands of all eight profiles twice, and plant faults that must be found."""
    began = time.monotonic()
    asked = [
        (name, f"{seed}.{part}", amount // PARTS + (part < amount % PARTS), from_stacked)
        for part in range(PARTS)
        for from_stacked, amount in ((False, each), (True, stacked))
        for name in profile_names()
    ]
    found = {(name, from_stacked): Comparison() for name in profile_names() for from_stacked in (False, True)}
    with ProcessPoolExecutor(jobs) as pool:
        for name, from_stacked, compared in pool.map(_part, asked):
            found[name, from_stacked].add(compared)
        seconds = time.monotonic() - began
        faults = list(pool.map(_planted, [(*planted, seed) for planted in PLANTED]))
    differences = [each for compared in found.values() for each in compared.differences]
    for difference in differences[:20]:
        say(difference)
    hands = sum(compared.seen["hands"] for compared in found.values())
    say(f"{hands:,} hands settled twice in {seconds:.0f} s: {len(differences)} differences")
    missed = [planted for planted, after in zip(PLANTED, faults, strict=True) if after is None]
    say(f"{len(PLANTED) - len(missed)} of {len(PLANTED)} planted faults found")
    if write:
        how = f"--each {each} --stacked {stacked} --seed {seed} --jobs {jobs}"
        write.write_text(report(found, faults, differences, how=how, seconds=seconds), encoding="utf-8")
    sys.exit(bool(differences or missed))


def report(
    found: Mapping[tuple[str, bool], Comparison],
    faults: Sequence[int | None],
    differences: Sequence[str],
    *,
    how: str,
    seconds: float,
) -> str:
    """Return the report as Markdown."""
    total = Comparison()
    lines = []
    for (name, stacked), compared in sorted(found.items(), key=lambda each: (each[0][1], each[0][0])):
        total.add(compared)
        cells = [f"{compared.seen[column]:,}" for column in COLUMNS]
        lines.append(
            f"| {name}{', stacked deck' * stacked} | {' | '.join(cells)} | {len(compared.differences)} |"
        )
    cells = [f"{total.seen[column]:,}" for column in COLUMNS]
    lines.append(f"| **together** | {' | '.join(cells)} | {len(total.differences)} |")
    kinds = sorted(
        {entry["kind"] for name in profile_names() for entry in covered_profile(name)["naturals"]["kinds"]}
    )
    naturals = ", ".join(f"{kind} {total.seen[kind]:,}" for kind in kinds)
    rows = "\n".join(
        f"| {category} | {' | '.join(format(total.seen[row, category], ',') for row in ROWS)} |"
        for category in reversed(CATEGORIES)
    )
    planted = "\n".join(
        f"| {name} | `{_written(options)}` | {after or 'not found'} |"
        for (name, options), after in zip(PLANTED, faults, strict=True)
    )
    listed = "".join(f"\n- {difference}" for difference in differences[:50])
    columns = " | ".join(COLUMNS)
    return REPORT.format(
        how=how,
        hands=total.seen["hands"],
        seconds=seconds,
        machine=f"{platform.machine()}, {os.cpu_count()} cores, shared, Python {platform.python_version()}",
        differences=len(differences),
        listed=listed,
        columns=columns,
        rule="---:|" * (len(COLUMNS) + 1),
        profiles="\n".join(lines),
        naturals=naturals,
        rows=rows,
        planted=planted,
    )


if __name__ == "__main__":
    main()
