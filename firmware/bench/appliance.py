"""`feltwatch bench appliance`: the demo's start time, and its use of memory and processor.

The demo runs as a user starts it. Its processes are watched from outside, as `ps` does: until the page answers and
every device is open, then in play or at rest between hands.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from firmware.bench.harness import Result, benchmark, number
from firmware.bench.processes import Program, family, feltwatch, fetch, free_port, memory_mb, processor_s
from firmware.runtime.errors import AppError

READY_WITHIN: Final = 120.0
"""Seconds to wait until the demo is ready, and until it is at rest."""
QUIET_S: Final = 6.0
"""Seconds without a new row after which the demo is at rest."""
PLAYED: Final = 20
"""The minimum number of rows in the record after one hand."""
LIMIT_S: Final = 3.0
"""The demo should be ready within this number of seconds."""
DEVICES: Final = ("camera", "puck", "buttons", "lamps")


@benchmark(
    "appliance",
    number("--runs", 3, "Number of starts.", 2, 20),
    number("--seconds", 15, "Seconds for which each load is measured.", 2, 600),
)
def command(runs: int, seconds: int) -> Result:
    """Measure the demo: seconds until it is ready, and memory and processor time at rest and in play."""
    facts = measure(runs, seconds)
    ready = sorted(facts["ready_s"])
    within = sum(one <= LIMIT_S for one in ready)
    return Result(
        "The appliance: ready, at rest, in play",
        "Figures under load are worse than the product's own. Ready: the page answers and every device is open.",
        facts,
        [
            f"`feltwatch demo` ready: {', '.join(f'{one:.2f}' for one in ready)} s; wanted: under {LIMIT_S:.0f} s; "
            f"{within} of {len(ready)} starts were.",
            "The demo's room is in these figures: it draws what the camera sees. A box has no such thing.",
        ],
    )


def measure(runs: int, seconds: float) -> dict[str, Any]:
    """Start the demo `runs` times. Watch the last two, one in play and one at rest. Raises AppError if one fails."""
    ready: list[float] = []
    watched: dict[str, Any] = {}
    for load in ["play"] * (runs - 1) + ["rest"]:
        options = ("--speed", "1") if load == "play" else ("--speed", "20", "--hands", "1")
        with demo(*options) as (program, port):
            ready.append(round(program.until(partial(_is_ready, port), READY_WITHIN), 2))
            if len(ready) < runs - 1:
                continue
            if load == "rest":
                _wait_for_rest(port)
            time.sleep(2.0)  # so that the work of the start is not measured
            watched[load] = watch(program, seconds)
    return {"ready_s": ready, "seconds": seconds} | watched


@contextmanager
def demo(*options: str) -> Iterator[tuple[Program, int]]:
    """Start the demo. Yield its process and the port of its page."""
    port = free_port()
    with (
        tempfile.TemporaryDirectory(prefix="feltwatch-bench-") as folder,
        Program(feltwatch("demo", "--data", folder, "--port", port, *options)) as program,
    ):
        yield program, port


def _health(port: int, query: str = "") -> dict[str, Any]:
    try:
        return dict(json.loads(fetch(port, f"/healthz{query}") or b"{}"))
    except ValueError:
        return {}


def _is_ready(port: int) -> bool:
    """Return whether the page answers and every device of the table is open."""
    health = _health(port, "?checks")
    return health.get("table") is True and all(health["checks"][name] == "ok" for name in ("table", *DEVICES))


def _wait_for_rest(port: int) -> None:
    """Wait until the only hand is played and no row has been written for a while. Raises AppError."""
    deadline, seq, since = time.monotonic() + READY_WITHIN, -1, time.monotonic()
    while time.monotonic() - since < QUIET_S or seq < PLAYED:
        if time.monotonic() > deadline:
            raise AppError("The demo did not come to rest in time.")
        now = int(_health(port).get("seq", seq))
        if now != seq:
            seq, since = now, time.monotonic()
        time.sleep(0.2)


def watch(program: Program, seconds: float) -> dict[str, Any]:
    """Return what a process and all its children use: maximum memory (PSS), and share of one core."""
    before, began, most = processor_s(program.pid), time.monotonic(), 0.0
    while time.monotonic() - began < seconds:
        most = max(most, memory_mb(program.pid))
        time.sleep(0.5)
    share = (processor_s(program.pid) - before) / (time.monotonic() - began)
    return {
        "memory_mb": round(most),
        "cpu_percent": round(100 * share, 1),
        "processes": len(family(program.pid)),
    }
