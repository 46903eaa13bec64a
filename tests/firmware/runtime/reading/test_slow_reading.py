"""Readings on a slow machine: the table's side of the reading process on simulated time, and a real slow process."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from firmware.adaptive_limit import RECENT
from firmware.devices.camera.simulated import Room
from firmware.runtime.config import TimesConfig
from firmware.runtime.reading.messages import (
    NothingNew,
    ReaderSpec,
    ReaderState,
    ReadingDone,
    ReadingJob,
    ReadingLost,
    Ready,
)
from firmware.runtime.reading.process import ReadingLimits, ReadingProcess
from firmware.simulation.live.table import camera_on
from tests.rendered import rendered
from tests.waiting import DEADLINE
from vision.felt.layout import TableLayout

pytestmark = pytest.mark.slow

START_S = 2.0
READING_S = 1.0
"""What a start and a reading take on the machine that the floors below are right for."""


class SlowChild:
    """The child's end of the line on simulated time: everything takes `factor` times as long as it should."""

    def __init__(self, clock: list[float], factor: float) -> None:
        self._clock = clock
        self.factor = factor
        self._due: list[tuple[float, Any]] = [(clock[0] + START_S * factor, Ready())]

    def poll(self, within: float) -> bool:
        due = self._due[0][0] if self._due else float("inf")
        self._clock[0] = max(self._clock[0], min(due, self._clock[0] + within))
        return due <= self._clock[0]

    def recv(self) -> Any:
        return self._due.pop(0)[1]

    def send(self, question: Any) -> None:
        _attempt, job = question
        self._due.append((self._clock[0] + READING_S * self.factor, NothingNew(job.number)))

    def close(self) -> None:
        """Nothing to let go of."""


class NoProcess:
    """What stands for the child in the process table."""

    pid = 1

    def is_alive(self) -> bool:
        return True

    def kill(self) -> None:
        """Nothing to end."""

    join = close = kill


class SlowReadingProcess(ReadingProcess):
    """The product's own, but for its child and its clock."""

    def __init__(self, factor: float, times: TimesConfig) -> None:
        self.now = [0.0]
        self.factor = factor
        self.children = 0
        self.child: SlowChild | None = None
        spec = ReaderSpec(Path("/nowhere"), cast(Any, None))
        super().__init__(spec, ReadingLimits.of(times), lambda: self.now[0])

    def _begin_child(self) -> None:
        self.children += 1
        self._began_at = self._heard_at = self._clock()
        self.child = SlowChild(self.now, self.factor)
        self._line = cast(Any, self.child)
        self._process = cast(Any, NoProcess())


@pytest.fixture
def slow() -> Iterator[Callable[..., tuple[SlowReadingProcess, Callable[[int], Any]]]]:
    made: list[SlowReadingProcess] = []

    def begin(factor: float, **times: float) -> tuple[SlowReadingProcess, Callable[[int], Any]]:
        floors = TimesConfig(**{"reading": 2 * READING_S, "reading_start": 2 * START_S, **times})
        process = SlowReadingProcess(factor, floors)
        made.append(process)
        said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        process.start(said.put)

        def read(number: int) -> Any:
            process.request(ReadingJob(number, f"000001/{number}", ("A",)))
            while isinstance(answer := said.get(timeout=DEADLINE), ReaderState):
                pass
            return answer

        return process, read

    yield begin
    for process in made:
        process.close()


@pytest.mark.parametrize(("factor", "requests"), [(1, 1), (4, 2), (10, 4)])
def test_readings_arrive_on_a_machine_that_is_so_many_times_slower(
    slow: Callable[..., tuple[SlowReadingProcess, Callable[[int], Any]]], factor: float, requests: int
) -> None:
    process, read = slow(factor)
    asked = 1
    while isinstance(read(asked), ReadingLost):
        asked += 1
        assert asked <= requests, process.limits.reading.figures()
    children = process.children
    for number in range(1, 3 * RECENT):
        assert isinstance(read(asked + number), NothingNew)
    assert process.children == children, "none was replaced again"
    figures = process.limits.reading.figures()
    assert figures.timeouts == 0, "they are forgotten"
    assert figures.usual_s == pytest.approx(factor * READING_S)
    assert figures.limit_s == pytest.approx(max(2 * READING_S, 4 * factor * READING_S))


def test_readings_never_arrive_where_the_ceiling_does_not_allow_them(
    slow: Callable[..., tuple[SlowReadingProcess, Callable[[int], Any]]],
) -> None:
    process, read = slow(10, reading_ceiling=4.0, reading_start=60)
    for number in range(1, 8):
        lost = read(number)
        assert isinstance(lost, ReadingLost)
        assert lost.fault
    assert "within 4 s" in str(lost.reason)
    assert process.limits.reading.figures().limit_s == 4.0


def test_a_machine_that_recovers_gets_its_short_limit_back(
    slow: Callable[..., tuple[SlowReadingProcess, Callable[[int], Any]]],
) -> None:
    process, read = slow(10)
    number = 1
    while isinstance(read(number), ReadingLost):
        number += 1
    assert process.limits.reading.seconds >= 10
    assert process.child is not None
    process.child.factor = 1
    for later in range(RECENT):
        assert isinstance(read(number + 1 + later), NothingNew)
    assert process.limits.reading.seconds == 4 * READING_S


def test_a_real_process_whose_every_reading_outlasts_the_first_limit_is_given_its_time(
    tmp_path: Path,
) -> None:
    view = tmp_path / "view.npy"
    shown = {"A": {"front": ["As", "Kh", "Qd"]}}
    np.save(view, rendered(shown, TableLayout.load(), seed=3).frame)
    Room(view).change(late_s=0.6)  # four frames at least: no reading takes less than two seconds
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    limits = ReadingLimits.of(TimesConfig(reading=2.0))
    process = ReadingProcess(ReaderSpec(tmp_path, partial(camera_on, view)), limits)
    process.start(said.put)
    try:
        for number in range(1, 6):  # two attempts each: from 2 s to the ceiling
            process.request(ReadingJob(number, f"000001/{number}", ("A",)))
            while isinstance(answer := said.get(timeout=5 * DEADLINE), ReaderState):
                pass
            if isinstance(answer, ReadingDone):
                break
        assert isinstance(answer, ReadingDone), limits.reading.figures()
        figures = limits.reading.figures()
        assert figures.timeouts >= 1
        assert figures.longest_s is not None
        assert figures.limit_s >= figures.longest_s > 2.0
        zones = {
            (z["place"], z["row"]): [card["card"] for card in z["cards"]] for z in answer.reading["zones"]
        }
        assert zones["A", "front"] == shown["A"]["front"]
    finally:
        process.close()
