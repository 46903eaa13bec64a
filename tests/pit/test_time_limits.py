"""Nothing of the pit waits for ever: each of the database's limits rings, with a sentence, and nothing is changed."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from firmware.table import events as ev
from pit.errors import DatabaseError, LockTimeout, StatementTimeout
from pit.follow import follower as follower_module
from pit.follow.follower import Follower
from pit.store import database as pit_database
from pit.store.database import (
    ANSWERING,
    LONG_JOB,
    MIGRATING,
    Connection,
    Database,
    Limits,
    migrate,
    take_long,
)
from tests.dealer_ui.felt import Felt
from tests.pit.sent import FollowedTable

SHORT = Limits(0.2, 0.5, 0.3)


@pytest.fixture
def short(owned: str) -> Iterator[Database]:
    with Database(owned, connections=2, limits=SHORT) as opened:
        yield opened


@pytest.fixture
def holder(owned: str) -> Iterator[psycopg.Connection]:
    """Somebody with a transaction of their own in the same database."""
    with psycopg.connect(owned) as connection:
        yield connection
        connection.rollback()


def setting(connection: Connection | psycopg.Connection, name: str) -> str:
    row = connection.execute("SELECT current_setting(%s)", (name,)).fetchone()
    assert row is not None
    return str(row[0])


def test_who_waits_for_a_lock_is_told_that_something_else_holds_it(
    short: Database, holder: psycopg.Connection
) -> None:
    holder.execute("LOCK TABLE gaming_table IN ACCESS EXCLUSIVE MODE")
    with (
        pytest.raises(LockTimeout, match=r"more than 0\.2 s. Nothing was changed. Try again"),
        short.transaction() as one,
    ):
        one.execute("INSERT INTO gaming_table (name, serial) VALUES ('7', '7')")
    holder.rollback()
    with short.transaction() as one:
        assert one.execute("SELECT count(*) FROM gaming_table").fetchone() == (0,)


def test_a_statement_that_goes_on_for_too_long_is_undone(short: Database) -> None:
    def slow() -> None:
        with short.transaction() as one:
            one.execute("INSERT INTO gaming_table (name, serial) VALUES ('7', '7')")
            one.execute("SELECT pg_sleep(60)")

    with pytest.raises(StatementTimeout, match="Ask for less at once"):
        slow()
    with short.transaction() as one:
        assert one.execute("SELECT count(*) FROM gaming_table").fetchone() == (0,)


def test_a_transaction_that_is_left_open_ends_and_holds_nothing(
    short: Database, holder: psycopg.Connection
) -> None:
    def left() -> None:
        with short.transaction() as one:
            one.execute("LOCK TABLE gaming_table IN ACCESS EXCLUSIVE MODE")
            holder.execute("SELECT FROM gaming_table")  # waits until the other one is ended
            one.execute("SELECT 1")

    with pytest.raises(StatementTimeout, match="undone it"):
        left()
    with short.transaction() as one:
        assert one.execute("SELECT 1").fetchone() == (1,)


@pytest.mark.parametrize("limits", [ANSWERING, LONG_JOB])
def test_every_connection_has_its_limits(owned: str, limits: Limits) -> None:
    with Database(owned, connections=1, limits=limits) as database, database.transaction() as one:
        names = ("lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout")
        shown = [setting(one, name) for name in names]
    with psycopg.connect(owned, options=limits.options) as plain:
        assert shown == [setting(plain, name) for name in names]
    assert "0" not in shown, "0 would be for ever"


def test_a_long_job_may_take_longer_for_the_rest_of_its_transaction_only(short: Database) -> None:
    with short.transaction() as one:
        take_long(one)
        assert one.execute("SELECT pg_sleep(0.6)").fetchone() is not None
    with short.transaction() as one:
        assert setting(one, "statement_timeout") == "500ms"


def test_a_migration_does_not_wait_for_another_one_for_ever(
    owned: str, holder: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pit_database, "MIGRATING", MIGRATING._replace(lock_s=0.2))
    holder.execute("SELECT pg_advisory_lock(%s)", (pit_database._LOCK,))
    with pytest.raises(DatabaseError, match="lock timeout"):
        migrate(owned)


def test_a_record_that_something_else_holds_is_logged_and_the_others_are_followed(
    database: Database,
    owned: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    felts = [Felt(tmp_path / str(number)) for number in (1, 2)]
    first, second = (FollowedTable(database, felt.folder, f"Table {felt.folder.name}") for felt in felts)
    for one in (first, second):
        one.send()
    monkeypatch.setattr(follower_module, "HELD_S", -1.0)
    follower = Follower(database)
    with psycopg.connect(owned) as holder, caplog.at_level(logging.WARNING):
        holder.execute("SELECT FROM table_now WHERE record_id = %s FOR UPDATE", (first.record_id,))
        for felt, sent in zip(felts, (first, second), strict=True):
            felt.say(ev.FloorCalled())
            sent.follower = follower
            sent.send()
        follower.follow()
        assert [bool(sent.facts.needs) for sent in (first, second)] == [False, True]
        said = [one.getMessage() for one in caplog.records]
        assert said == [
            f"Record {first.record_id} is not followed: something else holds its row of table_now"
        ]
        holder.rollback()
    follower.follow()
    assert first.facts.needs
    for felt in felts:
        felt.journal.close()
