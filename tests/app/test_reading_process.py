"""The real reading process, its real camera, model and images; its hangs and deaths are real ones, too."""

from __future__ import annotations

import os
import queue
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firmware.app.config import TimesConfig
from firmware.app.reading_messages import ReaderSpec, ReaderState, ReadingDone, ReadingJob, ReadingLost
from firmware.app.reading_process import ReadingLimits, ReadingProcess
from firmware.app.simulation import camera_on
from firmware.devices.camera_replay import ReplayFrames
from firmware.devices.simulated.camera import Room
from firmware.table.captures import CaptureStore
from firmware.table.events import Capture
from tests.patience import patience
from vision.layout import TableLayout
from vision.render import render_table

HANDS = {"A": {"front": ["As", "Kh", "Qd"]}, "C": {"back": ["2c", "7d", "9h", "Ts", "Jc"]}}


class Place:
    """A reading process over a picture on disk, and what it has put so far."""

    def __init__(self, data: Path, within: float, silence: float) -> None:
        self.data = data
        self.view = data / "view.npy"
        self.room = Room(self.view)
        self.said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        spec = ReaderSpec(data, partial(camera_on, self.view))
        times = TimesConfig(reading=within, reading_start=60, reader_silence=silence)
        self.process = ReadingProcess(spec, ReadingLimits.of(times))

    def show(self, hands: dict[str, dict[str, list[str]]]) -> None:
        np.save(self.view, render_table(hands, TableLayout.load(), seed=3).frame)

    def start(self) -> None:
        self.process.start(self.said.put)
        assert self.said.get(timeout=60) == ReaderState()

    def read(self, number: int, name: str = "000001/look") -> Any:
        self.process.request(ReadingJob(number, name, ("A", "C")))
        return self.answer()

    def until(self, trouble: str, within: float) -> float:
        """Wait until the process says such a thing of its camera (or nothing); the seconds it took."""
        began = time.monotonic()
        while (left := began + within - time.monotonic()) > 0:
            with suppress(queue.Empty):
                said = self.said.get(timeout=left)
                if isinstance(said, ReaderState) and (
                    trouble in said.trouble if trouble else not said.trouble
                ):
                    return time.monotonic() - began
        pytest.fail(f"{trouble!r} was not said within {within} s")

    def answer(self) -> Any:
        """Wait for what a job comes to: on a busy machine a hung process is given its minute before it is replaced."""
        while isinstance(said := self.said.get(timeout=150), ReaderState):
            pass
        return said


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Callable[..., Place]]:
    rooms: list[Place] = []

    def make(within: float = 60, silence: float = 7) -> Place:
        rooms.append(Place(tmp_path, within, silence))
        return rooms[-1]

    yield make
    for made in rooms:
        made.process.close()


def test_a_reading_names_cards_and_images_that_are_on_disk(room: Callable[..., Place]) -> None:
    here = room()
    here.show(HANDS)
    here.start()
    done = here.read(7)
    assert isinstance(done, ReadingDone), done
    assert done.number == 7
    read = {(z["place"], z["row"]): [c["card"] for c in z["cards"]] for z in done.reading["zones"]}
    assert read["A", "front"] == HANDS["A"]["front"]
    assert read["C", "back"] == HANDS["C"]["back"]
    assert ("B", "middle") not in read, "nobody looks where nobody plays"
    store = CaptureStore(here.data)
    named = [done.reading["frame"], *(z["capture"] for z in done.reading["zones"] if z["capture"])]
    assert len(named) == 7  # the frame, and the rows of the two places that play
    assert [store.check(Capture(**fields)) for fields in named] == ["ok"] * 7
    assert max(fields["size"] for fields in named[1:]) <= 120_000
    assert sum(fields["size"] for fields in named) <= 10_000_000

    # a table without a felt is the table's fault, and the frame is kept
    np.save(here.view, np.full((800, 1200, 3), 90, np.uint8))
    lost = here.read(8, "000001/again")
    assert isinstance(lost, ReadingLost), lost
    assert (lost.number, lost.fault) == (8, False)
    assert "marker" in lost.reason
    assert lost.frame is not None
    assert store.check(Capture(**lost.frame)) == "ok"

    # evidence is never overwritten, even by a reading of the same name
    here.show(HANDS)
    taken = here.read(9, "000001/look")
    assert isinstance(taken, ReadingLost)
    assert "never overwritten" in taken.reason

    # killed in its sleep: the next reading is a fresh process's
    first = here.process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert isinstance(here.read(10, "000002/look"), ReadingDone)
    assert here.process.pid != first


def test_a_recorded_hand_is_read_again_as_it_was(room: Callable[..., Place]) -> None:
    here = room()
    here.show(HANDS)
    here.start()
    first = here.read(1, "000001/first")
    here.show({"A": {"front": ["2c", "2d", "2h"]}})
    second = here.read(2, "000001/second")
    here.process.close()
    spec = ReaderSpec(here.data / "again", partial(ReplayFrames, here.data / "captures/000001"))
    process = ReadingProcess(spec, ReadingLimits.of(TimesConfig()))
    process.start(here.said.put)
    try:
        for number, recorded in enumerate((first, second), 3):
            process.request(ReadingJob(number, f"000002/{number}", ("A", "C")))
            replayed = here.answer()
            assert isinstance(replayed, ReadingDone), replayed
            assert _cards(replayed) == _cards(recorded)
        process.request(ReadingJob(5, "000002/5", ("A", "C")))
        over = here.answer()
        assert isinstance(over, ReadingLost)
        assert "All pictures" in over.reason
    finally:
        process.close()


def _cards(done: ReadingDone) -> list[tuple[str, str, list[str]]]:
    return [(z["place"], z["row"], [c["card"] for c in z["cards"]]) for z in done.reading["zones"]]


def test_a_hung_process_is_killed_and_replaced_and_its_reading_still_comes(
    room: Callable[..., Place],
) -> None:
    within = min(patience(8), 25.0)  # all of it passes; its reading gets as long in the fresh one
    here = room(within)
    here.show(HANDS)
    here.start()
    hung = here.process.pid
    assert hung is not None
    os.kill(hung, signal.SIGSTOP)
    began = time.monotonic()
    assert isinstance(here.read(1), ReadingDone)
    assert time.monotonic() - began >= within
    assert here.process.pid != hung
    with pytest.raises(ProcessLookupError):
        os.kill(hung, 0)


def test_a_camera_that_breaks_every_time_costs_the_reading_not_the_table(room: Callable[..., Place]) -> None:
    here = room()
    here.show(HANDS)
    here.start()
    here.view.write_bytes(b"no picture")
    lost = here.read(1)
    assert isinstance(lost, ReadingLost)
    assert lost.fault
    assert "stopped unexpectedly" in lost.reason
    here.show(HANDS)
    assert isinstance(here.read(2, "000002/look"), ReadingDone)


def test_a_camera_that_hangs_between_readings_is_said_at_once_and_replaced_within_ten_seconds(
    room: Callable[..., Place],
) -> None:
    here = room()
    here.show(HANDS)
    here.start()
    hung, began = here.process.pid, time.monotonic()
    here.room.hang()
    here.until("no picture within 2 s", within=patience(4.5))
    here.until("A fresh reading process takes over", within=patience(7))
    here.until("", within=60)
    assert time.monotonic() - began < patience(10)
    assert here.process.pid not in (None, hung)


def test_a_camera_that_hangs_over_a_reading_costs_it_less_than_ten_seconds(
    room: Callable[..., Place],
) -> None:
    here = room()
    here.show(HANDS)
    here.start()
    here.room.change(late_s=1.0)  # so that it hangs in the middle of a reading
    here.process.request(ReadingJob(1, "000001/look", ("A", "C")))
    time.sleep(1.5)
    here.room.change(late_s=0.0)
    here.room.hang()
    here.until("no picture within 2 s", within=patience(4))
    here.until("", within=60)
    assert isinstance(here.answer(), ReadingDone)


def test_an_unplugged_camera_is_said_and_works_again_within_two_seconds_of_its_return(
    room: Callable[..., Place],
) -> None:
    here = room()
    here.show(HANDS)
    here.start()
    process = here.process.pid
    for _ in range(2):
        here.room.unplug()
        here.until("cable", within=patience(2.5))
        here.until("plug it in", within=patience(2.5))
        here.room.replug()
        here.until("", within=patience(2))
    assert here.process.pid == process


def test_a_process_that_falls_silent_between_readings_is_replaced(
    room: Callable[..., Place],
) -> None:
    here = room(silence=3.0)
    here.show(HANDS)
    here.start()
    stopped = here.process.pid
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    here.until("says nothing any more", within=patience(9))
    here.until("", within=60)
    assert here.process.pid != stopped
    silence = here.process.limits.reader_silence.figures()
    assert silence.timeouts == 1
    assert silence.limit_s >= 6.0, "a machine on which it only came late is given longer"


def test_a_missing_layout_is_said_at_the_start(tmp_path: Path) -> None:
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    spec = ReaderSpec(tmp_path, partial(camera_on, tmp_path / "view.npy"), tmp_path / "no-layout.toml")
    process = ReadingProcess(spec, ReadingLimits.of(TimesConfig()))
    process.start(said.put)
    try:
        state = said.get(timeout=60)
        assert isinstance(state, ReaderState)
        assert "no-layout.toml cannot be read" in state.trouble
    finally:
        process.close()
