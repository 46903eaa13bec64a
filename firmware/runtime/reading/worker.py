"""The reading process itself: owns the camera and the card reader, runs one job at a time."""

import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing.connection import Connection
from typing import Any, Final

import cv2
import numpy as np

from firmware.devices.camera.source import CameraError, CameraHung, Frame, FrameLate, TakenSetting
from firmware.messages import Message, MessageError, Text
from firmware.runtime.reading.change_detector import TableWatch, is_new, lacks, of_places, shows_change
from firmware.runtime.reading.messages import (
    CameraJob,
    JobDone,
    JobLost,
    JobProgress,
    NothingNew,
    ReaderSetup,
    ReaderSpec,
    ReaderState,
    ReadingDone,
    ReadingFailure,
    ReadingJob,
    ReadingLost,
    Ready,
    Watch,
    short_places,
)
from firmware.runtime.reading.pictures import EncodedPictures, PictureSaver
from firmware.runtime.reading.setup_worker import CameraBench, SpreadError, model_of
from firmware.table import CaptureError
from firmware.table.entry import content_hash
from vision.base.arrays import Image, Points
from vision.base.errors import VisionError
from vision.felt.calibration import FeltCalibration
from vision.felt.layout import TableLayout
from vision.felt.lens import Lens
from vision.reading.memory import TableMemory
from vision.reading.network import CardReader
from vision.reading.profile_files import profile_of_json
from vision.reading.still_reader import StillReader, WaitReason
from vision.reading.table_reading import TableReading

LATE_FRAMES: Final = 3
LIES_IN: Final = 0.15
"""The minimum share of a card's area inside a zone for an object to count as in it."""
WATCH_EVERY: Final = 1.0
"""Seconds between two checks of the camera while idle."""
TROUBLED_EVERY: Final = 0.25
"""The same while it has a fault."""


def serve(line: Connection, spec: ReaderSpec, setup: ReaderSetup) -> None:
    """Run the reading process: send `Ready` or `ReadingFailure` first, then an answer for every (attempt, job).

    A `ReaderSetup` in between has no answer; it applies to the jobs after it.

    Between jobs the camera is checked, so that the table knows of a fault before it needs a picture: `ReaderState` once
    a second, `ReadingFailure` where only a new process may help.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the table handles Ctrl-C
    with suppress(EOFError, BrokenPipeError):
        try:
            worker = _Worker(spec, lambda state: line.send(state))
            worker.use(setup)
            trouble = worker.camera_trouble()
            line.send(Ready(trouble, worker.taken))
            while True:
                while not line.poll(TROUBLED_EVERY if trouble else WATCH_EVERY):
                    trouble = worker.camera_trouble()
                    line.send(ReaderState(trouble, worker.taken))
                message = line.recv()
                if isinstance(message, ReaderSetup):
                    worker.use(message)
                    continue
                attempt, job = message
                if isinstance(job, CameraJob):
                    line.send(worker.do(job, line.send))
                else:
                    line.send(worker.read(replace(job, name=f"{job.name}-{attempt}")))
        except CameraHung as error:  # only a new process gets rid of a hung driver
            line.send(ReadingFailure(Message("%(error)s A fresh reading process takes over.", error=error)))
        except VisionError as error:
            line.send(ReadingFailure(message_of_vision(error)))


class _Worker:
    """Camera, layout and model, ready to read. `show` receives the camera's state during a reading.

    Raises VisionError.
    """

    def __init__(self, spec: ReaderSpec, show: Callable[[ReaderState], None]) -> None:
        self._show = show
        self._pictures = PictureSaver(spec.data)
        self._still_within = spec.still_within
        self._base = self._layout = TableLayout.load(spec.layout)
        self._reader = CardReader(threads=spec.threads)
        cv2.setNumThreads(spec.threads)  # more would wait for work by spinning
        self._camera = spec.camera()
        self._is_open = False
        self._last_image: Image | None = None
        self._memory = TableMemory()
        self._watch = TableWatch(self._reader, memory=self._memory)
        self._lens: Lens | None = None
        self._calibration: FeltCalibration | None = None
        self._bench = CameraBench(
            self._base, self._reader, self._frame_image, partial(self._look, dealt=False), spec.sheets
        )

    def use(self, setup: ReaderSetup) -> None:
        """Use these calibrations from now on. Raises VisionError for an invalid one."""
        self._lens = Lens.from_text(setup.lens) if setup.lens else None
        self._calibration = FeltCalibration.from_text(setup.felt) if setup.felt else None
        own = TableLayout.parse(setup.layout) if setup.layout else None
        self._layout = own or self._base
        self._reader.deck = profile_of_json(setup.deck, model_of(self._reader)) if setup.deck else None
        self._memory.forget()
        self._watch = TableWatch(self._reader, lens=self._lens, felt=self._calibration, memory=self._memory)
        deck = content_hash(setup.deck.encode()) if setup.deck else ""
        self._bench.use(self._lens, self._calibration, deck, own)

    def do(self, job: CameraJob, show: Callable[[JobProgress], None]) -> JobDone | JobLost:
        """Run a camera job between hands and report its progress. Raises CameraHung."""
        try:
            done, evidence = self._bench.do(job, show)
            if evidence is None:
                return done
            return replace(done, frame=self._pictures.save_frame(f"{job.name}.jpg", evidence))
        except CameraHung:
            raise
        except (CameraError, CaptureError) as error:
            return JobLost(job.number, error.sentence, fault=isinstance(error, CameraError))
        except _RestlessError as error:
            return JobLost(job.number, error.sentence, fault=False)
        except VisionError as error:
            result = error.result if isinstance(error, SpreadError) else {}
            return JobLost(job.number, message_of_vision(error), fault=False, result=result)

    def camera_trouble(self) -> Text:
        """Check the camera and return its fault, or "". A lost camera is opened again.

        Raises CameraHung.
        """
        try:
            if not self._is_open:
                self._open()
            self._camera.check()
        except CameraHung:
            raise
        except FrameLate as error:
            return error.sentence
        except CameraError as error:
            self._is_open = False
            return error.sentence
        return ""

    @property
    def taken(self) -> tuple[TakenSetting, ...]:
        """What the camera made of its settings when it was last opened."""
        return tuple(self._camera.taken)

    def _tell(self, trouble: Text) -> None:
        self._show(ReaderState(trouble, self.taken))

    def _open(self) -> None:
        self._camera.close()
        self._camera.open()
        self._is_open = True

    def read(self, job: ReadingJob) -> ReadingDone | ReadingLost | NothingNew:
        """Read the table once it is at rest; store the frame and the crops of the zones in play.

        A watched table is read when it has changed, and only new content is stored. Raises CameraHung.
        """
        self._last_image = None
        layout = of_places(self._layout, job.places)
        try:
            if job.watch is not None:
                seen = self._watch.check(self._frame_image, layout, job.watch)
                if not isinstance(seen, tuple):
                    return NothingNew(job.number, seen)
                return self._store_new(job, job.watch, layout, *seen)
            self._watch.forget()
            encoded: list[EncodedPictures] = []
            _, reading = self._look(layout, ahead=lambda frame: encoded.append(self._encode(frame, layout)))
            began = time.monotonic()
            facts = self._to_dict(reading, layout)
            if short_places(facts["zones"], job.full):
                bare = [zone | {"capture": None} for zone in facts["zones"]]
                return ReadingDone(job.number, facts | {"zones": bare, "frame": None})
            frame, crops = self._pictures.save_all(job.name, encoded[-1])
            for zone in facts["zones"]:
                zone["capture"] = crops[zone["place"], zone["row"]]
            facts["ms"]["images"] = round(1000 * (time.monotonic() - began), 2)
        except CameraHung:
            raise
        except (CameraError, CaptureError) as error:
            return ReadingLost(job.number, error.sentence, fault=True)
        except (VisionError, _RestlessError) as error:
            why = message_of_vision(error) if isinstance(error, VisionError) else error.sentence
            return ReadingLost(job.number, why, fault=False, frame=self._evidence(job))
        return ReadingDone(job.number, facts | {"frame": frame})

    def _store_new(
        self, job: ReadingJob, watch: Watch, layout: TableLayout, image: Image, reading: TableReading
    ) -> ReadingDone:
        """Return a watched table's reading; store crops of the zones with new cards, the frame if anything is odd."""
        assert reading.view is not None
        facts = self._to_dict(reading, layout)
        strange = not watch.changes and any(other["zones"] for other in facts["others"])
        for zone in facts["zones"]:
            known = watch.known.get((zone["place"], zone["row"]), ())
            if watch.changes:
                new = shows_change(zone["cards"], known)
                strange = strange or new
            else:
                strange = strange or lacks(zone["cards"], known)
                new = is_new(zone["cards"], known)
            zone["capture"] = None
            if new:
                on_felt = self._layout.zone(zone["place"], zone["row"])
                zone["capture"] = self._pictures.save_crop(job.name, image, reading.view, on_felt)
        frame = self._pictures.save_frame(f"{job.name}-frame.jpg", image) if strange else None
        return ReadingDone(job.number, facts | {"frame": frame})

    def _to_dict(self, reading: TableReading, layout: TableLayout) -> dict[str, Any]:
        """Return the reading as plain data; each unknown object has a list of its zones."""
        assert reading.view is not None
        outlines = {(z.place, z.row): reading.view.to_image(z.corners_mm) for z in layout.zones}
        card_px = self._layout.card.width_mm * self._layout.card.height_mm * reading.view.px_per_mm**2
        facts = reading.to_json()
        for zone in facts["zones"]:
            zone["outline"] = outlines[zone["place"], zone["row"]].round(1).tolist()
        for other in facts["others"]:
            other["zones"] = [
                list(name)
                for name, outline in outlines.items()
                if _overlap(outline, np.array(other["corners"])) > LIES_IN * card_px
            ]
        return facts

    def _encode(self, frame: Image, layout: TableLayout) -> EncodedPictures:
        assert self._memory.view is not None
        return self._pictures.encode(frame, self._memory.view, layout.zones)

    def _look(
        self, layout: TableLayout, *, dealt: bool = True, ahead: Callable[[Image], None] | None = None
    ) -> tuple[Image, TableReading]:
        """Return the last of the frames that agree, and their reading.

        `dealt`: the cards were shuffled and dealt; false where a whole deck is spread in order. `ahead`: receives the
        first of the frames, once it has been read.

        The reading's times are those of the last frame. "frames" and "all_frames" are the total times for waiting for
        frames and for reading them, "longest_frame" the longest time for reading one.
        """
        still = StillReader(
            layout, self._reader, lens=self._lens, felt=self._calibration, dealt=dealt, memory=self._memory
        )
        deadline = time.monotonic() + self._still_within
        waited = looked = longest = 0.0
        answer: TableReading | WaitReason = WaitReason.FIRST
        while True:
            began = time.monotonic()
            self._last_image = self._frame().image
            came = time.monotonic()
            before, answer = answer, still.offer(self._last_image)
            took = time.monotonic() - came
            waited, looked, longest = waited + came - began, looked + took, max(longest, took)
            if not isinstance(answer, WaitReason):
                whole = {"frames": waited, "all_frames": looked, "longest_frame": longest}
                facts = {stage: round(1000 * seconds, 2) for stage, seconds in whole.items()}
                return self._last_image, replace(answer, ms=answer.ms | facts)
            if ahead and answer is WaitReason.MORE and before is not WaitReason.MORE:
                ahead(self._last_image)
            # A reading that has begun is completed, however slow the machine: the table is at rest.
            if answer not in (WaitReason.FIRST, WaitReason.MORE) and time.monotonic() > deadline:
                raise _RestlessError(
                    "The table did not lie still: %(why)s. Look again.", why=Message(answer.value)
                )

    def _frame(self) -> Frame:
        """Return a new frame; wait for late ones, and open a lost camera again."""
        for _ in range(LATE_FRAMES):
            try:
                if not self._is_open:
                    self._open()
                return self._camera.frame()
            except FrameLate as error:
                self._tell(error.sentence)
            except CameraHung:
                raise
            except CameraError as error:
                self._is_open = False
                self._tell(error.sentence)
        if not self._is_open:
            self._open()
        return self._camera.frame()

    def _frame_image(self) -> Image:
        self._last_image = self._frame().image
        return self._last_image

    def _evidence(self, job: ReadingJob) -> dict[str, Any] | None:
        """Store the image of a table that could not be read; None if that fails: the reason is reported without it."""
        if self._last_image is None:
            return None
        try:
            return self._pictures.save_frame(f"{job.name}-frame.jpg", self._last_image)
        except CaptureError:
            return None


def _overlap(outline: Points, corners: Points) -> float:
    """Return the area in pixels that two convex outlines share."""
    area, _ = cv2.intersectConvexConvex(outline.astype(np.float32), corners.astype(np.float32))
    return float(area)


class _RestlessError(MessageError):
    """The table does not come to rest."""


def message_of_vision(error: VisionError) -> Message:
    """Return the message of an error of vision, which knows no messages."""
    return Message(error.template, **error.values)
