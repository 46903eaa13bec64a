"""A house to measure: PostgreSQL, the pit's service and nginx as processes of their own, and enrolled tables."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from firmware.bench.processes import Program, feltwatch, free_port, memory_mb, processor_s
from firmware.runtime.errors import AppError
from firmware.uplink.settings import Settings, load
from pit.authority import Authority
from pit.door import front
from pit.status.tables import enrol
from pit.store.database import Database, migrate
from pit.store.temporary_postgres import TemporaryPostgres


class House:
    """The centre of a house with many tables. A context manager that stops everything and removes its folder."""

    def __init__(self, workers: int = 1) -> None:
        """`workers`: processes of the pit."""
        self._workers = workers
        self.roots: dict[str, int] = {}
        """The first process of each part of the centre."""

    def __enter__(self) -> Self:
        """Start everything. Raises AppError, DatabaseError."""
        if not front.is_installed():
            raise AppError("nginx is not installed: sudo apt-get install nginx-light libnginx-mod-stream")
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
        server = stack.enter_context(TemporaryPostgres(self.folder / "pg"))
        self.url, self.roots["postgres"] = server.url, server.pid
        migrate(self.url)
        pit, door = self.folder / "pit", self.folder / "door.sock"
        self._authority = Authority(pit / "authority")
        self._authority.door()
        self.address = f"127.0.0.1:{free_port()}"
        log = stack.enter_context((self.folder / "log").open("ab"))
        options = ("--url", self.url, "--socket", door, "--workers", self._workers, "--folder", pit)
        service = stack.enter_context(Program(feltwatch("pit", "serve", *options), log))
        service.until(door.exists)
        command = front.command(
            self.address, [door], self._authority.folder, pit / "repository", self.folder / "nginx"
        )
        as_root = ["-g", "user root;"] if os.geteuid() == 0 else []
        nginx = stack.enter_context(Program([*command, *as_root], log))
        nginx.until(self._answers)
        self.roots |= {"pit": service.pid, "nginx": nginx.pid}

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
        return {name: memory_mb(root) for name, root in self.roots.items()}
