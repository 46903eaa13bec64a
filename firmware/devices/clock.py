"""The clocks of the box and what they are worth.

A Pi without a battery wakes up in the past, and the network's time may come late or never. So the wall clock is told
together with what it is worth, and order is kept by the monotonic clock and the id of the boot it belongs to.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

JUMP_MS = 500
"""Milliseconds by which the wall clock must leave the monotonic one to have jumped."""
SLEW = 0.001
"""The share of the time passed by which the network's time may bend the wall clock (500 ppm) and the crystal err,
twice over: no jump."""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One instant, by every clock there is."""

    boot: str
    """The id of this boot; monotonic times compare only within one."""
    monotonic_ns: int
    wall_ms: int
    """UTC since 1970, in milliseconds; may be wrong."""
    state: Literal["synchronised", "unknown"]
    """Whether the network's time has set the wall clock since the box started."""
    rtc: bool
    """Whether a battery-backed clock set the wall clock at the start."""
    jumped_ms: int
    """How far the wall clock jumped since the reading before (back: negative); 0 where it did not."""


class SystemClock:
    """Reads the system's clocks. Not thread-safe: each thread its own, so that each sees every jump once.

    The synchronised mark is systemd-timesyncd's; under another time service the state stays "unknown".
    """

    def __init__(
        self,
        root: Path = Path("/"),
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        wall_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._root = root
        self._monotonic_ns = monotonic_ns
        self._wall_ns = wall_ns
        self._boot = _text(root / "proc/sys/kernel/random/boot_id") or str(uuid.uuid4())
        self._before: tuple[int, int] | None = None

    def read(self) -> ClockReading:
        """This instant."""
        monotonic_ns, wall_ms = self._monotonic_ns(), self._wall_ns() // 1_000_000
        return ClockReading(
            boot=self._boot,
            monotonic_ns=monotonic_ns,
            wall_ms=wall_ms,
            state="synchronised" if self._exists("run/systemd/timesync/synchronized") else "unknown",
            rtc=any(
                _text(rtc / "hctosys") == "1" for rtc in sorted((self._root / "sys/class/rtc").glob("rtc*"))
            ),
            jumped_ms=self._jump(monotonic_ns, wall_ms),
        )

    def _exists(self, name: str) -> bool:
        try:
            return (self._root / name).exists()
        except OSError:
            return False

    def _jump(self, monotonic_ns: int, wall_ms: int) -> int:
        before, self._before = self._before, (monotonic_ns, wall_ms)
        if before is None:
            return 0
        passed_ms = (monotonic_ns - before[0]) // 1_000_000
        jumped_ms = wall_ms - before[1] - passed_ms
        return jumped_ms if abs(jumped_ms) > JUMP_MS + passed_ms * SLEW else 0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return ""
