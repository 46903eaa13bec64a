"""How soon the screen is fresh again where a part of the kiosk hangs or dies: what `feltwatch kiosk` promises.

    python -m tests.kiosk.report --write docs/kiosk-report.md

The kiosk of `tests/kiosk/supervised.py` before the demo; each part is stopped or killed several times, and the picture
is looked at twenty times a second.
"""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from firmware.bench.harness import machine
from tests.kiosk.display import SIZE, Display, why_not
from tests.kiosk.supervised import Kiosk, demo, is_full, supervised

PROMISE_S: Final = 5.0
"""Seconds after which nothing that is stale may be on the screen."""
LOOK_S: Final = 0.05
LONGEST_S: Final = 300.0
KINDS: Final = {
    "the page's process is frozen (SIGSTOP)": (signal.SIGSTOP, "--type=renderer"),
    "the page's process crashes (SIGKILL)": (signal.SIGKILL, "--type=renderer"),
    "the process that draws is frozen (SIGSTOP)": (signal.SIGSTOP, "--type=gpu-process"),
    "the browser is frozen (SIGSTOP)": (signal.SIGSTOP, "--kiosk --ozone-platform=wayland"),
    "the browser is killed (SIGKILL)": (signal.SIGKILL, "--kiosk --ozone-platform=wayland"),
    "the compositor is frozen (SIGSTOP)": (signal.SIGSTOP, "cage -d -s"),
    "the compositor is killed (SIGKILL)": (signal.SIGKILL, "cage -d -s"),
}
REPORT: Final = """# How soon the screen is fresh again

Written by `python -m tests.kiosk.report --write docs/kiosk-report.md` on {date}: {machine};
{load:.1f} processes wanted the processor at the start. `feltwatch kiosk` with cage nested in Xvfb, Chromium with the
product's flags and its own sandbox, as a user who is not root, before the demo. Times that each was tried: {times}.
**UNTESTED on a Raspberry Pi** and on a real screen.

From the start of the command to the first full picture of the page: {start:.1f} s.

{verdict}

| seconds | old picture gone, median | longest | page full again, median | longest |
|---|---:|---:|---:|---:|
{rows}

"Gone": the browser is ended and the screen is dark. The page acknowledges what it has painted; after 3 s without, the
browser is killed as a whole.
"""


@dataclass
class Times:
    """Seconds from the moment that something hung or died, once for each time."""

    gone: list[float] = field(default_factory=list)
    full: list[float] = field(default_factory=list)


def measure(kiosk: Kiosk, number: signal.Signals, word: str, times: Times) -> None:
    """Let something hang or die, and time how the screen becomes fresh again. Raises click.ClickException if not."""
    kiosk.wait_for_picture()
    began = time.monotonic()
    kiosk.signal(number, word)
    gone = None
    while time.monotonic() - began < LONGEST_S:
        picture = kiosk.display.picture()
        after = time.monotonic() - began
        if gone is None and not picture.any():
            gone = after
        if gone is not None:
            kiosk.display.resize(*SIZE)
            if is_full(picture):
                times.gone.append(gone)
                times.full.append(after)
                return
        time.sleep(LOOK_S)
    raise click.ClickException(f"The page did not come again within {LONGEST_S:.0f} s: {kiosk.log[-1]}")


def rows(found: dict[str, Times]) -> str:
    """Return the table's rows."""
    return "\n".join(
        f"| {what} | {statistics.median(times.gone):.1f} | {max(times.gone):.1f} "
        f"| {statistics.median(times.full):.1f} | {max(times.full):.1f} |"
        for what, times in found.items()
    )


@click.command()
@click.option("--times", type=click.IntRange(1), default=5, show_default=True, help="How often each is done.")
@click.option("--write", type=click.Path(path_type=Path), help="Write the report to this file.")
def main(times: int, write: Path | None) -> None:
    """Measure how soon the screen is fresh again."""
    if why_not():
        raise click.ClickException(f"The kiosk cannot be run here: {why_not()}.")
    load = os.getloadavg()[0]
    found = {what: Times() for what in KINDS}
    with (
        tempfile.TemporaryDirectory() as folder,
        Display(Path(folder)) as display,
        demo(Path(folder)) as page,
    ):
        began = time.monotonic()
        with supervised(display, page) as kiosk:
            kiosk.wait_for_picture()
            start = time.monotonic() - began
            for turn in range(times):
                for what, (number, word) in KINDS.items():
                    before = len(kiosk.log)
                    measure(kiosk, number, word, found[what])
                    if found[what].gone[-1] > PROMISE_S:
                        click.echo("\n".join(kiosk.log[before:]), err=True)
                    click.echo(
                        f"{turn + 1}: {what}: {found[what].gone[-1]:.1f} s, {found[what].full[-1]:.1f} s"
                    )
    longest = max(max(one.gone) for one in found.values())
    holds = "**It holds**" if longest <= PROMISE_S else "**It does not hold**"
    report = REPORT.format(
        date=f"{datetime.now(UTC):%Y-%m-%d}",
        machine=machine(),
        load=load,
        times=times,
        start=start,
        verdict=f"{holds}: nothing stale is to be on the screen for more than {PROMISE_S:.0f} s.",
        rows=rows(found),
    )
    if write:
        write.write_text(report, encoding="utf-8")
    click.echo(report)


if __name__ == "__main__":
    main()
