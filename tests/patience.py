"""How long a test waits for what the product promises within so many seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

A_MINUTE = 60.0


def patience(seconds: float) -> float:
    """The promised seconds on a machine of its own; a minute on one that is so busy that processes do not start."""
    return seconds if os.getloadavg()[0] <= 2 * (os.cpu_count() or 1) else max(seconds, A_MINUTE)


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
