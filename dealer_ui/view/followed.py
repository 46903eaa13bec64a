"""The latest snapshot of something that is followed from a thread, for many streams that wait for the next one."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, Final, Generic, Protocol, TypeVar

from firmware.threads import start_thread

log = logging.getLogger(__name__)

STUCK_S: Final = 10.0
"""After so long without a look the thread that follows is stuck."""


class NumberedSnapshot(Protocol):
    """A snapshot; `version` counts every change within one run of the page's process."""

    @property
    def version(self) -> int:
        """Its number."""


S = TypeVar("S", bound=NumberedSnapshot)


class SnapshotFollower(ABC, Generic[S]):
    """`refresh` looks now; `start` does so from a thread until `stop`."""

    poll_s: ClassVar[float]
    """Seconds between two looks."""
    stale_s: ClassVar[float] = 2.0
    """Seconds without a look after which the latest snapshot may be old."""

    def __init__(self, first: S) -> None:
        self._moment = first
        self._changed = threading.Condition()
        self._stopped = threading.Event()
        self._followed_at: float | None = None
        self._follower: int | None = None

    @abstractmethod
    def refresh(self) -> None:
        """Look now, and publish a snapshot if anything changed."""

    @abstractmethod
    def failed(self) -> None:
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
        return self._follower not in (None, threading.get_ident()) and not self.stale and not self.stopped

    @property
    def stale(self) -> bool:
        """True if the thread that follows has not looked lately: the latest snapshot may be old."""
        return self._followed_at is not None and time.monotonic() - self._followed_at > self.stale_s

    def publish(self, moment: S) -> None:
        """Make this the latest snapshot."""
        with self._changed:
            self._moment = moment
            self._changed.notify_all()

    def wait(self, version: int, timeout: float, gone: Callable[[], bool] = lambda: False) -> S | None:
        """Wait for a snapshot other than `version`; None if none comes within `timeout` seconds.

        `gone` returns whether the waiting client has left; it is called after every change and every `wake`.
        """
        with self._changed:
            changed = self._changed.wait_for(
                lambda: self.stopped or self._moment.version != version or gone(), timeout
            )
            return self._moment if changed and not self.stopped else None

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
        self._follower = threading.get_ident()
        while not self._stopped.wait(self.poll_s):
            try:
                self.refresh()
                self._followed_at = time.monotonic()
            except Exception:
                # The thread must survive a bug in a view: the page reports it and shows the next view that works.
                log.exception("the view could not be made")
                self.failed()
                self._followed_at = time.monotonic()
                self._stopped.wait(1.0)
