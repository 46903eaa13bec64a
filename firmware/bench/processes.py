"""Programs in processes of their own; from /proc, the processor time and memory of a process with its descendants."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Final, Self

from firmware.runtime.errors import AppError

TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")
"""Seconds of processor time in one tick of /proc/PID/stat."""


def feltwatch(*arguments: object) -> list[str]:
    """Return the command line of `feltwatch` with these arguments."""
    return [sys.executable, "-m", "firmware.cli", *map(str, arguments)]


def free_port() -> int:
    """Return a port of loopback that nobody uses now."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


class Program:
    """A program in a process of its own. A context manager that ends it."""

    def __init__(self, command: list[str], output: IO[bytes] | int = subprocess.DEVNULL) -> None:
        self._name, self._began = " ".join(command), time.monotonic()
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        self.pid: Final = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()
        self._process.wait()

    def until(self, ready: Callable[[], object], within: float = 120.0) -> float:
        """Wait until it is ready; return the seconds since its start. Raises AppError."""
        while (passed := time.monotonic() - self._began) < within:
            self.check()
            if ready():
                return passed
            time.sleep(0.02)
        raise AppError(f"The process was not ready within {within:.0f} s: {self._name}")

    def check(self) -> None:
        """Raise AppError if it has ended."""
        if self._process.poll() is not None:
            raise AppError(f"The process ended by itself: {self._name}")


def fetch(port: int, path: str) -> bytes | None:
    """Return the body of an answer from loopback, whatever its status; None without an answer."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return bytes(answer.read())
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.read()
    except OSError:
        return None


def family(root: int) -> list[int]:
    """Return a process with all its descendants."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        if stat := _stat(int(path.name)):
            parents.setdefault(int(stat[1]), []).append(int(path.name))
    found = [root]
    for pid in found:
        found += parents.get(pid, [])
    return found


def processor_s(root: int) -> float:
    """Return the processor time in seconds of a process, its descendants, and those of them that have ended."""
    return TICK_S * sum(int(ticks) for pid in family(root) for ticks in _stat(pid)[11:15])


def memory_mb(root: int) -> float:
    """Return the memory (PSS) in megabytes of a process and all its descendants."""
    return sum(_megabytes(f"/proc/{pid}/smaps_rollup", "Pss:") for pid in family(root))


def _stat(pid: int) -> list[str]:
    """Return /proc/PID/stat's fields after the name, which may contain spaces; none for an ended process."""
    return _text(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _megabytes(path: str, name: str) -> float:
    lines = _text(path).splitlines()
    return next((int(line.split()[1]) / 1000 for line in lines if line.startswith(name)), 0.0)


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
