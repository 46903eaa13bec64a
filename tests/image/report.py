"""What was seen of a card, as a page: docs/image-report.md."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

MADE: Final = Path("build/image/made.tsv")
"""What `make image` writes: what, seconds, seen."""
PAGE: Final = """# The card, booted in QEMU

Written by `make image` and `make test-image ARGS='--write docs/image-report.md'`: the card's image itself, with its
kernel of 16-KB pages, on QEMU's `virt` machine with 2 GB and an emulated Cortex-A76, a Pi 5's core, which carries out
1,000 million instructions in a second of its own clock, on {host} with {cores} cores and a load of {load:.0f}. Seconds
are the wall's, many times a Pi's, unless its own clock is named. **UNTESTED on a Raspberry Pi**: its firmware and
drivers, its screen, a real card, whose cache loses what QEMU's disk keeps ([untested.md](untested.md)).

| `make image` | seconds | |
|---|---|---|
{made}

| `make test-image` | seconds | |
|---|---|---|
{rows}

| seen inside, after the first start | |
|---|---|
{facts}
{listings}
"""


class Report:
    """What was seen, as the rows of a page. It is kept after each step: a run of hours may be ended before its end."""

    def __init__(self, to: Path | None = None) -> None:
        """`to`: the page."""
        self._to = to
        self.rows: list[str] = []
        self.facts: list[str] = []
        self.listings: list[tuple[str, str]] = []

    @contextmanager
    def step(self, what: str) -> Iterator[list[str]]:
        """Time a step; what is put into the list is told behind it."""
        began = time.monotonic()
        found: list[str] = []
        yield found
        took = time.monotonic() - began
        self.rows.append(f"| {what} | {took:.0f} | {'; '.join(found)} |")
        click.echo(f"{took:6.0f} s  {what}: {'; '.join(found)}")
        self.keep()

    def keep(self) -> None:
        """Write the page, if there is to be one."""
        if self._to is not None:
            self._to.write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """Return the page."""
        listings = "\n".join(f"\n## {name}\n\n```\n{said.rstrip()}\n```" for name, said in self.listings)
        made = [line.split("\t") for line in MADE.read_text(encoding="utf-8").splitlines()]
        return PAGE.format(
            made="\n".join(f"| {' | '.join(row)} |" for row in made),
            host=platform.machine(),
            cores=os.cpu_count(),
            load=os.getloadavg()[1],
            rows="\n".join(self.rows),
            facts="\n".join(self.facts),
            listings=listings,
        )
