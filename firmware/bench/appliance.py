"""`feltwatch bench appliance`: the demo's start time, and its use of memory and processor.

The demo runs as a user starts it, and its processes are watched from outside, like `ps`: first until its page answers
and every device is open, then at rest between hands, then in play.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from firmware.bench.harness import Served, json_option, publish
from firmware.bench.processes import family, family_memory_mb, processor_s
from firmware.command_options import FILE
from firmware.runtime.errors import AppError

READY_WITHIN: Final = 120.0
QUIET_S: Final = 6.0
PLAYED: Final = 20
"""Minimum number of rows in a record after one hand."""
LIMIT_S: Final = 3.0
"""Limit in seconds for the demo to be ready."""


@click.command("appliance")
@click.option("--runs", type=click.IntRange(2, 20), default=3, show_default=True, help="Number of starts.")
@click.option(
    "--seconds",
    type=click.IntRange(2, 600),
    default=15,
    show_default=True,
    help="Seconds for which each load is measured.",
)
@click.option("--write", type=FILE, help="Also write the report to this file.")
@json_option
def command(runs: int, seconds: int, write: Path | None, as_json: bool) -> None:
    """Measure the demo: seconds until it is ready, and memory and processor time at rest and in play."""
    load = os.getloadavg()[0]
    figures = measure(runs, seconds) | {"load": round(load, 1), "cores": os.cpu_count()}
    page = markdown(figures)
    publish(figures, as_json, page, report=write, page=page)


def measure(runs: int, seconds: float) -> dict[str, Any]:
    """Start the demo `runs` times and watch the last run. Raises AppError if it does not start."""
    ready = []
    watched: dict[str, Any] = {}
    plays = [("play", ("--speed", "1"))] * (runs - 1) + [("rest", ("--speed", "20", "--hands", "1"))]
    for number, (name, options) in enumerate(plays):
        with _Demo(options) as demo:
            ready.append(demo.until_ready())
            if name == "rest":
                demo.until_at_rest()
            if number >= runs - 2:
                time.sleep(2.0)  # excludes the work of the start
                watched[name] = _watch(demo.process.pid, seconds)
    return {"ready_s": [round(one, 2) for one in ready], "seconds": seconds} | watched


class _Demo(Served):
    def __init__(self, options: Sequence[str]) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="feltwatch-bench-")
        super().__init__("demo", "--data", self._folder.name, *options)

    def __exit__(self, *_: object) -> None:
        self.process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(30)
        super().__exit__()
        self._folder.cleanup()

    def until_ready(self) -> float:
        """Return the seconds from the start until the page answers and every device of the table is open."""
        return self.until(self._is_ready, READY_WITHIN)

    def until_at_rest(self) -> None:
        """Wait until the only hand is played and no row has been written for a while. Raises AppError."""
        deadline, seq, since = time.monotonic() + READY_WITHIN, -1, time.monotonic()
        while time.monotonic() - since < QUIET_S or seq < PLAYED:
            if time.monotonic() > deadline:
                raise AppError("The demo did not come to rest in time.")
            health = self._health()
            if health and health["seq"] != seq:
                seq, since = int(health["seq"]), time.monotonic()
            time.sleep(0.2)

    def _health(self, query: str = "") -> dict[str, Any]:
        try:
            return dict(json.loads(self.fetch(f"/healthz{query}") or b"{}"))
        except ValueError:
            return {}

    def _is_ready(self) -> bool:
        health = self._health("?checks")
        if not health:
            return False
        devices = (health["checks"][name] for name in ("table", "camera", "puck", "buttons", "lamps"))
        return health["table"] is True and all(verdict == "ok" for verdict in devices)


def _watch(root: int, seconds: float) -> dict[str, Any]:
    """Return the use of a process and all its children: maximum memory (PSS), and share of one core."""
    before, began, most = processor_s(root), time.monotonic(), 0.0
    while time.monotonic() - began < seconds:
        most = max(most, family_memory_mb(root))
        time.sleep(0.5)
    passed = time.monotonic() - began
    return {
        "memory_mb": round(most),
        "cpu_percent": round(100 * (processor_s(root) - before) / passed, 1),
        "processes": len(family(root)),
    }


def markdown(facts: dict[str, Any]) -> str:
    """Return the report."""
    ready = sorted(facts["ready_s"])
    within = sum(one <= LIMIT_S for one in ready)
    lines = [
        "# The appliance: ready, at rest, in play",
        "",
        "Written by `feltwatch bench appliance --write docs/appliance-report.md` on "
        f"{datetime.now(UTC):%Y-%m-%d}, {facts['cores']} cores, under a load of {facts['load']} from elsewhere",
        "(figures under load are worse than the product's own). Ready: the page answers and every device is open.",
        "",
        f"- `feltwatch demo` ready: {', '.join(f'{one:.2f}' for one in ready)} s; wanted: under {LIMIT_S:.0f} s; "
        f"{within} of {len(ready)} starts were.",
        "",
        f"| over {facts['seconds']} s | memory (PSS) | processor, of one core | processes |",
        "|---|---|---|---|",
    ]
    for name, title in (("rest", "at rest, between hands"), ("play", "in play, at a person's pace")):
        one = facts[name]
        lines.append(f"| {title} | {one['memory_mb']} MB | {one['cpu_percent']} % | {one['processes']} |")
    lines += [
        "",
        "The demo's room is in these figures: it draws what the camera sees. A box has no such thing.",
    ]
    return "\n".join(lines) + "\n"
