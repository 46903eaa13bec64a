"""The reading process, seen from the table: asked for readings, killed and replaced when it is late or dead."""

from __future__ import annotations

import logging
import multiprocessing
import queue
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any, Final

from firmware.app.reading_messages import (
    Failed,
    ReaderSpec,
    ReaderState,
    ReadingDone,
    ReadingJob,
    ReadingLost,
    Ready,
)

log = logging.getLogger(__name__)

ATTEMPTS: Final = 2
"""A reading that dies with its process is tried once more in a fresh one."""
LOOK_EVERY: Final = 10.0
"""Seconds between two looks at a child that nobody asks anything; one that is not there is started."""

Answer = ReadingDone | ReadingLost | ReaderState


def _child(line: Connection, spec: ReaderSpec) -> None:
    """Run in the child. Camera and vision are loaded there alone; the table process never holds them."""
    from firmware.app.reading_child import serve

    serve(line, spec)


class ReadingProcess:
    """Owns the child process that owns the camera and the card reader.

    It may hang, crash or run out of memory: that costs a reading its time, never an event. One small thread waits
    for it; `put` gets a `ReaderState` whenever the child comes or goes and one answer for every request.
    """

    def __init__(self, spec: ReaderSpec, *, within: float, start_within: float) -> None:
        """`within` and `start_within`: seconds for a reading and for the process's start."""
        self._spec = spec
        self._within = within
        self._start_within = start_within
        self._jobs: queue.SimpleQueue[ReadingJob | None] = queue.SimpleQueue()
        self._put: Callable[[Answer], None] = lambda answer: None
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)
        self._lock = threading.Lock()
        self._closing = False
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The child's process id while there is one."""
        process = self._process
        return process.pid if process else None

    def start(self, put: Callable[[Answer], None]) -> None:
        """Start the child, so that the first reading need not wait for it."""
        self._put = put
        self._thread.start()

    def request(self, job: ReadingJob) -> None:
        """Ask for a reading; its answer carries the job's number."""
        self._jobs.put(job)

    def close(self) -> None:
        """End the child and the thread. Nothing is put afterwards. May be called twice."""
        with self._lock:
            self._closing = True
            if self._process is not None:
                self._process.kill()  # whoever waits for it wakes up
        self._jobs.put(None)
        if self._thread.is_alive():
            self._thread.join()

    # on the thread

    def _run(self) -> None:
        self._started()
        while not self._closing:
            try:
                job = self._jobs.get(timeout=LOOK_EVERY)
            except queue.Empty:
                self._started()  # a camera that was plugged in again, a child that died of something else
                continue
            if job is None:
                break
            answer = self._read(job)
            if not self._closing:
                self._put(answer)
        with self._lock:
            self._end_child()

    def _read(self, job: ReadingJob) -> Answer:
        trouble = ""
        for attempt in range(1, ATTEMPTS + 1):
            if self._closing:
                break
            if trouble := self._started():
                continue
            answer = self._ask((attempt, job), self._within)
            if isinstance(answer, (ReadingDone, ReadingLost)):
                return answer
            trouble = answer
            log.warning("reading: %s", trouble)
            self._tell(trouble)
        return ReadingLost(job.number, trouble, fault=True)

    def _started(self) -> str:
        """Make sure that a child is there. Returns why none is, or nothing."""
        if self._process is not None and self._process.is_alive():
            return ""
        with self._lock:
            if self._closing:
                return "The table is being closed."
            self._end_child()
            self._begin_child()
        answer = self._ask(None, self._start_within)
        trouble = "" if isinstance(answer, Ready) else answer
        self._tell(trouble)
        return trouble

    def _ask(self, question: Any, within: float) -> Any:
        """Send a question (None: only listen) and return the answer, or a sentence after ending the child."""
        line = self._line
        assert line is not None
        try:
            if question is not None:
                line.send(question)
            answer = line.recv() if line.poll(within) else None
        except (EOFError, OSError):
            answer = Failed("The reading process stopped unexpectedly; it is being replaced.")
        if answer is None:
            answer = Failed(f"No reading within {within:g} s; the reading process is being replaced.")
        if isinstance(answer, Failed):
            with self._lock:
                self._end_child()
            return answer.reason
        return answer

    def _tell(self, trouble: str) -> None:
        if not self._closing:
            self._put(ReaderState(trouble))

    def _begin_child(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(target=_child, args=(theirs, self._spec), name="feltwatch-reading")
        self._process.daemon = True
        self._process.start()
        theirs.close()

    def _end_child(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None
        if self._line is not None:
            self._line.close()
            self._line = None
