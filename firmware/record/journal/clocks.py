"""Timestamps. They combine three clocks, because none alone can be trusted on a box without a clock battery."""

import time
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

ClockState = Literal["synchronised", "unknown", "stepped_back"]
"""How far the wall clock can be trusted: set by the network, unknown, or behind the journal's last row."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Timestamp(NamedTuple):
    """One instant. `monotonic_ns` gives the order within a boot; `wall_ms` is UTC since 1970 and may be wrong."""

    boot: str
    monotonic_ns: int
    wall_ms: int
    clock: ClockState


Clock = Callable[[], Timestamp]


@cache
def _boot() -> str:
    try:
        return _BOOT_ID.read_text(encoding="ascii").strip()
    except OSError:
        return str(uuid.uuid4())  # the kernel offers no boot id: use one id per process


def now() -> Timestamp:
    """Return the current instant by the system's clocks, with the clock state "unknown"."""
    return Timestamp(_boot(), time.monotonic_ns(), time.time_ns() // 1_000_000, "unknown")
