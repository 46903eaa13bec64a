"""A PostgreSQL for the session, a fresh database and a door for each test that asks."""

from __future__ import annotations

import itertools
import random
import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from firmware.bench.generated_record import generate_record
from firmware.pit.authority import Authority
from firmware.pit.database import Database, migrate
from firmware.pit.door import make_door
from firmware.pit.files import Files
from firmware.pit.tables import Table, enrol
from firmware.pit.tls_front import TlsFront, by_tls
from firmware.uplink.client import Client
from firmware.uplink.follow import Follower
from firmware.uplink.settings import load
from tests.firmware.pit.postgres import Postgres, binaries

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    if binaries() is None:
        pytest.skip("PostgreSQL is not installed: sudo apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pg-", dir="/tmp"))
    folder.chmod(0o711)
    server = Postgres(folder)
    server.start()
    migrate(server.make("template_pit"))
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)


@pytest.fixture
def database(postgres: Postgres) -> Iterator[Database]:
    with Database(postgres.make(f"pit_{next(_NUMBERS)}", "template_pit"), connections=4) as opened:
        yield opened


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

    def enrol(self, name: str) -> tuple[Table, Path]:
        """Enrol a table; return it and the folder of its enrolment."""
        folder = self.folder / name
        serial = self.authority.enrol(name, folder, [f"127.0.0.1:{self.address[1]}"])
        return enrol(self.database, name, serial), folder

    def follower(self, enrolment: Path, data: Path, clock: Callable[[], float] = time.monotonic) -> Follower:
        """Return the uplink of a table with this enrolment, whose record lies in `data`."""
        settings = load(enrolment)
        assert settings is not None
        return Follower(data, Client(settings), release="0.2.0", clock=clock, rng=random.Random(1))


@pytest.fixture
def pit(database: Database, tmp_path: Path) -> Iterator[Pit]:
    folder = tmp_path / "pit"
    authority = Authority(folder / "authority")
    authority.door()
    app = make_door(database, Files(folder / "images"), by_tls)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = TlsFront(app, listening, authority.folder)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield Pit(database, authority, listening.getsockname(), folder)
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def data(record: Path, tmp_path: Path) -> Path:
    """A data folder with its own copy of the record."""
    return shutil.copytree(record, tmp_path / "data")
