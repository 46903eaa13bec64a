"""Watches processes from outside, by /proc: their processor time and memory, with all their children."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
"""Seconds of processor time in one tick of /proc/PID/stat."""


@contextmanager
def cleaning_up() -> Iterator[None]:
    """Let SIGTERM end this process as Ctrl-C does, so that what it has started is ended, too."""

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def family(root: int) -> list[int]:
    """Return a process with all its descendants."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        if (stat := _stat(int(path.name))) is not None:
            parents.setdefault(int(stat[1]), []).append(int(path.name))
    found = [root]
    for pid in found:
        found += parents.get(pid, [])
    return found


def _stat(pid: int) -> list[str] | None:
    """Return /proc/PID/stat's fields after the name, which may contain spaces; None for an ended process."""
    try:
        return (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return None


def parent(pid: int) -> int:
    """Return the parent of a process. Raises ProcessLookupError if it has ended."""
    stat = _stat(pid)
    if stat is None:
        raise ProcessLookupError(f"process {pid} has ended")
    return int(stat[1])


def processor_s(root: int) -> float:
    """Return the processor time in seconds of a process, its descendants, and those of them that have ended."""
    stats = [stat for pid in family(root) if (stat := _stat(pid)) is not None]
    return TICK_S * sum(int(ticks) for stat in stats for ticks in stat[11:15])


def memory_mb(pid: int) -> float:
    """Return a process's own memory and its share of shared memory (PSS)."""
    return _megabytes(Path(f"/proc/{pid}/smaps_rollup"), "Pss:")


def family_memory_mb(root: int) -> float:
    """Return the memory (PSS) of a process and all its descendants."""
    return sum(memory_mb(pid) for pid in family(root))


def resident_mb(pid: int) -> tuple[float, float]:
    """Return a process's resident memory, and the most that it ever was."""
    status = Path(f"/proc/{pid}/status")
    return _megabytes(status, "VmRSS:"), _megabytes(status, "VmHWM:")


def _megabytes(path: Path, name: str) -> float:
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1000 for line in text.splitlines() if line.startswith(name)), 0.0)
