"""The pit, from the first installation to the last: in a booted Debian of its own. `make test-install-pit`.

One machine lives through all of it, so the tests stand in the order of its life and each goes on from the one before.
It is server and table at once: a record lies on it, and the box's own `feltwatch-uplink.service` sends it through the
installed nginx. The second disk is a folder that is mounted.
"""

from __future__ import annotations

import json
import re

import pytest

from firmware.record.journal.journal import JournalReader
from tests.install.chapter import commands
from tests.install.machine import (
    LONG,
    Machine,
    why_not,
)
from tests.install.pit_house import (
    _AS_TABLE,
    _LOG_KEY,
    BROKEN,
    CARRIED,
    DISK,
    EXPOSURE_AT_MOST,
    FIRST,
    HERE,
    POSTGRES,
    PROGRAMS,
    PYTHON,
    ROLES,
    SECOND,
    add_person,
    arrives,
    follow,
    install,
    is_whole,
    kept,
    log_in,
    look,
    nothing_failed,
    pit,
    play,
    put_table,
    releases,
    sql,
    type_in,
    update,
)

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.timeout(2 * LONG),
]


@pytest.fixture(scope="module")
def server(pit_server: Machine) -> Machine:
    return pit_server


def test_a_bad_place_to_install_to_is_said_and_nothing_is_touched(server: Machine) -> None:
    done = server.run("setpriv", "--reuid=65534", "--clear-groups", "bash", f"/media/{FIRST}/install", "pit")
    assert (done.returncode, "This needs root" in done.stderr) == (2, True)
    assert server.run("bash", f"/media/{FIRST}/install", "pit", "--what").returncode == 2

    server.run("umount", DISK, check=True)
    code, said = install(server, FIRST)
    assert (code, f"No second disk is mounted at {DISK}" in said) == (2, True), said
    server.run("mount", DISK, check=True)

    server.run("systemctl", "stop", f"postgresql@{POSTGRES}-main.service", check=True)
    code, said = install(server, FIRST)
    assert (code, "PostgreSQL does not answer" in said) == (2, True), said
    server.run("systemctl", "start", f"postgresql@{POSTGRES}-main.service", check=True)

    held = "import socket, time; s = socket.create_server(('', 8444)); print(flush=True); time.sleep(9999)"
    server.start("python3", "-c", held)
    server.wait(
        lambda: server.run("bash", "-c", "</dev/tcp/127.0.0.1/8444").returncode == 0, "a port is taken"
    )
    code, said = install(server, FIRST)
    assert (code, "Port 8444 is taken by another program" in said) == (2, True), said
    server.stop_begun()

    psql, away = server.root / "usr/bin/psql", server.root / "usr/bin/psql.away"
    psql.rename(away)
    code, said = install(server, FIRST)
    assert (code, "/usr/bin/psql is missing: apt-get install" in said) == (2, True), said
    away.rename(psql)

    release = server.root / "usr/lib/os-release"
    text = release.read_text()
    release.write_text(text.replace('VERSION_ID="12"', 'VERSION_ID="11"').replace("(bookworm)", "(bullseye)"))
    code, said = install(server, FIRST)
    assert (code, "The pit runs on Debian 12 or 13." in said) == (2, True), said
    release.write_text(text)
    assert list((server.root / "opt/feltwatch-pit/releases").iterdir()) == []
    assert not (server.root / "etc/feltwatch-pit").exists()


def test_it_is_installed_without_a_network_and_every_unit_runs_as_its_own_user(server: Machine) -> None:
    assert server.unit("nginx.service", "ActiveState") == "active", "Debian begins it with its package"
    code, said = install(server, FIRST)
    assert code == 0, said + server.log()
    assert "people at https://THIS-SERVER:8444/" in said
    assert releases(server) == {"current": FIRST}
    assert server.unit("nginx.service", "ActiveState") == "inactive"
    for unit in (*PROGRAMS, "feltwatch-pit-wal"):
        assert server.unit(f"{unit}.service", "ActiveState") == "active", server.log()
        pid = server.unit(f"{unit}.service", "MainPID")
        user = unit.replace("-wal", "-backup")
        assert server.run("stat", "--format=%U", f"/proc/{pid}").stdout.strip() == user
    nothing_failed(server)
    assert (server.root / "var/lib/feltwatch-pit/authority/authority.key").exists(), "made at its first start"


def test_no_unit_could_do_much_if_it_were_taken_over(server: Machine) -> None:
    units = sorted(path.name for path in (server.root / "etc/systemd/system").glob("feltwatch-pit*.service"))
    assert {f"{name}.service" for name in PROGRAMS} < set(units)
    said = server.run("systemd-analyze", "security", "--no-pager", *units).stdout
    found = dict(re.findall(r"Overall exposure level for (\S+?): ([0-9.]+)", said))
    assert sorted(found) == units
    assert {name: figure for name, figure in found.items() if float(figure) > EXPOSURE_AT_MOST} == {}


def test_people_come_in_by_their_roles_and_nobody_else(server: Machine, owner: list[str]) -> None:
    for role in ROLES:
        status, cookie = log_in(server, f"Ines {role}", add_person(server, f"Ines {role}", role))
        assert status == 303, server.log()
        opened = [path for path in ("/", "/hands", "/people") if look(server, cookie, path)[0] == 200]
        past = [] if role == "technician" else ["/hands"]
        assert opened == ["/", *past, *(["/people"] if role in ("auditor", "owner") else [])]
    owner.append(cookie)
    assert log_in(server, "Ines owner", "a wrong passphrase")[0] == 403
    assert look(server, "", "/hands")[0] == 302, "to the log-in"


def test_a_tables_rows_come_through_nginx_and_the_table_stands_on_the_floor_page(
    server: Machine, owner: list[str]
) -> None:
    put_table(server)
    seq = play(server, 4)
    _, by_stick, *at_table, keys, _, _, _, _ = commands("technician/pit.md", "A table comes in", HERE)
    type_in(server, [by_stick, CARRIED, *at_table])
    assert "Table 7: " in type_in(server, [keys])
    arrives(server, seq)
    is_whole(server)
    server.wait(lambda: "Table 7" in look(server, owner[0], "/")[1], "the table is on the floor page")
    server.wait(lambda: "Table 7" in look(server, owner[0], "/hands")[1], "its hands are listed")
    all_of_it = f"Table 7: {seq} rows, 0 behind"
    server.wait(lambda: all_of_it in pit(server, "feltwatch-pit", "table", "list"), "its rows are followed")
    nothing_failed(server)


def test_a_table_asks_with_a_code_and_root_puts_its_enrolment_in_its_place(server: Machine) -> None:
    """The box's own units, the console's code, and what the table's process writes when a technician shows it."""
    own = server.root / "var/lib/feltwatch-uplink"
    before = (own / "table.crt").read_text()
    server.run(
        "install",
        "-d",
        "-o",
        "feltwatch-table",
        "-g",
        "feltwatch",
        "-m",
        "0750",
        "/run/feltwatch",
        check=True,
    )
    server.run("systemctl", "start", "feltwatch-join.path", check=True)
    add, *_, strike, stop, remove = commands("technician/pit.md", "A table comes in", HERE)
    assert "Table 7 is struck off." in type_in(server, [strike, stop, remove])
    again = add.replace("table add", "table renew")
    server.start("bash", "-c", f"yes | {again} >/root/console 2>&1")
    console = server.root / "root/console"
    server.wait(lambda: console.exists() and "Good once" in console.read_text(), "the console shows a code")
    (letters,) = re.findall(r"(?m)^  ((?:[A-Z]{5} ){5}[A-Z])$", console.read_text())
    asked = server.run(
        "runuser", "-u", "feltwatch-table", "--", PYTHON, "-c", _AS_TABLE, "ask", f"{letters} 127.0.0.1"
    )
    assert asked.returncode == 0, asked.stderr

    def step() -> str:
        said = server.run("cat", "/run/feltwatch-join/progress.json").stdout
        return str(json.loads(said or "{}").get("step"))

    server.wait(lambda: step() == "compare", "the unit has started, and the table shows words")
    server.run("runuser", "-u", "feltwatch-table", "--", PYTHON, "-c", _AS_TABLE, "say", "same", check=True)
    server.wait(lambda: step() == "done", "the table is enrolled")
    server.wait(
        lambda: server.unit("feltwatch-join.service", "ActiveState") == "inactive", "the unit has ended"
    )
    assert "Table 7 is enrolled" in console.read_text()
    assert (own / "table.crt").read_text() != before, server.log()
    assert not (own / "new").exists()
    assert (
        server.run("stat", "--format=%U %a", "/var/lib/feltwatch-uplink/table.key").stdout
        == "feltwatch-uplink 600\n"
    )
    pinned = (own / "log.pub").read_text().strip()
    public = server.run(PYTHON, "-c", _LOG_KEY, check=True).stdout.strip()
    assert pinned == public
    drop_in = server.root / "etc/systemd/system/feltwatch-uplink.service.d/pit.conf"
    assert drop_in.read_text() == "[Service]\nIPAddressAllow=127.0.0.1\n"
    arrives(server, play(server, 1))
    is_whole(server)
    nothing_failed(server)


def test_a_table_whose_card_is_lost_gets_its_record_back_by_the_books_steps(server: Machine) -> None:
    seq = JournalReader(server.data).head()[0]
    server.run("systemctl", "stop", "feltwatch-uplink.service", check=True)
    server.run(
        "bash",
        "-c",
        "rm -r /var/lib/feltwatch/* /var/lib/feltwatch-uplink/* /var/lib/feltwatch-witness/*",
        check=True,
    )
    other = HERE | {
        "stop feltwatch-table": "stop feltwatch-uplink",
        "restart feltwatch-table ": "restart ",
        "sudo -u feltwatch-table feltwatch restore": "yes | sudo -u feltwatch-table feltwatch restore --unproven",
    }
    who, _, renew, *at_table = commands("technician/pit.md", "Something is lost", other)
    assert type_in(server, [who]) == "Table 7\n"
    type_in(server, [renew, CARRIED, *at_table])
    assert JournalReader(server.data).head()[0] == seq + 1, "and a row that says so"
    arrives(server, play(server, 1))
    is_whole(server)
    nothing_failed(server)


def test_everything_is_backed_up_to_the_second_disk_and_the_pages_say_when(
    server: Machine, owner: list[str]
) -> None:
    server.wait(
        lambda: server.unit("feltwatch-pit-backup.service", "ActiveState") != "activating",
        "the first one ends",
    )
    said = follow(
        server,
        "pit/disaster.md",
        "What lies on the second disk",
        {" stop feltwatch-pit-backup.timer": " status"},
    )
    assert "was made 0.0 h ago" in said
    assert server.unit("feltwatch-pit-backup.timer", "ActiveState") == "active"
    disk = server.root / "srv/disk"
    assert len(list((disk / "base").iterdir())) == 2
    assert list((disk / "wal").iterdir())
    who = server.run("stat", "--format=%U %a", f"{DISK}/base").stdout.strip()
    assert who == "feltwatch-pit-backup 700"
    metrics = look(server, owner[0], "/metrics")[1]
    assert re.search(r"(?m)^feltwatch_pit_backup_time_seconds [0-9.e+]+$", metrics), metrics
    assert 'feltwatch_pit_slot_active{slot="feltwatch_backup"} 1.0' in metrics
    assert "The last backup: " in look(server, owner[0], "/tables")[1]


def test_all_of_it_comes_back_after_a_power_cut(server: Machine) -> None:
    server.cut_power()
    server.boot()
    for unit in (*PROGRAMS, "feltwatch-pit-wal"):
        server.wait(lambda unit=unit: server.unit(f"{unit}.service", "ActiveState") == "active", unit)  # type: ignore[misc]
    server.run("systemctl", "start", "feltwatch-uplink.service", check=True)  # a part of the box's own target
    arrives(server, play(server, 2))
    nothing_failed(server)


def test_an_upgrade_with_another_schema_keeps_the_database_for_the_way_back(server: Machine) -> None:
    code, said = update(server, SECOND)
    assert code == 0, said + server.log()
    assert "changes the database's schema: copying the database" in said
    assert releases(server) == {"current": SECOND, "previous": FIRST}
    assert sql(server, "SELECT to_regclass('later')") == "later"
    arrives(server, play(server, 2))
    is_whole(server)
    nothing_failed(server)


def test_a_release_that_does_not_come_up_is_taken_back_with_its_schema(server: Machine) -> None:
    add_person(server, "Lin", "auditor")
    before = kept(server)
    assert "Lin|auditor" in before["people"]
    code, said = update(server, BROKEN)
    assert (code, "was rolled back; 1.1.0-second is running" in said) == (1, True), said
    assert "a mistake" in said
    assert releases(server) == {"current": SECOND, "previous": FIRST}
    assert kept(server) == before
    arrives(server, play(server, 1))
    nothing_failed(server)


def test_going_back_by_hand_loses_no_row_no_strike_off_and_nobody(server: Machine) -> None:
    pit(
        server,
        "feltwatch-pit",
        "table",
        "add",
        "Table 8",
        "--to",
        "/var/lib/feltwatch-pit/8",
        "--pit",
        "127.0.0.1:8443",
    )
    pit(server, "feltwatch-pit", "table", "strike", "Table 8")
    before = kept(server)
    said = follow(server, "pit/install.md", "Going back")
    assert releases(server) == {"current": FIRST, "previous": SECOND}
    assert f"The database is the one of release {FIRST} again" in said
    assert sql(server, "SELECT to_regclass('later')") == ""
    arrives(server, JournalReader(server.data).head()[0])
    is_whole(server)
    assert kept(server) == before
    nothing_failed(server)
