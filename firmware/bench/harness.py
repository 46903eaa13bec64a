"""What all benchmarks share: the machine, timing, a process of the product to watch, and the output.

Processor time does not depend on what else the machine does; wall time does. `timed` and `ratio` compare libraries.
"""

from __future__ import annotations

import gc
import os
import platform
import socket
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import click
from rich.console import Console, RenderableType
from rich.table import Table

from firmware.command_options import FILE
from firmware.runtime.errors import AppError
from firmware.terminal import say_all, say_json

Run = Callable[[], object]

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
report_option = click.option("--report", type=FILE, help="Write the figures as Markdown.")


def machine(threads: int | None = None) -> str:
    """Return this machine's description in a line, for quoted figures."""
    used = "" if threads is None else f" {threads} threads,"
    return f"{platform.machine()}, {os.cpu_count()} cores,{used} Python {platform.python_version()}"


def conditions() -> dict[str, str]:
    """Return the machine, its load now and the date. Call it before measuring: a benchmark is a load itself."""
    return {
        "machine": machine(),
        "load": f"{os.getloadavg()[0]:.1f} other processes wanted the processor at the start",
        "measured": datetime.now(UTC).date().isoformat(),
    }


# ---- timing ----


def elapsed_ms(run: Run) -> float:
    """Return the wall time of a run in milliseconds."""
    began = time.perf_counter()
    run()
    return 1000 * (time.perf_counter() - began)


def children_time() -> float:
    """Return the processor time in seconds of all ended child processes."""
    times = os.times()
    return times.children_user + times.children_system


def timed(
    rounds: int, runs: Mapping[str, Run], clock: Callable[[], float] = time.thread_time
) -> dict[str, list[float]]:
    """Return the seconds of each run in every round, by default of this thread's processor time.

    The runs take turns. Each has one unmeasured run first to fill the caches. Garbage collection is off meanwhile.
    """
    seconds: dict[str, list[float]] = {who: [] for who in runs}
    gc.collect()
    gc.disable()
    try:
        for _ in range(rounds):
            for who, run in runs.items():
                run()
                began = clock()
                run()
                seconds[who].append(clock() - began)
    finally:
        gc.enable()
    return seconds


def ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    """Return the median of the rounds' ratios.

    Two runs of one round find the machine alike, however busy it is; the best rounds of each may lie far apart, and
    then their ratio tells of the machine.
    """
    return statistics.median(their / our for their, our in zip(theirs, ours, strict=True))


def median_and_p95(values: Sequence[float]) -> tuple[float, float]:
    """Return the median and the value that 95 % do not exceed."""
    return statistics.median(values), sorted(values)[max(0, -(-95 * len(values) // 100) - 1)]


# ---- a process of the product ----


class Served:
    """A `feltwatch` command in a process of its own that serves a page on a free port."""

    def __init__(self, *order: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port: int = probe.getsockname()[1]
        self._name = order[0]
        self._began = time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "firmware.cli", *order, "--port", str(self.port)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        self.process.kill()
        self.process.wait()

    def fetch(self, path: str) -> bytes | None:
        """Return the body of an answer, whatever its status; None without an answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.read()
        except OSError:
            return None

    def until(self, ready: Callable[[], object], within: float) -> float:
        """Wait until it is ready; return the seconds since its start. Raises AppError."""
        while (passed := time.monotonic() - self._began) < within:
            if self.process.poll() is not None:
                raise AppError(f"The process ended by itself; see why: feltwatch {self._name}")
            if ready():
                return time.monotonic() - self._began
            time.sleep(0.02)
        raise AppError(f"feltwatch {self._name} was not ready within {passed:.0f} s.")


# ---- output ----


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """Return a table for the terminal."""
    made = Table(*head)
    for row in rows:
        made.add_row(*row)
    return made


def publish(
    result: Mapping[str, Any],
    as_json: bool,
    *shown: RenderableType,
    report: Path | None = None,
    page: str = "",
) -> None:
    """Print the result as JSON or as texts and tables; also write `page` to the file `report`. Raises OSError."""
    if report is not None:
        report.write_text(page, encoding="utf-8")
    if as_json:
        say_json(result)
        return
    for part in shown:
        say_all(part) if isinstance(part, str) else Console().print(part)
