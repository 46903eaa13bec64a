"""When something happened: three clocks, as none alone can be trusted on a box without a battery."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final, Literal, NamedTuple

ClockState = Literal["synchronised", "unknown", "stepped_back"]
"""What the wall clock is worth: set by the network, not known, or behind the journal's last row."""

_BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


class Timestamp(NamedTuple):
    """One instant. Order within a boot is `monotonic_ns`; `wall_ms` is UTC since 1970 and may be wrong."""

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
        return str(uuid.uuid4())  # no kernel that tells: then at least one id for each process


def now() -> Timestamp:
    """Return this instant, by the system's clocks. What they are worth only the box can tell."""
    return Timestamp(_boot(), time.monotonic_ns(), time.time_ns() // 1_000_000, "unknown")
