"""The pit is away for days while every table deals; then it is back, and the tables catch up.

    python -m tests.campaigns.pit.outage --tables 50 --hours 72

The hours are simulated: each table's hands (thirty an hour) are written at full speed, by the journal's own writer,
while its real uplink finds no pit. One table is written row by row as at play, to see whether its uplink ever keeps it
waiting: without an uplink, while the pit is away, and while the uplink catches up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import click

from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.table.events import HandArchived, HandOpened, TableStarted
from firmware.uplink.status_file import read_status
from pit.follow.follower import Follower
from pit.follow.projector import reindex
from pit.store.database import Database
from tests.campaigns.pit.compare import Difference, compare, has_all, is_listed
from tests.campaigns.pit.report import report_options, write_report
from tests.generated_record import generate_record
from tests.pit.house import MACHINE, House, house, processor_s
from tests.waiting import until

HANDS_AN_HOUR: Final = 30
LIVE_HANDS: Final = 24
"""Hands that the live table plays without an uplink, and again while the pit is away."""
PAUSE_S: Final = 0.2
"""Seconds from one hand of the live table to the next."""
MAX_MS: Final = 2.0
"""Milliseconds of the centre's processor for a hand: PostgreSQL, pit and nginx together."""


@dataclass
class Writes:
    """How the live table's writes went, each row a commit. One that had to wait would have ended the campaign."""

    commits: int = 0
    median_ms: float = 0.0
    at_95_percent_ms: float = 0.0


@dataclass
class Report:
    """What the campaign found.

    `list_ms`, `floor_ms`: of the centre's time, making the list of hands, and what the floor sees; each measured alone.
    """

    tables: int = 0
    hours: float = 0.0
    hands: int = 0
    writes: dict[str, Writes] = field(default_factory=dict)
    caught_up_s: float = 0.0
    centre_ms: dict[str, float] = field(default_factory=dict)
    list_ms: float = 0.0
    floor_ms: float = 0.0
    uplink_ms: float = 0.0
    found: Difference = field(default_factory=Difference)
    machine: str = MACHINE

    @property
    def ok(self) -> bool:
        return self.found.ok and sum(self.centre_ms.values()) <= MAX_MS


def campaign(tables: int, hours: float, say: Callable[[str], None]) -> Report:
    """Run a campaign; see the command."""
    hands = round(hours * HANDS_AN_HOUR)
    report = Report(tables, hours)
    with house() as all_of_it:
        all_of_it.add_tables(tables)
        for uplink in all_of_it.uplinks[1:]:
            uplink.start()  # there is no pit, and there will be none for all the time
        with ProcessPoolExecutor(2) as workers:
            for number, _ in enumerate(workers.map(deal, all_of_it.data, [hands] * tables), start=1):
                say(f"{number} of {tables} tables have dealt {hands} hands")
        live = _LiveTable(all_of_it)
        report.writes["without an uplink"] = live.write(lambda: live.hands == LIVE_HANDS)
        all_of_it.uplinks[0].start()
        until(live.is_unheard)
        report.writes["the pit is away"] = live.write(lambda: live.hands == 2 * LIVE_HANDS)
        all_of_it.start()
        until(lambda: (all_of_it.folder / "door.sock").exists())  # its start is not counted
        before, uplinks, began = all_of_it.centre_s(), _uplinks_s(all_of_it), time.monotonic()
        with Database(all_of_it.url, connections=2) as database:
            report.writes["the tables catch up"] = live.write(lambda: _has_half(database))
            while not (has_all(database, all_of_it.data) and is_listed(database)):
                time.sleep(0.5)
            report.caught_up_s = round(time.monotonic() - began, 1)
            after = all_of_it.centre_s()
            all_of_it.stop()
            report.found = compare(database, all_of_it.data)
            report.hands = report.found.hands
            report.centre_ms = {name: _each(after[name] - before[name], report) for name in after}
            report.uplink_ms = _each(_uplinks_s(all_of_it) - uplinks, report)
            report.list_ms = _each(_alone_s(all_of_it, lambda: reindex(database)), report)
            report.floor_ms = _each(_alone_s(all_of_it, lambda: _floor(database)), report)
    return report


def deal(data: Path, hands: int) -> None:
    """Write a table's record of these hours."""
    with Journal(data) as journal:
        journal.append([TableStarted()], "table")  # by this machine's clock: no two records begin alike
    generate_record(data, hands, pool=20, seed=1)


class _LiveTable:
    """The first table, written row by row, each row durable before the next, and never waiting for anybody."""

    def __init__(self, all_of_it: House) -> None:
        self._data, self._heard, self.hands = all_of_it.data[0], all_of_it.enrolments[0], 0
        rows = JournalReader(self._data).events_since(0)
        ends = [row.seq for row in rows if row.type == HandArchived.type][-2:]
        self._events = [row.event for row in rows[ends[0] : ends[1]]]  # of one whole hand

    def is_unheard(self) -> bool:
        heard = read_status(self._heard, time.monotonic())
        return heard is not None and heard["silent_s"] is None and bool(heard["trouble"])

    def write(self, is_enough: Callable[[], bool]) -> Writes:
        """Play hands until it is enough."""
        taken: list[float] = []
        made = Writes()
        with Journal(self._data) as journal:
            # anyone who holds the file now makes this write fail at once
            journal._db.execute("PRAGMA busy_timeout = 0")
            hand = journal.recover().hand
            while True:
                hand, self.hands = hand + 1, self.hands + 1
                for event in self._events:
                    if isinstance(event, HandOpened):
                        event = replace(event, hand=hand)
                    journal.append([event], "table")
                    taken.append(journal.commit_s * 1000)
                if is_enough():
                    break
                time.sleep(PAUSE_S)
        taken.sort()
        made.commits = len(taken)
        made.median_ms, made.at_95_percent_ms = (round(taken[int(len(taken) * at)], 2) for at in (0.5, 0.95))
        return made


def _uplinks_s(all_of_it: House) -> float:
    return sum(processor_s(part.process.pid) for part in all_of_it.uplinks if part.process)


def _each(seconds: float, report: Report) -> float:
    """Return milliseconds for each hand."""
    return round(seconds * 1000 / report.hands, 3)


def _has_half(database: Database) -> bool:
    with database.transaction() as connection:
        row = connection.execute(
            "SELECT coalesce(sum(seq) * 2 >= sum(table_seq) AND count(*) > 0, false) FROM head"
        ).fetchone()
    return bool(row and row[0])


def _floor(database: Database) -> None:
    follower = Follower(database)
    follower.start_over()
    while follower.follow():
        pass


def _alone_s(all_of_it: House, make: Callable[[], object]) -> float:
    """Make something again, alone, and return the seconds of processor time of it."""
    server, own = processor_s(all_of_it.postgres.pid), time.process_time()
    make()
    return processor_s(all_of_it.postgres.pid) - server + time.process_time() - own


@click.command()
@click.option("--tables", default=50, show_default=True)
@click.option(
    "--hours", default=72.0, show_default=True, help="Simulated hours without the pit, thirty hands each."
)
@report_options
def main(tables: int, hours: float, path: Path | None) -> None:
    """Let the pit be away while tables deal for days; then let them catch up, and count what it costs."""
    write_report(campaign(tables, hours, lambda text: click.echo(text, err=True)), path)


if __name__ == "__main__":
    main()
