"""Faults of PostgreSQL."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final, LiteralString

import psycopg

from tests.campaigns.pit.fault_kind import Kind, every
from tests.campaigns.pit.fault_stage import Stage, stage
from tests.pit.house import House
from tests.pit.postgres import Postgres

_SIZE: Final = "160m"
_OTHERS: Final = "FROM pg_stat_activity WHERE datname = 'pit' AND pid <> pg_backend_pid()"


def _connected(made: Stage) -> psycopg.Connection[Any]:
    return psycopg.connect(made.house.url, autocommit=True)


@contextmanager
def _set_back(made: Stage, rng: random.Random) -> Iterator[None]:
    """A backup from just before is restored when the fault ends: what the pit has answered since is not in it."""
    postgres = made.house.postgres
    postgres.save()
    yield
    postgres.set_back()


class _Pair:
    """Two servers that take turns: one is written to, the other follows it."""

    def __init__(self, made: House, stack: ExitStack) -> None:
        self.now, self._folders = made.postgres, [made.postgres.folder, made.folder / "standby"]
        both = ",".join(map(str, self._folders))
        made.serve_on(f"postgresql://postgres@/pit?host={both}&target_session_attrs=read-write")
        stack.callback(self._stop)

    def _stop(self) -> None:
        with suppress(ProcessLookupError):
            self.now.stop()

    def follower(self) -> Postgres:
        """Make the other one again, as one that follows."""
        (folder,) = [one for one in self._folders if one != self.now.folder]
        shutil.rmtree(folder, ignore_errors=True)
        second = Postgres(folder, durable=False, of=self.now, follows=True)
        second.start()
        return second


@contextmanager
def _paired() -> Iterator[Stage]:
    pairs: list[_Pair] = []
    with stage(prepare=lambda made, stack: pairs.append(_Pair(made, stack))) as made:
        made.pair = pairs[0]
        yield made


@contextmanager
def _failed_over(made: Stage, rng: random.Random) -> Iterator[None]:
    """The standby's line hangs, and it is promoted without what came since; the first server is lost."""
    pair = made.pair
    assert isinstance(pair, _Pair)
    second = pair.follower()
    with second.hung_line():
        yield
        pair.now.kill()
    pair.now = made.house.postgres = second


@contextmanager
def _restarted(made: Stage, rng: random.Random) -> Iterator[None]:
    postgres = made.house.postgres

    def again() -> None:
        postgres.kill()
        time.sleep(rng.uniform(0.0, 0.8))
        postgres.start()

    with every(rng, 0.1, 1.5, again):
        yield


@contextmanager
def _crowded(made: Stage, rng: random.Random) -> Iterator[None]:
    """All connections that the server has are taken by somebody else."""
    with ExitStack() as stack:
        admin = stack.enter_context(_connected(made))

        def take_all() -> None:
            admin.execute(f"SELECT pg_terminate_backend(pid) {_OTHERS} AND application_name <> 'crowd'")
            with suppress(psycopg.OperationalError):
                while True:
                    stack.enter_context(
                        psycopg.connect(made.house.url, autocommit=True, application_name="crowd")
                    )

        take_all()
        with every(rng, 0.2, 0.5, take_all):
            yield


def _tmpfs(stack: ExitStack, made: House, size: str) -> Path:
    """Mount a small disk in memory that PostgreSQL's user owns."""
    folder = Path(tempfile.mkdtemp(prefix="small-", dir=made.folder))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "none", str(folder)], check=True)
    stack.callback(subprocess.run, ["umount", "-l", str(folder)], check=False)
    inner = folder / "pg"
    inner.mkdir(mode=0o700)
    shutil.chown(inner, "postgres", "postgres")
    return inner


def _lacks_mount() -> str:
    """Return why no small disk can be mounted here."""
    if os.geteuid() != 0:
        return "a small disk can be mounted by root only."
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "none", folder],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            return done.stderr.strip()
        subprocess.run(["umount", folder], check=True)
    return ""


@contextmanager
def _small_data() -> Iterator[Stage]:
    def prepare(made: House, stack: ExitStack) -> None:
        folder = _tmpfs(stack, made, _SIZE)
        with psycopg.connect(made.postgres.url, autocommit=True) as connection:
            connection.execute(f"CREATE TABLESPACE small LOCATION '{folder}'".encode())
            connection.execute("ALTER DATABASE pit SET TABLESPACE small")
        made.small = folder.parent  # type: ignore[attr-defined]
        stack.callback(made.postgres.stop)  # before the disk goes

    with stage(prepare=prepare) as made:
        yield made


@contextmanager
def _small_log() -> Iterator[Stage]:
    def prepare(made: House, stack: ExitStack) -> None:
        folder = _tmpfs(stack, made, _SIZE)
        made.postgres.stop()
        data = made.postgres.folder / "data"
        subprocess.run(["cp", "-a", f"{data}/pg_wal", f"{folder}/wal"], check=True)
        shutil.rmtree(data / "pg_wal")
        (data / "pg_wal").symlink_to(folder / "wal")
        with (data / "postgresql.conf").open("a", encoding="utf-8") as conf:
            conf.write("max_wal_size = '48MB'\nmin_wal_size = '32MB'\n")
        made.postgres.start()
        made.small = folder.parent  # type: ignore[attr-defined]
        stack.callback(made.postgres.stop)

    with stage(prepare=prepare) as made:
        yield made


def _fill(folder: Path) -> Path:
    """Fill a disk to the last byte; return the file that does."""
    ballast = folder / "ballast"
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    with ballast.open("ab", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(512))
    return ballast


@contextmanager
def _full_data(made: Stage, rng: random.Random) -> Iterator[None]:
    folder = made.house.small  # type: ignore[attr-defined]
    try:
        with every(rng, 0.2, 0.5, lambda: _fill(folder)):
            yield
    finally:
        (folder / "ballast").unlink(missing_ok=True)


@contextmanager
def _full_log(made: Stage, rng: random.Random) -> Iterator[None]:
    """The disk of the write-ahead log is full: the server stops, and is started again by its service manager."""
    folder, postgres = made.house.small, made.house.postgres  # type: ignore[attr-defined]

    def go_on() -> None:
        _fill(folder)
        with suppress(psycopg.Error), _connected(made) as connection:
            connection.execute("SELECT pg_switch_wal() FROM (SELECT txid_current()) AS one")

    try:
        with every(rng, 0.05, 0.2, go_on):
            yield
    finally:
        (folder / "ballast").unlink(missing_ok=True)
        assert postgres.process is not None
        with suppress(subprocess.TimeoutExpired):
            postgres.process.wait(1.0)
        if postgres.process.poll() is not None:
            postgres.start()


def _held(*ways: LiteralString) -> Callable[[Stage, random.Random], Any]:
    @contextmanager
    def fault(made: Stage, rng: random.Random) -> Iterator[None]:
        with psycopg.connect(made.house.url) as holder:
            holder.execute(rng.choice(ways))
            yield
            holder.rollback()

    return fault


@contextmanager
def _vacuumed(made: Stage, rng: random.Random) -> Iterator[None]:
    with _connected(made) as connection:

        def vacuum() -> None:
            connection.execute(
                rng.choice((b"VACUUM (FREEZE, ANALYZE)", b"VACUUM (FULL, FREEZE) head, table_now"))
            )

        with every(rng, 0.0, 0.2, vacuum):
            yield


@contextmanager
def _terminated(made: Stage, rng: random.Random) -> Iterator[None]:
    with _connected(made) as connection:

        def terminate() -> None:
            connection.execute(f"SELECT pg_terminate_backend(pid) {_OTHERS} ORDER BY random() LIMIT 1")

        with every(rng, 0.02, 0.3, terminate):
            yield


KINDS: Final = (
    Kind("set_back", "PostgreSQL is set back to a backup", _set_back),
    Kind("failed_over", "PostgreSQL fails over to a standby that lacks rows", _failed_over, _paired),
    Kind("restarted", "PostgreSQL is killed and started again and again", _restarted),
    Kind("crowded", "PostgreSQL has no connection left", _crowded),
    Kind("full_data", "the disk of the data is full", _full_data, _small_data, lacks=_lacks_mount()),
    Kind("full_log", "the disk of the write-ahead log is full", _full_log, _small_log, lacks=_lacks_mount()),
    Kind(
        "locked_tables",
        "another session holds a whole table",
        _held(*(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE" for name in ("entry", "head", "table_now"))),
    ),
    Kind(
        "held_rows",
        "a long transaction holds rows",
        _held(
            *(
                f"SELECT FROM {name} FOR UPDATE"
                for name in ("head", "table_now", "projection", "gaming_table")
            )
        ),
    ),
    Kind("vacuumed", "VACUUM FREEZE, and FULL, again and again", _vacuumed),
    Kind("terminated", "connections to PostgreSQL are ended at random", _terminated),
)
