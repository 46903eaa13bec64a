"""All between a table and the pit's page goes wrong while tables deal; nothing may be lost, doubled or silently old.

    python -m tests.campaigns.pit.fault_campaign --rounds 20 --write docs/pit-faults.md

Each round: tables deal, a fault begins, tables deal on; the fault ends, and nobody touches anything; then every row,
the lists of hands and the totals are compared with the tables' journals. All the time somebody looks at the pages: what
is old must be said within the documented time. Every fifth round is longer than that time.
"""

from __future__ import annotations

import multiprocessing
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Final

import click

from tests.campaigns.pit import (
    fault_kind_poison,
    fault_kinds_database,
    fault_kinds_network,
    fault_kinds_pit,
    fault_kinds_tables,
)
from tests.campaigns.pit.fault_kind import Kind
from tests.campaigns.pit.fault_stage import LATEST_S
from tests.campaigns.pit.report import report_options, wrapped, write_report
from tests.pit.house import MACHINE

KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        *fault_kinds_network.KINDS,
        *fault_kinds_database.KINDS,
        *fault_kinds_tables.KINDS,
        *fault_kind_poison.KINDS,
        *fault_kinds_pit.KINDS,
    )
}
LONG_EVERY: Final = 5
"""Every so many rounds the fault lasts longer than anything old may be shown as live."""
MAX_MESSAGES: Final = 3
"""Sentences of a kind in the report, the most frequent."""


@dataclass
class KindTotals:
    """What all rounds of a kind found. `wrong`: what else is not as it must be, and errors of the code in the logs."""

    name: str
    words: str
    rounds: int = 0
    long_rounds: int = 0
    looks: int = 0
    rows: int = 0
    hands: int = 0
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    quarantined: int = 0
    stale: int = 0
    median_s: float = 0.0
    longest_s: float = 0.0
    said: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    lacks: str = ""

    @property
    def ok(self) -> bool:
        return not (
            self.lost or self.doubled or self.differing or self.quarantined or self.stale or self.wrong
        )


@dataclass
class Report:
    """What the campaign found."""

    rounds: int
    kinds: list[KindTotals] = field(default_factory=list)
    seconds: float = 0.0
    machine: str = MACHINE

    @property
    def ok(self) -> bool:
        return bool(self.kinds) and all(kind.ok for kind in self.kinds)


def run_kind(name: str, rounds: int, seed: int = 0, *, long_every: int = LONG_EVERY) -> KindTotals:
    """Play the rounds of a kind on one stage. `long_every`: 0 for none that is long."""
    kind, rng = KINDS[name], random.Random(f"{seed} {name}")
    report, healed, said = KindTotals(name, kind.words, lacks=kind.lacks), list[float](), Counter[str]()
    if kind.lacks:
        return report
    try:
        with kind.furnished() as made:
            for number in range(min(rounds, kind.most_rounds or rounds)):
                is_long = bool(long_every) and number % long_every == long_every - 1
                one = kind.round(made, rng, is_long=is_long)
                report.rounds += 1
                report.long_rounds += is_long
                report.looks += one.looks
                report.rows, report.hands = one.found.rows, one.found.hands
                report.lost = max(report.lost, one.found.lost)
                report.doubled = max(report.doubled, one.found.doubled)
                report.differing = max(report.differing, one.found.differing + one.found.differing_lists)
                report.quarantined = max(report.quarantined, one.found.quarantined)
                report.stale += len(one.stale)
                report.wrong += [f"round {number + 1}: {what}" for what in (*one.stale[:1], *one.wrong)]
                healed.append(one.healed_s)
                said.update(one.said)
    except Exception:
        report.wrong.append(traceback.format_exc(limit=-4))
    if healed:
        report.median_s, report.longest_s = median(healed), max(healed)
    report.said = [text for text, _ in said.most_common(MAX_MESSAGES)]
    return report


def campaign(
    names: Sequence[str], rounds: int, seed: int, jobs: int, keep: Callable[[Report], None]
) -> Report:
    """Run kinds, so many at a time, each on a stage of its own; `keep` receives what there is after each of them."""
    report, began = Report(rounds), time.monotonic()
    found: dict[str, KindTotals] = {}
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as workers:
        running = {workers.submit(run_kind, name, rounds, seed): name for name in names}
        for done in as_completed(running):
            found[running[done]] = done.result()
            report.kinds = [found[name] for name in names if name in found]
            report.seconds = round(time.monotonic() - began, 1)
            keep(report)
            click.echo(f"{len(found)} of {len(names)}, {report.seconds:.0f} s: {done.result()}", err=True)
    return report


def text(report: Report) -> str:
    """Return the report as a page of the book."""
    ran = [kind for kind in report.kinds if not kind.lacks]
    lines = [
        "# The pit under faults",
        "",
        "Written by `python -m tests.campaigns.pit.fault_campaign"
        f" --rounds {report.rounds} --write docs/pit-faults.md`",
        f"on {datetime.now(UTC).date()}. Real PostgreSQL 15, nginx, `feltwatch pit serve`,",
        "a `feltwatch uplink` for each table, over TLS with a certificate each. A table here is the process that",
        "writes a journal and its pulse. Each round: tables deal, a fault begins, they deal on; it ends, and nobody",
        "touches anything while they deal on; then every row, the lists of hands and the totals are compared with the",
        "tables' journals. All the time somebody looks at the floor and at *Tables*: a row must be shown, or the table",
        f"be said not to be live, within {LATEST_S:g} seconds of its writing",
        "(`pit/status/freshness.py`: a heartbeat missed, then rows not followed), or the page answers 503",
        f"with a sentence. In every {LONG_EVERY}th round the fault lasts longer than that.",
        "The logs must name no error of the code.",
        "",
        f"{len(ran)} kinds, {sum(kind.rounds for kind in ran)} rounds, {sum(kind.rows for kind in ran):,} rows,",
        f"{sum(kind.looks for kind in ran):,} looks at the pages, {report.seconds / 60:.0f} minutes, several kinds",
        f"at a time. Machine: {report.machine}; times are those of a busy machine. A Raspberry Pi, a real network,",
        "power cuts: **UNTESTED**.",
        "",
        "| fault | rounds | rows | lost | doubled | differing | silently stale | healed: median, longest s | met |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---|",
        *(
            f"| {kind.words} | {kind.rounds} | {kind.rows:,} | {kind.lost} | {kind.doubled} | {kind.differing} |"
            f" {kind.stale} | {kind.median_s:.1f}, {kind.longest_s:.1f} | {'yes' if kind.ok else '**no**'} |"
            for kind in ran
        ),
        "",
        "*Lost*, *doubled*: rows. *Differing*: records or lists of hands that are not as made from the journal.",
        "*Silently stale*: looks at which something older than that was shown as live. *Healed*: from the end of the",
        "fault until every table is shown as live with all that it had written by then; of a copied table, until the",
        "floor says that its record differs.",
        "",
        "## What the pages said meanwhile",
        "",
        "The most frequent sentences, figures as N.",
        "",
        *(
            f"- {kind.words}: {'; '.join(said.rstrip('.') for said in kind.said) or 'nothing: all stayed live'}."
            for kind in ran
        ),
    ]
    if missed := [what for kind in ran for what in kind.wrong]:
        lines += ["", "## What was wrong", "", *(f"- {' '.join(what.split())[:300]}" for what in missed)]
    for kind in report.kinds:
        if kind.lacks:
            lines += ["", f"Not run here: {kind.words}: {kind.lacks}"]
    return "\n".join(wrapped(lines)) + "\n"


@click.command()
@click.option("--rounds", default=20, show_default=True, help="Of each kind.")
@click.option("--kind", "names", multiple=True, type=click.Choice(list(KINDS)), help="Only these.")
@click.option("--jobs", default=4, show_default=True, help="Kinds at a time.")
@click.option("--seed", default=0, show_default=True)
@click.option("--write", "page", type=click.Path(path_type=Path), help="Write the book's page here.")
@report_options
def main(
    rounds: int, names: tuple[str, ...], jobs: int, seed: int, page: Path | None, path: Path | None
) -> None:
    """Let everything go wrong while tables deal; compare all of it, and look at the pages meanwhile."""

    def keep(report: Report) -> None:
        if page is not None:
            page.write_text(text(report), encoding="utf-8")

    write_report(campaign(names or tuple(KINDS), rounds, seed, jobs, keep), path)


if __name__ == "__main__":
    main()
