"""The phones that are let in, each with its photograph: in memory only, forgotten with the visit."""

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from firmware.photo.asking import Answers
from firmware.photo.reading_process import PhotoReading

IDLE_S: Final = 15 * 60.0
"""Seconds without a request after which a visit is over, and its photograph gone."""
LONGEST_S: Final = 2 * 3600.0
MAX_VISITS: Final = 16
"""Visits at once; one more ends the one that is silent longest."""


@dataclass
class Visit:
    """A phone that is let in: its photograph, if it has sent one, and what its person said of it."""

    began: float
    used: float
    reading: PhotoReading | None = None
    answers: Answers = field(default_factory=Answers)
    profile: str = "traditional"
    unit: int = 100
    """Cents a point."""

    def show(self, reading: PhotoReading | None) -> None:
        """Take another photograph, or none."""
        self.reading, self.answers = reading, Answers()


class Visits:
    """The visits of this process, by token."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: OrderedDict[str, Visit] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def begin(self) -> str:
        """Let a phone in, and return its token."""
        token, now = secrets.token_urlsafe(32), self._clock()
        with self._lock:
            self._open[token] = Visit(now, now)
            while len(self._open) > MAX_VISITS:
                self._open.popitem(last=False)
        return token

    def find(self, token: str) -> Visit | None:
        """Return an open visit; it lasts on from now."""
        self.forget_old()
        with self._lock:
            visit = self._open.get(token)
            if visit is not None:
                visit.used = self._clock()
                self._open.move_to_end(token)
            return visit

    def end(self, token: str) -> None:
        """Forget a visit with its photograph."""
        with self._lock:
            self._open.pop(token, None)

    def forget_old(self) -> None:
        """Forget all visits that are over."""
        now = self._clock()
        with self._lock:
            for token, visit in list(self._open.items()):
                if now - visit.used >= IDLE_S or now - visit.began >= LONGEST_S:
                    del self._open[token]
