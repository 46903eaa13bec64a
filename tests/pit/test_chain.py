"""Two houses and their head office: three real PostgreSQLs, one killed with SIGKILL. No name leaves a house."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner

from pit.cli.main import command
from pit.copies.chain import COLUMNS, PUBLICATION, houses
from pit.store.database import Database, migrate
from pit.store.temporary_postgres import OWNER, binaries
from tests.generated_record import generate_record
from tests.pit.postgres import Postgres
from tests.pit.sent import FollowedTable
from tests.tools import POSTGRESQL, needs
from tests.waiting import until

pytestmark = needs(POSTGRESQL)
HANDS = 6
READER = "head-office"


def run(*arguments: str) -> str:
    done = CliRunner().invoke(command, ["chain", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def ask(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()


@dataclass
class Branch:
    """A house: its server, its database, one table."""

    server: Postgres
    url: str
    name: str
    database: Database
    table: FollowedTable

    def play(self) -> None:
        generate_record(self.table.data, HANDS, pool=4, seed=len(self.name))
        self.table.send()

    def hands(self) -> list[tuple[Any, ...]]:
        return ask(self.url, f"SELECT {', '.join(COLUMNS['hand'])} FROM hand ORDER BY record_id, hand")

    def records(self) -> list[tuple[Any, ...]]:
        return ask(self.url, "SELECT genesis, branch FROM record")

    @property
    def for_reader(self) -> str:
        return self.url.replace(f"://{OWNER}@", f"://{READER}@")


@dataclass
class Chain:
    branches: list[Branch]
    office: Postgres
    url: str

    def has(self, branch: Branch) -> list[tuple[Any, ...]]:
        (number,) = ask(branch.url, "SELECT house FROM house")[0]
        return ask(
            self.url,
            f"SELECT {', '.join(COLUMNS['hand'])} FROM hand WHERE house = '{number}' ORDER BY record_id, hand",
        )

    def records(self) -> list[tuple[Any, ...]]:
        return ask(self.url, "SELECT genesis, branch FROM record ORDER BY genesis, branch")

    def arrived(self) -> None:
        """Wait for the hands and the records: a table that is first copied comes apart from the others."""
        until(lambda: all(self.has(branch) == branch.hands() for branch in self.branches))
        until(lambda: self.records() == sorted(row for branch in self.branches for row in branch.records()))


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    """One for all tests here: each brings it back to whole."""
    tmp_path = tmp_path_factory.mktemp("records")
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-chain-"))
    folder.chmod(0o711)
    servers = [small(folder / name) for name in ("north", "south", "office")]
    branches: list[Branch] = []
    try:
        for name, server in zip(("North", "South"), servers[:2], strict=True):
            server.start()
            url = server.make("pit")
            migrate(url)
            ask_nothing(url, f'CREATE ROLE "{READER}" LOGIN REPLICATION')
            (tmp_path / name).mkdir()
            database = Database(url, connections=2)
            database.__enter__()
            generate_record(tmp_path / name, HANDS, pool=4, seed=len(branches))
            branches.append(Branch(server, url, name, database, FollowedTable(database, tmp_path / name)))
            branches[-1].table.send()
            run("publish", name, "--to", READER, "--url", url)
        servers[2].start()
        url = servers[2].make("office")
        run("head-office", "--url", url)
        for branch in branches:
            run("subscribe", branch.for_reader, "--url", url)
        yield Chain(branches, servers[2], url)
    finally:
        for branch in branches:
            branch.database.__exit__()
        for server in servers:
            server.stop()
        shutil.rmtree(folder)


def small(folder: Path) -> Postgres:
    """A server that keeps 16 MB of its log for who stays away."""
    wal = "32MB"
    return Postgres(
        folder,
        durable=False,
        wal_level="logical",
        max_slot_wal_keep_size="16MB",
        min_wal_size=wal,
        max_wal_size=wal,
    )


def ask_nothing(url: str, statement: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(statement)


def test_a_head_office_has_the_hands_of_all_houses_though_it_is_killed_and_none_of_their_names(
    chain: Chain,
) -> None:
    chain.arrived()
    north, south = chain.branches
    chain.office.kill()
    north.play()
    south.play()
    assert north.table.reader.head() != south.table.reader.head()
    chain.office.start()
    chain.arrived()
    assert len(chain.has(north)) > HANDS
    followed = [("North", True), ("South", True)]
    until(lambda: [(one.name, one.is_followed) for one in houses(chain.url)] == followed)
    assert f"North: {len(north.hands())} hands" in run("houses", "--url", chain.url)
    people = names_in(north) | names_in(south)
    assert len(people) > 4
    dump = dumped(chain.url)
    assert dump.count("\n") > len(north.hands()) + len(south.hands())
    assert "North" in dump
    assert [name for name in people if name in dump] == []
    assert not [name for name in people if name not in dumped(north.url) + dumped(south.url)], (
        "they are there"
    )


def dumped(url: str) -> str:
    """Everything that a database holds, as pg_dump writes it."""
    found = binaries()
    assert found is not None
    dump = [str(found / "pg_dump"), "--dbname", url]
    return subprocess.run(dump, check=True, capture_output=True, text=True).stdout


def names_in(branch: Branch) -> set[str]:
    """Everybody whom a house's rows name, and what it calls its tables and its profiles."""
    people = ask(
        branch.url,
        "SELECT player FROM hand_seat UNION SELECT dealer FROM hand UNION SELECT name FROM gaming_table"
        " UNION SELECT profile FROM hand",
    )
    return {name for (name,) in people if name}


def test_no_column_of_the_publication_holds_a_name_a_card_or_the_text_of_a_row(chain: Chain) -> None:
    (north, _) = chain.branches
    published = ask(
        north.url, f"SELECT tablename, attnames FROM pg_publication_tables WHERE pubname = '{PUBLICATION}'"
    )
    assert {table: set(columns) for table, columns in published} == {
        table: set(columns) for table, columns in COLUMNS.items()
    }
    people = names_in(north)
    for table, columns in COLUMNS.items():
        for row in ask(north.for_reader, f"SELECT {', '.join(columns)} FROM {table}"):
            assert not people & set(map(str, row))
    for secret in ("SELECT dealer FROM hand", "SELECT * FROM entry", "SELECT player FROM hand_seat"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            ask(north.for_reader, secret)


def test_a_head_office_that_stays_away_costs_a_house_a_bounded_log_and_begins_again(chain: Chain) -> None:
    chain.arrived()
    (north, south) = chain.branches
    chain.office.kill()
    ask_nothing(north.url, "CREATE TABLE noise AS SELECT md5(n::text) FROM generate_series(1, 400000) n")
    for _ in range(3):
        ask_nothing(north.url, "SELECT pg_switch_wal()")
        ask_nothing(north.url, "CHECKPOINT")
    ((status,),) = ask(north.url, "SELECT wal_status FROM pg_replication_slots")
    assert status == "lost"
    ((kept,),) = ask(north.url, "SELECT sum(size) FROM pg_ls_waldir()")
    assert kept < 100 << 20, "its disk is not filled"
    north.play()
    south.play()
    chain.office.start()
    until(lambda: chain.has(south) == south.hands())
    refused = CliRunner().invoke(command, ["chain", "subscribe", north.for_reader, "--url", chain.url])
    assert "North is followed already" in refused.output
    run("subscribe", north.for_reader, "--again", "--url", chain.url)
    chain.arrived()
    run("withdraw", "--to", READER, "--url", south.url)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(south.for_reader, "SELECT hand FROM hand")
    run("publish", "South", "--to", READER, "--url", south.url)
    run("subscribe", south.for_reader, "--again", "--url", chain.url)
    south.play()
    chain.arrived()


def test_a_house_that_cannot_publish_says_what_is_missing(postgres: Postgres, owned: str) -> None:
    ask_nothing(
        owned, f'DO $$ BEGIN CREATE ROLE "{READER}"; EXCEPTION WHEN duplicate_object THEN NULL; END $$'
    )
    done = CliRunner().invoke(command, ["chain", "publish", "North", "--to", READER, "--url", owned])
    assert done.exit_code == 1
    assert "wal_level is replica" in done.output
    done = CliRunner().invoke(command, ["chain", "publish", "North", "--to", "nobody there", "--url", owned])
    assert 'role "nobody there" does not exist' in done.output


def test_a_table_that_was_restored_counts_its_hands_once(chain: Chain) -> None:
    chain.arrived()
    branch = chain.branches[0]
    before = {one.name: one.hands for one in houses(chain.url)}
    with psycopg.connect(branch.url, autocommit=True) as connection:
        (number,) = connection.execute(  # as `open_branch` makes it, with the hands that the list then has
            "INSERT INTO record (table_id, genesis, branch, stem) SELECT table_id, genesis, branch + 1, 20 FROM record"
            " ORDER BY branch DESC LIMIT 1 RETURNING record_id"
        ).fetchone() or (0,)
        names = ", ".join(name for name in COLUMNS["hand"] if name not in ("house", "record_id"))
        more = "first, last, profile, dealer, images, image_bytes, image_names"
        connection.execute(
            f"INSERT INTO hand (record_id, {names}, {more}) SELECT %s, {names}, {more} FROM hand WHERE hand <= 4"
            " AND record_id < %s",
            (number, number),
        )
    chain.arrived()
    after = {one.name: one.hands for one in houses(chain.url)}
    assert after == {**before, branch.name: 4}
    with psycopg.connect(branch.url, autocommit=True) as connection:
        connection.execute("DELETE FROM hand WHERE record_id = %s", (number,))
        connection.execute("UPDATE record SET genesis = 'other' WHERE record_id = %s", (number,))
    until(lambda: {one.name: one.hands for one in houses(chain.url)} == before)


def test_a_head_office_of_an_earlier_release_gets_the_new_columns(chain: Chain) -> None:
    url = chain.office.make("older")
    ask_nothing(
        url,
        "CREATE TABLE record (house uuid, record_id bigint, table_id bigint, opened_at timestamptz,"
        " PRIMARY KEY (house, record_id)) PARTITION BY LIST (house)",
    )
    run("head-office", "--url", url)
    assert ask(url, "SELECT genesis, branch, stem FROM record") == []
