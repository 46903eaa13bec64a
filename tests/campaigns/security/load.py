"""The table under a full load of requests on the page: does a frame or an event come later? `make security-load`.

    python -m tests.campaigns.security.load --hands 30 --write docs/security-load.md

A table of the product on simulated devices plays on, hand after hand, in turn at rest and while clients request every
page as fast as they are answered. The page is a process of its own, with its unit's priority. The clients have the
lowest priority: in a card room they are other machines, or an `ssh -L`, and take no processor of the box.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from firmware.bench.harness import machine
from firmware.devices.panel.debounce import BOUNCE, SETTLE, TOGETHER
from firmware.record.journal.journal import Entry, JournalReader
from firmware.rules import CARDS
from firmware.runtime.config import Config, ScreenConfig, TimesConfig
from firmware.runtime.liveness.presses import SEEN_S
from firmware.simulation.live.table import SimulatedTable
from firmware.table import Phase
from firmware.table.dealing import due_button
from firmware.table.events import ROWS
from firmware.table_client import TableLink

UNIT: Final = Path(__file__).parents[3] / "systemd/units/feltwatch-ui.service"
LIMIT_MS: Final = 100.0
CONNECTIONS: Final = 32
STREAMS: Final = 16
IN_TURN: Final = 5
"""Hands at rest, then as many under load, and so on: other work of the machine then disturbs both alike."""
WARM_UP: Final = 3
PAGES: Final = ("/", "/view.json", "/review", "/rules", "/healthz?checks", "/health", "/profiles", "/metrics")
WAITS_S: Final = TOGETHER + BOUNCE + SETTLE
KINDS: Final = {
    "frame": "one frame through the card reader; of the frames of one reading, the longest",
    "look": "from the signal to the last of the frames that must agree (not judged as a whole: each frame is)",
    "button": f"from a finger on the white push-button to the row; {1000 * WAITS_S:.0f} ms wait for a second finger",
    "puck": "from the puck being laid to the row, with the puck reader's scans of all antennas between them",
    "command": "from a command on the table's socket to its answer, which comes once the row is on the disk",
}
"""What is timed: frames by the reading process itself, the others by this program."""
NOT_JUDGED: Final = frozenset({"look"})
"""Reported only: several frames after one another, of which each is judged by itself."""


@dataclass
class Times:
    """Milliseconds by kind."""

    ms: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in KINDS})

    def add(self, kind: str, ms: float) -> None:
        """Add one time."""
        self.ms[kind].append(ms)


@dataclass(frozen=True)
class Delay:
    """What a load does to one kind: figures at rest and under load in milliseconds."""

    kind: str
    count: int
    rest_median: float
    rest_longest: float
    load_median: float
    load_longest: float

    @property
    def worst(self) -> float:
        """How much later the latest one under load came than the latest at rest."""
        return self.load_longest - self.rest_longest


def delays(rest: Times, load: Times) -> list[Delay]:
    """Return what the load does to each kind."""
    found = []
    for kind in KINDS:
        still, busy = rest.ms[kind], load.ms[kind]
        medians = statistics.median(still), statistics.median(busy)
        found.append(Delay(kind, len(busy), medians[0], max(still), medians[1], max(busy)))
    return found


class UnexpectedState(Exception):
    """The table is in another state than the player expects."""


class Player:
    """Plays hands at a table, and times from each act to its row in the journal."""

    def __init__(self, table: SimulatedTable, config: Config, seed: int) -> None:
        self._table, self._rng = table, random.Random(seed)
        self._link, self._reader = TableLink(config.socket, timeout=30.0), JournalReader(config.data)
        self._places = {seat.seat: seat.place for seat in table.house.seats}

    def hands(self, times: Times, count: int) -> int:
        """Play so many hands and time them; return how many more were discarded.

        On a machine that is late, one touch's bounces may count as a second touch: such a hand is played again.
        """
        discarded = 0
        while count:
            one = Times()
            try:
                self._hand(one)
            except UnexpectedState:
                discarded += 1
                self._table.clear()
                self._link.send({"do": "void", "reason": "the finger slipped"})
                continue
            count -= 1
            for kind, values in one.ms.items():
                times.ms[kind] += values
        return discarded

    def _hand(self, times: Times) -> None:
        """Play one hand, and void it if the reader is not sure of a card: its times count anyway.

        Timed is the puck's move to the seat at which it is due. Raises UnexpectedState.
        """
        state = self._reader.recover()[0]
        seat = due_button(state, self._table.house) or self._rng.choice(list(self._places))
        if state.puck.seat == seat:  # after a voided hand it is due where it lies
            self._move_puck(self._rng.choice([one for one in self._places if one != seat]), Times())
        seq = self._move_puck(seat, times)
        time.sleep(SEEN_S)  # a press before that does not count: nobody has seen what it would do
        began = time.monotonic()
        self._table.panel.press("next")
        seq = self._row(seq, "hand_opened", began, "button", times)
        self._do("next", times)
        self._table.lay(self._deal())
        self._do("next", times)
        end = self._after(seq, "reading_taken", "reading_failed")
        if end.type == "reading_failed":
            raise UnexpectedState(end.payload)
        took: dict[str, float] = json.loads(end.payload)["ms"]
        times.add("frame", took["longest_frame"])
        times.add("look", took["all_frames"])
        if self._reader.recover()[0].phase is Phase.SETTLED:
            self._do("archive", times)
        else:
            self._do("void", times, reason="a card that is not sure")
        self._table.clear()

    def _move_puck(self, seat: int, times: Times) -> int:
        seq = self._reader.head()[0]
        began = time.monotonic()
        self._table.puck.move_to(seat)
        return self._row(
            seq, "puck_seen", began, "puck", times, lambda row: json.loads(row.payload)["seat"] == seat
        )

    def _do(self, do: str, times: Times, **more: Any) -> None:
        began = time.monotonic()
        answer = self._link.send({"do": do, **more})
        times.add("command", 1000 * (time.monotonic() - began))
        if not answer["ok"]:
            raise UnexpectedState(f"The table refused {do}: {answer['error']}")

    def _row(
        self, seq: int, kind: str, began: float, timed: str, times: Times, right: Any = lambda row: True
    ) -> int:
        while True:
            row = self._after(seq, kind)
            seq = row.seq
            if right(row):
                times.add(timed, 1000 * (row.monotonic_ns / 1e9 + self._table.commit_s - began))
                return seq

    def _after(self, seq: int, *kinds: str) -> Entry:
        """Wait until a row of one of these types stands in the journal after number `seq`, and return it."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self._table.failure is None:
            for row in self._reader.events_since(seq):
                if row.type in kinds:
                    return row
            time.sleep(0.02)
        raise click.ClickException(f"The table did not come to {kinds[0]}.")

    def _deal(self) -> dict[str, dict[str, list[str]]]:
        deck = [card.code for card in CARDS]
        self._rng.shuffle(deck)
        return {
            place: {row: [deck.pop() for _ in range(count)] for row, count in ROWS.items()}
            for place in self._places.values()
        }


# ---- the page, and who asks it ----


def page_nice() -> int:
    """Return the priority (`nice`) that the page's unit sets."""
    found = re.search(r"^Nice=(\d+)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)
    return int(found[1]) if found else 0


@contextmanager
def page(data: Path) -> Iterator[int]:
    """Serve the page from a process of its own, with its unit's priority; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    order = [sys.executable, "-m", "firmware.cli", "ui", "--data", str(data), "--port", str(port)]
    served = subprocess.Popen(
        ["nice", "-n", str(page_nice()), *order], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while True:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/view.json", timeout=5):
                break
            if served.poll() is not None or time.monotonic() > deadline:
                raise click.ClickException("The page did not start.")
            time.sleep(0.1)
        yield port
    finally:
        served.terminate()
        with suppress(subprocess.TimeoutExpired):
            served.wait(10)
        served.kill()
        served.wait()


@contextmanager
def crowd(port: int) -> Iterator[list[int]]:
    """Let a crowd ask the page meanwhile; yield a list to which the number of answers is added at the end."""
    counted: list[int] = []
    process = subprocess.Popen(
        ["nice", "-n", "19", sys.executable, "-m", "tests.campaigns.security.load", "crowd", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=UNIT.parents[2],
    )
    assert process.stdout is not None
    try:
        if process.stdout.readline() != "asking\n":
            raise click.ClickException("Nobody could be made to ask the page.")
        yield counted
    finally:
        number, _ = process.communicate(timeout=60)
        counted.append(int(number or 0))


class Crowd:
    """Requests every page again and again, on connections that stay open; others receive the table's changes."""

    def __init__(self, port: int) -> None:
        self.answers = 0
        self._port = port
        self._over = threading.Event()
        jobs = [self._ask] * (CONNECTIONS - 2) + [self._command] * 2 + [self._follow] * STREAMS
        self._threads = [threading.Thread(target=job, args=(number,)) for number, job in enumerate(jobs)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End all connections."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)

    def _ask(self, number: int) -> None:
        line = self._connection()
        while not self._over.is_set():
            number += 1
            try:
                line.request("GET", PAGES[number % len(PAGES)])
                line.getresponse().read()
                self.answers += 1
            except (OSError, http.client.HTTPException):
                line.close()

    def _command(self, _number: int) -> None:
        """Commands that the table itself refuses: each goes through its one thread."""
        line = self._connection()
        while not self._over.is_set():
            try:
                line.request("GET", "/")
                token = (
                    line.getresponse().read().split(b'csrf-token" content="', 1)[1].split(b'"', 1)[0].decode()
                )
                for _ in range(50):
                    body = json.dumps({"do": "mark_paid", "a": 1, "b": 1, "hand": 1 << 30})
                    line.request(
                        "POST", "/command", body, {"X-CSRF-Token": token, "Content-Type": "application/json"}
                    )
                    line.getresponse().read()
                    self.answers += 1
            except (OSError, http.client.HTTPException, IndexError):
                line.close()

    def _follow(self, _number: int) -> None:
        while not self._over.is_set():
            line = self._connection()
            with suppress(OSError, http.client.HTTPException):
                line.request("GET", "/events")
                stream = line.getresponse()
                while not self._over.is_set() and stream.readline():
                    pass
            line.close()


# ---- the run ----


@dataclass(frozen=True)
class Result:
    """What a run found."""

    hands: int
    discarded: int
    delays: list[Delay]
    answers_per_s: float
    load_before: float

    @property
    def holds(self) -> bool:
        """Whether nothing came later by more than the limit."""
        return all(one.worst <= LIMIT_MS for one in self.delays if one.kind not in NOT_JUDGED)

    def text(self) -> str:
        """Say it as Markdown."""
        rows = "\n".join(
            f"| {KINDS[one.kind]} | {one.count} | {one.rest_median:.0f} | {one.rest_longest:.0f} | "
            f"{one.load_median:.0f} | {one.load_longest:.0f} | {one.worst:+.0f} |"
            for one in self.delays
        )
        verdict = "**It holds**" if self.holds else "**It does not hold**"
        return f"""# The table under a full load of requests

Written by `make security-load` on {datetime.now(UTC).date()}: {machine()}; {self.load_before:.1f} other processes
wanted the processor at the start. {self.hands} hands at rest and {self.hands} under load, in turn; {self.discarded}
more hands do not count, because the simulated finger's bounces were taken for a second touch.

{CONNECTIONS} connections stay open and request every page again and again, without a pause; two of them send commands
that the table itself refuses. {STREAMS} more connections receive each change of the table's page. The page answered
{self.answers_per_s:.0f} requests a second, which is all that it can, at its unit's priority (`Nice={page_nice()}`).
The clients of the requests run at the lowest priority: on a box they would be other machines.

{verdict}: under load the latest frame or event may be at most {LIMIT_MS:.0f} ms later than the latest one at rest.

| milliseconds | times | at rest, median | longest | under load, median | longest | longest: later by |
|---|---:|---:|---:|---:|---:|---:|
{rows}

The reading process times its frames. An event's time runs from its cause to its row in the journal. Simulated
devices, on cores that page, reader and table share; a Raspberry Pi 5 has four cores: UNTESTED there.
"""


def measure(hands: int, seed: int = 1, scale: float = 1.0) -> Result:
    """Play so many hands at rest and as many under load. Raises click.ClickException where the table does not go on."""
    load_before = os.getloadavg()[0]
    rest, busy, answers, seconds, discarded = Times(), Times(), 0, 0.0, 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-load-")))
        (folder / "room").mkdir()
        config = Config(
            data=folder / "data",
            profile="washington-1-unit",
            times=TimesConfig(turn_up=0.0, reading=60.0, reading_start=120.0),
            screen=ScreenConfig(kiosk=False),
        )
        table = stack.enter_context(SimulatedTable(config, folder / "room", seed, scale=scale))
        player = Player(table, config, seed)
        port = stack.enter_context(page(config.data))
        player.hands(Times(), WARM_UP)
        left = hands
        while left:
            now = min(IN_TURN, left)
            discarded += player.hands(rest, now)
            with crowd(port) as counted:
                discarded += player.hands(Times(), 1)  # until the whole crowd is at work
                began = time.monotonic()
                discarded += player.hands(busy, now)
                seconds += time.monotonic() - began
            answers += counted[0]
            left -= now
    return Result(hands, discarded, delays(rest, busy), answers / seconds, load_before)


@click.group(invoke_without_command=True)
@click.option(
    "--hands", type=click.IntRange(1), default=30, show_default=True, help="At rest, and under load."
)
@click.option("--write", type=click.Path(path_type=Path, dir_okay=False), help="Also write the report here.")
@click.pass_context
def main(context: click.Context, hands: int, write: Path | None) -> None:
    """Measure what a full load of requests on the page does to the table. Exit 1 where it does not hold."""
    if context.invoked_subcommand:
        return
    result = measure(hands)
    click.echo(result.text())
    if write:
        write.write_text(result.text(), encoding="utf-8")
    sys.exit(not result.holds)


@main.command("crowd", hidden=True)
@click.argument("port", type=int)
def crowd_command(port: int) -> None:
    """Ask the page until the input ends; print how many answers came."""
    clients = Crowd(port)
    click.echo("asking")
    sys.stdin.read()
    clients.stop()
    click.echo(clients.answers)


if __name__ == "__main__":
    main()
