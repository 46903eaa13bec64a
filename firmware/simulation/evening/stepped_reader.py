"""A substitute for the reading process: answers from the modelled reader, in time, late or never.

The table receives the messages of `ReadingProcess`: `ReadingDone`, `ReadingLost`, `ReaderState`.
"""

import random
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from firmware.record.journal.captures import CaptureStore
from firmware.runtime.reading.messages import (
    CameraJob,
    NothingNew,
    ReaderSetup,
    ReaderState,
    ReadingDone,
    ReadingJob,
    ReadingLost,
)
from firmware.simulation.evening.faults import Faults
from firmware.simulation.evening.reader_model import ReaderModel

TAKES: Final = (0.6, 1.5)
"""Seconds that a reading takes: three frames that agree."""
WITHIN: Final = 20.0
"""Seconds after which the table abandons a reading (`TimesConfig.reading`)."""
READ_ANYWAY: Final = 5.0
"""Seconds after which an unchanged felt is read again (`firmware.runtime.reading.change_detector`)."""
DEAD: Final = "The reading process stopped unexpectedly; it is being replaced."
LATE: Final = f"No reading within {WITHIN:g} s; the reading process is being replaced."
NO_CAMERA: Final = "The camera is not connected: plug it in."
NO_ROOM: Final = "The capture could not be stored (no space left on device); check the disk."
RESTLESS: Final = "The table did not lie still: something moves over the table. Look again."
KEPT: Final = 32
"""Readings whose zones are kept for the auditor: more than can be pending."""
Felt = dict[str, dict[str, list[str]]]
"""The cards on the felt, by place and row."""
PICTURE: Final = b"\xff\xd8 stands for a picture of the table \xff\xd9"


@dataclass
class _ReaderRequest:
    """A request, the time of its answer, and the number of attempts."""

    job: ReadingJob
    due: float
    attempts: int = 1


class SteppedReadings:
    """Answers requests for readings of the felt as the clock advances.

    `felt` holds the current cards, by place and row; `given` keeps each reading's zones by its frame's name.
    """

    def __init__(
        self,
        data: Path,
        model: ReaderModel,
        faults: Faults,
        rng: random.Random,
        picture: Callable[[Felt], bytes] = lambda felt: PICTURE,
    ) -> None:
        """`picture` returns what the camera sees of a felt, as JPEG."""
        self.felt: Felt = {}
        self._picture = picture
        self.given: dict[str, list[dict[str, Any]]] = {}
        self._model = model
        self._store = CaptureStore(data)
        self._faults = faults
        self._rng = rng
        self._requests: list[_ReaderRequest] = []
        self._put: Callable[[Any], None] | None = None
        self._trouble = ""
        self._now = 0.0
        self._last: ReadingDone | None = None
        self._reported_felt: Felt | None = None
        self._reported_at = 0.0

    def start(self, put: Callable[[Any], None]) -> None:
        """Start; see `Readings.start`."""
        self._put, self._requests, self._trouble, self._last = put, [], "", None
        self._reported_felt = None

    def use(self, setup: ReaderSetup) -> None:
        """See `Readings.use`: the modelled reader needs no calibration."""

    def request(self, job: ReadingJob | CameraJob) -> None:
        """Request a reading; see `Readings.request`. This table has no set-up."""
        if isinstance(job, CameraJob):
            return
        self._requests.append(_ReaderRequest(job, self._now + self._rng.uniform(*TAKES)))

    def close(self) -> None:
        """End; see `Readings.close`."""
        self._put, self._requests = None, []

    def step(self, now: float) -> None:
        """Answer the requests that are due by now."""
        self._now = now
        if self._put is None:
            return
        self._report(NO_CAMERA if self._faults.on("camera-unplugged") else "")
        for request in [request for request in self._requests if request.due <= now]:
            self._requests.remove(request)
            self._answer(request)

    def _report(self, trouble: str) -> None:
        if self._put is not None and trouble != self._trouble:
            if trouble == NO_CAMERA:
                self._faults.strike("camera-unplugged")
            self._trouble = trouble
            self._put(ReaderState(trouble))

    def _answer(self, request: _ReaderRequest) -> None:
        faults, job = self._faults, request.job
        if faults.on("camera-unplugged"):
            self._lose(job, NO_CAMERA)
        elif faults.on("reader-killed"):
            faults.strike("reader-killed")
            self._replace_process(request, DEAD, 3.0)
        elif faults.on("late-frames"):
            faults.strike("late-frames")
            if self._rng.random() < 0.5:  # late, but in time
                self._done(job)
            else:
                self._replace_process(request, LATE, WITHIN)
        elif faults.on("disk-full"):
            faults.strike("disk-full")
            self._lose(job, NO_ROOM)
        elif self._model.restless():
            self._put_answer(
                NothingNew(job.number, RESTLESS)
                if job.watch
                else ReadingLost(job.number, RESTLESS, fault=False)
            )
        elif job.watch and not job.watch.fresh and self._is_unchanged():
            self._put_answer(NothingNew(job.number))
        else:
            self._done(job)

    def _is_unchanged(self) -> bool:
        """Return whether the felt is unchanged since the last report; sometimes it is read again anyway."""
        return self.felt == self._reported_felt and self._now - self._reported_at < READ_ANYWAY

    def _replace_process(self, request: _ReaderRequest, why: str, after: float) -> None:
        """Simulate that the process is replaced: the request is tried once more, then abandoned."""
        if request.attempts > 1:
            self._lose(request.job, why)
            return
        self._trouble = why
        if self._put is not None:
            self._put(ReaderState(why))
        self._requests.append(_ReaderRequest(request.job, self._now + after, request.attempts + 1))

    def _lose(self, job: ReadingJob, why: str) -> None:
        self._trouble = why
        self._put_answer(ReadingLost(job.number, why, fault=True))

    def _done(self, job: ReadingJob) -> None:
        reading = self._model.read(self.felt, job.places)
        self._reported_felt, self._reported_at = deepcopy(self.felt), self._now
        if self._model.surely_wrong:
            self._faults.strike("sure-misread")
        name = f"{job.name}-1-frame.jpg"
        reading["frame"] = asdict(self._store.save(name, self._picture(self.felt)))
        self.given[name] = reading["zones"]
        if len(self.given) > KEPT:
            del self.given[next(iter(self.given))]
        done = ReadingDone(job.number, reading)
        if self._faults.on("camera-babble"):
            self._babble(done)
        else:
            self._put_answer(done)
        self._last = done

    def _babble(self, done: ReadingDone) -> None:
        """Send an answer to an older request, then an invalid one or, one time in three, the true one."""
        self._faults.strike("camera-babble")
        if self._last is not None:
            self._put_answer(self._last)
        zones = done.reading["zones"]
        match self._rng.randrange(3):
            case 0:
                zones = [*zones, zones[0]]
            case 1:
                zones = [
                    zone | {"cards": [card | {"card": "1x"} for card in zone["cards"]]} for zone in zones
                ]
            case _:
                self._faults.notice("camera-babble")
        self._put_answer(ReadingDone(done.number, done.reading | {"zones": zones}))

    def _put_answer(self, answer: ReadingDone | ReadingLost | NothingNew) -> None:
        if self._put is not None:
            self._put(answer)
