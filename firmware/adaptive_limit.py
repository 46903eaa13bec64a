"""A timeout that adapts to how long the work really takes, between a floor and a ceiling.

A fixed timeout that suits one machine is too short for a slower one: it would abort work that would have finished.
"""

import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Final

RECENT: Final = 20
"""How many of the last durations count."""
MULTIPLE: Final = 4.0
"""The limit is this many times the longest of them, so that the machine may suddenly become four times slower."""
GROWTH: Final = 2.0
"""After a timeout the next limit is this many times the old one, because the real duration is still unknown."""


@dataclass(frozen=True)
class LimitFigures:
    """A limit and the durations behind it, in seconds; None if no work has finished yet."""

    limit_s: float
    floor_s: float
    ceiling_s: float
    usual_s: float | None
    """The median of the recent durations."""
    longest_s: float | None
    recent: int
    """The number of recent durations, including timeouts."""
    timeouts: int
    """The number of timeouts among them."""


class AdaptiveLimit:
    """A limit in seconds: `MULTIPLE` times the longest recent duration, never below `floor` or above `ceiling`.

    Thread-safe. Only `timed` reads the clock.

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
        """`floor` is also the first limit. `clock` is monotonic, in seconds. Raises ValueError."""
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
        """Record a duration: work that finished after so many seconds."""
        with self._lock:
            self._recent.append((max(0.0, seconds), False))

    def timed_out(self, after: float) -> None:
        """Record a timeout `after` so many seconds, the limit at that time.

        If several pieces of work with the same limit time out together, the limit grows only once.
        """
        with self._lock:
            self._recent.append((GROWTH * max(0.0, after) / MULTIPLE, True))

    @contextmanager
    def timed(self) -> Iterator[float]:
        """Time the work in the `with` block; yields its limit. Records a TimeoutError, but no other exception."""
        limit, began = self.seconds, self._clock()
        try:
            yield limit
        except TimeoutError:
            self.timed_out(limit)
            raise
        self.took(self._clock() - began)

    def figures(self) -> LimitFigures:
        """Return the limit and the durations behind it."""
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

    def to_json(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self.figures())
