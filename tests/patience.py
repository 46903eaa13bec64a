"""How long a test waits for what the product promises within so many seconds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

A_MINUTE: Final = 60.0
WAITED: Final = 25.0
"""Percent of ten seconds in which something waited for a processor, from which on a machine is busy."""


def is_busy() -> bool:
    """Say whether the machine has more to do than processors: no promise about seconds can be tried there.

    The load is told by the minute and of the whole machine; the kernel's pressure, where it tells that, is of now.
    """
    return os.getloadavg()[0] > (os.cpu_count() or 1) or _waited() > WAITED


def _waited() -> float:
    try:
        told = Path("/proc/pressure/cpu").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return float(told.partition("avg10=")[2].split()[0])


def patience(seconds: float) -> float:
    """The promised seconds on a machine of its own; a minute on a busy one, where processes may hardly start."""
    return max(seconds, A_MINUTE) if is_busy() else seconds


@cache
def pace() -> float:
    """By how much to stretch the times that a test sets itself: a busy machine stops for tenths of seconds.

    One figure for a run: several such times of one test belong together.
    """
    return 3.0 if is_busy() else 1.0


def is_late(began: float, within: float) -> bool:
    """Say whether what was promised within seconds of `began` (monotonic) is late. The machine is looked at only then:
    what made it busy may have come meanwhile.
    """
    waited = time.monotonic() - began
    return waited > within and waited > patience(within)


def until(
    so: Callable[[], object],
    within: float = 5.0,
    pause: Callable[[float], object] = time.sleep,
) -> None:
    """Wait until something is so: what is asked of another thread or process is not so at once.

    `pause` waits so many seconds; a browser's page has a way of its own, in which its answers come in.
    """
    began = time.monotonic()
    while not so():
        assert not is_late(began, within), "it never came so"
        pause(0.02)
