"""A camera above a felt without processes: the real jobs, the real bench, the real reader, on one rendered picture."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import cv2
import numpy as np

from firmware.access.control import Sender
from firmware.devices.camera.spoil import Spoil, spoil_picture
from firmware.record.journal.journal import JournalReader
from firmware.runtime.reading.messages import CameraJob, JobLost, JobProgress
from firmware.runtime.reading.setup_jobs import CameraJobs
from firmware.runtime.reading.setup_worker import CameraBench, SpreadError
from firmware.table.people import Role
from firmware.table.topics.camera import CameraCommand
from tests.dealer_ui.felt import Felt
from tests.rendered import rendered
from tests.vision.boards import board_photo
from vision.base.arrays import Image
from vision.base.errors import VisionError
from vision.felt.calibration import FeltCalibration
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.reading.enrolment import spread
from vision.reading.network import CardReader
from vision.reading.table_reading import TableReading, read
from vision.synthetic.render import Conditions

SCALE: Final = 0.45
"""Of pictures with cards: less than half of the camera's pixels are enough, and take a fifth of the time."""
CONDITIONS: Final = Conditions(tilt_deg=0.5, offset_mm=4)
Rows = dict[str, dict[str, list[str]]]


@cache
def layout() -> TableLayout:
    return TableLayout.load()


@cache
def reader() -> CardReader:
    return CardReader(threads=1)


@cache
def bare(seed: int = 1) -> Image:
    """The bare felt in the camera's own pixels; another seed hangs the camera a little otherwise."""
    return rendered({}, layout(), seed=seed, conditions=CONDITIONS).frame


def dark_and_glaring() -> Image:
    return spoil_picture(bare(), Spoil(light=0.25, glare=1.0), 0.0)


def laid(change: Callable[[Rows], object] = lambda rows: None, seed: int = 1) -> Image:
    """The 52 cards laid out to be learnt, with a change."""
    rows = {place: {row: list(cards) for row, cards in of.items()} for place, of in spread(layout()).items()}
    change(rows)
    return rendered(rows, layout(), seed=seed, conditions=CONDITIONS, scale=SCALE).frame


def board(number: int) -> Image:
    return np.asarray(cv2.cvtColor(board_photo(number), cv2.COLOR_GRAY2BGR), np.uint8)


class PictureBench:
    """Does a felt's camera commands, each job on a thread. `show` puts another picture before the camera."""

    def __init__(self, felt: Felt, picture: Image | None = None) -> None:
        self.felt = felt
        self._picture = bare() if picture is None else picture
        self._bench = CameraBench(layout(), reader(), lambda: self._picture, self._still)
        self._jobs = CameraJobs(self._do, felt.journal, JournalReader(felt.folder))
        self._working: list[threading.Thread] = []
        felt.camera = self.answer

    def show(self, picture: Image) -> None:
        self._picture = picture

    def answer(self, command: CameraCommand) -> dict[str, Any]:
        role = Role.DEALER if command.do in ("check_deck",) else Role.TECHNICIAN
        return self._jobs.handle(command, self.felt, Sender(f"{role}:Vu", role, "Vu"))

    def give(self, do: str, **fields: Any) -> None:
        """Give a camera command, and have it done."""
        answer = self.felt.answer({"do": do, **fields})
        assert answer["ok"], answer
        self.rest()

    def rest(self) -> None:
        """Wait until every job is over."""
        while self._working:
            self._working.pop().join()

    def _do(self, job: CameraJob) -> None:
        self._working.append(threading.Thread(target=self._finish, args=(job,), daemon=True))
        self._working[-1].start()

    def _finish(self, job: CameraJob) -> None:
        def tell(_progress: JobProgress) -> None:
            """Nobody waits long enough to be told."""

        try:
            done, _evidence = self._bench.do(job, tell)
        except SpreadError as error:
            self._jobs.take(JobLost(job.number, str(error), fault=False, result=error.result), self.felt)
        except VisionError as error:
            self._jobs.take(JobLost(job.number, str(error), fault=False), self.felt)
        else:
            self._jobs.take(done, self.felt)
            if done.text:  # a look must not touch the record: a page may still look while its test ends
                self._use()

    def _use(self) -> None:
        texts = {
            what: (JournalReader(self.felt.folder).content(made.hash) or b"").decode()
            for what, made in self.felt.state.calibrations.items()
        }
        lens = Lens.from_text(texts["lens"]) if "lens" in texts else None
        felt = FeltCalibration.from_text(texts["felt"]) if "felt" in texts else None
        self._bench.use(lens, felt)

    def _still(self, _layout: TableLayout) -> tuple[Image, TableReading]:
        return self._picture, read(self._picture, layout(), reader(), dealt=False)
