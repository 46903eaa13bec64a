"""A house to measure: PostgreSQL, the pit's service and nginx as processes of their own, and enrolled tables."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, Self

import psycopg

from firmware.bench.processes import family_memory_mb, parent, processor_s
from firmware.runtime.errors import AppError
from firmware.uplink.settings import Settings, load
from pit.authority import Authority
from pit.door import front
from pit.status.tables import enrol
from pit.store.database import Database, migrate
from pit.store.files import Files
from pit.store.temporary_postgres import TemporaryPostgres

STARTS_WITHIN_S: Final = 120.0
_WITHOUT_NGINX: Final = "import sys; from firmware.bench.pit_house import serve; serve(*sys.argv[1:])"


class House:
    """The centre of a house with many tables. A context manager that stops everything and removes its folder."""

    def __init__(self, url: str | None = None, workers: int = 1) -> None:
        """`url`: an empty database; by default a PostgreSQL of its own is started, which waits for the disk.

        `workers`: processes of the pit; more than one need nginx.
        """
        self._stack = ExitStack()
        self._url, self._workers = url, workers
        self.url = ""
        self.roots: dict[str, int] = {}
        """The first process of each part of the centre."""
        self.front: Final = "nginx" if front.NGINX.exists() else "without nginx"

    def __enter__(self) -> Self:
        """Start everything. Raises AppError, DatabaseError."""
        with ExitStack() as stack:
            self._start(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self, stack: ExitStack) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="feltwatch-pit-", dir="/tmp"))  # a socket's path is short
        stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        self.folder.chmod(0o711)
        if self._url is None:
            server = stack.enter_context(TemporaryPostgres(self.folder / "pg"))
            self.url, self.roots["postgres"] = server.url, server.pid
        else:
            self.url = self._url
            _need_empty(self.url)
            with suppress(OSError, ProcessLookupError):
                self.roots["postgres"] = _server_of(self.url)
        migrate(self.url)
        self._authority = Authority(self.folder / "pit" / "authority")
        self._authority.door()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = f"127.0.0.1:{free.getsockname()[1]}"
        if self.front == "nginx":
            door = self.folder / "door.sock"
            serve = ["-m", "firmware.cli", "pit", "serve", "--url", self.url, "--socket", str(door)]
            serve += ["--workers", str(self._workers)]
            self._run(stack, "pit", [sys.executable, *serve, "--folder", str(self.folder / "pit")])
            command = front.command(
                self.address,
                [door],
                self._authority.folder,
                self.folder / "pit" / "repository",
                self.folder / "nginx",
            )
            self._until(door.exists)
            self._run(stack, "nginx", [*command, *(["-g", "user root;"] if os.geteuid() == 0 else [])])
        else:
            arguments = [self.url, str(self.folder / "pit"), self.address]
            self._run(stack, "pit", [sys.executable, "-c", _WITHOUT_NGINX, *arguments])
        self._until(self._answers)

    def _run(self, stack: ExitStack, name: str, command: list[str]) -> None:
        with (self.folder / "log").open("ab") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.terminate)
        self.roots[name] = process.pid

    def _until(self, ready: Callable[[], bool]) -> None:
        ends = time.monotonic() + STARTS_WITHIN_S
        while not ready():
            if time.monotonic() > ends:
                log = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
                raise AppError(f"The pit did not start: {log[-500:].strip()}")
            time.sleep(0.05)

    def _answers(self) -> bool:
        host, _, port = self.address.rpartition(":")
        try:
            socket.create_connection((host, int(port)), 5).close()
        except OSError:
            return False
        return True

    def enrol(self, names: Iterable[str]) -> list[Settings]:
        """Enrol tables and return their enrolments."""
        made = []
        with Database(self.url, connections=1) as database:
            for name in names:
                folder = self.folder / "tables" / name
                enrol(database, name, self._authority.enrol(name, folder, [self.address]))
                settings = load(folder)
                assert settings is not None
                made.append(settings)
        return made

    def processor(self) -> dict[str, float]:
        """Return the processor time in seconds that each part of the centre has used."""
        return {name: processor_s(root) for name, root in self.roots.items()}

    def memory(self) -> dict[str, float]:
        """Return the memory (PSS) in megabytes of each part of the centre."""
        return {name: family_memory_mb(root) for name, root in self.roots.items()}


def _need_empty(url: str) -> None:
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT to_regclass('gaming_table')").fetchone()
    if found and found[0] is not None:
        raise AppError("This database holds a house's records. Measure with an empty one of its own.")


def _server_of(url: str) -> int:
    """Return the first process of a database's server, if it runs on this machine. Raises ProcessLookupError."""
    with psycopg.connect(url) as connection:
        pid = connection.info.backend_pid
        if "postgres" not in Path(f"/proc/{pid}/comm").read_text(encoding="ascii"):
            raise ProcessLookupError("the database is on another machine")
        return parent(pid)


def serve(url: str, folder: str, address: str) -> None:
    """Serve the door over TLS without nginx, with the projections beside it, until this process is ended."""
    from pit.door.routes import make_door
    from pit.door.serve import Projector
    from pit.door.tls_front import TlsFront, by_tls
    from pit.follow.news import News

    host, _, port = address.rpartition(":")
    with Database(url) as database, socket.create_server((host, int(port)), backlog=4096) as listening:
        news = News()
        Projector(database, news).start()
        app = make_door(database, Files(Path(folder) / "images"), by_tls, news=news)
        TlsFront(app, listening, Path(folder) / "authority").serve_forever()
