"""A camera that never blocks its caller: it runs on a separate thread, with deadlines."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.camera.source import (
    CameraError,
    CameraHung,
    Frame,
    FrameLate,
    FrameUnreadable,
    Image,
    TakenSetting,
)
from firmware.threads import start_thread

T = TypeVar("T")

LATE_AFTER = 2.0
"""Minimum in seconds before a frame counts as late; a 4K camera needs about 0.3."""
LATE_CEILING = 20.0
"""Maximum of the same limit, for frames that arrive late but do arrive."""
HUNG_AFTER = 4.0
"""Seconds without a frame after which the camera counts as hung; leaves time to replace it within 10."""
OPEN_WITHIN = 8.0
"""Seconds allowed for opening: a sensor needs some seconds to start and to apply its settings."""


class TimedCamera:
    """A `FrameSource` whose `_open`, `_take` and `_release` may block for ever, while `open` and `frame` do not.

    The thread is a daemon: a hung camera does not keep its process alive. `frame` raises FrameLate, CameraHung, and any
    CameraError of `_take`.
    """

    def __init__(
        self,
        late_after: float = LATE_AFTER,
        hung_after: float = HUNG_AFTER,
        open_within: float = OPEN_WITHIN,
        late_ceiling: float = LATE_CEILING,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._late_after = late_after
        self._limit = AdaptiveLimit(late_after, max(late_after, late_ceiling), clock)
        self._hung_after = hung_after
        self._open_within = open_within
        self._clock = clock
        self._worker: _Worker | None = None
        self._alive_at = 0.0
        self.taken: tuple[TakenSetting, ...] = ()

    def open(self) -> None:
        """Open the camera; see `FrameSource.open`."""
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
        """Return a picture taken from now on; see `FrameSource.frame`."""
        if self._worker is None:
            raise RuntimeError("This camera is not open.")
        worker, late_after = self._worker, self._limit.seconds
        try:
            frame = worker.call(lambda: self._take_timed(worker), late_after)
        except _TooLateError:
            silent = self._clock() - self._alive_at
            if silent >= self._hung_after:
                raise CameraHung(
                    "The camera has given no picture for %(silent)s s: restart it.", silent=f"{silent:.0f}"
                ) from None
            raise FrameLate(
                "The camera gave no picture within %(late_after)s s.", late_after=f"{late_after:.3g}"
            ) from None
        self._alive_at = self._clock()
        _check(frame.image)
        return frame

    def check(self) -> None:
        """Check that the camera delivers pictures; see `FrameSource.check`."""
        self.frame()

    def close(self) -> None:
        """Release the camera; see `FrameSource.close`. A hung camera is left to its thread."""
        if self._worker is None:
            return
        worker, self._worker = self._worker, None
        with suppress(_TooLateError, CameraError):  # a closed camera cannot be used, whatever went wrong
            worker.call(self._release, self._late_after)
        worker.stop()

    def _take_timed(self, worker: _Worker) -> Frame:
        """Take one picture; on the camera's thread.

        A late picture is dropped by the caller, but shows that the camera does not hang, and how long this machine
        takes: the limit grows. As long as every picture arrives within `late_after`, the limit stays there, and a hung
        camera is noticed as early as possible.
        """
        began = self._clock()
        frame = self._take()
        now = self._clock()
        if worker is self._worker:  # not the thread of an earlier, hung camera
            self._alive_at = now
            if max(now - began, self._limit.seconds) > self._late_after:
                self._limit.took(now - began)
        return frame

    def _open(self) -> None:
        """Open the device; on the camera's thread."""
        raise NotImplementedError

    def _take(self) -> Frame:
        """Take one picture, begun after this call; on the camera's thread."""
        raise NotImplementedError

    def _release(self) -> None:
        """Release the device; on the camera's thread."""


def _check(image: Image) -> None:
    good = isinstance(image, np.ndarray) and image.dtype == np.uint8 and image.ndim == 3
    if not good or image.shape[2] != 3 or not image.size:
        raise FrameUnreadable("The camera gave something that is no picture of height x width x 3 bytes.")


class _TooLateError(Exception):
    """The job did not finish in time."""


class _Worker:
    """One daemon thread that runs one job after another."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = queue.SimpleQueue()
        start_thread(self._run, name="camera")

    def call(self, job: Callable[[], T], within: float) -> T:
        """Return the job's result or raise its error. Raises _TooLateError; a job not started by then is cancelled."""
        future: Future[T] = Future()
        self._jobs.put((job, future))
        try:
            return future.result(within)
        except TimeoutError:
            if future.done() and not future.cancelled():
                raise  # raised by the job itself
            future.cancel()
            raise _TooLateError from None

    def stop(self) -> None:
        """End the thread after its current job."""
        self._jobs.put(None)

    def _run(self) -> None:
        while (task := self._jobs.get()) is not None:
            job, future = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(job())
                except BaseException as error:
                    future.set_exception(error)
