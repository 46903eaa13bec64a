"""Played hands, written again and again as the records of many tables: chained rows, in memory."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware.bench.harness import option
from firmware.bench.processes import feltwatch
from firmware.command_options import FOLDER
from firmware.record.journal.reader import JournalReader
from firmware.runtime.errors import AppError
from firmware.table.entry import Entry
from firmware.table.event import canonical
from firmware.table.events import HandArchived, HandOpened
from firmware.uplink.wire import Head

PLAYED: Final = 12
"""Hands that are played for the load, unless there is a record."""
TOGETHER_NS: Final = 5_000_000
"""Rows that are written within this time are of one commit, and travel together."""
Commit = tuple[Entry, ...]
record_option: Final = option(
    "--record", None, "Send the hands of this data folder. Without it the demo plays some first.", type=FOLDER
)


@dataclass(frozen=True)
class PlayedRecord:
    """What a table played: the rows before its first hand, and its archived hands by commit."""

    before: Commit
    hands: tuple[tuple[Commit, ...], ...]

    @property
    def commits_a_hand(self) -> float:
        """Commits of a hand, on average."""
        return sum(map(len, self.hands)) / len(self.hands)


@contextmanager
def hands_of(folder: Path | None) -> Iterator[PlayedRecord]:
    """Give the hands of a record; without one the demo plays some. Raises AppError."""
    if folder is not None:
        yield read_played(folder)
        return
    with tempfile.TemporaryDirectory(prefix="feltwatch-bench-") as made:
        order = feltwatch("demo", "--headless", "--hands", PLAYED, "--data", made, "--json")
        done = subprocess.run(order, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AppError(f"The demo could not play: {done.stderr.strip()[-300:]}")
        yield read_played(Path(made))


def read_played(folder: Path) -> PlayedRecord:
    """Return what the record in a folder holds. Raises AppError without an archived hand, JournalError."""
    reader = JournalReader(folder)
    before: list[Entry] = []
    hands: list[list[Entry]] = []
    for row in reader.events_since(0, 1_000_000):
        if row.type == HandOpened.type:
            hands.append([])
        (hands[-1] if hands else before).append(row)
    whole = [hand for hand in hands if any(row.type == HandArchived.type for row in hand)]
    if not whole:
        raise AppError(f"There is no archived hand in {folder}.")
    return PlayedRecord(tuple(before), tuple(tuple(_commits(hand)) for hand in whole))


def _commits(rows: Iterable[Entry]) -> Iterator[Commit]:
    together: list[Entry] = []
    for row in rows:
        if together and row.monotonic_ns - together[-1].monotonic_ns > TOGETHER_NS:
            yield tuple(together)
            together = []
        together.append(row)
    if together:
        yield tuple(together)


class Record:
    """One table's record: the played hands in turn, with numbers, times and hashes of its own. Nothing is stored."""

    def __init__(self, source: PlayedRecord, name: str, first: int = 0) -> None:
        """`name` makes its rows its own; `first`: with which of the played hands it begins."""
        self.source, self._boot, self._first = source, name, first
        self.head = Head()
        self.genesis = ""
        self.hands = 0

    def opening(self) -> Commit:
        """Write the rows before the first hand."""
        return self._written(self.source.before)

    def commits(self) -> Iterator[Commit]:
        """Write hand after hand, commit by commit, without end."""
        while True:
            self.hands += 1
            for commit in self.source.hands[(self._first + self.hands) % len(self.source.hands)]:
                yield self._written(commit)

    def _written(self, rows: Commit) -> Commit:
        written = []
        for row in rows:
            payload = row.payload
            if row.type == HandOpened.type:
                payload = canonical({**json.loads(payload), "hand": self.hands})
            new = row._replace(
                seq=self.head.seq + 1,
                hand=self.hands,
                boot=self._boot,
                monotonic_ns=time.monotonic_ns(),
                wall_ms=time.time_ns() // 1_000_000,
                payload=payload,
                previous=self.head.hash,
            )
            new = new._replace(hash=new.sealed())
            self.head = Head(new.seq, new.hash)
            self.genesis = self.genesis or new.hash
            written.append(new)
        return tuple(written)
