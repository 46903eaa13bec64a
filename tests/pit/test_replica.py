"""Searches ask a standby while it follows, and the database itself as soon as it does not."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pit.errors import DatabaseError
from pit.follow.search import SearchFilter, search
from pit.pages.app import create_app
from pit.pages.people import PitRole
from pit.pages.services import pit
from pit.store.database import Database, migrate
from pit.store.replica import LOOK_EVERY_S, Replica
from pit.store.workers import Membership
from tests.pit.pages.conftest import House as Visited
from tests.pit.postgres import Postgres
from tests.pit.sent import FollowedTable
from tests.tools import POSTGRESQL, needs
from tests.waiting import until

pytestmark = needs(POSTGRESQL)


class Pair:
    """A database, a standby that follows it, and what chooses between them."""

    def __init__(self, folder: Path) -> None:
        self.first = Postgres(folder / "first", durable=False)
        self.first.start()
        url = self.first.make("pit")
        migrate(url)
        self.second = Postgres(folder / "second", durable=False, of=self.first, follows=True)
        self.second.start()
        self.database = Database(url, connections=3)
        self.copy = Database(f"postgresql://postgres@/pit?host={folder / 'second'}", connections=3)
        self.now = 0.0
        self.replica = Replica(self.database, self.copy, clock=lambda: self.now)
        self.member = Membership()

    def write(self) -> None:
        with self.database.transaction() as connection:
            self.member.renew(connection)

    def is_copied(self) -> bool:
        self.now += LOOK_EVERY_S
        return self.replica.database() is self.copy

    def age(self, seconds: float) -> None:
        """Let the copy be behind: the database itself was written to so much later."""
        with psycopg.connect(self.database.url, autocommit=True) as connection:
            connection.execute("UPDATE worker SET seen = seen + make_interval(secs => %s)", (seconds,))


@pytest.fixture
def pair() -> Iterator[Pair]:
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-copy-"))
    folder.chmod(0o711)
    made = Pair(folder)
    try:
        with made.database, made.copy:
            yield made
    finally:
        for server in (made.second, made.first):
            if server.process is not None and server.process.poll() is None:
                server.stop()
        shutil.rmtree(folder)


def test_a_search_is_answered_by_the_copy_while_it_follows(pair: Pair, record: Path, tmp_path: Path) -> None:
    FollowedTable(pair.database, record).send()
    pair.write()
    until(pair.is_copied)
    until(lambda: len(search(pair.copy, SearchFilter())) == len(search(pair.database, SearchFilter())) > 0)
    app = create_app(pair.database, tmp_path, "Pit", secure=False, copy=pair.copy)
    client = Visited(app, pair.database).logged_in(PitRole.AUDITOR)
    until(lambda: pit(app).searched is pair.copy)
    for address in ("/hands", "/reports", "/dealers"):
        answer = client.get(address, follow_redirects=True)
        assert answer.status_code == 200, address
    assert "Table 1" in client.get("/hands", follow_redirects=True).text


def test_a_copy_whose_line_hangs_is_not_asked_and_asked_again_when_it_follows(pair: Pair) -> None:
    pair.write()
    until(pair.is_copied)
    with psycopg.connect(pair.copy.url, autocommit=True) as copied:
        copied.execute("SELECT pg_wal_replay_pause()")
        pair.age(30)
        assert not pair.is_copied()
        assert pair.replica.database() is pair.database
        copied.execute("SELECT pg_wal_replay_resume()")
    until(pair.is_copied)


def test_a_copy_that_is_away_is_not_asked(pair: Pair) -> None:
    pair.write()
    until(pair.is_copied)
    pair.second.stop()
    until(lambda: not pair.is_copied())


def test_without_the_database_itself_nothing_is_answered_from_a_copy(pair: Pair) -> None:
    pair.write()
    until(pair.is_copied)
    pair.first.stop()
    pair.now += LOOK_EVERY_S
    with pytest.raises(DatabaseError):
        pair.replica.database()


def test_without_a_copy_the_database_is_asked(database: Database) -> None:
    assert Replica(database, None).database() is database
