"""The pit of `pit_run` goes on: disks, servers and certificates are lost and replaced by the book's steps."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from tests.install.chapter import commands
from tests.install.machine import (
    LONG,
    Machine,
    why_not,
)
from tests.install.pit_house import (
    CARRIED,
    FIRST,
    HERE,
    POSTGRES,
    PROGRAMS,
    add_person,
    arrives,
    follow,
    install,
    is_whole,
    kept,
    nothing_failed,
    play,
    sql,
    type_in,
)

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.timeout(2 * LONG),
]


@pytest.fixture(scope="module")
def server(pit_server: Machine) -> Machine:
    return pit_server


def test_a_server_whose_disk_is_lost_is_restored_from_the_second_disk(server: Machine) -> None:
    server.run("systemctl", "start", "feltwatch-pit-backup.service", check=True)
    add_person(server, "After the copy", "floor")
    seq = play(server, 2)
    arrives(server, seq)
    before = kept(server)
    waits = "SELECT pg_switch_wal(); SELECT pg_sleep(0)"
    sql(server, waits)
    server.wait(
        lambda: (
            sql(
                server,
                "SELECT restart_lsn >= (SELECT pg_current_wal_lsn() - 1000000) FROM pg_replication_slots",
            )
            == "t"
        ),
        "the log is on the second disk",
    )
    server.run("systemctl", "stop", "feltwatch-uplink.service", check=True)
    server.run(
        "bash",
        "-c",
        f"systemctl kill --signal=KILL postgresql@{POSTGRES}-main; rm -rf /var/lib/postgresql/{POSTGRES}/main/*"
        " /var/lib/feltwatch-pit/*",
        check=True,
    )
    assert "The pit is as it was" in follow(server, "pit/disaster.md", "A restore")
    assert kept(server) == before, "also what came after the copy: it was in the log"
    assert sql(server, "SELECT max(seq) FROM head") == str(seq)
    server.run("systemctl", "start", "feltwatch-uplink.service", check=True)
    arrives(server, play(server, 1))
    is_whole(server)
    server.wait(
        lambda: server.unit("feltwatch-pit-backup.service", "ActiveState") == "inactive", "a new copy"
    )
    nothing_failed(server)


def test_after_the_servers_disk_was_stolen_a_new_authority_takes_the_tables_in_by_the_books_steps(
    server: Machine,
) -> None:
    stop, make, move, start, _ = commands("pit/disaster.md", "A disk is stolen")
    before = kept(server)
    type_in(server, [stop, make, move, start])
    signed = "SELECT value::timestamptz > now() FROM house_fact WHERE name = 'files good until'"
    assert sql(server, signed) == "t"
    _, _, renew, *_ = commands("technician/pit.md", "Something is lost", HERE)
    _, _, *at_table, _, _, _, _, _ = commands("technician/pit.md", "A table comes in", HERE)
    type_in(server, [renew, CARRIED, *at_table])
    arrives(server, play(server, 1))
    is_whole(server)
    assert {name for name, value in kept(server).items() if value == before[name]} == {"people"}
    nothing_failed(server)


def test_a_second_server_follows_and_takes_over_by_the_books_steps(server: Machine) -> None:
    """The second one is another cluster on this machine: its own port, its own data."""
    server.run("pg_createcluster", "--port=5433", POSTGRES, "second", check=True)
    follow(server, "pit/second-server.md", "On the first", {"192.0.2.8/32": "127.0.0.1/32"})
    second = {
        "systemctl disable --now feltwatch-pit feltwatch-pit-floor": "true",
        "systemctl stop postgresql": f"systemctl stop postgresql@{POSTGRES}-second",
        "systemctl start postgresql": f"systemctl start postgresql@{POSTGRES}-second",
        "/var/lib/postgresql/VERSION/main": f"/var/lib/postgresql/{POSTGRES}/second",
        "192.0.2.7": "127.0.0.1",
    }
    follow(server, "pit/second-server.md", "On the second", second)
    seq = play(server, 1)
    arrives(server, seq)
    there = "psql -XAtq -p 5433 feltwatch_pit -c"
    rows = f'runuser -u postgres -- {there} "SELECT max(seq) FROM head"'
    server.wait(lambda: server.run("bash", "-c", rows).stdout.strip() == str(seq), "the second server has it")
    follow(server, "pit/second-server.md", "Checkpoints that wait for it")
    server.wait(lambda: sql(server, "SHOW synchronous_standby_names") == "*", "checkpoints wait from now on")
    server.run("systemctl", "stop", f"postgresql@{POSTGRES}-second", check=True)
    arrives(server, play(server, 1))
    type_in(server, ["runuser -u feltwatch-pit-owner -- feltwatch pit migrate --check"])
    server.run("systemctl", "start", f"postgresql@{POSTGRES}-second", check=True)
    over = {
        "postgres psql": "postgres psql -p 5433",
        "systemctl enable --now feltwatch-pit feltwatch-pit-floor": "true",
    }
    follow(server, "pit/second-server.md", "The first is lost", over)
    writes = f'runuser -u postgres -- {there} "CREATE TABLE after_the_first (one int)"'
    server.wait(lambda: server.run("bash", "-c", writes).returncode == 0, "it is written to")
    sql(server, "SELECT pg_drop_replication_slot('second_server')")
    for setting in ("synchronous_standby_names", "synchronous_commit"):
        sql(server, f"ALTER SYSTEM RESET {setting}")
    server.run("systemctl", "reload", "postgresql", check=True)
    nothing_failed(server)


def test_a_head_office_follows_by_the_books_steps(server: Machine) -> None:
    """The head office's database is on the cluster that was the second server's."""
    said = follow(server, "pit/chain.md", "At a house", {"198.51.100.1/32": "127.0.0.1/32"})
    assert "North is published" in said
    again, withdraw = commands("pit/chain.md", "When something stays away", {"192.0.2.7": "127.0.0.1"})
    office = [*commands("pit/chain.md", "At the head office", {"192.0.2.7": "127.0.0.1"}), again]
    listing = office[-2].replace("postgresql:///feltwatch_chain", "postgresql:///feltwatch_chain?port=5433")
    for line in office:
        here = line.replace("createdb", "createdb -p 5433").replace("_chain", "_chain?port=5433")
        done = server.run(
            "bash", "-c", here.replace("5433 feltwatch_chain?port=5433", "5433 feltwatch_chain")
        )
        assert done.returncode == 0, line + done.stdout + done.stderr
    hands = sql(server, "SELECT count(*) FROM hand")
    there = f"North: {hands} hands"
    server.wait(lambda: there in server.run("bash", "-c", listing).stdout, "the head office has them")
    assert server.run("bash", "-c", withdraw).returncode == 0
    server.run("pg_dropcluster", "--stop", POSTGRES, "second", check=True)
    sql(server, "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")
    nothing_failed(server)


def test_a_table_finds_the_pit_elsewhere_by_the_books_steps(server: Machine) -> None:
    renew, *at_table, listed, keys = commands("pit/operate.md", "A table is moved or gets another box", HERE)
    assert "Table 7 is enrolled again" in type_in(server, [renew, CARRIED, *at_table])
    seq = play(server, 1)
    arrives(server, seq)
    server.wait(lambda: f"Table 7: {seq} rows, 0 behind" in type_in(server, [listed]), "the tile is green")
    assert "Table 7: " in type_in(server, [keys])
    is_whole(server)
    nothing_failed(server)


def test_certificates_are_renewed_by_the_books_steps(server: Machine) -> None:
    show, ends, again, restart, remove, restart_door, stop, move, start = commands(
        "pit/operate.md", "Certificates that end"
    )
    folder, page = (
        server.root / "var/lib/feltwatch-pit/authority",
        server.root / "etc/feltwatch-pit/floor/tls.crt",
    )
    before = {path: path.read_text() for path in (folder / "authority.crt", folder / "door.crt", page)}
    assert "notAfter=" in type_in(server, [ends])
    shown = type_in(server, [show])
    type_in(server, [again, restart])
    assert type_in(server, [show]) != shown
    served = "openssl s_client -connect 127.0.0.1:8444 </dev/null 2>/dev/null | openssl x509"
    server.wait(
        lambda: server.run("bash", "-c", served).stdout.strip() == page.read_text().strip(), "it is served"
    )
    type_in(server, [remove, restart_door])
    server.wait((folder / "door.crt").exists, "the door has another")
    arrives(server, play(server, 1))
    type_in(server, [stop, move, start])
    renew, *at_table, _, _ = commands("pit/operate.md", "A table is moved or gets another box", HERE)
    type_in(server, [renew, CARRIED, *at_table])
    arrives(server, play(server, 1))
    is_whole(server)
    assert [path for path, text in before.items() if path.read_text() == text] == []
    nothing_failed(server)


def test_a_full_disk_stops_no_table_and_is_left_by_the_books_steps(server: Machine) -> None:
    *sizes, slots, vacuum, clean, postgres, drop, start, listed = commands(
        "pit/operate.md", "The disk is full"
    )
    server.run("systemctl", "stop", "feltwatch-uplink.service", check=True)
    had = int(sql(server, "SELECT max(seq) FROM head"))
    seq = play(server, 80)
    # A database's first connection writes a file, without which none can be made on a full disk.
    server.run("runuser", "-u", "postgres", "--", "psql", "-c", "SELECT 1", check=True)
    filler = server.root / "var/cache/apt/filler"
    with filler.open("wb") as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 20))
            file.flush()
    server.run("systemctl", "start", "feltwatch-uplink.service", check=True)
    type_in(server, sizes)
    try:
        type_in(server, [slots])
    except AssertionError as error:
        # PostgreSQL has dropped a file that it needs to connect: the book says so
        if "could not write init file" not in str(error):
            raise
    grows = (
        "runuser",
        "-u",
        "postgres",
        "--",
        "psql",
        "-c",
        "CREATE TABLE more AS SELECT generate_series(1, 99999)",
    )
    said = server.run(*grows).stderr
    assert "No space left" in said or "could not write init file" in said
    time.sleep(20)
    done = server.run(
        "runuser", "-u", "postgres", "--", "psql", "-XAtc", "SELECT max(seq) FROM head", "feltwatch_pit"
    )
    assert had <= int(done.stdout or had) < seq, "it has taken in vain what it cannot store"
    filler.unlink()  # packages that were downloaded
    type_in(server, [vacuum, clean, postgres, drop, start])
    arrives(server, seq)
    server.wait(lambda: f"Table 7: {seq} rows, 0 behind" in type_in(server, [listed]), "nothing is behind")
    is_whole(server)
    for unit in (*PROGRAMS, "feltwatch-pit-wal"):
        server.wait(lambda unit=unit: server.unit(f"{unit}.service", "ActiveState") == "active", unit)  # type: ignore[misc]
    nothing_failed(server)


def test_the_pit_moves_to_another_machine_by_the_books_steps(server: Machine) -> None:
    """The new machine is this one, wiped of everything that was the pit's and PostgreSQL's."""
    steps = commands(
        "pit/operate.md", "Move the pit to another machine", {"./install": f"bash /media/{FIRST}/install"}
    )
    at_old, (install_it, restore, again, verify) = steps[:-4], steps[-4:]
    before, seq = kept(server), play(server, 1)
    arrives(server, seq)
    assert "was made 0.0 h ago" in type_in(server, at_old)
    wiped = f"pg_dropcluster --stop {POSTGRES} main; rm -rf /var/lib/feltwatch-pit* /etc/feltwatch-pit"
    type_in(server, [wiped, f"pg_createcluster --start {POSTGRES} main"])
    type_in(server, [install_it])
    assert kept(server) != before
    assert "The pit is as it was" in type_in(server, [restore])
    assert kept(server) == before
    type_in(server, [again])
    assert "All of it holds." in type_in(server, [verify])
    arrives(server, play(server, 1))
    is_whole(server)
    nothing_failed(server)


def test_removal_keeps_everything_that_somebody_would_miss(server: Machine) -> None:
    before = kept(server)
    assert "The pit is off this server" in follow(server, "pit/install.md", "Removing")
    assert [path.name for path in (server.root / "etc/systemd/system").glob("feltwatch-pit*")] == []
    assert not (server.root / "opt/feltwatch-pit").exists()
    assert kept(server) == before
    assert sql(server, "SELECT count(*) FROM pg_replication_slots") == "0"
    is_whole(server)
    nothing_failed(server)


def test_it_is_installed_again_over_what_stayed(server: Machine) -> None:
    before = kept(server)
    code, said = install(server, FIRST)
    assert code == 0, said + server.log()
    assert kept(server) == before
    arrives(server, play(server, 1))
    is_whole(server)


def test_a_database_without_a_backup_is_lost_and_tables_are_readmitted_by_the_books_steps(
    server: Machine,
) -> None:
    stopped = ["feltwatch-pit-floor", "feltwatch-pit", "feltwatch-pit-wal"]
    server.run("systemctl", "stop", *stopped, check=True)
    server.run("runuser", "-u", "postgres", "--", "dropdb", "--force", "feltwatch_pit", check=True)
    code, said = install(server, FIRST)
    assert code == 0, said + server.log()
    who, readmit, *_ = commands("technician/pit.md", "Something is lost", {' "Table 8"': ""})
    assert type_in(server, [who]).splitlines() == ["Table 7"]
    assert "Table 7 is enrolled again." in type_in(server, [readmit])
    arrives(server, play(server, 1))
    is_whole(server)
    nothing_failed(server)
