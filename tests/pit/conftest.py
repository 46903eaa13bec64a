"""A fresh database and a door for each test that stores something."""

from __future__ import annotations

import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from firmware.uplink.client import Client
from firmware.uplink.follow import Follower
from firmware.uplink.settings import load
from pit.authority import Authority
from pit.door.enrolment import remember
from pit.door.front import command as front_command
from pit.door.routes import make_door
from pit.door.serve import listen_on, server
from pit.door.tls_front import TlsFront, by_tls
from pit.files.offers import HouseRepository
from pit.status.tables import Table, enrol
from pit.store.database import Database
from pit.store.files import Files
from pit.store.temporary_postgres import OWNER
from tests.generated_record import generate_record
from tests.pit.postgres import DOOR, NUMBERS, Postgres
from tests.tools import NGINX, need
from tests.waiting import until


@pytest.fixture
def owned(postgres: Postgres) -> Iterator[str]:
    """The address of a fresh database, as its owner."""
    with postgres.lent(f"pit_{next(NUMBERS)}", "template_pit") as url:
        yield url


@pytest.fixture
def database(owned: str) -> Iterator[Database]:
    """A fresh database, as the door's role: it may no more in the tests than in a house."""
    with Database(as_role(owned, DOOR), connections=4) as opened:
        yield opened


def as_role(url: str, role: str) -> str:
    """Return the same address for another role."""
    return url.replace(f"{OWNER}@", f"{role}@", 1)


@pytest.fixture(scope="session")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of twelve hands; copy it before you change it."""
    folder = tmp_path_factory.mktemp("record")
    generate_record(folder, 12, pool=6)
    return folder


@dataclass
class Pit:
    """A pit that serves over TLS, and the means to enrol tables."""

    database: Database
    authority: Authority
    address: tuple[str, int]
    folder: Path
    house: HouseRepository
    clients: list[Client] = field(default_factory=list)

    def enrol(self, name: str) -> tuple[Table, Path]:
        """Enrol a table; return it and the folder of its enrolment."""
        folder = self.folder / name
        serial = self.authority.enrol(name, folder, [f"127.0.0.1:{self.address[1]}"])
        return enrol(self.database, name, serial), folder

    def follower(self, enrolment: Path, data: Path, clock: Callable[[], float] = time.monotonic) -> Follower:
        """Return the uplink of a table with this enrolment, whose record lies in `data`."""
        settings = load(enrolment)
        assert settings is not None
        client = Client(settings)
        self.clients.append(client)
        return Follower(data, client, release="0.2.0", clock=clock, rng=random.Random(1))


DOORS: Final = ("nginx", "without nginx")
"""The pit's door as in a house, behind nginx, and as in the demo."""
HOUSE_FIRST: Final = ("nginx", pytest.param("without nginx", marks=pytest.mark.exhaustive))
"""For what is stored behind the door: the standing pit, and the demo's tests, go through both."""


@pytest.fixture(params=HOUSE_FIRST if NGINX.is_there() else DOORS)
def pit(request: pytest.FixtureRequest, database: Database) -> Iterator[Pit]:
    with opened_pit(request.param, database) as opened:
        yield opened


@pytest.fixture(scope="module", params=DOORS)
def standing_pit(request: pytest.FixtureRequest, postgres: Postgres) -> Iterator[Pit]:
    """One pit for the tests that store nothing in it. Each enrols a table of its own: `enrolment`."""
    name = postgres.make(f"pit_{next(NUMBERS)}", "template_pit")
    with Database(name, connections=4) as database, opened_pit(request.param, database) as opened:
        yield opened


@pytest.fixture
def enrolment(standing_pit: Pit) -> Path:
    """A table's enrolment at the pit that stands."""
    return standing_pit.enrol(f"Table {next(NUMBERS)}")[1]


@contextmanager
def opened_pit(door: str, database: Database) -> Iterator[Pit]:
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pit-"))  # a Unix socket's path is short
    authority = Authority(folder / "authority")
    authority.door()
    remember(database, authority)
    house = HouseRepository(folder, authority)
    with database.transaction() as connection:
        house.renew(connection)
    try:
        opened = behind_nginx if door == "nginx" else without_nginx
        with opened(database, authority, house, folder) as address:
            made = Pit(database, authority, address, folder, house)
            yield made
            for client in made.clients:
                client.close()
    finally:
        shutil.rmtree(folder)


@contextmanager
def without_nginx(
    database: Database, authority: Authority, house: HouseRepository, folder: Path
) -> Iterator[tuple[str, int]]:
    app = make_door(database, Files(folder / "images"), by_tls, authority=authority, house=house)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        front = TlsFront(app, listening, authority.folder)
        thread = threading.Thread(target=front.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield listening.getsockname()
        finally:
            front.shutdown()
            thread.join()
            front.server_close()


@contextmanager
def behind_nginx(
    database: Database, authority: Authority, house: HouseRepository, folder: Path
) -> Iterator[tuple[str, int]]:
    need(NGINX)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()
    listening = listen_on(folder / "door.sock")
    app = make_door(database, Files(folder / "images"), authority=authority, house=house)
    door: Any = server(app, listening)
    thread = threading.Thread(target=door.run, daemon=True)
    thread.start()
    command = front_command(
        f"127.0.0.1:{address[1]}", [folder / "door.sock"], authority.folder, house.folder, folder / "nginx"
    )
    as_root = ["-g", "user root;"] if os.geteuid() == 0 else []
    with (
        (folder / "nginx.log").open("wb") as log,
        subprocess.Popen([*command, *as_root], stderr=log) as nginx,
    ):
        try:
            until(lambda: answers(address))
            yield address
        finally:
            nginx.terminate()
            nginx.wait()
            door.trigger.pull_trigger(door.close)  # in the server's own thread: nothing closes under its feet
            thread.join()
            listening.close()


def answers(address: tuple[str, int]) -> bool:
    """Return whether somebody listens there."""
    try:
        socket.create_connection(address, 5).close()
    except OSError:
        return False
    return True


@pytest.fixture
def data(record: Path, tmp_path: Path) -> Path:
    """A data folder with its own copy of the record."""
    return shutil.copytree(record, tmp_path / "data")
