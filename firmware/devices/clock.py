"""The clocks of the box and their quality.

A Pi without a battery starts with an old time, and network time may come late or never. So the wall clock is stored
with its quality, and the order of events follows the monotonic clock and the boot id.
"""

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

JUMP_MS = 500
"""Milliseconds: if the wall clock gets further from the monotonic clock, it has jumped."""
SLEW = 0.001
"""Share of the elapsed time that does not count as a jump: twice network time's maximum correction (500 ppm)
and the crystal's error.
"""


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One instant on all clocks."""

    boot: str
    """The id of this boot; monotonic times are comparable only within one boot."""
    monotonic_ns: int
    wall_ms: int
    """UTC since 1970, in milliseconds; may be wrong."""
    state: Literal["synchronised", "unknown"]
    """Whether network time has set the wall clock since the box started."""
    rtc: bool
    """Whether a battery-backed clock set the wall clock at the start."""
    jumped_ms: int
    """Milliseconds that the wall clock jumped since the previous reading (back: negative); 0 without a jump."""


class SystemClock:
    """Reads the system's clocks. Not thread-safe: one per thread, so that each thread sees every jump once.

    The synchronised mark is that of systemd-timesyncd; under another time service the state stays "unknown".
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
        """Read all clocks now."""
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
