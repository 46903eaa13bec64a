"""The latest snapshot of something that changes: one thread makes the snapshots, many streams wait for the next."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from firmware.threads import start_thread

log = logging.getLogger(__name__)

STUCK_S: Final = 10.0
"""Seconds without a look after which the thread that follows counts as stuck."""


class NumberedSnapshot(Protocol):
    """A snapshot with a number."""

    @property
    def version(self) -> int:
        """How many changes there were in this run of the page's process."""


S = TypeVar("S", bound=NumberedSnapshot)


class SnapshotFollower(ABC, Generic[S]):
    """Keeps the latest snapshot. `start` begins a thread that calls `refresh` again and again, until `stop`."""

    poll_s: ClassVar[float]
    """Seconds between two looks."""
    stale_s: ClassVar[float] = 2.0
    """Seconds without a look after which the latest snapshot may be old."""

    def __init__(self, first: S) -> None:
        self._snapshot = first
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._followed_at: float | None = None
        self._thread_id: int | None = None

    @abstractmethod
    def refresh(self) -> None:
        """Look now, and publish a snapshot if anything changed."""

    @abstractmethod
    def publish_failure(self) -> None:
        """Publish that the view could not be made; the log says why."""

    @property
    def stopped(self) -> bool:
        """True after `stop` was called: streams end."""
        return self._stopped.is_set()

    @property
    def following(self) -> bool:
        """True while the thread follows and does not hang."""
        return self._followed_at is not None and time.monotonic() - self._followed_at < STUCK_S

    @property
    def is_followed_elsewhere(self) -> bool:
        """True if another thread than the caller's follows, and has looked lately."""
        return self._thread_id not in (None, threading.get_ident()) and not self.stale and not self.stopped

    @property
    def stale(self) -> bool:
        """True if the thread that follows has not looked lately: the latest snapshot may be old."""
        return self._followed_at is not None and time.monotonic() - self._followed_at > self.stale_s

    def publish(self, snapshot: S) -> None:
        """Make this the latest snapshot."""
        with self._changed:
            self._snapshot = snapshot
            self._changed.notify_all()

    def wait(self, version: int, timeout: float, gone: Callable[[], bool] = lambda: False) -> S | None:
        """Wait for a snapshot other than `version`; None if none comes within `timeout` seconds.

        `gone` returns whether the waiting client has left; it is called after every change and every `wake`.
        """
        with self._changed:
            changed = self._changed.wait_for(
                lambda: self.stopped or self._snapshot.version != version or gone(), timeout
            )
            return self._snapshot if changed and not self.stopped else None

    def wake(self) -> None:
        """Make every waiting stream check whether its client is still there."""
        with self._changed:
            self._changed.notify_all()

    def start(self) -> None:
        """Follow from a thread of its own."""
        self._followed_at = time.monotonic()
        start_thread(self._follow, name="following")

    def stop(self) -> None:
        """End the thread and every stream."""
        self._stopped.set()
        self.wake()

    def _follow(self) -> None:
        self._thread_id = threading.get_ident()
        while not self._stopped.wait(self.poll_s):
            try:
                self.refresh()
                self._followed_at = time.monotonic()
            except Exception:
                # The thread must survive a bug in a view: the page reports it and shows the next view that works.
                log.exception("the view could not be made")
                self.publish_failure()
                self._followed_at = time.monotonic()
                self._stopped.wait(1.0)
