"""The real reading process, its real camera, model and images; its hangs and deaths are real ones, too."""

from __future__ import annotations

import os
import queue
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firmware.app.reading_messages import ReaderSpec, ReaderState, ReadingDone, ReadingJob, ReadingLost
from firmware.app.reading_process import ReadingProcess
from firmware.app.simulation import camera_on
from firmware.table.captures import CaptureStore
from firmware.table.events import Capture
from vision.layout import TableLayout
from vision.render import render_table

HANDS = {"A": {"front": ["As", "Kh", "Qd"]}, "C": {"back": ["2c", "7d", "9h", "Ts", "Jc"]}}


class Room:
    """A reading process over a picture on disk, and what it has put so far."""

    def __init__(self, data: Path, within: float) -> None:
        self.data = data
        self.view = data / "view.npy"
        self.said: queue.SimpleQueue[Any] = queue.SimpleQueue()
        spec = ReaderSpec(data, partial(camera_on, self.view))
        self.process = ReadingProcess(spec, within=within, start_within=60)

    def show(self, hands: dict[str, dict[str, list[str]]]) -> None:
        np.save(self.view, render_table(hands, TableLayout.load(), seed=3).frame)

    def start(self) -> None:
        self.process.start(self.said.put)
        assert self.said.get(timeout=60) == ReaderState()

    def read(self, number: int, name: str = "000001/look") -> Any:
        self.process.request(ReadingJob(number, name, ("A", "C")))
        return self.answer()

    def answer(self) -> Any:
        while isinstance(said := self.said.get(timeout=60), ReaderState):
            pass
        return said


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Callable[[float], Room]]:
    rooms: list[Room] = []

    def make(within: float = 60) -> Room:
        rooms.append(Room(tmp_path, within))
        return rooms[-1]

    yield make
    for made in rooms:
        made.process.close()


def test_a_reading_names_cards_and_images_that_are_on_disk(room: Callable[..., Room]) -> None:
    here = room()
    here.show(HANDS)
    here.start()
    done = here.read(7)
    assert isinstance(done, ReadingDone), done
    assert done.number == 7
    read = {(z["place"], z["row"]): [c["card"] for c in z["cards"]] for z in done.reading["zones"]}
    assert read["A", "front"] == HANDS["A"]["front"]
    assert read["C", "back"] == HANDS["C"]["back"]
    assert read["B", "middle"] == []
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


def test_a_hung_process_is_killed_and_replaced_and_its_reading_still_comes(room: Callable[..., Room]) -> None:
    here = room(8.0)
    here.show(HANDS)
    here.start()
    hung = here.process.pid
    assert hung is not None
    os.kill(hung, signal.SIGSTOP)
    began = time.monotonic()
    assert isinstance(here.read(1), ReadingDone)
    assert time.monotonic() - began >= 8.0
    assert here.process.pid != hung
    with pytest.raises(ProcessLookupError):
        os.kill(hung, 0)


def test_a_camera_that_breaks_every_time_costs_the_reading_not_the_table(room: Callable[..., Room]) -> None:
    here = room()
    here.view.write_bytes(b"no picture")
    here.start()
    lost = here.read(1)
    assert isinstance(lost, ReadingLost)
    assert lost.fault
    assert "stopped unexpectedly" in lost.reason
    here.show(HANDS)
    assert isinstance(here.read(2, "000002/look"), ReadingDone)


def test_a_missing_layout_is_said_at_the_start(tmp_path: Path) -> None:
    said: queue.SimpleQueue[Any] = queue.SimpleQueue()
    spec = ReaderSpec(tmp_path, partial(camera_on, tmp_path / "view.npy"), tmp_path / "no-layout.toml")
    process = ReadingProcess(spec, within=60, start_within=60)
    process.start(said.put)
    try:
        state = said.get(timeout=60)
        assert isinstance(state, ReaderState)
        assert "no-layout.toml cannot be read" in state.trouble
    finally:
        process.close()
