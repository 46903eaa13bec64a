"""Flips one bit in a fresh copy of a record, and judges what the commands and the next start make of it."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final, Literal

from firmware.record.journal.row_index import forget_index
from tests.campaigns.security.attack_campaign import defences
from tests.campaigns.security.attack_campaign.pages import Flip
from tests.campaigns.security.attack_campaign.records import CommandOutput, Start, left, named, seen, start

Outcome = Literal["refused", "said", "nothing", "PROBLEM"]
"""Named by `verify` and the start refuses; named and said by an event; nothing is otherwise than without the flip."""
WITHIN_S: Final = 900.0
"""Seconds after which a flip has hung a worker, on a machine that others use as well."""


@dataclass(frozen=True)
class FlipResult:
    """What came of a flip; `words` of a problem."""

    flip: Flip
    outcome: Outcome
    words: str = ""


@dataclass(frozen=True)
class Ground:
    """The records that are flipped, how many hands they have, and the device's key."""

    records: dict[str, Path]
    hands: int
    key: Path


class Judge:
    """Judges flips, each against the intact record."""

    def __init__(self, ground: Ground, work: Path) -> None:
        self._ground, self._work = ground, work
        self._intact: dict[str, tuple[CommandOutput, Start, str]] = {}

    def _copy(self, flip: Flip | None, record: str) -> Path:
        to = self._work / "data"
        shutil.rmtree(to, ignore_errors=True)
        forget_index(to)  # of the record that lay here before
        shutil.copytree(self._ground.records[record], to, copy_function=shutil.copyfile)
        if flip is not None:
            with (to / flip.file).open("r+b") as file:
                file.seek(flip.offset)
                (byte,) = file.read(1)
                file.seek(flip.offset)
                file.write(bytes([byte ^ 1 << flip.bit]))
        return to

    def _all_of(self, flip: Flip | None, record: str) -> tuple[CommandOutput, Start, str]:
        """Look at a copy with the commands, start a table on it, and look what is left."""
        data = self._copy(flip, record)
        return seen(data, self._ground.hands), start(data, self._ground.key), left(data)

    def intact(self, record: str) -> tuple[CommandOutput, Start, str]:
        """Return the same of a record as it is."""
        if record not in self._intact:
            self._intact[record] = self._all_of(None, record)
        return self._intact[record]

    def judge(self, flip: Flip) -> FlipResult:
        """Flip a bit and judge what comes of it."""
        said = named(self._copy(flip, flip.record))
        if said:
            begun = start(self._copy(flip, flip.record), self._ground.key)
            if not begun.is_silent:
                return FlipResult(flip, "refused" if begun.refused else "said")
        (before, begun, after), intact = self._all_of(flip, flip.record), self.intact(flip.record)
        other = before.differs_from(intact[0])
        if not other and begun != intact[1]:
            other = f"the start ({begun.refused or begun.fault or 'its state'})"
        if not other and after != intact[2]:
            other = "the list, or a row, after the start"
        if not other:
            return FlipResult(flip, "nothing")
        verdict = f"verify says: {said}" if said else "verify says that all holds"
        return FlipResult(flip, "PROBLEM", f"{other} is otherwise, and {verdict}")


def judged(
    ground: Ground, flips: Sequence[Flip], work: Path, processes: int, *, is_naive: bool = False
) -> Iterator[FlipResult]:
    """Judge flips in so many processes. One that crashes or hangs is a problem of the flip that it was at."""
    workers = [_Worker(ground, flips[at::processes], work / str(at), is_naive) for at in range(processes)]
    try:
        while any(not worker.is_done for worker in workers):
            ready = wait([worker.told for worker in workers if not worker.is_done], timeout=1)
            for worker in workers:
                if worker.told in ready or worker.is_late:
                    yield from worker.take()
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that judges its share; a new one goes on behind a flip that ended it."""

    def __init__(self, ground: Ground, flips: Sequence[Flip], work: Path, is_naive: bool) -> None:
        self._ground, self._left, self._work, self._naive = ground, list(flips), work, is_naive
        self._process: BaseProcess | None = None
        self.told: Connection
        self._begin()

    @property
    def is_done(self) -> bool:
        return not self._left

    @property
    def is_late(self) -> bool:
        return not self.is_done and time.monotonic() > self._until

    def _begin(self) -> None:
        self.told, there = multiprocessing.Pipe(duplex=False)
        spawn = multiprocessing.get_context("spawn")
        arguments = (self._ground, list(self._left), self._work, self._naive, there)
        self._process = spawn.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        there.close()
        self._until = time.monotonic() + WITHIN_S

    def take(self) -> Iterator[FlipResult]:
        """Return what the process told; where it ended or hangs, what it was at."""
        try:
            if self.is_late:
                raise EOFError
            one: FlipResult = self.told.recv()
            self._until = time.monotonic() + WITHIN_S
        except EOFError:
            one = FlipResult(
                self._left[0], "PROBLEM", "the process hung" if self.is_late else "the process ended"
            )
            self.stop()
            self._left.pop(0)
            if self._left:
                self._begin()
        else:
            self._left.pop(0)
        yield one

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self.told.close()
            self._process = None


def _work(ground: Ground, flips: list[Flip], work: Path, is_naive: bool, tell: Connection) -> None:
    logging.disable(logging.CRITICAL)
    work.mkdir(parents=True, exist_ok=True)
    judge = Judge(ground, work)
    for record in sorted({flip.record for flip in flips}):
        judge.intact(record)
    gc.freeze()
    gc.set_threshold(100_000)
    with defences.off(*(defences.OF_FLIPS if is_naive else ())):
        for flip in flips:
            tell.send(_judge(judge, flip))


def _judge(judge: Judge, flip: Flip) -> FlipResult:
    try:
        return judge.judge(flip)
    except Exception as error:
        return FlipResult(flip, "PROBLEM", f"{type(error).__name__}: {error}")
