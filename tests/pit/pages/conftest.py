"""A pit with two tables whose hands were played, and somebody of every role."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psycopg
import pytest
from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.web.log_in import access
from firmware.table import events as ev
from firmware.table.people import Role
from pit.pages.app import create_app
from pit.pages.people import PitPeople, PitRole
from pit.store.database import Database
from pit.store.rights import FLOOR_RIGHTS, allow
from tests.dealer_ui.felt import Felt
from tests.dealer_ui.past import played
from tests.pit.conftest import as_role, database
from tests.pit.postgres import DOOR, NUMBERS, Postgres
from tests.pit.sent import FollowedTable

__all__ = ["database"]
FLOOR = "floor"
HEALTH = {"table_s": 0.4, "row": 1, "checks": [], "well": {"heat": "52 °C", "disk": "20480 MB"}}
"""What the uplink of a table that works says of it."""


@dataclass
class House:
    """The pit's application and its tables."""

    app: Flask
    database: Database
    felts: list[Felt] = field(default_factory=list)
    tables: list[FollowedTable] = field(default_factory=list)

    def visitor(self) -> FlaskClient:
        """Somebody who has not logged in."""
        client = self.app.test_client()
        client.environ_base |= {"REMOTE_ADDR": "192.0.2.10", "HTTP_ACCEPT": "text/html"}
        return client

    def logged_in(self, role: PitRole) -> FlaskClient:
        """Somebody of a role: without the time that a passphrase takes."""
        client = self.visitor()
        with self.database.transaction() as connection:
            row = connection.execute(
                "INSERT INTO person (name, role, passphrase_id, verifier) VALUES (%s, %s, 'x', '{}')"
                " ON CONFLICT (name) DO UPDATE SET role = excluded.role RETURNING name",
                (role.value.capitalize(), role.value),
            ).fetchone()
        assert row is not None
        sessions = access(self.app).sessions
        client.set_cookie(sessions.cookie, sessions.open(row[0], "x"))
        return client

    def token(self) -> str:
        """What its pages send with every command."""
        return str(self.app.config["CSRF_TOKEN"])

    def acts(self) -> list[tuple[str, str, int | None, int | None]]:
        """What people did: who, what, at which hand of which record."""
        with self.database.transaction() as connection:
            return connection.execute(
                "SELECT person, what, record_id, hand FROM act ORDER BY act_id"
            ).fetchall()


@cache
def _furnished(server: Postgres) -> tuple[tuple[Felt, FollowedTable], ...]:
    """Furnish the database `template_floor` and two tables, once for a worker: each test has a copy of all that."""
    owned = server.make("template_floor", "template_pit")
    with psycopg.connect(owned, autocommit=True) as connection, suppress(psycopg.errors.DuplicateObject):
        connection.execute(f"CREATE ROLE {FLOOR} LOGIN")
    allow(owned, FLOOR, FLOOR_RIGHTS)
    made = []
    with Database(as_role(owned, DOOR), connections=4) as door:
        for number in (1, 2):
            felt = Felt(server.folder / f"felt-{number}", actor="floor:Moreno")
            felt.say(ev.PersonListed("Lin", Role.DEALER), ev.LoggedOn("Lin", 3))
            played(felt)
            felt.journal.close()
            table = FollowedTable(door, felt.folder, f"Table {number}", dict(HEALTH))
            table.send()
            made.append((felt, table))
    return tuple(made)


@contextmanager
def lent_floor(server: Postgres) -> Iterator[str]:
    """Lend a fresh copy of the furnished database; yields its address, as its owner."""
    _furnished(server)
    with server.lent(f"pit_{next(NUMBERS)}", "template_floor") as url:
        yield url


@contextmanager
def opened_house(server: Postgres, owned: str, door: Database, folder: Path) -> Iterator[House]:
    """Tables send to the door's role, the application has the floor's, and the test looks as the owner."""
    with (
        Database(as_role(owned, FLOOR), connections=6) as of_floor,
        Database(owned, connections=2) as of_owner,
        ExitStack() as opened,
    ):
        made = House(create_app(of_floor, folder / "pit", "Pit 2", secure=False), of_owner)
        for felt, table in _furnished(server):
            made.felts.append(felt.copied(folder / felt.folder.name))
            opened.callback(made.felts[-1].journal.close)
            made.tables.append(table.copied(door, made.felts[-1].folder))
            made.tables[-1].send()  # it is heard of now
        yield made


@pytest.fixture
def owned(request: pytest.FixtureRequest, postgres: Postgres) -> Iterator[str]:
    """The address of a fresh database, as its owner; with the tables' rows if the test has the house."""
    name, has_house = f"pit_{next(NUMBERS)}", "house" in request.fixturenames
    with lent_floor(postgres) if has_house else postgres.lent(name, "template_pit") as url:
        yield url


@pytest.fixture
def house(postgres: Postgres, owned: str, database: Database, tmp_path: Path) -> Iterator[House]:
    with opened_house(postgres, owned, database, tmp_path) as opened:
        yield opened


@pytest.fixture
def people(house: House) -> PitPeople:
    return PitPeople(house.database)
