"""`feltwatch pit demo`: several simulated tables and their pit, in one command, on any computer."""

from __future__ import annotations

import logging
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from firmware.stop_signals import call_at_signals
from firmware.terminal import say
from firmware.threads import start, start_thread

if TYPE_CHECKING:
    from pit.demo.tables import DemoTable
    from pit.store.database import Database

SHOW_EVERY_S: Final = 1.0
SAY_EVERY_S: Final = 10.0
"""Seconds between two summaries if the output is not a terminal."""
COMES_S: Final = 10.0
"""Seconds after which the floor person comes who said "I go"."""


@click.command("demo")
@click.option("--tables", type=click.IntRange(1, 200), default=6, help="How many tables play.")
@click.option(
    "--hands", type=click.IntRange(1), help="End after this many hands at each table; without it, at Ctrl-C."
)
@click.option(
    "--speed",
    type=click.FloatRange(min=0.1, max=1000),
    default=2.0,
    help="How many times as fast as people to play.",
)
@click.option("--seed", type=int, default=1, help="The same seed deals the same cards.")
@click.option("--profile", default="washington-1-unit", help="The rules: a name or a .toml file.")
@click.option(
    "--from-url",
    metavar="URL",
    help="Use this PostgreSQL: a database of the demo's own is made there, and dropped at the end. "
    "[default: a temporary server]",
)
@click.option(
    "--unplug",
    type=click.FloatRange(min=0),
    default=10.0,
    metavar="SECONDS",
    help="Unplug the last table's uplink so long after the floor page opens: its tile says that it is not heard of.",
)
@click.option(
    "--rewrite",
    type=click.FloatRange(min=0),
    default=60.0,
    metavar="SECONDS",
    help="Rewrite the record of the last table but one so long after the floor page opens: its tile turns red.",
)
@click.option(
    "--call",
    type=click.FloatRange(min=0),
    default=20.0,
    metavar="SECONDS",
    help="Let the dealer of the second table call the floor so long after the floor page opens.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=False,
    help="The floor page's port.  [default: a free one]",
)
@click.option(
    "--calm",
    is_flag=True,
    help="Nothing happens: no dispute, no call, no table unplugged, no record rewritten.",
)
def command(
    tables: int,
    hands: int | None,
    speed: float,
    seed: int,
    profile: str,
    from_url: str | None,
    unplug: float,
    rewrite: float,
    call: float,
    port: int,
    calm: bool,
) -> None:
    """Play several simulated tables that send their records to a pit.

    The table's own program on simulated felts, each table and its uplink on threads of this process; TLS with a
    certificate for each table, a real PostgreSQL, and the pit's pages for people. Hand 1 of the first table is disputed
    from the beginning; with two tables or more the last one is unplugged, with three or more somebody rewrites the
    record of the one before it, in its files, and with four or more the dealer of the second one calls the floor. It
    prints when and what to look at. A table that can play no further is said, and the others go on. Nothing is left
    behind.
    """
    from pit.demo.floor import floor_page
    from pit.demo.postgres import own_database, temporary_server
    from pit.store.database import Database, migrate

    logging.basicConfig(level=logging.ERROR, format="%(name)s: %(message)s")
    stop = threading.Event()
    with ExitStack() as stack:
        stack.enter_context(call_at_signals(stop.set))
        say("PostgreSQL is being started…", err=True)
        url = stack.enter_context(own_database(from_url) if from_url else temporary_server())
        migrate(url)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-pit-", dir="/tmp")))
        database = stack.enter_context(Database(url))
        page, people = stack.enter_context(floor_page(url, folder, port))
        address = stack.enter_context(_pit(database, folder))
        played = stack.enter_context(
            _tables(database, folder, address, stop, (tables, hands, speed, seed, profile), calm=calm)
        )
        say(f"The floor page: {page}", err=True)
        for name, passphrase in people.items():
            say(f"  log in as {name}: {passphrase}", err=True)
        say(f"The pit's door for tables: https://{address}/   (TLS, a certificate for each table)", err=True)
        say(f'Its tables: feltwatch pit table list --url "{url}"', err=True)
        say(f"A table's record: feltwatch hands list --data {played[0].data}", err=True)
        for line in (
            () if calm else stack.enter_context(_incidents(database, played, stop, (unplug, rewrite, call)))
        ):
            say(line, err=True)
        say("Ctrl-C ends the demo and removes all of it.", err=True)
        whole = _show(database, played, stop)
    if hands and not whole:
        sys.exit(130 if stop.is_set() else 1)


@contextmanager
def _pit(database: Database, folder: Path) -> Iterator[str]:
    """Serve the door on loopback, over TLS, and make the list of hands; yield the door's address."""
    from pit.authority import Authority
    from pit.door.routes import make_door
    from pit.door.serve import Projector
    from pit.door.tls_front import TlsFront, by_tls
    from pit.files.offers import HouseRepository
    from pit.follow.news import News
    from pit.log.keeper import Keeper, KeeperThread
    from pit.store.files import Files

    authority = Authority(folder / "authority")
    authority.door()
    house = HouseRepository(folder, authority)
    with database.transaction() as connection:
        house.renew(connection)
    news, keeper = News(), Keeper(database, folder)
    app = make_door(database, Files(folder / "images"), by_tls, news=news, keeper=keeper, house=house)
    background = (Projector(database, news), KeeperThread(keeper))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        front = TlsFront(app, listening, folder / "authority")
        serving = start_thread(front.serve_forever, name="door")
        for thread in background:
            start(thread)
        try:
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            for thread in background:
                thread.stop()
            front.shutdown()
            serving.join()
            front.server_close()


@contextmanager
def _tables(
    database: Database,
    folder: Path,
    address: str,
    stop: threading.Event,
    what: tuple[int, int | None, float, int, str],
    *,
    calm: bool,
) -> Iterator[list[DemoTable]]:
    """Enrol the tables and start them; at the end stop them."""
    from firmware.record.evidence.signing import DeviceKey
    from pit.authority import Authority
    from pit.demo.tables import DemoTable
    from pit.log.keys import accept
    from pit.status.tables import enrol

    count, hands, speed, seed, profile = what
    authority = Authority(folder / "authority")
    made = []
    for number in range(1, count + 1):
        name, enrolment = f"Table {number}", folder / f"enrolment-{number}"
        enrol(database, name, authority.enrol(name, enrolment, [address]))
        data = folder / f"table-{number}"
        disputed = number == 1 and not calm
        table = DemoTable(
            name, data, enrolment, seed + number, speed, hands, stop, profile, disputed=disputed
        )
        # as by a technician who compared the words
        accept(database, name, DeviceKey.open(table.key_folder).public)
        made.append(table)
    try:
        for table in made:
            table.start()
        yield made
    finally:
        stop.set()
        for table in made:
            table.join()


@contextmanager
def _incidents(
    database: Database, tables: Sequence[DemoTable], stop: threading.Event, after: tuple[float, float, float]
) -> Iterator[list[str]]:
    """Let things happen so many seconds from now; yield what there is to see, and when."""
    unplug, rewrite, call = after
    first, *others = tables
    sentences = [
        f"Look at the floor page: {first.name} stands first. Its hand 1 is in dispute: the tile leads to the hand, "
        "its pictures and the dispute file."
    ]
    timers: list[threading.Timer] = []
    if others:
        timers.append(threading.Timer(unplug, others[-1].unplug))
        sentences.append(
            f"After {unplug:g} s {others[-1].name} is unplugged: its tile loses its green within 15 s; after 30 s it "
            "says that it is not heard of. It deals on."
        )
    if len(others) > 1:
        timers.append(threading.Timer(rewrite, others[-2].rewrite))
        sentences.append(
            f"After {rewrite:g} s somebody rewrites the record of {others[-2].name} in its files; at the table it "
            "verifies, but it is not what the box signed last: a floor person reads that, then it deals on. Within "
            "15 s its tile is red: the pit has the rows as they were."
        )
    if len(others) > 2:
        timers.append(threading.Timer(call, _call_floor, (database, others[0], stop)))
        sentences.append(
            f"After {call:g} s the dealer of {others[0].name} calls the floor: its tile says so at once. Touch “I go” "
            f"there: {COMES_S:g} s later you have come, and the call is over."
        )
    for timer in timers:
        start(timer)
    try:
        yield sentences
    finally:
        stop.set()
        for timer in timers:
            timer.cancel()
            timer.join()


def _call_floor(database: Database, table: DemoTable, stop: threading.Event) -> None:
    """Let the dealer call the floor, once the dispute is known, and anyone who says "I go" on the floor page come."""
    from pit.follow.search import disputes

    while not disputes(database) and not stop.wait(SHOW_EVERY_S):
        pass
    table.call_floor()
    query = "SELECT FROM going JOIN gaming_table USING (table_id) WHERE name = %s AND need LIKE 'call:%%'"
    while not stop.wait(SHOW_EVERY_S):
        with database.transaction() as connection:
            goes = connection.execute(query, (table.name,)).fetchone() is not None
        if goes and not stop.wait(COMES_S):
            table.floor_comes()
            return


def _show(database: Database, tables: Sequence[DemoTable], stop: threading.Event) -> bool:
    """Show the tables until the end; return whether all hands were played and the pit has and lists them."""
    from rich.live import Live

    from pit.demo.screen import grid, is_listed, look

    is_terminal = sys.stdout.isatty()
    with ExitStack() as stack:
        live = stack.enter_context(Live(auto_refresh=False)) if is_terminal else None
        due = 0.0
        while True:
            played = all(table.played for table in tables)
            lines = look(database, tables)
            rows, have = sum(line.rows for line in lines), sum(line.have for line in lines)
            failed = [table for table in tables if table.failure is not None]
            is_sent = all(
                line.rows == line.have or table.is_apart for line, table in zip(lines, tables, strict=True)
            )
            whole = played and is_sent and is_listed(database) and not failed
            ended = whole or stop.is_set() or (played and bool(failed))
            title = f"{len(lines)} tables, {rows} rows, the pit has {have}"
            if live is not None:
                live.update(grid(lines, title), refresh=True)
            elif time.monotonic() >= due or ended:
                due = time.monotonic() + SAY_EVERY_S
                say(title)
                for line in lines:
                    say(line.text)
            if ended:
                return whole
            stop.wait(SHOW_EVERY_S)
