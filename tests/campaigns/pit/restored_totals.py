"""Random evenings at several tables that are set back: the pit's totals are the tables' own, and the journals'.

    python -m tests.campaigns.pit.restored_totals --sequences 2000 --seed 1

Each table plays hands, loses some, changes its dealer, has its clock set, is saved, and is set back to what was saved,
at any moment of a down; rows come to the pit now and then. At the end the floor's last hour, the totals by table, by
dealer, by game and by hour are compared with each table's own report and with a plain count of its journal's rows.
"""

from __future__ import annotations

import random
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from firmware.record.backup import back_up
from firmware.record.journal.clocks import Timestamp
from firmware.record.report_span import Span as OwnSpan
from firmware.record.report_span import report_of_span
from firmware.record.restore import restore
from firmware.record.shift_counts import Counts
from firmware.table import events as ev
from firmware.table.people import Role
from pit.follow.search import SearchFilter, last_hour, search
from pit.follow.totals import Span, by_dealer, by_game, by_table, report_of
from pit.store.database import Database, migrate
from tests.dealer_ui.felt import Felt
from tests.pit.postgres import Postgres
from tests.pit.sent import FollowedTable

DAY_MS: Final = 86_400_000
BEGINS_MS: Final = 1_500_000_000_000
"""Long ago: the pit dates no row later than it came."""
APART_MS: Final = 2 * 3_600_000
"""By so much no clock is off, and so long no evening lasts."""
MAX_RESTORES: Final = 3
"""Restores of a table in one evening: the pit takes no more than five within a day."""
STEPS: Final = {
    "hand": 8,
    "void": 1,
    "log_on": 2,
    "log_off": 1,
    "save": 3,
    "set_back": 3,
    "send": 10,
    "clock": 1,
}


@dataclass
class Evening:
    """Tables that begin at a time of their own, with dealers of their own: other evenings are in the same database."""

    database: Database
    folder: Path
    number: int
    rng: random.Random
    done: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.now_ms = BEGINS_MS + self.number * DAY_MS
        self.began_ms = self.now_ms
        tables = self.rng.randint(1, 3)
        self.tables = [_Table(self, f"{self.number}-{table}") for table in range(tables)]

    def play(self, steps: int) -> None:
        """Let something happen at some table, so many times; then all that is left is sent."""
        for _ in range(steps):
            what = self.rng.choices(list(STEPS), list(STEPS.values()))[0]
            if self.rng.choice(self.tables).do(what):
                self.done[what] += 1
        for table in self.tables:
            table.do("send")

    def differences(self) -> list[str]:
        """Return what of the pit's totals is other than the tables' own, and than their journals."""
        own = {table.name: table.report() for table in self.tables}
        hands = {name: counts.hands for name, counts in own.items()}
        span = Span(self.began_ms - APART_MS, self.now_ms + APART_MS)
        found: list[str] = []

        def same(what: str, pit: object, table: object) -> None:
            if pit != table:
                found.append(f"evening {self.number}, {what}: {pit} at the pit, {table} at the tables")

        for table in self.tables:
            same(f"hands of {table.name} in its journal", hands[table.name], table.archived())
        whole = sum(own.values(), Counts())
        totals = {group.name: group.counts for group in by_table(self.database, span)}
        same("by table", totals, {name: counts for name, counts in own.items() if any(vars(counts).values())})
        same("by dealer", sum((g.counts for g in by_dealer(self.database, span)), Counts()), whole)
        same("by game", sum(g.counts.hands for g in by_game(self.database, span)), whole.hands)
        report = report_of(self.database, span)
        same("the report", report.total, whole)
        same("by hour", sum(count for _, count in report.hours), whole.hands)
        same(
            "the last hour",
            last_hour(self.database, span.since_ms + 3_600_000).hands,
            whole.hands + whole.voids,
        )
        for table in self.tables:
            listed = search(self.database, SearchFilter(table=table.name), 10_000)
            least = hands[table.name] + own[table.name].voids
            same(f"{table.name} in the list, at least", min(len(listed), least), least)
        return found

    def close(self) -> None:
        """Close the journals."""
        for table in self.tables:
            table.felt.journal.close()


class _Table:
    def __init__(self, evening: Evening, name: str) -> None:
        self.evening, self.name = evening, name
        self.boot, self.off_ms, self.downs = f"boot of {name}", 0, 0
        self.saved: Path | None = None
        self.saves = self.restores = 0
        self.felt = Felt(evening.folder / name, clock=self.clock)
        self.dealers = [f"{name} {who}" for who in ("Lin", "Bo")]
        self.felt.say(*(ev.PersonListed(dealer, Role.DEALER) for dealer in self.dealers))
        self.sent = FollowedTable(evening.database, self.felt.folder, name)

    def clock(self) -> Timestamp:
        self.evening.now_ms += 500
        since_ms = self.evening.now_ms - BEGINS_MS
        return Timestamp(self.boot, since_ms * 1_000_000, self.evening.now_ms + self.off_ms, "unknown")

    def do(self, what: str) -> bool:
        """Do it if it can be done now; return whether it was."""
        rng, felt = self.evening.rng, self.felt
        match what:
            case "hand" | "void":
                felt.to_settled()
                felt.do("archive") if what == "hand" else felt.do("void", reason="Fire alarm")
            case "log_on":
                self.downs += 1
                felt.say(
                    ev.LoggedOn(next(who for who in self.dealers if who != felt.state.dealer), self.downs)
                )
            case "log_off":
                if not felt.state.dealer:
                    return False
                felt.say(ev.LoggedOff())
            case "clock":
                self.off_ms = rng.randrange(-600_000, 600_000)
            case "save":
                self.saves += 1
                self.saved = self.evening.folder / f"{self.name}-saved-{self.saves}"
                back_up(felt.folder, self.saved)
            case "set_back":
                if self.saved is None or self.restores >= MAX_RESTORES:
                    return False
                self.restores += 1
                self._set_back(self.saved)
            case "send":
                self.sent.send()
        return True

    def _set_back(self, saved: Path) -> None:
        self.felt.journal.close()
        restore(saved, self.felt.folder, self.clock)
        before = next(
            row.seq for row in reversed(self.sent.reader.events_since(0)) if row.type == "record_restored"
        )
        self.sent.have = min(self.sent.have, before - 1)
        self.felt = Felt(self.felt.folder, clock=self.clock, set_up=False)
        self.felt.state = self.felt.journal.recover()

    def report(self) -> Counts:
        return report_of_span(self.sent.reader, OwnSpan()).total

    def archived(self) -> int:
        """Count the closed hands in the journal's rows, plainly."""
        return sum(row.type == ev.HandArchived.type for row in self.sent.reader.events_since(0))


def evenings(database: Database, number: int, seed: int, done: Counter[str]) -> Iterator[str]:
    """Play so many evenings, and yield each difference."""
    rng = random.Random(seed)
    for evening in range(number):
        folder = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
        one = Evening(database, folder, evening, random.Random(rng.random()), done)
        try:
            one.play(rng.randint(10, 60))
            yield from one.differences()
        finally:
            one.close()
            shutil.rmtree(folder)


@contextmanager
def _database() -> Iterator[Database]:
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pg-"))
    folder.chmod(0o711)
    server = Postgres(folder, durable=False)
    server.start()
    try:
        url = server.make("totals")
        migrate(url)
        with Database(url, connections=4) as database:
            yield database
    finally:
        server.stop()
        shutil.rmtree(folder)


@click.command()
@click.option("--sequences", default=2000, show_default=True, help="Evenings.")
@click.option("--seed", default=1, show_default=True)
def main(sequences: int, seed: int) -> None:
    """Play evenings whose tables are set back, and compare the pit's totals with the tables' own."""
    done: Counter[str] = Counter()
    began = time.monotonic()
    with _database() as database:
        found = list(evenings(database, sequences, seed, done))
    click.echo("\n".join(found[:20]))
    click.echo(f"{sequences:,} evenings in {time.monotonic() - began:.0f} s, {dict(sorted(done.items()))}")
    if found:
        raise click.ClickException(f"{len(found)} differences")


if __name__ == "__main__":
    main()
