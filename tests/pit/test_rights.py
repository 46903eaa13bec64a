"""The door's role adds evidence and can neither change nor remove it. The other tests of the pit run as that role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from firmware.record.journal.reader import JournalReader
from firmware.uplink.wire import Head, Offer
from pit.cli.main import command
from pit.door.take import take
from pit.errors import DatabaseError
from pit.follow.follower import Follower
from pit.follow.projector import project
from pit.status.tables import enrol
from pit.store.database import Database, migrate
from pit.store.rights import FLOOR_RIGHTS, RIGHTS, allow
from tests.pit.conftest import as_role
from tests.pit.postgres import DOOR, Postgres

_MONTH = datetime.now(UTC).strftime("entry_%Y_%m")
_EVIDENCE = ("entry", "content", "quarantine", "record", _MONTH, "alembic_version")
_REFUSED = [
    order.format(name)
    for name in _EVIDENCE
    for order in (
        "DELETE FROM {}",
        "TRUNCATE {} CASCADE",
        "ALTER TABLE {} DISABLE TRIGGER ALL",
        "DROP TABLE {} CASCADE",
        "ALTER TABLE {} OWNER TO door",
    )
] + [
    "UPDATE entry SET payload = '{}'",
    f"UPDATE {_MONTH} SET payload = '{{}}'",
    f"INSERT INTO {_MONTH} SELECT * FROM entry",
    "UPDATE content SET bytes = ''",
    "UPDATE quarantine SET why = ''",
    "UPDATE record SET stem = 0",
    "UPDATE gaming_table SET name = 'x'",
    "UPDATE leaf SET hash = ''",
    "DELETE FROM node",
    "DELETE FROM checkpoint",
    "UPDATE cosignature SET line = ''",
    "DELETE FROM proven",
    "DELETE FROM epoch",
    "UPDATE act SET person = 'nobody'",
    "DELETE FROM act",
    "DELETE FROM gaming_table",
    "DELETE FROM head",
    "DELETE FROM wish",
    "UPDATE alembic_version SET version_num = '0'",
    "DROP TRIGGER entry_never_changed ON entry",
    "DROP TRIGGER entry_never_emptied ON entry",
    "DROP FUNCTION append_only() CASCADE",
    "CREATE OR REPLACE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE TABLE mine (one int)",
    "CREATE RULE mine AS ON INSERT TO entry DO INSTEAD NOTHING",
    "SET session_replication_role = replica",
    "SET ROLE postgres",
    "CREATE ROLE another",
    "COPY entry TO '/tmp/copy'",
    "DROP SCHEMA public CASCADE",
]


def has_twenty_rows(database: Database, record: Path) -> Database:
    rows = JournalReader(record).events_since(0)[:20]
    offer = Offer(rows[0].hash, Head(rows[-1].seq, rows[-1].hash), rows=tuple(rows))
    take(database, enrol(database, "Table 1", 1), offer)
    return database


@pytest.fixture(scope="module")
def kept(postgres: Postgres, record: Path) -> Iterator[Database]:
    """One database for all that is refused; its rows can still be followed at the end."""
    with (
        postgres.lent("pit_rights", "template_pit") as url,
        Database(as_role(url, DOOR), connections=4) as opened,
    ):
        yield has_twenty_rows(opened, record)
        assert project(opened) == 20


@pytest.mark.parametrize("order", _REFUSED)
def test_the_doors_role_is_refused_whatever_would_change_evidence(kept: Database, order: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege), kept.transaction() as connection:
        connection.execute(order.encode())
    with kept.transaction() as connection:
        assert connection.execute("SELECT count(*) FROM entry").fetchone() == (20,)


def test_every_table_and_view_of_the_schema_says_what_the_door_may_do(owned: str) -> None:
    with psycopg.connect(owned) as connection:
        tables = connection.execute(
            "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v')"
            " AND NOT relispartition"
        ).fetchall()
    assert {name for (name,) in tables} == set(RIGHTS)


def test_the_door_is_told_who_has_to_migrate_and_the_owner_does_it_in_one_command(postgres: Postgres) -> None:
    url = postgres.make("not_migrated")
    with pytest.raises(DatabaseError, match="by its owner, with: feltwatch pit migrate"):
        migrate(as_role(url, DOOR))
    done = CliRunner().invoke(command, ["migrate", "--url", url, "--door", DOOR])
    assert done.exit_code == 0, done.output
    migrate(as_role(url, DOOR))
    again = CliRunner().invoke(command, ["migrate", "--url", url, "--door", DOOR])
    assert again.output == done.output
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0053'")
    with pytest.raises(DatabaseError, match="does not know the database's schema, 0053"):
        migrate(url)


def test_an_unknown_role_gets_a_sentence(owned: str) -> None:
    done = CliRunner().invoke(command, ["migrate", "--url", owned, "--door", "nobody"])
    assert done.exit_code == 1
    assert "The rights of nobody cannot be set" in done.output


def test_the_floors_role_cannot_read_a_row_of_a_hand_that_lies_on_a_table(
    owned: str, database: Database, record: Path
) -> None:
    with psycopg.connect(owned, autocommit=True) as connection, suppress(psycopg.errors.DuplicateObject):
        connection.execute("CREATE ROLE floor LOGIN")
    allow(owned, "floor", FLOOR_RIGHTS)
    has_twenty_rows(database, record)
    while Follower(database).follow():
        pass
    with psycopg.connect(as_role(owned, "floor"), autocommit=True) as connection:
        last = connection.execute(
            "SELECT max(e.seq), max(finished) FROM entry_finished e, table_now"
        ).fetchone()
        assert last is not None
        assert last[0] == last[1] < 20
        for order in (
            "SELECT * FROM entry",
            f"SELECT * FROM {_MONTH}",
            "DELETE FROM act",
            "UPDATE head SET seq = 1",
            "SELECT make_entry_month(now())",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(order)
