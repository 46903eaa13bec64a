"""Threads whose end by a fault is noticed: it ends the whole process.

A program calls `end_with_its_threads` once: from then on a thread that breaks off ends the process, and the service
manager starts it again. A process that lives on with a thread missing would look well and do half of its work.
"""

import errno
import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)
_end_process: list[Callable[[int], Any]] = []
"""`os._exit`, once `end_with_its_threads` was called."""


class NoThread(OSError):
    """The system starts no more threads for this process: it is out of memory, or at a limit."""

    def __init__(self) -> None:
        super().__init__(
            errno.EAGAIN, "No thread can be started: the machine is short of memory, or runs too many threads"
        )


def end_with_its_threads() -> None:
    """From now on end the process, with exit status 70, when a thread breaks off. For a program's start."""
    _end_process[:] = [os._exit]


def start(thread: threading.Thread) -> None:
    """Start a thread. Raises NoThread."""
    work = thread.run
    thread.run = lambda: _guard(work)  # type: ignore[method-assign]
    try:
        thread.start()
    except (RuntimeError, MemoryError) as error:
        raise NoThread from error


def start_thread(work: Callable[..., object], *args: object, name: str) -> threading.Thread:
    """Run `work` on a daemon thread of that name, and return it. Raises NoThread."""
    thread = threading.Thread(target=work, args=args, name=name, daemon=True)
    start(thread)
    return thread


def _guard(work: Callable[[], object]) -> None:
    try:
        work()
    except BaseException:
        for end in _end_process:  # ready beforehand, because the fault may be that there is no memory left
            with suppress(BaseException):
                log.exception(
                    "The thread %s broke off; the process ends with it.", threading.current_thread().name
                )
            end(os.EX_SOFTWARE)
        raise


class Worker:
    """One thread that does one job after another. Use it from one thread."""

    def __init__(self, name: str) -> None:
        """Start the thread. Raises NoThread."""
        self._jobs: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._has_news = threading.Condition()
        self._closing = False
        self._thread = start_thread(self._run, name=name)

    def submit(self, work: Callable[..., T], *args: Any) -> Future[T]:
        """Have `work` done after all earlier jobs."""
        future: Future[T] = Future()
        with self._has_news:
            self._jobs.append((lambda: work(*args), future))
            self._has_news.notify()
        return future

    def close(self) -> None:
        """End after the job in progress; the waiting ones are cancelled. May be called twice."""
        with self._has_news:
            self._closing = True
            for _, future in self._jobs:
                future.cancel()
            self._jobs.clear()
            self._has_news.notify()
        self._thread.join()

    def _run(self) -> None:
        while True:
            with self._has_news:
                self._has_news.wait_for(lambda: self._jobs or self._closing)
                if self._closing:
                    return
                work, future = self._jobs.popleft()
            if future.set_running_or_notify_cancel():
                _fulfil(future, work)


def _fulfil(future: Future[Any], work: Callable[[], Any]) -> None:
    try:
        future.set_result(work())
    except BaseException as error:
        future.set_exception(error)
