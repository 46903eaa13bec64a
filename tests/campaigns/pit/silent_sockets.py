"""Strangers hold sockets open at the pit's door; meanwhile a table's request is answered, and strangers get nothing.

    python -m tests.campaigns.pit.silent_sockets --sockets 1000

Of the sockets a third never speak, a third begin a TLS handshake and stop, and a third are clients without a
certificate that is believed. A table then comes, each time over a new connection, as after a power cut.
"""

from __future__ import annotations

import shutil
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click

from firmware.uplink.client import Client
from firmware.uplink.settings import load
from firmware.uplink.wire import Head, Offer
from pit.authority import Authority
from pit.files.offers import HouseRepository
from pit.status.tables import enrol
from pit.store.database import Database, migrate
from tests.campaigns.pit.report import report_options, write_report
from tests.pit.conftest import behind_nginx, without_nginx
from tests.pit.house import MACHINE
from tests.pit.postgres import Postgres

MAX_ANSWER_S: Final = 1.0
"""Seconds within which a table's request is answered, connection and handshake included, behind nginx."""
HELLO: Final = bytes.fromhex("160301020001000100fc0303")
"""The beginning of a TLS handshake; the rest never comes."""
Door = Callable[[Database, Authority, HouseRepository, Path], AbstractContextManager[tuple[str, int]]]


@dataclass
class Answers:
    """Seconds that a table's requests took."""

    requests: int
    median_s: float
    longest_s: float


@dataclass
class Report:
    """What the campaign found, by door; alone, and with the sockets held open."""

    sockets: int
    alone: dict[str, Answers] = field(default_factory=dict)
    meanwhile: dict[str, Answers] = field(default_factory=dict)
    machine: str = MACHINE

    @property
    def ok(self) -> bool:
        return self.meanwhile["nginx"].longest_s <= MAX_ANSWER_S


DOORS: Final[dict[str, Door]] = {"nginx": behind_nginx, "without nginx": without_nginx}


def campaign(sockets: int, requests: int, url: str, say: Callable[[str], None]) -> Report:
    """Hold sockets open at each door; see the command."""
    report = Report(sockets)
    with ExitStack() as stack:
        database = stack.enter_context(Database(url, connections=8))
        folder = Path(tempfile.mkdtemp(prefix="feltwatch-pit-"))  # a Unix socket's path is short
        stack.callback(shutil.rmtree, folder)
        for name, door in DOORS.items():
            own = folder / name.replace(" ", "-")
            authority = Authority(own / "authority")
            authority.door()
            with door(database, authority, HouseRepository(own, authority), own) as address:
                table = own / "table"
                enrol(database, name, authority.enrol(name, table, [f"{address[0]}:{address[1]}"]))
                report.alone[name] = _ask(table, requests)
                with _silent(address, sockets):
                    report.meanwhile[name] = _ask(table, requests)
                say(f"{name}: {report.alone[name]} alone, {report.meanwhile[name]} meanwhile")
    return report


def _ask(enrolment: Path, requests: int) -> Answers:
    settings = load(enrolment)
    assert settings is not None
    taken = []
    for _ in range(requests):
        client = Client(settings)
        began = time.monotonic()
        client.offer(Offer("", Head()))
        taken.append(time.monotonic() - began)
        client.close()
    taken.sort()
    return Answers(requests, round(taken[len(taken) // 2], 3), round(taken[-1], 3))


@contextmanager
def _silent(address: tuple[str, int], count: int) -> Iterator[None]:
    bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    bare.check_hostname, bare.verify_mode = False, ssl.CERT_NONE
    with ExitStack() as held:
        for number in range(count):
            one = held.enter_context(socket.create_connection(address, 60))
            if number % 3 == 1:
                one.sendall(HELLO)
            elif number % 3 == 2:
                with suppress(OSError):
                    held.enter_context(bare.wrap_socket(one))
        yield


@click.command()
@click.option("--sockets", default=1000, show_default=True)
@click.option(
    "--requests", default=100, show_default=True, help="A table's requests at each door, alone and meanwhile."
)
@report_options
def main(sockets: int, requests: int, path: Path | None) -> None:
    """Hold sockets open at both doors, and measure a table's request meanwhile."""
    folder = Path(tempfile.mkdtemp(prefix="feltwatch-pg-"))
    folder.chmod(0o711)
    server = Postgres(folder)
    server.start()
    try:
        url = server.make("pit")
        migrate(url)
        report = campaign(sockets, requests, url, lambda text: click.echo(text, err=True))
    finally:
        server.stop()
        shutil.rmtree(folder)
    write_report(report, path)


if __name__ == "__main__":
    main()
