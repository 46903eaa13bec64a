"""Tables grow, their uplinks send, every part of the chain is killed in turn; at the end nothing may be lost or twice.

    python -m tests.campaigns.pit.kill_campaign --tables 50 --hands 200 --times 100

Real processes, real PostgreSQL, real TLS through nginx, SIGKILL. A table here is the process that writes a journal; its
hands are generated, because dealing ten thousand hands by camera takes days. Each table's own journal says what should
be at the pit, row for row, and what the list of hands should be.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from firmware.record.journal.reader import JournalReader
from pit.store.database import Database
from tests.campaigns.pit.compare import Difference, compare, has_all
from tests.campaigns.pit.report import report_options, write_report
from tests.pit.house import MACHINE, House, Part, house

_KINDS: Final = ("pit", "postgres", "nginx", "uplink", "table")
_HANDS: Final = 4
"""Hands that a table writes at once, before it pauses."""
TABLE: Final = """
import sys, time
from pathlib import Path
from tests.generated_record import generate_record
from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.table.events import TableStarted

data, hands, seed, at_once, pause = Path(sys.argv[1]), *map(float, sys.argv[2:])
with Journal(data) as journal:
    journal.append([TableStarted()], "table")  # by this machine's clock: no two records begin alike
while (played := JournalReader(data).recover()[0].hand) < hands:
    generate_record(data, int(min(at_once, hands - played)), pool=2, seed=int(seed))
    time.sleep(pause)
"""


@dataclass
class Report:
    """What the campaign found. `kills_while_tables_grew`: those at which a table was still writing."""

    tables: int = 0
    kills: dict[str, int] = field(default_factory=dict)
    kills_while_tables_grew: int = 0
    found: Difference = field(default_factory=Difference)
    seconds: float = 0.0
    machine: str = MACHINE

    @property
    def ok(self) -> bool:
        return self.found.ok


def campaign(
    tables: int, hands: int, times: int, seed: int, say: Callable[[str], None], workers: int = 1
) -> Report:
    """Run a campaign; see the command."""
    rng = random.Random(seed)
    began = time.monotonic()
    pause = 4.0 * times * _HANDS / hands  # so that the tables grow for as long as something is killed
    report = Report(tables)
    with house() as all_of_it:
        all_of_it.pit.arguments += ["--workers", str(workers)]
        all_of_it.add_tables(tables)
        log = all_of_it.folder / "log"
        parts = {
            "pit": [all_of_it.pit],
            "nginx": [all_of_it.nginx],
            "uplink": all_of_it.uplinks,
            "table": [
                Part([sys.executable, "-c", TABLE, *map(str, (path, hands, number, _HANDS, pause))], log)
                for number, path in enumerate(all_of_it.data)
            ],
        }
        try:
            _revive(all_of_it, parts, hands)
            for number in range(times):
                time.sleep(rng.uniform(0.2, 1.5))
                kind = _KINDS[number % len(_KINDS)]
                running = [part for part in parts.get(kind, ()) if part.runs]
                report.kills_while_tables_grew += any(part.runs for part in parts["table"])
                if kind == "postgres":
                    all_of_it.postgres.kill()
                    time.sleep(rng.uniform(0.0, 1.0))
                    all_of_it.postgres.start()
                elif running and kind == "pit" and workers > 1 and rng.random() < 0.5:
                    _kill_one_of(rng, all_of_it.pit)
                elif running:
                    rng.choice(running).kill()
                else:
                    continue  # every table has played its hands
                report.kills[kind] = report.kills.get(kind, 0) + 1
                _revive(all_of_it, parts, hands)
                say(f"{number + 1} of {times}: {kind}")
            with Database(all_of_it.url, connections=2) as database:
                while not (_have_played(all_of_it.data, hands) and has_all(database, all_of_it.data)):
                    _revive(all_of_it, parts, hands)
                    time.sleep(0.5)
                report.found = compare(database, all_of_it.data)
        finally:
            for part in parts["table"]:
                part.kill()
    report.seconds = round(time.monotonic() - began, 1)
    return report


def _kill_one_of(rng: random.Random, pit: Part) -> None:
    """Kill one of the pit's processes, or freeze it for longer than its lease."""
    assert pit.process is not None
    first = pit.process.pid
    children = [int(one) for one in Path(f"/proc/{first}/task/{first}/children").read_text().split()]
    for one in rng.sample(children, min(1, len(children))):
        with suppress(ProcessLookupError):
            os.kill(one, rng.choice([signal.SIGKILL, signal.SIGSTOP]))


def _revive(all_of_it: House, parts: dict[str, list[Part]], hands: int) -> None:
    """Start what does not run, but no table that has played all its hands."""
    all_of_it.start()
    tables = zip(parts["table"], all_of_it.data, strict=True)
    for part in (*parts["uplink"], *(part for part, path in tables if not _has_played(path, hands))):
        if not part.runs:
            part.start()


def _has_played(data: Path, hands: int) -> bool:
    return JournalReader(data).recover()[0].hand >= hands


def _have_played(data: list[Path], hands: int) -> bool:
    return all(_has_played(path, hands) for path in data)


@click.command()
@click.option("--tables", default=50, show_default=True)
@click.option("--hands", default=200, show_default=True, help="Hands of each table.")
@click.option("--times", default=100, show_default=True, help="Kills.")
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--workers", default=1, show_default=True, help="Processes of the pit; single ones die and freeze, too."
)
@report_options
def main(tables: int, hands: int, times: int, seed: int, workers: int, path: Path | None) -> None:
    """Kill the pit, PostgreSQL, nginx, an uplink and a table in turn while tables send; then compare everything."""
    report = campaign(tables, hands, times, seed, lambda text: click.echo(text, err=True), workers)
    write_report(report, path)


if __name__ == "__main__":
    main()
