"""The first server is lost whole; the second, which followed its database, takes its place. Tables know both."""

from __future__ import annotations

import shutil

import psycopg

from pit.authority import Authority
from pit.store.database import Database
from tests.campaigns.pit.compare import compare, has_all
from tests.campaigns.pit.setback import play
from tests.pit.house import House, Part, feltwatch, free_port, house, nginx_command
from tests.pit.postgres import Postgres
from tests.tools import NGINX, POSTGRESQL, needs
from tests.waiting import until

pytestmark = needs(NGINX, POSTGRESQL)
HANDS = 4


def second_server(first: House, standby: Postgres) -> House:
    """Another pit, with the first one's authority, and the standby as its database."""
    folder = first.folder / "second"
    shutil.copytree(first.folder / "pit", folder / "pit")
    url, door = f"postgresql://postgres@/pit?host={standby.folder}", folder / "door.sock"
    served = feltwatch("pit.cli.main", "serve", "--url", url, "--folder", folder / "pit", "--socket", door)
    authority = Authority(folder / "pit" / "authority")
    nginx = nginx_command(
        first.second_address,
        [door],
        authority.folder.parent,
        folder / "nginx",
    )
    return House(
        folder,
        standby,
        url,
        authority,
        Part(served, folder / "log"),
        Part(nginx, folder / "log"),
        first.second_address,
        data=first.data,
    )


def arrived(server: House) -> None:
    with Database(server.url, connections=1) as database:
        until(lambda: has_all(database, server.data))


def test_tables_go_on_at_the_second_server_and_nothing_is_lost() -> None:
    with house(durable=False) as first:
        first.second_address = f"127.0.0.1:{free_port()}"
        first.add_tables(2)
        standby = Postgres(first.folder / "standby", durable=False, of=first.postgres, follows=True)
        standby.start()
        second = second_server(first, standby)
        try:
            play(first, HANDS)
            first.start()
            for uplink in first.uplinks:
                uplink.start()
            arrived(first)
            with psycopg.connect(second.url) as connection:
                row = connection.execute("SELECT pg_is_in_recovery()").fetchone()
            assert row == (True,), "it follows, and nobody can write to it"
            first.stop()
            first.postgres.kill()
            play(first, HANDS)
            with psycopg.connect(second.url, autocommit=True) as connection:
                connection.execute("SELECT pg_promote()")
            second.start()
            arrived(second)
            with Database(second.url, connections=2) as database:
                found = compare(database, first.data)
            assert found.ok, found
        finally:
            second.stop()
            standby.stop()
