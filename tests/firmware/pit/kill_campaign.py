"""Tables grow, their uplinks send, every part of the chain is killed in turn; at the end nothing may be lost or twice.

    python -m tests.firmware.pit.kill_campaign --tables 50 --hands 200 --times 100

Real processes, real PostgreSQL, real TLS through nginx, SIGKILL. A table here is the process that writes a journal; its
hands are generated, because dealing ten thousand hands by camera takes days. Each table's own journal says what should
be at the pit, row for row, and what the list of hands should be.
"""

from __future__ import annotations

import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click

from firmware.pit.authority import Authority
from firmware.pit.database import Database, migrate
from firmware.pit.front import command as front_command
from firmware.pit.projector import project
from firmware.pit.tables import enrol
from firmware.record.archive_lines import COLUMNS, TOLD, Batch
from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from tests.firmware.pit.postgres import Postgres

_KINDS: Final = ("pit", "postgres", "nginx", "uplink", "table")
_TABLE: Final = """
import sys, time
from pathlib import Path
from firmware.bench.generated_record import generate_record
from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.table.events import TableStarted

data, hands, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
with Journal(data) as journal:
    journal.append([TableStarted()], "table")  # by this machine's clock: no two records begin alike
while (played := JournalReader(data).recover()[0].hand) < hands:
    generate_record(data, min(4, hands - played), pool=2, seed=seed)
    time.sleep(0.5)
"""
_RUN: Final = "from firmware.{} import command; command.main(standalone_mode=True)"


@dataclass
class Part:
    """A process that is started again whenever it is killed."""

    arguments: list[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=log, start_new_session=True)

    def kill(self) -> None:
        """SIGKILL for the process and its children."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None


@dataclass
class Report:
    """What the campaign found. `lost`, `doubled` and `differing` must be 0."""

    tables: int = 0
    hands: int = 0
    rows: int = 0
    kills: dict[str, int] = field(default_factory=dict)
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    differing_hands: int = 0
    quarantined: int = 0
    seconds: float = 0.0
    machine: str = ""

    @property
    def ok(self) -> bool:
        return not (self.lost or self.doubled or self.differing or self.differing_hands or self.quarantined)


def campaign(tables: int, hands: int, times: int, seed: int, say: Callable[[str], None]) -> Report:
    """Run a campaign; see the command."""
    rng = random.Random(seed)
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-kills-", dir="/tmp"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        (folder / "pg").mkdir()
        postgres = Postgres(folder / "pg")
        postgres.start()
        stack.callback(lambda: suppressed(postgres.stop))
        url = postgres.make("pit")
        migrate(url)
        authority = Authority(folder / "pit" / "authority")
        authority.door()
        address = f"127.0.0.1:{_free_port()}"
        python = [sys.executable, "-c"]
        door, log = folder / "door.sock", folder / "log"
        served = ["serve", "--url", url, "--folder", str(folder / "pit"), "--socket", str(door)]
        nginx = front_command(address, door, authority.folder, folder / "nginx")
        parts = {
            "pit": [Part([*python, _RUN.format("pit.command"), *served], log)],
            "nginx": [Part([*nginx, *(["-g", "user root;"] if os.geteuid() == 0 else [])], log)],
            "uplink": [],
            "table": [],
        }
        data = [folder / f"table-{number}" for number in range(tables)]
        with Database(url, connections=2) as database:
            for number, path in enumerate(data):
                own = folder / f"enrolment-{number}"
                enrol(database, f"Table {number}", authority.enrol(f"Table {number}", own, [address]))
                ran = ["--data", str(path), "--enrolment", str(own), "--state", str(own)]
                parts["uplink"].append(Part([*python, _RUN.format("uplink.command"), *ran], log))
                parts["table"].append(Part([*python, _TABLE, str(path), str(hands), str(number)], log))
        for each in (part for some in parts.values() for part in some):
            stack.callback(each.kill)
            each.start()
        report = Report(tables, hands * tables, machine=f"{platform.machine()}, {os.cpu_count()} cores")
        for number in range(times):
            time.sleep(rng.uniform(0.2, 1.5))
            kind = _KINDS[number % len(_KINDS)]
            report.kills[kind] = report.kills.get(kind, 0) + 1
            if kind == "postgres":
                postgres.kill()
                time.sleep(rng.uniform(0.0, 1.0))
                postgres.start()
            else:
                rng.choice(parts[kind]).kill()
                if kind == "nginx":
                    (folder / "nginx" / "pid").unlink(missing_ok=True)
            _revive(parts, data, hands)
            say(f"{number + 1} of {times}: {kind}")
        with Database(url, connections=2) as database:
            while not _is_whole(database, data, hands):
                _revive(parts, data, hands)
                time.sleep(0.5)
            while project(database):
                pass
            _compare(database, data, report)
    report.seconds = round(time.monotonic() - began, 1)
    return report


def suppressed(act: Callable[[], None]) -> None:
    """Do something at the end that may fail because it was killed."""
    with suppress(subprocess.CalledProcessError):
        act()


def _revive(parts: dict[str, list[Part]], data: list[Path], hands: int) -> None:
    for kind, some in parts.items():
        for part, path in zip(some, data if kind == "table" else some, strict=False):
            done = isinstance(path, Path) and JournalReader(path).recover()[0].hand >= hands
            if not part.runs and not done:
                part.start()


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def _is_whole(database: Database, data: list[Path], hands: int) -> bool:
    heads = {JournalReader(path).head() for path in data}
    if any(JournalReader(path).recover()[0].hand < hands for path in data):
        return False
    with database.transaction() as connection:
        return heads == set(connection.execute("SELECT seq, hash FROM head").fetchall())


def _compare(database: Database, data: list[Path], report: Report) -> None:
    names = ", ".join(Entry._fields)
    for path in data:
        rows = JournalReader(path).events_since(0, 10**9)
        report.rows += len(rows)
        with database.transaction() as connection:
            query = f"SELECT {names} FROM entry JOIN record USING (record_id) WHERE genesis = %s ORDER BY seq"
            found = [Entry(*row) for row in connection.execute(query, (rows[0].hash,))]
            report.quarantined += connection.execute("SELECT count(*) FROM quarantine").fetchone()[0]  # type: ignore[index]
            listed = connection.execute(
                f"SELECT {', '.join(COLUMNS)} FROM hand JOIN record USING (record_id) WHERE genesis = %s ORDER BY hand",
                (rows[0].hash,),
            ).fetchall()
        report.lost += len(set(rows) - set(found))
        report.doubled += len(found) - len({row.seq for row in found})
        report.differing += found != rows
        report.differing_hands += listed != _hands_of(rows)


def _hands_of(rows: list[Entry]) -> list[tuple[Any, ...]]:
    batch = Batch(lambda hand: None)
    for row in rows:
        if row.type in TOLD:
            batch.take(row.seq, row.hand, row.wall_ms, row.type, row.payload)
    return [tuple(getattr(line, name) for name in COLUMNS) for _, line in sorted(batch.lines.items())]


@click.command()
@click.option("--tables", default=50, show_default=True)
@click.option("--hands", default=200, show_default=True, help="Hands of each table.")
@click.option("--times", default=100, show_default=True, help="Kills.")
@click.option("--seed", default=0, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the report here.")
def main(tables: int, hands: int, times: int, seed: int, path: Path | None) -> None:
    """Kill the pit, PostgreSQL, nginx, an uplink and a table in turn while tables send; then compare everything."""
    report = campaign(tables, hands, times, seed, lambda text: click.echo(text, err=True))
    text = json.dumps(vars(report), indent=2)
    click.echo(text)
    if path is not None:
        path.write_text(text + "\n", encoding="utf-8")
    raise SystemExit(not report.ok)


if __name__ == "__main__":
    main()
