"""A PostgreSQL of the tests' own, in a temporary folder, on a Unix socket. Real, never mocked."""

from __future__ import annotations

import atexit
import itertools
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

import psycopg

from pit.store.database import migrate
from pit.store.rights import allow
from pit.store.temporary_postgres import OWNER, TemporaryPostgres
from tests.waiting import until

DOOR: Final = "door"
"""The role of the pit's door in the tests."""
NUMBERS: Final = itertools.count(1)
"""For the names of what one server holds."""


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@cache
def _kept() -> Path:
    """Where this process keeps the data of its first server as they were made, which takes a second of processor."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pg-made-"))
    folder.chmod(0o777)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Postgres(TemporaryPostgres):
    """One server with its own data. `kill` is SIGKILL for all its processes; `start` recovers."""

    def __init__(
        self,
        folder: Path,
        *,
        durable: bool = True,
        of: Postgres | None = None,
        follows: bool = False,
        **more: str,
    ) -> None:
        """Make the data in `folder`, which the server's owner must be able to reach.

        Without `durable` nothing waits for the disk: for tests that cut no power. With `of` the data is a copy of that
        running server's, as `pg_basebackup` makes it; with `follows`, a standby that goes on receiving, asynchronously.
        """
        self._copies = (str(of.folder), *(["-R"] if follows else [])) if of else ()
        settings = {"max_connections": "60", "shared_buffers": "16MB", "fsync": "on" if durable else "off"}
        super().__init__(folder, **settings, **more)

    def _make_data(self) -> None:
        if self._copies:
            data = ("-D", "data", "-U", OWNER, "--no-sync")
            self._run("pg_basebackup", *data, "-c", "fast", "-h", *self._copies)
        elif (kept := _kept() / "data").exists():
            self._run("/bin/cp", "--archive", str(kept), "data")
        else:
            super()._make_data()
            self._run("/bin/cp", "--archive", "data", str(kept))

    def start(self) -> None:
        """Start, and wait until it answers."""
        self.__enter__()

    def stop(self) -> None:
        """Stop at once; the next start would recover."""
        self.__exit__()

    def kill(self) -> None:
        """Kill all its processes, as a power cut would."""
        first = self.pid
        children = [int(one) for one in Path(f"/proc/{first}/task/{first}/children").read_text().split()]
        os.kill(first, signal.SIGKILL)
        self.__exit__()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        # Anyone who still holds the shared memory would keep the next one from starting.
        until(lambda: not any(_lives(child) for child in children))

    def save(self) -> None:
        """Keep its data as they are now, as `pg_basebackup` does; `set_back` takes them."""
        shutil.rmtree(self.folder / "saved", ignore_errors=True)
        self._run(
            "pg_basebackup", "-D", "saved", "-U", OWNER, "--no-sync", "-c", "fast", "-h", str(self.folder)
        )

    def set_back(self) -> None:
        """Kill it, and start it with the data that were kept."""
        self.kill()
        shutil.rmtree(self.folder / "data")
        (self.folder / "saved").rename(self.folder / "data")
        self.start()

    @contextmanager
    def hung_line(self) -> Iterator[None]:
        """While this holds, a standby receives nothing, as over a line that hangs; it ends with the promotion."""
        receiver = self._receiver("pid")
        os.kill(receiver, signal.SIGSTOP)
        try:
            yield
            with psycopg.connect(self.url, autocommit=True) as connection:
                connection.execute("SELECT pg_promote(false)")
            until(lambda: self._receiver("status") == "stopping")
        finally:
            os.kill(receiver, signal.SIGCONT)
        until(lambda: self._query("SELECT NOT pg_is_in_recovery()"))

    def _receiver(self, what: str) -> Any:
        until(lambda: self._query(f"SELECT {what} FROM pg_stat_wal_receiver"))
        return self._query(f"SELECT {what} FROM pg_stat_wal_receiver")

    def _query(self, query: str) -> Any:
        with psycopg.connect(self.url) as connection:
            row = connection.execute(query).fetchone()
        return row[0] if row else None

    def make(self, name: str, template: str = "template1") -> str:
        """Make a database and return its address."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            # copying its files takes a third of the time that its rows take through the log
            copied = " STRATEGY FILE_COPY" if connection.info.server_version >= 150000 else ""
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"{copied}'.encode())
        return f"postgresql://{OWNER}@/{name}?host={self.folder}"

    @contextmanager
    def lent(self, name: str, template: str) -> Iterator[str]:
        """Make a database, and drop it afterwards."""
        yield self.make(name, template)
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)'.encode())


@contextmanager
def with_template() -> Iterator[Postgres]:
    """Start a server whose database `template_pit` has the pit's tables and the door's rights."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pg-"))
    folder.chmod(0o711)
    server = Postgres(folder, durable=False)
    server.start()
    template = server.make("template_pit")
    with psycopg.connect(template) as connection:
        connection.execute(f"CREATE ROLE {DOOR} LOGIN".encode())
    migrate(template)
    allow(template, DOOR)
    try:
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
