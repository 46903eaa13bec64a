"""A camera that never keeps its caller waiting: it is worked on a thread of its own, with deadlines."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.camera.source import CameraError, CameraHung, Frame, FrameLate, FrameUnreadable, Image

T = TypeVar("T")

LATE_AFTER = 2.0
"""Seconds after which a frame is late, at least; a 4K camera needs about 0.3."""
LATE_CEILING = 20.0
"""The same at most, where frames do come, only later."""
HUNG_AFTER = 4.0
"""Seconds without any frame after which the camera hangs; leaves time to replace it within 10."""
OPEN_WITHIN = 8.0
"""Seconds that opening may take: a sensor starts up and takes its settings on, which is some seconds."""


class TimedCamera:
    """A `FrameSource` whose `_open`, `_take` and `_release` may block for ever, while `open` and `frame` do not.

    The thread is a daemon: a hung camera does not keep its process alive. Raises from `frame`: FrameLate, CameraHung,
    and whatever CameraError `_take` raises.
    """

    def __init__(
        self,
        late_after: float = LATE_AFTER,
        hung_after: float = HUNG_AFTER,
        open_within: float = OPEN_WITHIN,
        late_ceiling: float = LATE_CEILING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._floor = late_after
        self._late = AdaptiveLimit(late_after, max(late_after, late_ceiling), clock)
        self._hung_after = hung_after
        self._open_within = open_within
        self._clock = clock
        self._worker: _Worker | None = None
        self._alive_at = 0.0

    def open(self) -> None:
        """Take the camera; see `FrameSource.open`."""
        if self._worker is not None:
            raise RuntimeError("This camera is open.")
        self._worker = _Worker()
        try:
            self._worker.call(self._open, self._open_within)
        except _TooLateError:
            self.close()
            raise CameraHung("The camera does not open: unplug it and plug it in.") from None
        except BaseException:
            self.close()
            raise
        self._alive_at = self._clock()

    def frame(self) -> Frame:
        """A picture taken from now on; see `FrameSource.frame`."""
        if self._worker is None:
            raise RuntimeError("This camera is not open.")
        worker, late_after = self._worker, self._late.seconds
        try:
            frame = worker.call(lambda: self._take_timed(worker), late_after)
        except _TooLateError:
            silent = self._clock() - self._alive_at
            if silent >= self._hung_after:
                raise CameraHung(f"The camera has given no picture for {silent:.0f} s: restart it.") from None
            raise FrameLate(f"The camera gave no picture within {late_after:.3g} s.") from None
        self._alive_at = self._clock()
        _check(frame.image)
        return frame

    def check(self) -> None:
        """See that the camera gives pictures; see `FrameSource.check`."""
        self.frame()

    def close(self) -> None:
        """Let go of the camera; see `FrameSource.close`. A hung camera is left to its thread."""
        if self._worker is None:
            return
        worker, self._worker = self._worker, None
        with suppress(_TooLateError, CameraError):  # nobody is left who could use the answer
            worker.call(self._release, self._floor)
        worker.stop()

    def _take_timed(self, worker: _Worker) -> Frame:
        """Take one picture; on the camera's thread.

        One that comes too late is dropped by anyone who waited, and says all the same that the camera does not hang,
        and how long this machine takes. Quick ones say nothing: a camera that hangs is told of by its floor.
        """
        began = self._clock()
        frame = self._take()
        now = self._clock()
        if worker is self._worker:  # not a hung camera's that was left to its thread
            self._alive_at = now
            if max(now - began, self._late.seconds) > self._floor:
                self._late.took(now - began)
        return frame

    def _open(self) -> None:
        """Take the device; on the camera's thread."""
        raise NotImplementedError

    def _take(self) -> Frame:
        """Take one picture, begun after this call; on the camera's thread."""
        raise NotImplementedError

    def _release(self) -> None:
        """Let go of the device; on the camera's thread."""


def _check(image: Image) -> None:
    good = isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3
    if not good or image.shape[2] != 3 or not image.size:
        raise FrameUnreadable("The camera gave something that is no picture of height x width x 3 bytes.")


class _TooLateError(Exception):
    """The job was not done in time."""


class _Worker:
    """One daemon thread that does one job after the other."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="camera", daemon=True).start()

    def call(self, job: Callable[[], T], within: float) -> T:
        """What the job returns or raises. Raises _TooLateError; a job that has not begun by then never will."""
        future: Future[T] = Future()
        self._jobs.put((job, future))
        try:
            return future.result(within)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # the job's own
            future.cancel()
            raise _TooLateError from None

    def stop(self) -> None:
        """End the thread, once it gets to it."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (task := self._jobs.get()) is not None:
            job, future = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except BaseException as error:
                    future.set_exception(error)
