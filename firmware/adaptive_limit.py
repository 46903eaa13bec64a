"""A limit against hangs that follows how long the work really takes, between a floor and a ceiling.

A fixed limit that is right on one machine is wrong on a slower one: work that would have come to its end is given up.
"""

from __future__ import annotations

import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

RECENT: Final = 20
"""So many of the last durations count; what a machine did before that is forgotten."""
MULTIPLE: Final = 4.0
"""The limit is this many times the longest of them: the same work on a machine that is suddenly four times slower."""
GROWTH: Final = 2.0
"""After a timeout the next limit is this many times what was waited for: how long the work takes is not known yet."""


@dataclass(frozen=True)
class LimitFigures:
    """A limit and what it follows from, in seconds; None where no work came to its end yet."""

    limit_s: float
    floor_s: float
    ceiling_s: float
    usual_s: float | None
    """The median of the recent durations."""
    longest_s: float | None
    recent: int
    """How many pieces of work these figures are of, timeouts included."""
    timeouts: int
    """How many of them timed out."""


class AdaptiveLimit:
    """A limit in seconds: `MULTIPLE` times the longest recent duration, never below `floor` or above `ceiling`.

    For many threads. Pure but for the clock, which `timed` alone reads.

    >>> limit = AdaptiveLimit(floor=3, ceiling=30)
    >>> limit.seconds
    3.0
    >>> limit.took(2.0)
    >>> limit.seconds
    8.0
    >>> limit.timed_out(after=8.0)
    >>> limit.seconds
    16.0
    """

    def __init__(self, floor: float, ceiling: float, clock: Callable[[], float] = time.monotonic) -> None:
        """`floor` also holds before anything was timed. `clock` is monotonic. Raises ValueError."""
        if not 0 < floor <= ceiling:
            raise ValueError(f"a limit from {floor:g} s to {ceiling:g} s is none")
        self._floor, self._ceiling = float(floor), float(ceiling)
        self._clock = clock
        self._lock = threading.Lock()
        self._recent: deque[tuple[float, bool]] = deque(maxlen=RECENT)

    @property
    def seconds(self) -> float:
        """The limit now."""
        with self._lock:
            longest = max((seconds for seconds, _timed_out in self._recent), default=0.0)
        return min(self._ceiling, max(self._floor, MULTIPLE * longest))

    def took(self, seconds: float) -> None:
        """Learn from a piece of work that came to its end after so many seconds."""
        with self._lock:
            self._recent.append((max(0.0, seconds), False))

    def timed_out(self, after: float) -> None:
        """Learn that a piece of work was given up `after` so many seconds, the limit that it had.

        Several that ran at the same time and timed out together let the limit grow once.
        """
        with self._lock:
            self._recent.append((GROWTH * max(0.0, after) / MULTIPLE, True))

    @contextmanager
    def timed(self) -> Iterator[float]:
        """Time a piece of work. Yields its limit; a TimeoutError is learnt from, nothing from any other exception."""
        limit, began = self.seconds, self._clock()
        try:
            yield limit
        except TimeoutError:
            self.timed_out(limit)
            raise
        self.took(self._clock() - began)

    def figures(self) -> LimitFigures:
        """Return the limit and what it follows from."""
        limit = self.seconds
        with self._lock:
            recent = list(self._recent)
        done = [seconds for seconds, timed_out in recent if not timed_out]
        return LimitFigures(
            round(limit, 3),
            self._floor,
            self._ceiling,
            round(statistics.median(done), 3) if done else None,
            round(max(done), 3) if done else None,
            len(recent),
            len(recent) - len(done),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self.figures())
