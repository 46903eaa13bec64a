"""The real reading process, its real camera, model and images; its hangs and deaths are real ones, too."""

from __future__ import annotations

import errno
import os
import queue
import signal
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import numpy as np
import pytest

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.camera.replay import ReplayFrames
from firmware.devices.camera.simulated import Room
from firmware.devices.camera.source import Image
from firmware.devices.camera.timed_camera import HUNG_AFTER, LATE_AFTER
from firmware.record.journal.captures import CaptureStore
from firmware.runtime.config import TimesConfig
from firmware.runtime.reading.messages import (
    KnownCard,
    ReaderSpec,
    ReaderState,
    ReadingDone,
    ReadingJob,
    ReadingLost,
    Watch,
)
from firmware.runtime.reading.process import ReadingProcess
from firmware.runtime.reading.worker import WATCH_EVERY
from firmware.simulation.live.table import camera_on
from firmware.table.events import Capture
from tests.firmware.running_table import patient_limits
from tests.rendered import rendered
from tests.waiting import DEADLINE, until
from vision.felt.layout import TableLayout

pytestmark = pytest.mark.slow

HANDS = {"A": {"front": ["As", "Kh", "Qd"]}, "C": {"back": ["2c", "7d", "9h", "Ts", "Jc"]}}
SMALL: Final = 0.45
"""Of the reference camera's pixels: enough for our deck, and five times as fast."""


@cache
def picture(scale: float = SMALL) -> Image:
    return rendered(HANDS, TableLayout.load(), seed=3, scale=scale).frame


class ImpatientProcess(ReadingProcess):
    """Gives a child that is to hang little time, and the one that comes after it as much as it needs."""

    def __init__(self, spec: ReaderSpec) -> None:
        super().__init__(spec, patient_limits())

    def soon(self, **limits: float) -> None:
        """Set these limits, in seconds, until a fresh child begins."""
        self.limits = replace(self.limits, **{name: AdaptiveLimit(s, s) for name, s in limits.items()})

    def _begin_child(self) -> None:
        self.limits = patient_limits()
        super()._begin_child()


class Place:
    """A reading process over a picture on disk, and what it has put so far."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.view = data / "view.npy"
        self.room = Room(self.view)
        self.said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        spec = ReaderSpec(data, partial(camera_on, self.view), threads=1, still_within=DEADLINE)
        self.process = ImpatientProcess(spec)

    def show(self, image: Image) -> None:
        self.room.show(image)

    def start(self) -> None:
        self.process.start(self.said.put)
        self.until("")

    def read(self, number: int, name: str) -> Any:
        self.process.request(ReadingJob(number, name, ("A", "C")))
        return self.answer()

    def until(self, trouble: str) -> None:
        """Wait until the process says such a thing of its camera (or nothing)."""
        while True:
            said = self.said.get(timeout=DEADLINE)
            if isinstance(said, ReaderState) and (
                trouble in str(said.trouble) if trouble else not said.trouble
            ):
                return

    def answer(self) -> Any:
        return _answer(self.said)


def _answer(said: queue.SimpleQueue[Any]) -> Any:
    """Wait for what a job comes to."""
    while isinstance(answer := said.get(timeout=3 * DEADLINE), ReaderState):
        pass
    return answer


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    place = Place(tmp_path_factory.mktemp("place"))
    place.show(picture())
    place.start()
    yield place
    place.process.close()


@pytest.fixture
def here(running: Place) -> Place:
    """The one reading process of this file, well: it sees a good picture, and has answered."""
    running.room.replug()
    running.room.change(late_s=0.0, frozen=False)
    running.show(picture())
    while True:  # whatever the last test left behind in its queue, or in its child, is over with this answer
        done = running.read(0, f"000000/{uuid4().hex}")
        if isinstance(done, ReadingDone) and done.number == 0:
            return running


def test_a_reading_names_cards_and_images_that_are_on_disk(here: Place) -> None:
    here.show(picture(1.0))
    done = here.read(7, "000001/look")
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
    here.show(np.full((800, 1200, 3), 90, np.uint8))
    lost = here.read(8, "000001/again")
    assert isinstance(lost, ReadingLost), lost
    assert (lost.number, lost.fault) == (8, False)
    assert "marker" in str(lost.reason)
    assert lost.frame is not None
    assert store.check(Capture(**lost.frame)) == "ok"

    # evidence is never overwritten, even by a reading of the same name
    here.show(picture())
    taken = here.read(9, "000001/look")
    assert isinstance(taken, ReadingLost)
    assert "never overwritten" in str(taken.reason)

    # killed in its sleep: the next reading is a fresh process's
    first = here.process.pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    assert isinstance(here.read(10, "000002/look"), ReadingDone)
    assert here.process.pid != first


def test_a_watched_table_that_lacks_a_card_on_record_is_kept_as_a_whole_picture(here: Place) -> None:
    record = {
        (place, row): tuple(KnownCard(card, True) for card in cards)
        for place, rows in HANDS.items()
        for row, cards in rows.items()
    }
    kept = []
    for more in ((), (KnownCard("2d", True),)):
        known = {**record, ("A", "middle"): more}
        here.process.request(ReadingJob(1, f"000003/{uuid4().hex}", ("A", "C"), Watch(known, fresh=True)))
        done = here.answer()
        assert isinstance(done, ReadingDone), done
        kept.append(done.reading["frame"] is not None)
    assert kept == [False, True]


def test_a_recorded_hand_is_read_again_as_it_was(here: Place, tmp_path: Path) -> None:
    first = here.read(1, "000011/first")
    other = {"A": {"front": ["2c", "2d", "2h"]}}
    here.show(rendered(other, TableLayout.load(), seed=3, scale=SMALL).frame)
    second = here.read(2, "000011/second")
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    spec = ReaderSpec(tmp_path, partial(ReplayFrames, here.data / "captures/000011"), threads=1)
    process = ReadingProcess(spec, patient_limits())
    process.start(said.put)
    try:
        for number, recorded in enumerate((first, second), 3):
            process.request(ReadingJob(number, f"000002/{number}", ("A", "C")))
            replayed = _answer(said)
            assert isinstance(replayed, ReadingDone), replayed
            assert _cards(replayed) == _cards(recorded)
        process.request(ReadingJob(5, "000002/5", ("A", "C")))
        over = _answer(said)
        assert isinstance(over, ReadingLost)
        assert "All pictures" in str(over.reason)
    finally:
        process.close()


def _cards(done: ReadingDone) -> list[tuple[str, str, list[str]]]:
    return [(z["place"], z["row"], [c["card"] for c in z["cards"]]) for z in done.reading["zones"]]


def test_a_hung_process_is_killed_and_replaced_and_its_reading_still_comes(here: Place) -> None:
    hung = here.process.pid
    assert hung is not None
    os.kill(hung, signal.SIGSTOP)
    here.process.soon(reading=1.0)
    began = time.monotonic()
    assert isinstance(here.read(1, "000021/look"), ReadingDone)
    assert time.monotonic() - began >= 1.0
    assert here.process.pid != hung
    with pytest.raises(ProcessLookupError):
        os.kill(hung, 0)


def test_a_camera_that_breaks_every_time_costs_the_reading_not_the_table(here: Place) -> None:
    here.view.write_bytes(b"no picture")
    lost = here.read(1, "000031/look")
    assert isinstance(lost, ReadingLost)
    assert lost.fault
    assert "stopped unexpectedly" in str(lost.reason)
    here.show(picture())
    assert isinstance(here.read(2, "000032/look"), ReadingDone)


def test_a_process_that_cannot_be_started_costs_the_reading_and_is_tried_again(
    here: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_memory(_: SpawnProcess) -> None:
        raise OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))

    dead = here.process.pid
    assert dead is not None
    with monkeypatch.context() as patch:
        patch.setattr(SpawnProcess, "start", no_memory)
        os.kill(dead, signal.SIGKILL)
        lost = here.read(1, "000033/look")
        assert isinstance(lost, ReadingLost)
        assert lost.fault
        assert "cannot be started (Cannot allocate memory)" in str(lost.reason)
    assert isinstance(here.read(2, "000034/look"), ReadingDone)


def test_a_camera_that_hangs_between_readings_is_said_and_its_process_replaced(here: Place) -> None:
    hung = here.process.pid
    here.room.hang()
    here.until("A fresh reading process takes over")
    here.until("")
    assert here.process.pid not in (None, hung)


def test_a_hung_camera_leaves_three_of_ten_seconds_for_a_fresh_process_to_start() -> None:
    assert WATCH_EVERY + LATE_AFTER + HUNG_AFTER <= 7.0
    assert TimesConfig().reader_silence <= 7.0


def test_a_camera_that_hangs_over_a_reading_costs_it_its_process_only(here: Place) -> None:
    here.room.change(late_s=1.0)  # so that it hangs in the middle of a reading
    here.process.request(ReadingJob(1, "000041/look", ("A", "C")))
    until(here.process._jobs.empty)
    here.room.hang()
    here.room.change(late_s=0.0)
    here.until("no picture")
    here.until("")
    assert isinstance(here.answer(), ReadingDone)


def test_an_unplugged_camera_is_said_and_works_again_after_its_return(here: Place) -> None:
    process = here.process.pid
    for _ in range(2):
        here.room.unplug()
        here.until("cable")
        here.until("plug it in")
        here.room.replug()
        here.until("")
    assert here.process.pid == process


def test_a_process_that_falls_silent_between_readings_is_replaced(here: Place) -> None:
    stopped = here.process.pid
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    here.process.soon(reader_silence=0.5)
    here.until("says nothing any more")
    here.until("")
    assert here.process.pid != stopped


def test_a_frozen_process_is_said_before_it_is_replaced_and_goes_on_when_it_is_woken(here: Place) -> None:
    frozen = here.process.pid
    assert frozen is not None
    os.kill(frozen, signal.SIGSTOP)
    here.until("does not answer")
    os.kill(frozen, signal.SIGCONT)
    here.until("")
    assert here.process.pid == frozen


def test_a_process_that_is_frozen_over_a_reading_is_said_meanwhile(here: Place) -> None:
    frozen = here.process.pid
    assert frozen is not None
    os.kill(frozen, signal.SIGSTOP)
    here.process.request(ReadingJob(7, "000001/000000001-7", ("A", "C")))
    here.until("does not answer")
    os.kill(frozen, signal.SIGCONT)
    until(lambda: isinstance(here.said.get(timeout=DEADLINE), ReadingDone))


def test_a_missing_layout_is_said_at_the_start(tmp_path: Path) -> None:
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    spec = ReaderSpec(tmp_path, partial(camera_on, tmp_path / "view.npy"), tmp_path / "no-layout.toml")
    process = ReadingProcess(spec, patient_limits())
    process.start(said.put)
    try:
        state = said.get(timeout=DEADLINE)
        assert isinstance(state, ReaderState)
        assert "no-layout.toml cannot be read" in str(state.trouble)
    finally:
        process.close()
