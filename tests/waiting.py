"""How tests wait: for a condition, never for a number of seconds.

There is one deadline. It is scaled once, at the start of a run, by how fast this machine computes, and never by what
the machine happens to do at the moment. A test that passes does not come near it.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from itertools import count
from typing import Final

_REFERENCE_S: Final = 0.017
"""Seconds of processor time that `_compute` takes on the reference machine (x86-64, Python 3.11)."""
_ENVIRONMENT: Final = "FELTWATCH_TEST_SPEED"
_SHORTEST_PAUSE_S: Final = 0.005
_LONGEST_PAUSE_S: Final = 0.1


def _compute() -> None:
    table: dict[int, int] = {}
    total = 0
    for number in range(60_000):
        table[number % 997] = total
        total = (total * 31 + number) % 1_000_003
    hashlib.sha256(bytes(2_000_000)).digest()


def _measure() -> float:
    """Return how many times slower than the reference this machine is, at least 1.

    Processor time of this thread, the best of three: other processes do not count.
    """
    fastest = min(_seconds_of_one() for _ in range(3))
    return max(1.0, round(fastest / _REFERENCE_S, 1))


def _seconds_of_one() -> float:
    began = time.thread_time()
    _compute()
    return time.thread_time() - began


SPEED: Final = float(os.environ.setdefault(_ENVIRONMENT, "") or _measure())
"""How many times slower than the reference machine this one is. Workers inherit the figure by the environment."""
os.environ[_ENVIRONMENT] = str(SPEED)

DEADLINE: Final = 180.0 * SPEED
"""Seconds after which a wait has failed: enough beside ten busy programs for each core. A hang costs this long; nothing
else does."""


def until(condition: Callable[[], object], pause: Callable[[float], object] = time.sleep) -> None:
    """Wait until a condition holds.

    `pause` waits so many seconds; a browser's page has its own way, in which its events come in.

    Raises `AssertionError` at the deadline.
    """
    ends = time.monotonic() + DEADLINE
    for attempt in count():
        if condition():
            return
        assert time.monotonic() < ends, f"the condition did not hold within {DEADLINE:.0f} s"
        pause(min(_LONGEST_PAUSE_S, _SHORTEST_PAUSE_S * 1.5 ** min(attempt, 20)))
