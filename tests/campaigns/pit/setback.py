"""The pit, or a table, is set back; afterwards the pit has the same rows as before, by the tables alone.

    python -m tests.campaigns.pit.setback --tables 10 --hands 200

Four ways: a standby that lacks rows is promoted (real streaming replication, asynchronous); a backup of the server from
before the last hands is restored; the database is empty; tables are restored from backups of their own, twice, and then
the pit is set back behind both. Real processes, real TLS. The uplinks run all the time and nobody touches them.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click
import psycopg

from firmware.record.backup import back_up
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import Journal
from firmware.record.restore import restore
from firmware.table.events import TableStarted
from pit.status.tables import enrol
from pit.store.database import Database, migrate
from tests.campaigns.pit.compare import Difference, compare, has_all
from tests.campaigns.pit.report import report_options, write_report
from tests.generated_record import generate_record
from tests.pit.house import MACHINE, House, house
from tests.pit.postgres import Postgres
from tests.waiting import until


@dataclass
class Way:
    """One way of being set back: how many rows the pit lacked then, and what differed after the tables had sent.

    A restored table is refused once, before it shows where its record goes on: what it offered is in quarantine.
    """

    lacked: int
    healed_s: float
    found: Difference
    tables_were_restored: bool = False

    @property
    def ok(self) -> bool:
        kept = {"quarantined": 0} if self.tables_were_restored else {}
        return self.lacked > 0 and dataclasses.replace(self.found, **kept).ok


Try = Callable[[int, int], Way]
"""Sets something back, with so many tables and hands."""


@dataclass
class Report:
    """What the campaign found."""

    tables: int
    hands: int
    ways: dict[str, Way] = field(default_factory=dict)
    machine: str = MACHINE

    @property
    def ok(self) -> bool:
        return bool(self.ways) and all(way.ok for way in self.ways.values())


def play(all_of_it: House, hands: int) -> None:
    """Let every table play on, in its own record."""
    for number, path in enumerate(all_of_it.data):
        if not (path / "journal.sqlite").exists():
            with Journal(path) as journal:
                # by this machine's clock: no two records begin alike
                journal.append([TableStarted()], "table")
        generate_record(path, hands, pool=4, seed=number)


def arrived(all_of_it: House) -> None:
    """Wait until the pit has all rows of all tables, for as long as rows come.

    What ended meanwhile is started again, as the service manager does.
    """
    with Database(all_of_it.url, connections=1) as database:

        def has_more(before: int) -> bool:
            all_of_it.start()
            return _stored(all_of_it) > before or has_all(database, all_of_it.data)

        while not has_all(database, all_of_it.data):
            before = _stored(all_of_it)
            until(lambda before=before: has_more(before))  # type: ignore[misc]


def _stored(all_of_it: House) -> int:
    with psycopg.connect(all_of_it.url) as connection:
        row = connection.execute("SELECT count(*) FROM entry").fetchone()
    assert row is not None
    return int(row[0])


@contextmanager
def _playing(tables: int, hands: int) -> Iterator[House]:
    with house(durable=False) as all_of_it:
        _begin(all_of_it, tables, hands)
        yield all_of_it


def _begin(all_of_it: House, tables: int, hands: int) -> None:
    all_of_it.add_tables(tables)
    play(all_of_it, hands)
    all_of_it.start()
    for uplink in all_of_it.uplinks:
        uplink.start()
    arrived(all_of_it)


def _healed(all_of_it: House, had: int) -> Way:
    """Wait for the tables, and compare; `had` is how many rows were there before."""
    lacked, began = had - _stored(all_of_it), time.monotonic()
    arrived(all_of_it)
    healed = round(time.monotonic() - began, 1)
    with Database(all_of_it.url, connections=2) as database:
        return Way(lacked, healed, compare(database, all_of_it.data))


@contextmanager
def _serving_from(all_of_it: House, backup: Postgres) -> Iterator[None]:
    """The server is lost; another stands in its place, with the data of a backup."""
    all_of_it.stop()
    all_of_it.postgres.kill()
    backup.start()
    try:
        all_of_it.serve_on(f"postgresql://postgres@/pit?host={backup.folder}")
        all_of_it.start()
        yield
    finally:
        all_of_it.stop()
        backup.stop()


def standby(tables: int, hands: int) -> Way:
    """A standby whose line hangs is promoted; the pit has acknowledged rows since that it never got."""
    with house(durable=False) as all_of_it:
        first = all_of_it.postgres
        second = Postgres(all_of_it.folder / "standby", durable=False, of=first, follows=True)
        second.start()
        try:
            both = f"{first.folder},{second.folder}"  # one address names both: the one that may be written to is taken
            all_of_it.serve_on(f"postgresql://postgres@/pit?host={both}&target_session_attrs=read-write")
            _begin(all_of_it, tables, hands)
            with second.hung_line():
                play(all_of_it, hands)
                arrived(all_of_it)
                had = _stored(all_of_it)
                first.kill()
            return _healed(all_of_it, had)
        finally:
            all_of_it.stop()
            second.stop()


def backup(tables: int, hands: int) -> Way:
    """The server is lost, and a backup from before the last hands is restored."""
    with _playing(tables, hands) as all_of_it:
        older = Postgres(all_of_it.folder / "backup", durable=False, of=all_of_it.postgres)
        play(all_of_it, hands)
        arrived(all_of_it)
        had = _stored(all_of_it)
        with _serving_from(all_of_it, older):
            return _healed(all_of_it, had)


def empty(tables: int, hands: int) -> Way:
    """The database is lost, and there is no backup. The authority's files are left: the tables are readmitted."""
    with _playing(tables, hands) as all_of_it:
        had = _stored(all_of_it)
        all_of_it.stop()
        all_of_it.serve_on(all_of_it.postgres.make("made_again"))
        migrate(all_of_it.url)
        with Database(all_of_it.url, connections=1) as database:
            for name, serial in all_of_it.authority.issued().items():
                enrol(database, name, serial)
        all_of_it.start()
        return _healed(all_of_it, had)


def table(tables: int, hands: int) -> Way:
    """Tables are restored from their own backups twice; then the pit is set back to before the first time."""
    with _playing(tables, hands) as all_of_it:
        copies = [path.with_name(f"{path.name}-copy-{n}") for path in all_of_it.data for n in (1, 2)]
        _each(all_of_it, lambda n: back_up(all_of_it.data[n], copies[2 * n]))
        play(all_of_it, hands)
        arrived(all_of_it)
        older = Postgres(all_of_it.folder / "backup", durable=False, of=all_of_it.postgres)
        _each(all_of_it, lambda n: restore(copies[2 * n], all_of_it.data[n], now))
        play(all_of_it, hands)
        _each(all_of_it, lambda n: back_up(all_of_it.data[n], copies[2 * n + 1]))
        play(all_of_it, hands)
        arrived(all_of_it)
        _each(all_of_it, lambda n: restore(copies[2 * n + 1], all_of_it.data[n], now))
        play(all_of_it, hands)
        arrived(all_of_it)
        had = _stored(all_of_it)
        with _serving_from(all_of_it, older):
            return dataclasses.replace(_healed(all_of_it, had), tables_were_restored=True)


def _each(all_of_it: House, act: Callable[[int], object]) -> None:
    for number in range(len(all_of_it.data)):
        act(number)


WAYS: Final[dict[str, Try]] = {
    "a standby that lacks rows is promoted": standby,
    "an older backup of the server is restored": backup,
    "the database is empty, the tables are readmitted": empty,
    "tables restored twice, the pit set back behind both": table,
}


def campaign(tables: int, hands: int, say: Callable[[str], None]) -> Report:
    """Try every way; see the command."""
    report = Report(tables, hands)
    for name, way in WAYS.items():
        report.ways[name] = way(tables, hands)
        say(f"{name}: {report.ways[name]}")
    return report


@click.command()
@click.option("--tables", default=10, show_default=True)
@click.option("--hands", default=200, show_default=True, help="Hands of each table before, and again after.")
@report_options
def main(tables: int, hands: int, path: Path | None) -> None:
    """Set the pit back, or a table, in four ways; the tables' uplinks heal it."""
    write_report(campaign(tables, hands, lambda text: click.echo(text, err=True)), path)


if __name__ == "__main__":
    main()
