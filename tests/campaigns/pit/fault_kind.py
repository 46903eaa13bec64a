"""A kind of fault, and one round of it: a fault while tables deal, nobody touches anything, everything is compared."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.campaigns.pit.compare import Difference
from tests.campaigns.pit.fault_stage import Stage, stage

LONG_S: Final = 17.5
"""A fault of a long round lasts longer than anything may be shown that is old (`fault_stage.LATEST_S`)."""
SHORT_S: Final = 1.5, 3.0
Fault = Callable[[Stage, random.Random], AbstractContextManager[None]]


@dataclass
class Round:
    """What one round found. `wrong`: what else is not as it must be, in words."""

    found: Difference
    healed_s: float
    looks: int = 0
    stale: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    said: dict[str, int] = field(default_factory=dict)


Play = Callable[[Stage, random.Random, bool], tuple[float, list[str]]]
"""Plays a round, long or short, on a stage where all is well; returns seconds until all was well again, and what is
wrong."""


@dataclass(frozen=True)
class Kind:
    """A kind of fault. `play` stands in place of the ordinary round; `lacks`: why it cannot be run here."""

    name: str
    words: str
    fault: Fault | None = None
    furnished: Callable[[], AbstractContextManager[Stage]] = stage
    play: Play | None = None
    quarantines: bool = False
    """Whether offers are refused, and kept, as they must be."""
    most_rounds: int = 0
    """How often it is played at most; 0 for as often as asked."""
    lacks: str = ""

    def round(self, made: Stage, rng: random.Random, *, is_long: bool) -> Round:
        """Play one round and compare."""
        made.until(lambda: made.is_live(time.monotonic() - 5.0, made.seqs()))
        watcher = made.watcher
        looks, said, errors = watcher.looks, watcher.said.copy(), len(made.faults_in_log())
        stale = len(watcher.stale)
        made.deals = True
        healed_s, wrong = (self.play or self._ordinary)(made, rng, is_long)
        made.settle()
        found, totals = made.difference()
        if self.quarantines:
            found.quarantined = 0
        return Round(
            found,
            round(healed_s, 1),
            watcher.looks - looks,
            watcher.stale[stale:],
            [*wrong, *totals, *made.faults_in_log()[errors:]],
            dict(watcher.said - said),
        )

    def _ordinary(self, made: Stage, rng: random.Random, is_long: bool) -> tuple[float, list[str]]:
        assert self.fault is not None
        ends = time.monotonic() + (LONG_S if is_long else rng.uniform(*SHORT_S))
        with self.fault(made, rng):
            while time.monotonic() < ends:
                made.check_threads()
                time.sleep(0.1)
        return healed(made), []


def healed(made: Stage) -> float:
    """Wait until every table is shown as live with all that it wrote so far, while it deals on; return the seconds."""
    began, least = time.monotonic(), made.seqs()
    made.until(lambda: made.is_live(began, least))
    return made.watcher.last.began - began


@contextmanager
def every(rng: random.Random, least: float, most: float, act: Callable[[], object]) -> Iterator[None]:
    """Do something again and again, so many seconds apart, until the end; raises what it raised."""
    over, raised = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            while not over.wait(rng.uniform(least, most)):
                act()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="fault", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if raised:
        raise raised[0]
