"""Kills the table process with SIGKILL at random moments, over and over, and looks at what is left each time.

    python -m tests.campaigns.appliance.kill_campaign --times 300 --seed 7
    python -m tests.campaigns.appliance.kill_campaign --times 20 --hands 1000000 --data FOLDER

The process is `feltwatch run`, on a record of its own; no camera and no puck reader are there, which it bears. A
client drives it over its socket with every kind of command and notes each answer. After every kill the record must
hold each acknowledged event, its chain must verify, and the next start must come to the state that the record implies
in under three seconds. SIGKILL loses no page that the kernel has; a power cut may, and is not what is tried here.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import Progress

from firmware.record.evidence.verify import find_torn_images, verify
from firmware.record.journal.journal import Entry, JournalReader
from firmware.rules import CARDS
from firmware.table import INITIAL, Ask, Phase, State, TableError, apply, fold
from firmware.table.events import ROWS
from tests.generated_record import generate_record

WITHIN: Final = 3.0
"""Seconds that a restart may take until the first command is answered, on a machine that has a core to spare."""
GIVES_UP: Final = 60.0
AT_START: Final = 0.25
"""The share of kills that come while the process starts."""
VERIFIED_WHOLE: Final = 20_000
"""Hands up to which the whole record is verified at the end; the rows written here always are."""

EFFECT: Final = {
    "next": (
        "hand_opened",
        "phase_advanced",
        "payment_marked",
        "hand_archived",
        "puck_awaited",
        "cards_compared",
    ),
    "keep_button": ("button_kept",),
    "void": ("hand_voided",),
    "misdeal": ("hand_misdealt",),
    "key_hand": ("keying_begun",),
    "key_button": ("button_keyed",),
    "declare": ("natural_declared",),
    "withdraw": ("natural_withdrawn",),
    "surrender": ("surrendered",),
    "withdraw_surrender": ("surrender_withdrawn",),
    "set_card": ("card_resolved", "card_corrected"),
    "key_row": ("row_keyed",),
    "confirm": ("natural_confirmed",),
    "undo_confirm": ("natural_unconfirmed",),
    "mark_paid": ("payment_marked",),
    "look_again": ("looked_again",),
    "list_person": ("person_listed",),
    "unlock": ("pin_accepted",),
    "log_on": ("logged_on",),
}
"""Command → the events that it may be."""


class RecordError(AssertionError):
    """The record is not what it must be; says after which kill."""


@dataclass(frozen=True)
class AcknowledgedCommand:
    """A command that was answered with ok, and the row that the answer named."""

    order: dict[str, Any]
    seq: int


@dataclass
class Figures:
    """What a campaign found."""

    kills: int = 0
    during_start: int = 0
    restarts: list[float] = field(default_factory=list)
    acknowledged: int = 0
    in_flight: int = 0
    """Commands that the kill left without an answer."""
    rows: int = 0
    busiest: float = 1.0
    """The highest load for each core: a restart is given so many times longer."""

    def text(self) -> str:
        """Say it in a few lines."""
        ordered = sorted(self.restarts)
        return (
            f"{self.kills} kills ({self.during_start} during a start): {self.acknowledged} acknowledged commands, "
            f"none missing; {self.in_flight} unanswered; {self.rows} rows, every one chained.\n"
            f"Restart to the first answer: median {statistics.median(ordered):.2f} s, "
            f"95 % within {ordered[int(0.95 * (len(ordered) - 1))]:.2f} s, longest {ordered[-1]:.2f} s "
            f"(up to {self.busiest:.1f} running processes for each core)."
        )


class Campaign:
    """One record, one table process after another."""

    def __init__(self, data: Path, seed: int, longest: float, within: float = WITHIN) -> None:
        """`longest`: seconds that a process may live after its start; `within`: seconds that a restart may take."""
        self.within = within
        self.rng = random.Random(seed)
        self.data = data
        self.longest = longest
        self.config = data.parent / f"{data.name}.toml"
        self.config.write_text(
            f'data = "{data}"\nkey = "{data.parent / "key"}"\nin_memory = true\n'
            f'[camera]\nkind = "files"\ndevice = "{data.parent / "no-pictures"}"\n'
            "[times]\nturn_up = 0.0\n"
        )
        self.log = data.parent / f"{data.name}.log"
        self.socket = data / "table.sock"
        self.reader = JournalReader(data, are_checked=False)
        self.figures = Figures()
        entries = self.reader.since_last_opened()
        self.head: Entry | None = entries[-1] if entries else None

    def round(self) -> None:
        """Start, drive, kill, look. Raises Lost."""
        implied, seq = self._implied()
        began = time.monotonic()
        with self.log.open("w") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "firmware.cli", "run", "--config", str(self.config)],
                stdout=log,
                stderr=log,
            )
        try:
            if self.rng.random() < AT_START and self.figures.restarts:
                time.sleep(self.rng.uniform(0, statistics.median(self.figures.restarts)))
                self.figures.during_start += 1
                noted: list[AcknowledgedCommand] = []
            else:
                self._wait_for_answer(process)
                self.figures.restarts.append(time.monotonic() - began)
                busy = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
                self.figures.busiest = max(self.figures.busiest, busy)
                if self.figures.restarts[-1] > self.within * busy:
                    raise RecordError(f"The restart took {self.figures.restarts[-1]:.1f} s.")
                self._check_recovery(implied, seq)
                noted = self._drive(process, self.rng.uniform(0, self.longest))
        finally:
            process.kill()
            process.wait()
        if process.returncode != -signal.SIGKILL:
            raise RecordError(f"The table process ended by itself ({process.returncode}): {self._said()}")
        self.figures.kills += 1
        self._check_rows(noted)

    def _said(self) -> str:
        return self.log.read_text(errors="replace").strip()[-2000:]

    # ---- the client ----

    def _wait_for_answer(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + max(GIVES_UP, self.within)
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise RecordError(f"The table process did not start: {self._said()}")
            with suppress(OSError), self._line() as ask:
                if ask({"do": "lock"}).get("ok"):  # asks nothing of the record
                    return
            time.sleep(0.005)
        raise RecordError(f"The table process took no command for {GIVES_UP:g} s.")

    @contextmanager
    def _line(self) -> Iterator[Callable[[dict[str, Any]], dict[str, Any]]]:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(20)
            line.connect(str(self.socket))
            with line.makefile("rwb") as file:

                def ask(order: dict[str, Any]) -> dict[str, Any]:
                    file.write(json.dumps(order).encode() + b"\n")
                    file.flush()
                    answer = file.readline()
                    if not answer.endswith(b"\n"):
                        raise ConnectionResetError("killed")
                    found: dict[str, Any] = json.loads(answer)
                    return found

                yield ask

    def _drive(self, process: subprocess.Popen[bytes], seconds: float) -> list[AcknowledgedCommand]:
        """Give commands until the kill, which comes at its moment whatever is going on."""
        noted: list[AcknowledgedCommand] = []
        killer = subprocess.Popen(["/bin/sh", "-c", f"sleep {seconds:.4f}; kill -9 {process.pid}"])
        waiting = False
        try:
            with self._line() as ask:
                while True:
                    order = self._choose(self.reader.recover()[0])
                    if order is None:
                        time.sleep(0.002)
                        if process.poll() is not None:
                            break
                        continue
                    waiting = True
                    answer = ask(order)
                    waiting = False
                    if answer["ok"] and "seq" in answer:
                        noted.append(AcknowledgedCommand(order, answer["seq"]))
        except (OSError, ValueError):
            self.figures.in_flight += waiting
        finally:
            killer.wait()
        self.figures.acknowledged += len(noted)
        return noted

    def _choose(self, state: State) -> dict[str, Any] | None:
        """Choose a command: mostly what is due, now and then anything."""
        rng, seats = self.rng, [seat.seat for seat in state.seats] or [1]
        if rng.random() < 0.1:
            anything: list[dict[str, Any]] = [
                {"do": "next", "hand": state.hand + 1},
                {"do": "declare", "seat": rng.choice(seats)},
                {"do": "withdraw", "seat": rng.choice(seats)},
                {"do": "key_button", "seat": rng.randint(1, 5)},
                {"do": "keep_button", "seat": rng.randint(1, 5)},
                {"do": "mark_paid", "a": 1, "b": 2},
                {"do": "list_person", "person": "Ada", "role": "technician", "new_pin": "8642053"},
                {"do": "look_again"},
                {"do": "void", "reason": "a test"},
                {"do": "misdeal", "reason": "a test"},
            ]
            return rng.choice(anything)
        if state.puck_awaited:
            return {"do": "keep_button", "seat": rng.choice(seats)}  # no puck is here that could be moved
        match state.phase:
            case Phase.IDLE | Phase.ARCHIVED | Phase.VOID | Phase.DEALING | Phase.SETTING:
                if state.phase is Phase.DEALING and state.button is None:
                    return {"do": "key_button", "seat": rng.choice(seats)}
                if state.phase is Phase.SETTING and not state.keyed and rng.random() < 0.8:
                    return {"do": "key_hand", "reason": "no camera"}  # the rest wait for it in vain
                if state.phase is Phase.SETTING and rng.random() < 0.4:
                    return {"do": "declare", "seat": rng.choice(seats)}
                return {"do": "next", "hand": state.hand}
            case Phase.REVIEW:
                return self._answer(state)
            case Phase.SETTLED:
                pairs = (state.settlement or {}).get("pairs", [])
                unpaid = [p for p in pairs if p["paid"] and (p["a"], p["b"]) not in state.paid]
                if unpaid and rng.random() < 0.8:
                    return {"do": "mark_paid", "a": unpaid[0]["a"], "b": unpaid[0]["b"]}
                return {"do": "next", "hand": state.hand}
        return None

    def _answer(self, state: State) -> dict[str, Any] | None:
        """Key what the camera, which is not there, did not read; all seats' cards from one deck."""
        question = next(iter(state.questions), None)
        if question is None:
            return {"do": "next"}
        if question.what is Ask.BUTTON:
            return {"do": "key_button", "seat": 1}
        if question.what is Ask.NATURAL:
            return {"do": "confirm"}
        if question.row is None or question.seat is None:
            return {"do": "void", "reason": "a test"}
        deck = [card.code for card in CARDS]
        random.Random(state.hand).shuffle(deck)
        at = [seat.seat for seat in state.seats].index(question.seat) * 13
        at += {"front": 0, "middle": 3, "back": 8}[question.row]
        cards = " ".join(deck[at : at + ROWS[question.row]])
        return {"do": "key_row", "seat": question.seat, "row": question.row, "cards": cards}

    # ---- the looks ----

    def _implied(self) -> tuple[State, int]:
        """Return what the record implies while nobody writes it. Raises Lost."""
        try:
            state, seq = self.reader.recover()
        except TableError as error:
            raise RecordError(str(error)) from error
        if seq != (self.head.seq if self.head else 0):
            raise RecordError(
                f"The record ended at row {self.head.seq if self.head else 0}, and now ends at {seq}."
            )
        return state, seq

    def _check_recovery(self, implied: State, seq: int) -> None:
        """The rows that the new process wrote must fold onto the implied state, beginning with its start."""
        after = self.reader.events_since(seq)
        if not after or after[0].type != "table_started":
            raise RecordError(f"The restart wrote no start after row {seq}.")
        state = implied
        for entry in after:
            state = apply(state, entry.event)  # raises CommandRefused where the process was in another state
        whole = fold((entry.event for entry in self.reader.since_last_opened()), INITIAL)
        shown = state if implied.hand else whole
        if (shown.phase, shown.hand, shown.seats, shown.settlement) != (
            whole.phase,
            whole.hand,
            whole.seats,
            whole.settlement,
        ):
            raise RecordError("The restart did not come to the state that the record implies.")

    def _check_rows(self, noted: list[AcknowledgedCommand]) -> None:
        rows = self.reader.events_since(self.head.seq if self.head else 0, limit=1_000_000)
        before = self.head
        for entry in rows:
            if entry.seq != (before.seq + 1 if before else 1) or entry.hash != entry.sealed():
                raise RecordError(f"Row {entry.seq} does not verify.")
            if entry.previous != (before.hash if before else ""):
                raise RecordError(f"Row {entry.seq} does not follow the one before it.")
            before = entry
        known = {entry.seq: entry for entry in rows}
        after = 0
        for ack in noted:
            step = [known[seq] for seq in range(max(after, ack.seq - 8) + 1, ack.seq + 1) if seq in known]
            if ack.seq not in known or not any(_is(entry, ack.order) for entry in step):
                raise RecordError(f"{ack.order} was acknowledged as row {ack.seq}, and is not there.")
            after = ack.seq
        for sentence in find_torn_images(self.data, rows):
            raise RecordError(sentence)
        self.figures.rows += len(rows)
        self.head = before


def _is(entry: Entry, order: dict[str, Any]) -> bool:
    """Say whether a row is what a command asked for."""
    if entry.type not in EFFECT[order["do"]]:
        return False
    payload: dict[str, Any] = json.loads(entry.payload)
    wanted = {name: order[name] for name in ("seat", "row", "a", "b", "reason") if name in order}
    cards = order["cards"].split() if "cards" in order else payload.get("cards")
    return bool(wanted.items() <= payload.items() and payload.get("cards") == cards)


def campaign(
    data: Path,
    times: int,
    seed: int,
    longest: float = 0.5,
    on_progress: Callable[[Campaign], None] = lambda _: None,
    within: float = WITHIN,
) -> Campaign:
    """Kill so many times and look after each. Raises Lost, naming the round."""
    played = Campaign(data, seed, longest, within)
    while played.figures.kills < times:
        try:
            played.round()
        except RecordError as error:
            raise RecordError(f"After {played.figures.kills} kills with seed {seed}: {error}") from error
        on_progress(played)
    return played


@click.command()
@click.option("--times", type=click.IntRange(1), default=300, show_default=True, help="Kills.")
@click.option("--seed", type=int, help="The same seed kills at the same moments.  [default: a fresh one]")
@click.option("--hands", type=click.IntRange(0), default=0, help="Begin with so many generated hands.")
@click.option("--longest", type=float, default=0.5, show_default=True, help="Seconds a process may live.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Go on with the record in this folder.  [default: a fresh one]",
)
def main(times: int, seed: int | None, hands: int, longest: float, data: Path | None) -> None:
    """Kill the table process at random moments and look at what is left."""
    seed = random.SystemRandom().randrange(1 << 32) if seed is None else seed
    console = Console(stderr=True)
    click.echo(f"seed {seed}")
    with ExitStack() as stack:
        folder = (
            data or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-kill-"))) / "data"
        )
        progress = stack.enter_context(Progress(console=console))
        if hands:
            bar = progress.add_task("generating", total=hands)
            generate_record(folder, hands, seats=2, on_progress=lambda more: progress.advance(bar, more))
        kills = progress.add_task("killing", total=times)
        try:
            played = campaign(folder, times, seed, longest, lambda _: progress.advance(kills))
        except RecordError as error:
            raise click.ClickException(str(error)) from error
        click.echo(played.figures.text())
        if hands <= VERIFIED_WHOLE and data is None:
            found = verify(folder)
            if not found.ok:
                raise click.ClickException(f"The record does not verify: {found.problems[0].what}")
            click.echo(f"The whole record verifies: {found.entries} rows, {found.hands} hands.")


if __name__ == "__main__":
    main()
