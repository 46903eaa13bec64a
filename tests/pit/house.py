"""A whole pit of real processes: PostgreSQL, `pit serve`, nginx, and each table's `feltwatch uplink`."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pit.authority import Authority
from pit.door.front import command as front_command
from pit.files.offers import REPOSITORY
from pit.status.tables import enrol
from pit.store.database import Database, migrate
from tests.pit.postgres import Postgres

MACHINE: Final = f"{platform.machine()}, {os.cpu_count()} cores, shared"
AS_ROOT: Final = ["-g", "user root;"] if os.geteuid() == 0 else []
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_RUN: Final = "from {} import command; command.main(standalone_mode=True)"


@dataclass
class Part:
    """A process that can be killed and started again. Its children are killed with it."""

    arguments: list[str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(self.arguments, stdout=log, stderr=log, start_new_session=True)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Send a signal to the process and its children, and wait for the end."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            self.process.wait()

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None


def feltwatch(command: str, *arguments: object) -> list[str]:
    """Return the arguments that run one of the product's commands, given by its module."""
    return [sys.executable, "-c", _RUN.format(command), *map(str, arguments)]


def processor_s(process: int) -> float:
    """Return the seconds of processor time of a process and its children, those that have ended included."""
    stat = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    children = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return sum(map(int, stat[11:15])) / _TICKS + sum(_if_it_lives(int(child)) for child in children)


def _if_it_lives(child: int) -> float:
    try:
        return processor_s(child)
    except (FileNotFoundError, ProcessLookupError):
        return 0.0  # ended at this moment: its parent has its time at the next look


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return int(one.getsockname()[1])


def nginx_command(address: str, doors: Sequence[Path], pit: Path, own: Path) -> list[str]:
    """Return the command of nginx before doors; `pit`: the pit's folder, `own`: nginx's."""
    return [*front_command(address, doors, pit / "authority", pit / REPOSITORY, own), *AS_ROOT]


@dataclass
class House:
    """The pit's processes and the tables' uplinks. `data[n]` is the folder of table n's record."""

    folder: Path
    postgres: Postgres
    url: str
    authority: Authority
    pit: Part
    nginx: Part
    address: str
    data: list[Path] = field(default_factory=list)
    enrolments: list[Path] = field(default_factory=list)
    uplinks: list[Part] = field(default_factory=list)
    second_address: str = ""
    """Of a second server, which tables know too."""

    def add_tables(self, count: int) -> None:
        """Enrol tables; their records' folders and uplinks are theirs to fill and start."""
        with Database(self.url, connections=1) as database:
            for _ in range(count):
                number = len(self.data)
                name, own, data = (
                    f"Table {number + 1}",
                    self.folder / f"own-{number}",
                    self.folder / f"table-{number}",
                )
                known = [self.address, *([self.second_address] if self.second_address else [])]
                enrol(database, name, self.authority.enrol(name, own, known))
                data.mkdir()
                self.data.append(data)
                self.enrolments.append(own)
                witness = self.folder / f"witness-{number}"
                given = ("--data", data, "--enrolment", own, "--state", own, "--witness", witness)
                arguments = feltwatch("firmware.uplink.cli", *given)
                self.uplinks.append(Part(arguments, self.folder / "log"))

    def serve_on(self, url: str) -> None:
        """Let the pit serve another database from its next start on."""
        self.url = url
        self.pit.arguments[self.pit.arguments.index("--url") + 1] = url

    def start(self) -> None:
        """Start the pit and nginx."""
        if not self.nginx.runs:  # as `pit front` does: a killed nginx leaves both behind
            for left in ("pid", "tls.sock"):
                (self.folder / "nginx" / left).unlink(missing_ok=True)
        for part in (self.pit, self.nginx):
            if not part.runs:
                part.start()

    def stop(self) -> None:
        """Kill the pit and nginx."""
        self.pit.kill()
        self.nginx.kill()

    def centre_s(self) -> dict[str, float]:
        """Return the seconds of processor time of the pit's processes so far, by part."""
        processes = {
            "pit": self.pit.process,
            "nginx": self.nginx.process,
            "PostgreSQL": self.postgres.process,
        }
        return {name: processor_s(process.pid) for name, process in processes.items() if process is not None}


@contextmanager
def house(*, durable: bool = True) -> Iterator[House]:
    """Make the parts in a temporary folder; PostgreSQL runs, the pit and nginx are started by `start`."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-house-"))
    folder.chmod(0o755)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        postgres = Postgres(folder / "pg", durable=durable)
        postgres.start()
        stack.callback(postgres.stop)
        url = postgres.make("pit")
        migrate(url)
        authority = Authority(folder / "pit" / "authority")
        authority.door()
        address, door, log = f"127.0.0.1:{free_port()}", folder / "door.sock", folder / "log"
        served = feltwatch(
            "pit.cli.main", "serve", "--url", url, "--folder", folder / "pit", "--socket", door
        )
        nginx = nginx_command(address, [door], authority.folder.parent, folder / "nginx")
        made = House(folder, postgres, url, authority, Part(served, log), Part(nginx, log), address)
        try:
            yield made
        finally:
            for part in (*made.uplinks, made.nginx, made.pit):
                part.kill()
