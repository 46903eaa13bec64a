"""A PostgreSQL of the tests' own, in a temporary folder, on a Unix socket. Real, never mocked."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.waiting import until

DEBIAN: Final = Path("/usr/lib/postgresql")
OWNER: Final = "postgres"
"""Who runs the server when the tests run as root: initdb refuses root."""


def binaries() -> Path | None:
    """Return the folder of the newest PostgreSQL's programs: Debian's, or those of the path; None without any."""
    found = sorted(DEBIAN.glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    program = shutil.which("postgres")
    return Path(program).parent if program else None


def _lives(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


class Postgres:
    """One server with its own data. `kill` is SIGKILL for all its processes; `start` recovers."""

    def __init__(
        self, folder: Path, *, durable: bool = True, of: Postgres | None = None, follows: bool = False
    ) -> None:
        """Make the data in `folder`, which the server's owner must be able to reach.

        Without `durable` nothing waits for the disk: for tests that cut no power. With `of` the data is a copy of that
        running server's, as `pg_basebackup` makes it; with `follows`, a standby that goes on receiving, asynchronously.
        """
        bin_folder = binaries()
        assert bin_folder is not None
        self._bin, self.folder = bin_folder, folder
        owner = pwd.getpwnam(OWNER) if os.geteuid() == 0 else None
        self._user = owner.pw_uid if owner else None
        self._group = owner.pw_gid if owner else None
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        if self._user is not None:
            shutil.chown(folder, OWNER)
        data = ("-D", str(folder / "data"), "-U", OWNER, "--no-sync")
        if of is None:
            self._run("initdb", *data, "-A", "trust", "-E", "UTF8", "--locale=C")
        else:
            self._run(
                "pg_basebackup", *data, "-h", str(of.folder), "-c", "fast", *(["-R"] if follows else [])
            )
        settings = (
            "listen_addresses = ''",
            f"unix_socket_directories = '{folder}'",
            "max_connections = 60",
            "shared_buffers = 16MB",
            f"fsync = {'on' if durable else 'off'}",
        )
        self._run("bash", "-c", f"printf '%s\\n' \"$@\" >> {folder}/data/postgresql.conf", "-", *settings)

    @property
    def url(self) -> str:
        """The address of its own database, for libpq."""
        return f"postgresql://{OWNER}@/{OWNER}?host={self.folder}"

    def _run(self, program: str, *arguments: str) -> str:
        path = self._bin / program
        done: subprocess.CompletedProcess[str] = subprocess.run(
            [str(path) if path.exists() else program, *arguments],
            check=True,
            capture_output=True,
            text=True,
            cwd=self.folder,
            user=self._user,
            group=self._group,
        )
        return done.stdout

    def start(self) -> None:
        """Start, and wait until it answers."""
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [str(self._bin / "postgres"), "-D", str(self.folder / "data")],
                stdout=log,
                stderr=log,
                cwd=self.folder,
                user=self._user,
                group=self._group,
                start_new_session=True,
            )
        until(self._answers)

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise AssertionError((self.folder / "log").read_text()[-2000:])
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """Stop at once; the next start would recover."""
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait()

    def kill(self) -> None:
        """Kill all its processes, as a power cut would."""
        assert self.process is not None
        first = self.process.pid
        children = [int(one) for one in Path(f"/proc/{first}/task/{first}/children").read_text().split()]
        self.process.kill()
        self.process.wait()
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        # Whoever still holds the shared memory would keep the next one from starting.
        until(lambda: not any(_lives(child) for child in children))

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
        self._run("createdb", "-h", str(self.folder), "-U", OWNER, "-T", template, name)
        return f"postgresql://{OWNER}@/{name}?host={self.folder}"
