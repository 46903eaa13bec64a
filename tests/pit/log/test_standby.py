"""With a synchronous standby checkpoints wait for it and say so; rows do not wait. Two real PostgreSQLs."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from pit.log.keeper import KeeperThread
from pit.log.state import log_state
from pit.store.database import Database, migrate
from tests.pit.log.conftest import LogHouse, made_house
from tests.pit.postgres import Postgres
from tests.tools import POSTGRESQL, needs
from tests.waiting import until

pytestmark = needs(POSTGRESQL)


@pytest.fixture
def servers() -> Iterator[tuple[Postgres, Postgres]]:
    """A server that waits for its standby at each commit that asks for it."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-sync-"))
    folder.chmod(0o711)
    first = Postgres(folder / "first", durable=False)
    first.start()
    standby = Postgres(folder / "second", durable=False, of=first, follows=True)
    standby.start()
    with psycopg.connect(first.url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield first, standby
    finally:
        standby.stop()
        first.stop()
        shutil.rmtree(folder)


def in_the_log(house: LogHouse) -> int:
    return int(house.one("SELECT count(*) FROM checkpoint"))


def test_checkpoints_wait_for_the_standby_and_say_so_and_rows_do_not(
    servers: tuple[Postgres, Postgres], tmp_path: Path
) -> None:
    first, standby = servers
    url = first.make("pit")
    migrate(url)
    with Database(url, connections=4) as database:
        house = made_house(database, tmp_path)
        table = house.add()
        house.round()
        assert in_the_log(house) == 1
        standby.kill()
        before = table.have
        table.deal(3)
        table.send()
        assert table.have == before + 3, "rows are taken"
        keeper = KeeperThread(house.keeper, waits_s=0.2)
        keeper.start()

        def waits() -> bool:
            with database.transaction() as connection:
                return log_state(connection).waits_ms is not None

        until(waits)
        assert in_the_log(house) == 1, "nothing new is handed on"
        with database.transaction() as connection:
            assert log_state(connection).unproven_s > 0
        table.deal()
        table.send()
        assert table.have == before + 4
        person = (
            "INSERT INTO person (name, role, passphrase_id, verifier) VALUES ('Ines', 'owner', 'x', '{}')"
        )
        assert house.one(f"{person} RETURNING name") == "Ines", "people go on, too"
        standby.start()
        until(lambda: in_the_log(house) >= 2 and not waits())
        keeper.stop()
        assert not keeper.is_alive()
        assert house.keeper.newest is not None
        assert house.keeper.newest.checkpoint.size >= 4
        with psycopg.connect(url.replace(str(first.folder), str(standby.folder))) as connection:
            (there,) = connection.execute("SELECT max(size) FROM checkpoint").fetchone() or (0,)
        assert there == house.one("SELECT max(size) FROM checkpoint"), "the standby has what was handed on"
