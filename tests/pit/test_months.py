"""Rows lie by the month in which they were taken; an old month can be moved."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from click.testing import CliRunner

from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from pit.cli.main import command
from pit.door.take import take
from pit.errors import PitError
from pit.status.tables import enrol
from pit.store import months
from pit.store.database import Database, migrate
from pit.store.rights import allow
from tests.pit.conftest import as_role
from tests.pit.postgres import DOOR, Postgres
from tests.pit.test_take import offer, stored

_NUMBERS: Final = itertools.count(1)
OLD: Final = "2025-03"


@pytest.fixture(scope="module")
def rows(record: Path) -> list[Entry]:
    return JournalReader(record).events_since(0)


def this_month() -> str:
    return datetime.now(UTC).strftime("%Y-%m")


def query(url: str, statement: str, *values: Any) -> list[Any]:
    with psycopg.connect(url, autocommit=True) as connection:
        found = connection.execute(statement.encode(), values)
        return found.fetchall() if found.description else []


def listed(url: str) -> dict[str, months.Month]:
    with Database(url, connections=1) as opened, opened.transaction() as connection:
        connection.execute("ANALYZE")
        return {one.name: one for one in months.list_months(connection)}


def test_a_fresh_database_has_this_month_and_the_next(owned: str) -> None:
    assert next(iter(listed(owned))) == this_month()
    assert len(listed(owned)) == 2


def test_rows_are_taken_where_the_months_part_lacks(
    database: Database, owned: str, rows: list[Entry]
) -> None:
    query(owned, f"DROP TABLE entry_{this_month().replace('-', '_')}")
    table = enrol(database, "Table 1", 1)
    assert take(database, table, offer(rows, rows[:3])).seq == 3  # few rows
    query(owned, f"ALTER TABLE entry DETACH PARTITION entry_{this_month().replace('-', '_')}")
    query(owned, f"ALTER TABLE entry_{this_month().replace('-', '_')} RENAME TO away")
    assert take(database, table, offer(rows, rows[3:60])).seq == 60  # many


def test_the_door_makes_no_part_but_those_of_months_near_now(database: Database) -> None:
    for at in ("now() + interval '1 year'", "now() - interval '1 year'", "'infinity'", "NULL"):
        with pytest.raises(psycopg.errors.RaiseException), database.transaction() as connection:
            connection.execute(f"SELECT make_entry_month({at})".encode())


@pytest.fixture
def aged(owned: str, database: Database, rows: list[Entry]) -> str:
    """A database with 40 rows of an old month, and more of this one; another user than its owner moves them."""
    query(owned, "DO $$ BEGIN CREATE ROLE months_owner; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    query(owned, "ALTER TABLE entry OWNER TO months_owner")
    table = enrol(database, "Table 1", 1)
    take(database, table, offer(rows, rows[:40]))
    query(
        owned,
        "CREATE TABLE entry_2025_03 PARTITION OF entry"
        " FOR VALUES FROM ('2025-03-01 00:00+00') TO ('2025-04-01 00:00+00')",
    )
    query(owned, "ALTER TABLE entry_2025_03 ADD PRIMARY KEY (record_id, seq)")
    query(owned, "ALTER TABLE entry DISABLE TRIGGER USER")
    query(owned, "UPDATE entry SET taken_at = '2025-03-31 23:59:59.9+00'")
    query(owned, "ALTER TABLE entry ENABLE TRIGGER USER")
    take(database, table, offer(rows, rows[40:80]))
    return owned


@pytest.fixture
def other_disk(postgres: Postgres) -> str:
    name = f"other_{next(_NUMBERS)}"
    folder = postgres.folder / name
    folder.mkdir()
    folder.chmod(0o700)
    if postgres._user is not None and postgres._group is not None:
        import os

        os.chown(folder, postgres._user, postgres._group)
    query(postgres.url, f"CREATE TABLESPACE {name} LOCATION '{folder}'")
    return name


def test_an_old_month_is_moved_and_read_as_before(
    aged: str, database: Database, other_disk: str, rows: list[Entry]
) -> None:
    moved = CliRunner().invoke(command, ["months", "move", OLD, "--tablespace", other_disk, "--url", aged])
    assert moved.exit_code == 0, moved.output
    assert "40 rows were moved" in moved.output
    assert stored(database) == rows[:80]
    assert listed(aged)[OLD][2:] == (other_disk, 40)
    owners = query(aged, "SELECT DISTINCT relowner FROM pg_class WHERE relname IN ('entry', 'entry_2025_03')")
    assert len(owners) == 1
    indexes = query(aged, "SELECT tablespace FROM pg_indexes WHERE tablename = 'entry_2025_03'")
    assert indexes == [(other_disk,)] * 3
    with pytest.raises(psycopg.errors.RaiseException, match="append-only"):
        query(aged, "DELETE FROM entry WHERE seq = 1")
    with pytest.raises(psycopg.errors.UniqueViolation):
        query(aged, "INSERT INTO entry SELECT * FROM entry WHERE seq = 1")
    said = CliRunner().invoke(command, ["months", "--url", aged])
    assert f"{OLD}: about 40 rows" in said.output
    assert other_disk in said.output


def test_a_month_is_moved_while_somebody_reads_and_tables_send(
    aged: str, database: Database, other_disk: str, rows: list[Entry]
) -> None:
    with psycopg.connect(aged) as reader:  # in a transaction that has read, as a page's
        reader.execute("SELECT count(*) FROM entry")
        with Database(aged, connections=1) as owner, pytest.raises(PitError, match="held this"):
            months.move(owner, OLD, other_disk)
    assert stored(database) == rows[:80]
    with Database(aged, connections=1) as owner:
        assert months.move(owner, OLD, other_disk) == 40
        assert months.move(owner, OLD, other_disk) == 0  # it lies there
    with database.transaction() as connection:
        row = connection.execute("SELECT table_id FROM gaming_table").fetchone()
    assert row is not None
    assert stored(database) == rows[:80]


@pytest.mark.parametrize(
    ("month", "why"),
    [("2025-3", "written as"), ("2024-01", "no rows of 2024-01"), ("x'; DROP", "written as")],
)
def test_what_cannot_be_moved_is_said(aged: str, month: str, why: str) -> None:
    with Database(aged, connections=1) as owner, pytest.raises(PitError, match=why):
        months.move(owner, month, "pg_default2")


def test_this_month_and_an_unknown_place_are_refused(
    aged: str, database: Database, rows: list[Entry]
) -> None:
    with Database(aged, connections=1) as owner:
        with pytest.raises(PitError, match="is not over"):
            months.move(owner, this_month(), "elsewhere")
        with pytest.raises(PitError, match="cannot be used"):
            months.move(owner, OLD, "elsewhere")
    assert stored(database) == rows[:80]


def test_an_owner_who_is_no_superuser_migrates_and_the_door_makes_its_months(
    postgres: Postgres, rows: list[Entry]
) -> None:
    query(postgres.url, "CREATE ROLE pit_owner LOGIN")
    query(postgres.url, "CREATE DATABASE owned_by_nobody_great OWNER pit_owner")
    url = postgres.url.replace("/postgres?", "/owned_by_nobody_great?")
    owner = as_role(url, "pit_owner")
    migrate(owner)
    allow(owner, DOOR)
    query(owner, f"DROP TABLE entry_{this_month().replace('-', '_')}")
    with Database(as_role(url, DOOR), connections=2) as door:
        assert take(door, enrol(door, "Table 1", 1), offer(rows, rows[:3])).seq == 3
    assert this_month() in listed(owner)
