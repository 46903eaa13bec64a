"""A table as the pit sees it: a thread that writes a journal, dated as it writes, and its pulse."""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from firmware.pulse import Pulse, write_pulse
from firmware.record.journal.clocks import now
from firmware.record.journal.journal import Journal
from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from firmware.table.events import HandArchived, TableStarted
from tests.generated_record import generate_record

Deal = Callable[[int], int]
"""Deals so many hands; returns the number of the last row."""


@dataclass
class DealingTable:
    """One table: what it has written by when, on the monotonic clock."""

    name: str
    data: Path
    pulse: Path
    deal: Deal
    written: list[tuple[float, int]] = field(default_factory=list)
    writing: threading.Lock = field(default_factory=threading.Lock)

    def write(self, hands: int) -> None:
        """Deal, and note what is durable now."""
        with self.writing:
            seq = self.deal(hands)
            self.written.append((time.monotonic(), seq))

    @property
    def seq(self) -> int:
        return self.written[-1][1] if self.written else 0

    def beat(self) -> None:
        """Say that the table answers, and how far it is."""
        write_pulse(self.pulse, Pulse(time.monotonic(), self.seq, ()))

    def due(self, before: float) -> int:
        """Return the last row that was written before a time."""
        return max((seq for at, seq in list(self.written) if at < before), default=0)


def dealt(data: Path, seed: int, *, ahead: int = 1_200) -> Deal:
    """Return what deals generated hands into a record, dated as they are written; `ahead` are made now."""
    if not (data / "journal.sqlite").exists():
        with Journal(data) as journal:
            journal.append([TableStarted()], "table")  # by this machine's clock: no two records begin alike
    generate_record(data, 1, pool=1, seed=seed)
    source = data.with_name(f"{data.name}-hands-{seed}")
    shutil.copytree(data, source)
    generate_record(source, ahead, pool=8, seed=seed)
    rows = JournalReader(source).events_since(JournalReader(data).head()[0], 10**9)
    hands = [list(some) for _, some in groupby(rows, key=_HandOf())]

    def deal(count: int) -> int:
        seq, digest = JournalReader(data).head()
        sealed = []
        for row in (row for hand in hands[:count] for row in hand):
            seq, at = seq + 1, now()
            made = row._replace(seq=seq, previous=digest, boot=at.boot)
            made = made._replace(monotonic_ns=at.monotonic_ns, wall_ms=at.wall_ms)
            digest = made.sealed()
            sealed.append(made._replace(hash=digest))
        del hands[:count]
        with Journal(data) as journal:
            journal.append_sealed(sealed)
        return seq

    return deal


class _HandOf:
    """Counts hands: each ends with the row that archives it."""

    def __init__(self) -> None:
        self._hand, self._ended = 0, False

    def __call__(self, row: Entry) -> int:
        self._hand += self._ended
        self._ended = row.type == HandArchived.type
        return self._hand
