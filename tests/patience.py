"""How long a test waits for what the product promises within so many seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache

A_MINUTE = 60.0


def is_busy() -> bool:
    """Say whether the machine has more to do than processors: no promise about seconds can be tried there."""
    return os.getloadavg()[0] > (os.cpu_count() or 1)


def patience(seconds: float) -> float:
    """The promised seconds on a machine of its own; a minute on a busy one, where processes may hardly start."""
    return max(seconds, A_MINUTE) if is_busy() else seconds


@cache
def pace() -> float:
    """By how much to stretch the times that a test sets itself: a busy machine stops for tenths of seconds.

    One figure for a run: several such times of one test belong together.
    """
    return 5.0 if is_busy() else 1.0


def until(
    so: Callable[[], object],
    within: float = 5.0,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Wait until something is so: what is asked of another thread or process is not so at once.

    `pause` waits so many seconds; a browser's page has a way of its own, in which its answers come in.
    """
    deadline = time.monotonic() + patience(within)
    while not so():
        assert time.monotonic() < deadline, "it never came so"
        pause(0.02)
