"""Keep the latest snapshot of changing data: one thread makes the snapshots, and many streams wait for the next one."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from firmware.threads import start_thread

log = logging.getLogger(__name__)

STUCK_S: Final = 10.0
"""Seconds without a refresh after which the thread counts as stuck."""


class NumberedSnapshot(Protocol):
    """A snapshot with a number."""

    @property
    def version(self) -> int:
        """The number of changes since the page's process started."""


S = TypeVar("S", bound=NumberedSnapshot)


class SnapshotFollower(ABC, Generic[S]):
    """Keeps the latest snapshot. `start` begins a thread that calls `refresh` periodically until `stop`."""

    poll_s: ClassVar[float]
    """Seconds between two refreshes."""
    stale_s: ClassVar[float] = 2.0
    """Seconds without a refresh after which the latest snapshot may be out of date."""

    def __init__(self, first: S) -> None:
        self._snapshot = first
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._refreshed_at: float | None = None
        self._thread_id: int | None = None

    @abstractmethod
    def refresh(self) -> None:
        """Check for changes now, and publish a snapshot if there are any."""

    @abstractmethod
    def publish_failure(self) -> None:
        """Publish that `refresh` failed; its error is in the log."""

    @property
    def stopped(self) -> bool:
        """True after `stop` was called: streams end then."""
        return self._stopped.is_set()

    @property
    def is_following(self) -> bool:
        """True while the thread runs and is not stuck."""
        return self._refreshed_at is not None and time.monotonic() - self._refreshed_at < STUCK_S

    @property
    def is_followed_elsewhere(self) -> bool:
        """True if a thread other than the caller's refreshes, and is up to date."""
        return self._thread_id not in (None, threading.get_ident()) and not self.stale and not self.stopped

    @property
    def stale(self) -> bool:
        """True if the last refresh was too long ago: the latest snapshot may be out of date."""
        return self._refreshed_at is not None and time.monotonic() - self._refreshed_at > self.stale_s

    def publish(self, snapshot: S) -> None:
        """Make this the latest snapshot."""
        with self._changed:
            self._snapshot = snapshot
            self._changed.notify_all()

    def wait(self, version: int, timeout: float, gone: Callable[[], bool] = lambda: False) -> S | None:
        """Wait for a snapshot other than `version`; return None if there is none within `timeout` seconds.

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
        """Start the thread that refreshes."""
        self._refreshed_at = time.monotonic()
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
                self._refreshed_at = time.monotonic()
            except Exception:
                # The thread must survive a bug in a view: the page shows the error until a refresh succeeds.
                log.exception("the view could not be made")
                self.publish_failure()
                self._refreshed_at = time.monotonic()
                self._stopped.wait(1.0)
