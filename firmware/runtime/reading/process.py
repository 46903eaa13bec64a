"""The reading process, seen from the table: receives requests, and is replaced when it is late or dead."""

import logging
import multiprocessing
import os
import queue
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final, Self

from firmware.adaptive_limit import AdaptiveLimit
from firmware.devices.camera.source import TakenSetting
from firmware.loading import loading
from firmware.messages import Message, Text
from firmware.runtime.config import TimesConfig
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
)
from firmware.threads import start_thread

log = logging.getLogger(__name__)

ATTEMPTS: Final = 2
"""A reading that fails with its process is retried once in a new one."""
LISTEN_EVERY: Final = 0.1
"""Seconds between two polls of an idle child."""
PULSE_EVERY: Final = 0.5
"""Seconds between two signs of life of the child, whatever it does."""
STOPPED: Final = Message("The reading process stopped unexpectedly; it is being replaced.")
FROZEN_S: Final = 2.2
"""Seconds without such a sign after which nothing is known of the camera. Replacing the child has limits of its own."""
FROZEN: Final = Message("The card reader does not answer; it is waited for, then replaced.")
START_EVERY: Final = 10.0
"""Seconds between two attempts to start a child that fails to start."""

Answer = ReadingDone | ReadingLost | NothingNew | ReaderState | JobProgress | JobDone | JobLost


def _child(line: Connection, spec: ReaderSpec, setup: ReaderSetup, pulse: Any) -> None:
    """Run in the child. Only the child loads camera and vision; the table process never does."""
    start_thread(_end_with_parent, name="parent")  # these first, because loading them takes a second
    start_thread(_beat, pulse, name="beat")
    with loading():
        from firmware.runtime.reading.worker import serve

    serve(line, spec, setup)


def _beat(pulse: Any) -> None:
    """Write the time over and over, until the process ends or is frozen."""
    while True:
        pulse.value = time.monotonic()
        time.sleep(PULSE_EVERY)


def _end_with_parent() -> None:
    """End with the parent: otherwise the child of a killed table would keep the camera."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@dataclass(frozen=True)
class ReadingLimits:
    """Timeouts for the reading process before it is replaced. Each adapts to the measured times."""

    reading: AdaptiveLimit
    """For a reading, or a check while cards are placed."""
    camera_step: AdaptiveLimit
    """For a step of a camera job: from one progress message to the next."""
    reader_start: AdaptiveLimit
    """From the process's start until its model is loaded and its camera was opened or failed."""
    reader_silence: AdaptiveLimit
    """Between two signs of life while idle; the camera is checked once a second."""

    @classmethod
    def of(cls, times: TimesConfig) -> Self:
        """Return limits between the configured floors and ceilings."""
        return cls(
            AdaptiveLimit(times.reading, times.reading_ceiling),
            AdaptiveLimit(times.camera_step, times.camera_step_ceiling),
            AdaptiveLimit(times.reading_start, times.reading_start_ceiling),
            AdaptiveLimit(times.reader_silence, times.reader_silence_ceiling),
        )


class ReadingProcess:
    """Owns the child process that owns the camera and the card reader.

    It may hang, crash or run out of memory: that delays a reading but loses no event. One small thread waits for it.
    `put` receives a `ReaderState` whenever the child starts or ends, and one answer for every request.
    """

    def __init__(
        self, spec: ReaderSpec, limits: ReadingLimits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`limits` adapt to measured times; `clock` is monotonic."""
        self.limits = limits
        self._spec = spec
        self._jobs: queue.SimpleQueue[ReadingJob | CameraJob | ReaderSetup | None] = queue.SimpleQueue()
        self._setup = ReaderSetup()
        self._put: Callable[[Answer], None] = lambda answer: None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closing = False
        self._process: SpawnProcess | None = None
        self._context = multiprocessing.get_context("spawn")
        # when the child last showed that it runs; 0 before the first time
        self._pulse = self._context.RawValue("d", 0.0)
        self._line: Connection | None = None
        self._clock = clock
        self._began_at = self._heard_at = self._clock()
        self._listening = False
        self._reported: Text | None = None
        self._taken: tuple[TakenSetting, ...] = ()

    @property
    def pid(self) -> int | None:
        """The child's process id, or None without a child."""
        process = self._process
        return process.pid if process else None

    def start(self, put: Callable[[Answer], None]) -> None:
        """Start the child, so that the first reading need not wait for its start."""
        self._put = put
        self._thread = start_thread(self._run, name="reading")

    def use(self, setup: ReaderSetup) -> None:
        """Use these calibrations from the next job on. Call before `start`, or from any thread after it."""
        if self._thread is not None:
            self._jobs.put(setup)
        else:
            self._setup = setup

    def request(self, job: ReadingJob | CameraJob) -> None:
        """Request a reading or another job; its answer carries the job's number."""
        self._jobs.put(job)

    def close(self) -> None:
        """End the child and the thread. Nothing is put afterwards. May be called twice."""
        with self._lock:
            self._closing = True
            if self._process is not None:
                self._process.kill()  # wakes the thread that waits for it
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join()

    # ---- on the thread ----

    def _run(self) -> None:
        self._started()
        while not self._closing:
            try:
                job = self._jobs.get(timeout=LISTEN_EVERY)
            except queue.Empty:
                self._listen()
                continue
            self._listening = False
            if job is None:
                break
            if isinstance(job, ReaderSetup):
                self._take_over(job)
                continue
            answer = self._do(job) if isinstance(job, CameraJob) else self._read(job)
            if not self._closing:
                self._put(answer)
                self._reported = None  # the answer held the camera's state; any later state is news
        with self._lock:
            self._end_child()

    def _listen(self) -> None:
        """Receive the state of an idle child; replace one that hangs, has ended or never started."""
        if self._process is None:
            if self._clock() - self._began_at >= START_EVERY:
                self._started()
            return
        before, limit = self._heard_at, self.limits.reader_silence
        try:
            answer = self._receive(0)
        except (EOFError, OSError):
            answer = ReadingFailure(STOPPED)
        if isinstance(answer, ReaderState):
            if self._listening:
                limit.took(self._heard_at - before)
            self._listening = True
        if answer is None and self._clock() - before >= (silent := limit.seconds):
            limit.timed_out(silent)
            answer = ReadingFailure(
                Message("The reading process says nothing any more; it is being replaced.")
            )
        if isinstance(answer, ReadingFailure):
            log.warning("reading: %s", answer.reason)
            with self._lock:
                self._end_child()
            self._report(answer.reason)
            self._started()

    def _read(self, job: ReadingJob) -> Answer:
        trouble: Text = ""
        for attempt in range(1, ATTEMPTS + 1):
            if self._closing:
                break
            if trouble := self._started():
                continue
            answer = self._ask((attempt, job), self.limits.reading)
            if isinstance(answer, (ReadingDone, ReadingLost, NothingNew)):
                return answer
            trouble = answer
            log.warning("reading: %s", trouble)
            self._report(trouble)
        return ReadingLost(job.number, trouble, fault=True)

    def _do(self, job: CameraJob) -> Answer:
        """Run a camera job once: its intermediate results are lost with its process."""
        trouble = self._started()
        if not trouble:
            answer = self._ask((1, job), self.limits.camera_step)
            if isinstance(answer, (JobDone, JobLost)):
                return answer
            trouble = answer
            log.warning("camera job: %s", trouble)
            self._report(trouble)
        return JobLost(job.number, trouble, fault=True)

    def _take_over(self, setup: ReaderSetup) -> None:
        """Pass another setup to the child; a new child gets it at its start."""
        self._setup = setup
        if self._line is not None:
            with suppress(OSError):
                self._line.send(setup)

    def _started(self) -> Text:
        """Make sure that a child is running. Returns the reason if none is, otherwise ""."""
        if self._process is not None and self._process.is_alive():
            return ""
        with self._lock:
            if self._closing:
                return Message("The table is being closed.")
            self._end_child()
            try:
                self._begin_child()
            except (OSError, MemoryError) as error:  # no memory or no process is left
                self._end_child()
                trouble = Message(
                    "The reading process cannot be started (%(error)s); it is tried again.",
                    error=error if str(error) else "out of memory",
                )
                log.warning("reading: %s", trouble)
                self._report(trouble)
                return trouble
        answer = self._ask(None, self.limits.reader_start)
        ready = isinstance(answer, Ready)
        self._report(answer.trouble if ready else answer, answer.taken if ready else ())
        return "" if ready else answer

    def _ask(self, question: Any, limit: AdaptiveLimit) -> Any:
        """Send a request (None: only receive) and return the answer, or `ReadingFailure` after ending the child.

        The limit applies to each step of a job that reports progress. It adapts to the time of each step, but not to
        that of a child that fails.
        """
        assert self._line is not None
        within, began = limit.seconds, self._clock()
        try:
            if question is not None:
                self._line.send(question)
            while isinstance(
                answer := self._receive(max(0.0, began + within - self._clock())), (ReaderState, JobProgress)
            ):
                if isinstance(answer, JobProgress):
                    limit.took(self._clock() - began)
                    within, began = limit.seconds, self._clock()
                    self._put(answer)
        except (EOFError, OSError):
            answer = ReadingFailure(STOPPED)
        if answer is None:
            limit.timed_out(within)
            answer = ReadingFailure(
                Message(
                    "No reading within %(within)s s; the reading process is being replaced.",
                    within=f"{within:.4g}",
                )
            )
        if isinstance(answer, ReadingFailure):
            with self._lock:
                self._end_child()
            return answer.reason
        limit.took(self._clock() - began)
        return answer

    def _receive(self, within: float) -> Any:
        """Return the child's next message, or None. Raises EOFError, OSError."""
        assert self._line is not None
        while not self._line.poll(min(within, LISTEN_EVERY)):
            self._watch_pulse()
            within -= LISTEN_EVERY
            if within <= 0:
                return None
        message = self._line.recv()
        self._heard_at = self._clock()
        if isinstance(message, ReaderState):
            self._report(message.trouble, message.taken)
        return message

    def _watch_pulse(self) -> None:
        """Report a child that is frozen, and that it is not any more. One that hangs in its work has its limits."""
        beat: float = self._pulse.value  # 0 while it is being started
        if beat and time.monotonic() - beat > FROZEN_S:
            self._report(FROZEN)
        elif self._reported == FROZEN:
            self._report("")

    def _report(self, trouble: Text, taken: tuple[TakenSetting, ...] | None = None) -> None:
        """Put the state if it is news; without `taken`, what was last known of the camera's settings holds."""
        taken = self._taken if taken is None else taken
        if not self._closing and (trouble, taken) != (self._reported, self._taken):
            self._reported, self._taken = trouble, taken
            self._put(ReaderState(trouble, taken))

    def _begin_child(self) -> None:
        self._began_at = self._heard_at = self._clock()
        self._line, theirs = self._context.Pipe()
        self._pulse = self._context.RawValue("d", 0.0)
        self._process = self._context.Process(
            target=_child, args=(theirs, self._spec, self._setup, self._pulse), name="feltwatch-reading"
        )
        self._process.daemon = True
        # For the child, which loads NumPy before its first line: more threads would spin while they wait for work.
        os.environ["OPENBLAS_NUM_THREADS"] = "1"
        try:
            self._process.start()
        finally:
            theirs.close()

    def _end_child(self) -> None:
        if self._process is not None:
            if self._process.pid is not None:  # else it was never started
                self._process.kill()
                self._process.join()
            self._process.close()
            self._process = None
        if self._line is not None:
            self._line.close()
            self._line = None
