"""The pit's machine: what is installed there, and what a person does at its console and its pages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from firmware.record.journal.journal import JournalReader
from tests.generated_record import generate_record
from tests.install.chapter import commands
from tests.install.machine import (
    Machine,
)

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
