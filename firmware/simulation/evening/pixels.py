"""Hands as pixels: rendered pictures, the card reader, real processes, a pty and mock pins, in real time.

The demo's table and dealer play; the auditor reads the rows as usual. Only faults that can be injected from outside are
used: `FAULTS`.
"""

import os
import random
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware.record.journal.journal import JournalReader
from firmware.simulation.evening.audited_hand import DealtHand
from firmware.simulation.evening.auditor import Auditor
from firmware.simulation.evening.faults import FaultName, Faults
from firmware.simulation.evening.page_reader import Page
from firmware.simulation.evening.run import Outcome, end_audit
from firmware.simulation.house import make_config
from firmware.simulation.live.players import Players
from firmware.simulation.live.run import LiveRun
from firmware.simulation.live.table import SimulatedTable
from firmware.table.events import ROWS
from firmware.table_client import TableLink
from firmware.threads import start

FAULTS: Final[frozenset[FaultName]] = frozenset({"puck-unplugged", "puck-babble", "reader-killed"})
SHARE: Final = 0.1
"""The share of hands in which a chosen fault occurs."""
LOOK_EVERY: Final = 0.05
"""Seconds between two checks whether a fault begins or ends."""


@dataclass(frozen=True)
class _WatchedLink(TableLink):
    """The connection to the table; `answered` receives every acknowledgement."""

    answered: Callable[[Mapping[str, Any], int], None] = lambda command, seq: None

    def send(self, command: dict[str, Any], within: float | None = None) -> dict[str, Any]:
        """Send a command; see `TableLink.send`."""
        answer = super().send(command, within)
        if answer["ok"] and "seq" in answer:
            self.answered(command, answer["seq"])
        return answer


class _Vandal:
    """Unplugs the puck reader, makes it send noise and kills the reading process, on a separate thread."""

    def __init__(self, table: SimulatedTable, faults: Faults, rng: random.Random) -> None:
        self._table = table
        self._faults = faults
        self._rng = rng
        self._over = threading.Event()
        self._unplugged = False
        self._thread = threading.Thread(target=self._run, name="faults", daemon=True)

    def __enter__(self) -> None:
        start(self._thread)

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        if self._unplugged:
            self._table.puck.replug()

    def _run(self) -> None:
        while not self._over.wait(LOOK_EVERY):
            if "reader-killed" in self._faults.step(time.monotonic()):
                self._kill_reader()
            if self._faults.on("puck-babble"):
                self._faults.strike("puck-babble")
                # the message has a wrong checksum: a table that accepted it would move the puck
                self._table.puck.babble(self._rng.randbytes(40) + b"$STATE,1,1,3:04*0000\r\n")
                self._faults.notice("puck-babble")
            unplug = self._faults.on("puck-unplugged")
            if unplug != self._unplugged:
                self._unplugged = unplug
                if unplug:
                    self._faults.strike("puck-unplugged")
                    self._table.puck.unplug()
                else:
                    self._table.puck.replug()

    def _kill_reader(self) -> None:
        pid = self._table.readings.pid
        if pid is not None:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                self._faults.strike("reader-killed")


def simulate_pixels(
    data: Path,
    hands: int,
    faults: Sequence[FaultName],
    seed: int,
    profile: str,
    played: Callable[[int], None] = lambda hand: None,
) -> Outcome:
    """Play this many hands in a new data folder. Raises AppError, TableError if the run cannot continue."""
    config = make_config(data, profile)
    strikes = Faults(
        [name for name in faults if name in FAULTS], random.Random(f"faults {seed}"), SHARE, short=True
    )
    auditor = Auditor(strikes, None, profile)
    page = Page(data, auditor)
    reads: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="feltwatch-room-") as room:
        table = SimulatedTable(config, Path(room), seed)
        with table, _Vandal(table, strikes, random.Random(f"vandal {seed}")):
            run = LiveRun(
                table,
                Players(seed, table.house.rules),
                JournalReader(data),
                _WatchedLink(config.socket, answered=auditor.note_answer),
                seed,
            )
            strikes.plan(time.monotonic())
            for report in run.play(hands):
                _deal(auditor, report)
                page.follow()
                _count_reads(report, reads)
                auditor.counts["questions"] += len(report["asked"])
                auditor.counts["hands_with_questions"] += bool(report["asked"])
                strikes.plan(time.monotonic())
                played(report["hand"])
    page.follow()
    return end_audit(data, hands, seed, profile, auditor, strikes, reads)


def _deal(auditor: Auditor, report: Mapping[str, Any]) -> None:
    rows = {
        int(seat): {row: truth[row].split() for row in ROWS if row in truth}
        for seat, truth in report["truth"].items()
    }
    auditor.dealt[report["hand"]] = DealtHand(rows, None)
    auditor.dealt.pop(report["hand"] - 2, None)  # rows of the hand before this one may still come


def _count_reads(report: Mapping[str, Any], reads: Counter[str]) -> None:
    """Count the cards that the reader's best guess names correctly, by position."""
    for seat, truth in report["truth"].items():
        for row, cards in truth.items():
            read = report["reading"].get(seat, {}).get(row, "").split()
            reads["cards"] += len(cards.split())
            reads["cards_read_right"] += sum(a == b for a, b in zip(cards.split(), read, strict=False))
