"""The pit on a Debian 13 that was a Debian 12: PostgreSQL 15 becomes 17 by the book's steps. `make test-install-pit`.

The machine is server and table at once, as in `pit_run`. It begins with both PostgreSQLs, as Debian's upgrade leaves
them; that upgrade itself is not tried.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from typing import Final

import pytest

from tests.install.chapter import commands
from tests.install.machine import LONG, NEXT_SUITE, PACKAGES, Machine, base_tree, make_release, why_not
from tests.install.pit_house import (
    CARRIED,
    DISK,
    HERE,
    REPOSITORY,
    add_person,
    arrives,
    is_whole,
    kept,
    nothing_failed,
    play,
    put_table,
    sql,
    type_in,
)

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.timeout(2 * LONG),
]
OLD, NEW = "15", "17"
INSTALL: Final = "bash /media/release/install"
PAGE, HEADING = "pit/operate.md", "PostgreSQL 15 becomes 17"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = tmp_path_factory.mktemp("upgraded")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6G,mode=755", "tmpfs", folder], check=True)
    release = make_release(REPOSITORY, folder / "release", "3.13")
    packages = f"{PACKAGES},postgresql-{NEW}"
    archive = base_tree(REPOSITORY / "build/install", packages, NEXT_SUITE, from_before=f"postgresql-{OLD}")
    machine = Machine(folder / "root", archive)
    shutil.move(release, machine.root / "media/release")
    machine.file("/etc/fstab", f"/srv/disk {DISK} none bind,nofail 0 0\n")
    for path in ("srv/disk", DISK.lstrip("/")):
        (machine.root / path).mkdir()
    machine.boot()
    yield machine
    machine.cut_power()
    subprocess.run(["umount", "--lazy", folder], check=True)


def steps() -> list[str]:
    lines = commands(PAGE, HEADING, {"./install": INSTALL})
    return [line.replace("OLD", OLD).replace("NEW", NEW) for line in lines]


def version(server: Machine) -> str:
    return sql(server, "SHOW server_version_num")[:2]


def test_the_pit_runs_on_debian_13_with_the_postgresql_of_before(server: Machine) -> None:
    type_in(
        server,
        [
            f"pg_lsclusters --no-header | grep -q '^{OLD} ' || pg_createcluster {OLD} main",
            f"pg_ctlcluster {NEW} main stop || true",
            f"pg_ctlcluster {OLD} main stop || true",
            f"pg_conftool {NEW} main set port 5433; pg_conftool {OLD} main set port 5432",
            "systemctl daemon-reload",
            f"systemctl start postgresql@{OLD}-main postgresql@{NEW}-main",
            f"{INSTALL} pit",
        ],
    )
    assert version(server) == OLD
    put_table(server)
    _, by_stick, *at_table, _, _, _, _, _ = commands("technician/pit.md", "A table comes in", HERE)
    seq = play(server, 6)
    type_in(server, [by_stick, CARRIED, *at_table])
    add_person(server, "Ines", "owner")
    arrives(server, seq)
    is_whole(server)
    server.wait(
        lambda: server.unit("feltwatch-pit-backup.service", "ActiveState") != "activating", "it is backed up"
    )
    nothing_failed(server)


def test_its_database_is_taken_over_by_the_next_postgresql_by_the_books_steps(server: Machine) -> None:
    before = kept(server)
    seq = play(server, 1)
    arrives(server, seq)
    end = steps().index("systemctl stop 'feltwatch-pit*.service'")
    said = type_in(server, steps()[:end])
    assert said.count("All of it holds.") == 2, said
    assert (version(server), kept(server)) == (NEW, before)
    assert sql(server, "SHOW max_slot_wal_keep_size") == "8GB"
    assert sql(server, "SELECT max(seq) FROM head") == str(seq)
    arrives(server, play(server, 1))
    is_whole(server)
    disk = server.root / "srv/disk"
    versions = [(copy / "PG_VERSION").read_text().strip() for copy in sorted((disk / "base").iterdir())]
    assert versions[-1] == NEW
    server.wait(lambda: any((disk / "wal").iterdir()), "the database's log arrives on the second disk")
    nothing_failed(server)


def test_what_the_next_postgresql_has_backed_up_is_restored(server: Machine) -> None:
    before = kept(server)
    said = type_in(server, commands("pit/disaster.md", "A restore"))
    assert "The pit is as it was" in said
    assert (version(server), kept(server)) == (NEW, before)
    arrives(server, play(server, 1))
    is_whole(server)
    nothing_failed(server)


def test_the_postgresql_of_before_comes_back_by_the_books_steps(server: Machine) -> None:
    lines = steps()
    type_in(server, lines[lines.index("systemctl stop 'feltwatch-pit*.service'") :])
    assert version(server) == OLD
    arrives(server, play(server, 1))
    is_whole(server)
    nothing_failed(server)
