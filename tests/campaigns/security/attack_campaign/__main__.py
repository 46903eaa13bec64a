"""Makes a record, then every known attack on it, and flips thousands of its bits; says what got through.

    python -m tests.campaigns.security.attack_campaign --flips 10000 --hands 40 --seed 1 --write docs/attack-report.md
    python -m tests.campaigns.security.attack_campaign --flips 300 --naive      # without the defences: it must fail
    python -m tests.campaigns.security.attack_campaign --only killed:journal.sqlite-wal:81234:3   # one flip again

Each attack is made twice, with the defence that it is up against and without. For each flip, in a fresh copy: either
`hands verify --all` names it and the next start refuses or says it in an event, or the list, every hand, the audit
and the state after the start are those of the intact record. Anything else is a problem, as is a process that ends or
hangs.
"""

from __future__ import annotations

import logging
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

import click

from tests.campaigns.security.attack_campaign.attacks import ATTACKS
from tests.campaigns.security.attack_campaign.flips import FlipResult, Ground, judged
from tests.campaigns.security.attack_campaign.pages import Flip, Part, choose, parts
from tests.campaigns.security.attack_campaign.records import make_records
from tests.campaigns.security.attack_campaign.report import AttackTrial, Campaign, Faults
from tests.tools import GCC

IN_MEMORY: Final = Path("/dev/shm")
SAID_EVERY: Final = 500
NAIVE_FAULT_ROUNDS: Final = 3
"""Times as many rounds of the fault campaign without its defence: most need none."""


def tried(ground: Ground, work: Path, *, naive_only: bool = False) -> list[AttackTrial]:
    """Make every attack, with its defence and without."""
    return [
        AttackTrial(
            attack,
            None if naive_only else attack.tried(ground, work, is_naive=False),
            attack.tried(ground, work, is_naive=True),
        )
        for attack in ATTACKS
    ]


def flipped(
    ground: Ground, flips: list[Flip], work: Path, processes: int, *, is_naive: bool = False
) -> list[FlipResult]:
    """Judge flips, and say now and then how far it is."""
    done: list[FlipResult] = []
    for one in judged(ground, flips, work, processes, is_naive=is_naive):
        done.append(one)
        if one.outcome == "PROBLEM" and not is_naive:
            click.echo(f"PROBLEM {one.flip} ({one.flip.what}): {one.words}", err=True)
        if len(done) % SAID_EVERY == 0:
            click.echo(f"{len(done)} of {len(flips)} flips", err=True)
    return done


def _faults(rounds: int, seed: int) -> Faults | None:
    """Run the fault campaign both ways; None where that is not wanted, or there is no gcc to make its shim."""
    if not rounds or not GCC.is_there():
        return None
    said = []
    for more in ([], ["--naive"]):
        times = rounds * (NAIVE_FAULT_ROUNDS if more else 1)
        command = [sys.executable, "-m", "tests.campaigns.appliance.fault_campaign", "--times", str(times)]
        done = subprocess.run(
            [*command, "--seed", str(seed), *more], capture_output=True, text=True, check=False
        )
        said.append((done.returncode, done.stdout.strip() or done.stderr.strip()))
    return Faults(rounds, *said)


def all_parts(ground: Ground) -> list[Part]:
    """Return every part of every record's files."""
    return [part for record, folder in ground.records.items() for part in parts(record, folder)]


@click.command()
@click.option("--flips", type=click.IntRange(0), default=10_000, show_default=True, help="Bits to flip.")
@click.option("--hands", type=click.IntRange(8), default=40, show_default=True, help="Hands of the record.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--processes", type=click.IntRange(1), default=2, show_default=True)
@click.option("--fault-rounds", type=click.IntRange(0), default=60, show_default=True, help="0: none.")
@click.option("--only", metavar="RECORD:FILE:OFFSET:BIT", help="Flip this one bit, and nothing else.")
@click.option("--naive", "is_naive", is_flag=True, help="Without the defences: it must then fail.")
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Also write the report here.")
def main(
    flips: int,
    hands: int,
    seed: int,
    processes: int,
    fault_rounds: int,
    only: str | None,
    is_naive: bool,
    write: Path | None,
) -> None:
    """Attack a record in every known way, and flip its bits."""
    logging.disable(logging.CRITICAL)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(
        prefix="feltwatch-attacks-", dir=IN_MEMORY if IN_MEMORY.is_dir() else None
    ) as name:
        folder = Path(name)
        ground = Ground(make_records(folder, hands, seed), hands, folder / "key")
        every = all_parts(ground)
        chosen = [Flip.parse(only)] if only else choose(every, flips, random.Random(seed))
        made = [] if only else tried(ground, folder / "attacks", naive_only=is_naive)
        faults = None if only or is_naive else _faults(fault_rounds, seed)
        done = flipped(ground, chosen, folder / "flips", processes, is_naive=is_naive)
    campaign = Campaign(hands, seed, every, done, made, faults, time.monotonic() - began, is_naive=is_naive)
    click.echo(campaign.text())
    if write:
        write.write_text(campaign.page(), encoding="utf-8")
    sys.exit(1 if campaign.problems() else 0)


if __name__ == "__main__":
    main()
