"""The pit, from the first installation to the last: in a booted Debian of its own. `make test-install-pit`.

One machine lives through all of it, so the tests stand in the order of its life and each goes on from the one before.
It is server and table at once: a record lies on it, and the box's own `feltwatch-uplink.service` sends it through the
installed nginx. The second disk is a folder that is mounted.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from firmware.record.journal.journal import JournalReader
from firmware.simulation.generated_record import generate_record
from tests.install.chapter import commands
from tests.install.machine import (
    LONG,
    PACKAGES,
    Machine,
    another_release,
    base_tree,
    make_release,
    release_key,
    sign,
    why_not,
)

pytestmark = [
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
    pytest.mark.timeout(2 * LONG),
]

REPOSITORY: Final = Path(__file__).parents[2]
POSTGRES: Final = "15"
"""The major release of the machine's Debian."""
FIRST, SECOND, BROKEN = "1.0.0-first", "1.1.0-second", "1.2.0-broken"
DISK: Final = "/srv/feltwatch-pit-backup"
PROGRAMS: Final = ("feltwatch-pit", "feltwatch-pit-front", "feltwatch-pit-floor", "feltwatch-pit-floor-front")
HERE: Final = {"192.0.2.7": "127.0.0.1"}
CARRIED: Final = (
    "rm -rf /media/stick && mkdir /media/stick && mv /var/lib/feltwatch-pit/table-7 /media/stick/table-7"
)
"""A folder is carried to the table by a stick, and deleted at the server."""
ROLES: Final = ("floor", "auditor", "technician", "owner")
EXPOSURE_AT_MOST: Final = 1.5
MIGRATES: Final = (
    "pit/store/migrations/r9000_later.py",
    "",
    'from alembic import op\n\nrevision = "9000"\ndown_revision = "{}"\n\n\ndef upgrade():\n'
    '    op.execute("CREATE TABLE later (one int)")\n',
)
"""A release with another schema."""
DIES: Final = (
    "pit/door/serve.py",
    '    authority = Authority(folder / "authority")',
    '    from pit.errors import PitError\n\n    raise PitError("a mistake")\n'
    '    authority = Authority(folder / "authority")',
)
"""A release that migrates the database and then does not come up."""
PYTHON: Final = "/opt/feltwatch-pit/current/bin/python"
_AS_TABLE: Final = """
import sys
from pathlib import Path
from tempfile import mkdtemp
from firmware.record.evidence.signing import DeviceKey
from firmware.uplink.code import parse
from firmware.uplink.enrolment import device_text
from firmware.uplink.join_request import JoinDesk
what, text = sys.argv[1:]
if what == "say":
    print(JoinDesk().say(text))
else:
    key, code = DeviceKey.open(Path(mkdtemp())), parse(text)
    print(JoinDesk().ask(code.text, key.public, key.sign(device_text(code.name)), "7"))
"""
"""What the table's process does (firmware/runtime/pit_desk.py), with a key of its own."""
_LOG_KEY: Final = """
from pathlib import Path
from pit.authority import Authority
print(Authority(Path("/var/lib/feltwatch-pit/authority")).keys.log)
"""
_ASK: Final = """
import http.client, json, ssl, sys
path, form, cookie = sys.argv[1:]
line = http.client.HTTPSConnection("127.0.0.1", 8444, context=ssl._create_unverified_context(), timeout=60)
own = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "https://127.0.0.1:8444"} if form else {}
line.request("POST" if form else "GET", path, form or None, {"Accept": "text/html", "Cookie": cookie, **own})
answer = line.getresponse()
print(json.dumps([answer.status, (answer.getheader("Set-Cookie") or "").partition(";")[0], answer.read().decode()]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk in memory: a machine writes 50,000 files."""
    folder = tmp_path_factory.mktemp("machine")
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6G,mode=755", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture(scope="module")
def server(folder: Path) -> Iterator[Machine]:
    release = make_release(REPOSITORY, folder / "release")
    machine = Machine(folder / "root", base_tree(REPOSITORY / "build/install", f"{PACKAGES},postgresql"))
    migrates = (*MIGRATES[:2], MIGRATES[2].format(newest_revision()))
    for later, (name, edits) in enumerate(((FIRST, ()), (SECOND, (migrates,)), (BROKEN, (migrates, DIES)))):
        target = machine.root / "media" / name
        shutil.copytree(release, target, copy_function=os.link)
        another_release(target, name, edits, later)
        sign(target, release_key(folder / "release"), machine.root / "media" / f"{name}.signed")
    machine.file("/etc/fstab", f"/srv/disk {DISK} none bind,nofail 0 0\n")
    for path in ("srv/disk", DISK.lstrip("/")):
        (machine.root / path).mkdir()
    machine.boot()
    yield machine
    machine.cut_power()


@pytest.fixture(scope="module")
def owner() -> list[str]:
    """The cookie of the owner's session, once somebody has logged in."""
    return []


def newest_revision() -> str:
    names = sorted(path.name for path in (REPOSITORY / "pit/store/migrations").glob("r*_*.py"))
    return names[-1][1:5]


def install(server: Machine, release: str, *more: str) -> tuple[int, str]:
    done = server.run("bash", f"/media/{release}/install", "pit", *more)
    return done.returncode, done.stdout + done.stderr


def update(server: Machine, release: str) -> tuple[int, str]:
    done = server.run("feltwatch", "update", f"/media/{release}.signed")
    return done.returncode, done.stdout + done.stderr


def follow(server: Machine, page: str, heading: str, other: dict[str, str] | None = None) -> str:
    """Type the commands of a page of the book; return what they said."""
    return type_in(server, commands(page, heading, other))


def releases(server: Machine) -> dict[str, str]:
    links = {name: (server.root / "opt/feltwatch-pit" / name) for name in ("current", "previous", "trial")}
    return {name: link.readlink().name for name, link in links.items() if link.is_symlink()}


def nothing_failed(server: Machine) -> None:
    failed = server.run("systemctl", "list-units", "--failed", "--plain", "--no-legend").stdout
    assert failed == "", failed + server.log()


def sql(server: Machine, query: str, database: str = "feltwatch_pit") -> str:
    done = server.run("runuser", "-u", "postgres", "--", "psql", "-XAtqc", query, database, check=True)
    return done.stdout.strip()


def pit(server: Machine, user: str, *arguments: str) -> str:
    done = server.run("runuser", "-u", user, "--", "feltwatch", "pit", *arguments, check=True)
    return done.stdout


def add_person(server: Machine, name: str, role: str) -> str:
    """Let somebody in; return the passphrase."""
    said = pit(server, "feltwatch-pit-floor", "person", "add", name, "--role", role, "--generate")
    return said.partition("Passphrase: ")[2].strip()


def log_in(server: Machine, name: str, passphrase: str) -> tuple[int, str]:
    """Log in on port 8444: the status, and the session's cookie."""
    form = urlencode({"name": name, "passphrase": passphrase})
    done = server.run("python3", "-c", _ASK, "/log-in", form, "", check=True)
    status, cookie, _ = json.loads(done.stdout)
    return status, cookie


def look(server: Machine, cookie: str, path: str) -> tuple[int, str]:
    """Open a page: its status and its text."""
    done = server.run("python3", "-c", _ASK, path, "", cookie, check=True)
    status, _, text = json.loads(done.stdout)
    return status, text


def type_in(server: Machine, lines: list[str]) -> str:
    """Type lines as they are; return what they said."""
    said = ""
    for line in lines:
        done = server.run("bash", "-c", line)
        said += done.stdout + done.stderr
        assert done.returncode == 0, f"{line}\n{said}{server.log()}"
    return said


def play(server: Machine, hands: int) -> int:
    """Let the table on this machine play; return the number of its last row."""
    generate_record(server.data, hands, pool=4, seed=len(list(server.data.iterdir())))
    server.run("chown", "-R", "feltwatch-table:feltwatch", "/var/lib/feltwatch", check=True)
    return JournalReader(server.data).head()[0]


def put_table(server: Machine) -> None:
    """Put a table's own units and users beside the pit's."""
    units = REPOSITORY / "systemd/units"
    for name in ("feltwatch-uplink.service", "feltwatch-join.path", "feltwatch-join.service"):
        unit = (units / name).read_text().replace("/opt/feltwatch/", "/opt/feltwatch-pit/")
        server.file(f"/etc/systemd/system/{name}", unit)
    server.file("/etc/sysusers.d/feltwatch.conf", (units.parent / "feltwatch.sysusers").read_text())
    server.file("/etc/tmpfiles.d/feltwatch.conf", (units.parent / "feltwatch.tmpfiles").read_text())
    server.run("systemd-sysusers", check=True)
    server.run("systemd-tmpfiles", "--create", "/etc/tmpfiles.d/feltwatch.conf", check=True)


def arrives(server: Machine, seq: int) -> None:
    """Wait until the pit has the table's rows up to this one."""
    server.wait(
        lambda: sql(server, "SELECT coalesce(max(seq), 0) FROM head") == str(seq), f"row {seq} is there"
    )


def is_whole(server: Machine) -> None:
    """The pit has exactly the table's rows."""
    rows = sql(server, "SELECT seq, hash FROM entry ORDER BY seq").splitlines()
    own = [f"{entry.seq}|{entry.hash}" for entry in JournalReader(server.data).events_since(0, 1_000_000)]
    assert rows == own


def kept(server: Machine) -> dict[str, Any]:
    """What no table can send again."""
    return {
        "tables": sql(server, "SELECT name, serial, struck_at FROM gaming_table ORDER BY name"),
        "people": sql(server, "SELECT name, role FROM person ORDER BY name"),
        "authority": (server.root / "var/lib/feltwatch-pit/authority/authority.crt").read_text(),
    }


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
    assert f"Table 7: {seq} rows, 0 behind" in pit(server, "feltwatch-pit", "table", "list")
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
    *look_at_it, vacuum, clean, postgres, drop, start, listed = commands("pit/operate.md", "The disk is full")
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
    type_in(server, look_at_it)
    grows = (
        "runuser",
        "-u",
        "postgres",
        "--",
        "psql",
        "-c",
        "CREATE TABLE more AS SELECT generate_series(1, 99999)",
    )
    assert "No space left" in server.run(*grows).stderr
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
