"""What a campaign found: to the terminal, to a JSON file, and from such files into the committed report.

python -m tests.firmware.pit.report FOLDER --write docs/pit-report.md
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Finding(Protocol):
    """A campaign's findings, a dataclass."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""


def report_options(command: F) -> F:
    """Give a campaign's command the options of its report."""
    return click.option("--json", "path", type=click.Path(path_type=Path), help="Write the report here.")(
        command
    )


def write_report(report: Finding, path: Path | None) -> None:
    """Print the findings, write them to a file, and end the command: 0 if nothing is wrong."""
    text = json.dumps({**dataclasses.asdict(report), "ok": report.ok}, indent=2)  # type: ignore[call-overload]
    click.echo(text)
    if path is not None:
        path.write_text(text + "\n", encoding="utf-8")
    raise SystemExit(not report.ok)
