"""Backups of a real PostgreSQL: copies that are verified and start, its log as it is written, gaps, bad disks.

The restore on a server is tried in a booted Debian: `make test-install-pit`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from pit.cli.main import command
from pit.copies import backup
from pit.errors import BackupError
from tests.pit.postgres import Postgres
from tests.tools import POSTGRESQL, needs
from tests.waiting import until

pytestmark = needs(POSTGRESQL)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-backup-"))
    folder.chmod(0o711)
    made = Postgres(folder / "pg", durable=False, max_wal_size="32MB")
    made.start()
    yield made
    made.stop()
    shutil.rmtree(folder)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    for name in ("base", "wal", "files"):
        (tmp_path / "disk" / name).mkdir(parents=True)
    return tmp_path / "disk"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """The pit's folder, with an authority and an image."""
    folder = tmp_path / "feltwatch-pit"
    (folder / "authority").mkdir(parents=True)
    (folder / "authority/authority.key").write_text("a key")
    (folder / "images/ab").mkdir(parents=True)
    (folder / "images/ab/abcd").write_bytes(b"an image")
    return folder


def do(server: Postgres, statement: str) -> None:
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(statement)


def made(server: Postgres, disk: Path, own: Path) -> backup.Backup:
    ends = int(time.time()) + 1
    until(lambda: time.time() >= ends)  # each has the second of its beginning as its name
    return backup.make(
        server.url, disk, disk.parent / "last.json", [own, own.with_name("none")], own / "images"
    )


def switched(server: Postgres, disk: Path) -> None:
    """Begin another piece of the log, and wait until the one before has been received."""
    with psycopg.connect(server.url, autocommit=True) as connection:
        row = connection.execute("SELECT pg_walfile_name(pg_switch_wal())").fetchone()
    assert row is not None
    until((disk / "wal" / row[0]).exists)


@contextmanager
def receiving(server: Postgres, disk: Path) -> Iterator[None]:
    process = subprocess.Popen(backup.receiver(server.url, disk), stderr=subprocess.DEVNULL)
    try:
        until(lambda: any((disk / "wal").glob("*.partial")))
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


def test_two_verified_copies_are_kept_with_the_log_since_the_older_one(
    server: Postgres, disk: Path, own: Path
) -> None:
    with receiving(server, disk):
        names = []
        for number in range(3):
            names.append(made(server, disk, own).name)
            do(server, f"CREATE TABLE t{number}_{os.getpid()} (one int)")
            switched(server, disk)
        assert sorted(path.name for path in (disk / "base").iterdir()) == names[1:]
        assert sorted(path.stem for path in (disk / "files").iterdir()) == names[1:]
        label = (disk / "base" / names[1] / "backup_label").read_text()
        log = sorted(path.name[:24] for path in (disk / "wal").iterdir() if len(path.name) >= 24)
        assert f"(file {log[0]})" in label
    last = backup.last(disk.parent / "last.json")
    assert last is not None
    assert (last.name, last.size > 1 << 20) == (names[2], True)
    with tarfile.open(disk / "files" / f"{names[2]}.tar") as packed:
        held = {f"/{name}" for name in packed.getnames()}
    assert str(own / "authority/authority.key") in held
    assert not any("images" in name for name in held)
    assert (disk / "images/ab/abcd").read_bytes() == b"an image"


def test_after_a_gap_in_the_log_another_is_begun_and_the_one_before_is_set_aside(
    server: Postgres, disk: Path
) -> None:
    with receiving(server, disk):
        do(server, "SELECT pg_switch_wal()")
    do(server, "ALTER SYSTEM SET max_slot_wal_keep_size = '16MB'")
    do(server, "SELECT pg_reload_conf()")
    do(server, f"CREATE TABLE noise_{os.getpid()} AS SELECT md5(n::text) FROM generate_series(1, 400000) n")
    for _ in range(3):
        do(server, "SELECT pg_switch_wal()")
        do(server, "CHECKPOINT")
    do(server, "ALTER SYSTEM RESET max_slot_wal_keep_size")
    do(server, "SELECT pg_reload_conf()")
    before = {path.name for path in (disk / "wal").iterdir()}
    with receiving(server, disk):
        assert {path.name for path in (disk / "wal.before-gap").iterdir()} == before
        assert not before & {path.name for path in (disk / "wal").iterdir()}


def test_a_disk_or_a_server_that_is_not_there_is_said_and_the_last_backup_stays_the_last(
    server: Postgres, disk: Path, own: Path, tmp_path: Path
) -> None:
    made(server, disk, own)
    state = disk.parent / "last.json"
    before = state.read_text()
    with pytest.raises(BackupError, match=r"No disk for backups is mounted at .*nothing"):
        backup.make(server.url, tmp_path / "nothing", state, [own], own / "images")
    with pytest.raises(BackupError, match="No disk for backups is mounted"):
        backup.receiver(server.url, tmp_path / "nothing")
    with pytest.raises(BackupError, match="PostgreSQL does not answer"):
        backup.make("postgresql:///x?host=/nowhere", disk, state, [own], own / "images")
    (disk / "base/20200101T000000Z.new").mkdir()
    shutil.rmtree(disk / "files")
    with pytest.raises(BackupError, match=r"No backup was made on .*No such file"):
        made(server, disk, own)
    assert state.read_text() == before
    (disk / "files").mkdir()
    made(server, disk, own)
    assert not list((disk / "base").glob("*.new")), "what was cut off is gone"


def test_the_command_says_when_the_last_one_was_made_and_fails_after_a_day(tmp_path: Path) -> None:
    state = tmp_path / "last.json"

    def last() -> tuple[int, str]:
        done = CliRunner().invoke(command, ["backup", "last", "--state", str(state)])
        return done.exit_code, done.output

    assert last() == (1, "Error: No backup was ever made.\n")
    state.write_text(f'{{"name": "x", "at": {time.time() - 7200}, "seconds": 3.0, "size": 5000000}}')
    assert last() == (0, "Backup x was made 2.0 h ago: 5 MB in 3 s.\n")
    state.write_text(f'{{"name": "x", "at": {time.time() - 90001}, "seconds": 3.0, "size": 5000000}}')
    code, said = last()
    assert (code, "more than a day ago" in said) == (1, True)


def test_the_log_since_a_postgresql_upgrade_is_kept_though_an_older_copy_lies_beside_it(disk: Path) -> None:
    """Its places begin low again; the copy of before names a high one."""
    for name, version, first in (
        ("20260101T000000Z", "15", "000000010000000500000007"),
        ("20260102T000000Z", "17", "000000010000000000000003"),
    ):
        copy = disk / "base" / name
        copy.mkdir()
        (copy / "PG_VERSION").write_text(f"{version}\n")
        (copy / "backup_label").write_text(f"START WAL LOCATION: 0/3000028 (file {first})\n")
    pieces = [f"00000001000000000000000{number}" for number in range(2, 6)]
    for piece in pieces:
        (disk / "wal" / piece).touch()
    backup._prune(disk)
    assert sorted(path.name for path in (disk / "wal").iterdir()) == pieces[1:]


def test_rows_on_another_disk_are_in_the_backup_and_go_with_it(disk: Path, own: Path, tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-backup-"))
    folder.chmod(0o711)
    server = Postgres(folder / "pg", durable=False)
    try:
        server.start()
        other = server.folder / "other disk=1"
        other.mkdir(mode=0o700)
        os.chown(other, server._user or -1, server._group or -1)
        do(server, f"CREATE TABLESPACE other LOCATION '{other}'")
        do(server, "CREATE TABLE old TABLESPACE other AS SELECT generate_series(1, 50000)")
        do(server, "CHECKPOINT")
        names = [made(server, disk, own).name for _ in range(2)]
        rows = sorted((disk / "files").glob("*.tablespaces"))
        assert [path.name.removesuffix(".tablespaces") for path in rows] == names
        (link,) = (disk / "base" / names[1] / "pg_tblspc").iterdir()
        assert link.readlink() == rows[1] / link.name
        assert sum(path.stat().st_size for path in link.rglob("*") if path.is_file()) > 1 << 20
        (disk / "files/20200101T000000Z.tablespaces/1").mkdir(parents=True)  # of one that was cut off
        names.append(made(server, disk, own).name)
        left = sorted((disk / "files").glob("*.tablespaces"))
        assert [path.name.removesuffix(".tablespaces") for path in left] == names[1:]
    finally:
        if server.process is not None:
            server.stop()
        shutil.rmtree(folder)
