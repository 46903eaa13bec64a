"""`feltwatch doctor`: every check of the table's health, with the table running or stopped."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.cli.options import by_option, data_option, key_option, say_missing_record
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from firmware.health.check import Check

UNITS: Final = ("feltwatch-table.service", "feltwatch-ui.service", "feltwatch-kiosk.service")
OPTIONAL_UNITS: Final = ("feltwatch-training.service", "feltwatch-review.socket", "feltwatch-photo.socket")
"""Units that run only if they were enabled by hand."""
HEALTH_WITHIN: Final = 5.0
"""Seconds within which a working table has answered with its facts."""
_WORDS: Final = {"ok": "ok", "look": "LOOK", "bad": "BAD", "unknown": "?", "absent": "none"}


@click.command("doctor")
@data_option
@click.option("--full", is_flag=True, help="Check every row of the record; without it the last ones.")
@click.option("--look", is_flag=True, help="Take a picture first; only between hands, with --by.")
@click.option(
    "--look-within",
    type=click.FloatRange(0, 3600, min_open=True),
    default=30.0,
    help="Seconds to wait for that picture.",
)
@by_option
@key_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def command(
    data: Path, full: bool, look: bool, look_within: float, by: str | None, key_folder: Path, is_json: bool
) -> None:
    """Check the table: each check with a figure, a verdict and what to do.

    The exit status is 1 if a check is bad, otherwise 0. "?" marks what cannot be checked from here.
    """
    from firmware.health.check import worst

    say_missing_record(data)
    if look:
        _look(data, by, look_within)
    checks = examine(data, key_folder, full=full)
    if is_json:
        report = {"verdict": worst(checks), "checks": [check.to_json() for check in checks]}
        say_json(report, indent=1)
    else:
        for line in as_text(checks):
            say(line)
    sys.exit(worst(checks) == "bad")


def examine(data: Path, key_folder: Path | None = None, *, full: bool = False) -> tuple[Check, ...]:
    """Collect all facts and run the checks on them.

    `key_folder` also holds the signed note of the record's last row that this box signed. Without the folder the record
    is not compared with that note.
    """
    from firmware.health.checks import judge
    from firmware.health.facts import Facts
    from firmware.health.record_facts import LAST_ROWS, note_facts, record_facts
    from firmware.record.journal.ground import find_memory
    from firmware.record.journal.journal import JournalReader

    now_ms = time.time_ns() // 1_000_000
    reader = JournalReader(data)
    record = record_facts(reader, now_ms, None if full else LAST_ROWS)
    record |= note_facts(reader, key_folder) if key_folder else {}
    if (problem := find_memory(data)) and not record.get("record_wrong"):
        record["record_wrong"] = problem
    return judge(Facts.from_json({**record, **(_ask_table(data) or _read_box(data)), "services": services()}))


def _ask_table(data: Path) -> dict[str, Any] | None:
    """Return the running table's facts; None if no table answers."""
    from firmware.record_folder import SOCKET
    from firmware.table_client import TableLink, TableUnreachable

    try:
        answer = TableLink(data / SOCKET, timeout=HEALTH_WITHIN).send({"do": "health"})
    except TableUnreachable:
        return None
    return dict(answer.get("facts", {})) if answer["ok"] else None


def _read_box(data: Path) -> dict[str, Any]:
    """Return the box's facts while no table runs. Nothing of its devices: their faults in the record may be over."""
    from firmware.devices.power import Power
    from firmware.runtime.host_facts import BoxFacts, facts_of_pi

    return {**BoxFacts(data).of_box(), **facts_of_pi(Power().read()), "answers": False, "faults": {}}


def services() -> dict[str, str] | None:
    """Return the state of each of our units that should run here; None if no service manager answers."""
    try:
        output = subprocess.run(
            [
                "systemctl",
                "show",
                "--property=Id,LoadState,UnitFileState,ActiveState",
                *UNITS,
                *OPTIONAL_UNITS,
            ],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
            stdin=subprocess.DEVNULL,
        ).stdout
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    units = [dict(line.split("=", 1) for line in part.splitlines()) for part in output.strip().split("\n\n")]
    return {
        unit["Id"]: unit["ActiveState"]
        for unit in units
        if unit.get("LoadState") == "loaded"
        and (unit["Id"] in UNITS or unit.get("UnitFileState") == "enabled")
    } or None


def _look(data: Path, by: str | None, within: float) -> None:
    """Have the table take a picture. Raises click.ClickException if it fails."""
    from firmware.cli.options import ask_table

    begun = ask_table({"do": "look"}, by, data)
    if begun is None:
        raise click.ClickException(
            "The table process is not running, and it holds the camera; start it first."
        )
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        answer = ask_table({"do": "job", "job": begun["job"]}, None, data)
        if answer is None or answer["state"] == "failed":
            raise click.ClickException(
                f"The camera took no picture: {answer['why'] if answer else 'no table'}"
            )
        if answer["state"] == "done":
            return
        time.sleep(0.2)
    raise click.ClickException("The camera took no picture in time; see what the page says about the camera.")


def as_text(checks: tuple[Check, ...]) -> list[str]:
    """Return the report's lines."""
    lines = []
    for check in checks:
        lines.append(f"{_WORDS[check.verdict]:>5}  {check.title!s:22} {check.figure:>16}  {check.says}")
        if check.advice is not None and check.verdict != "ok":
            lines.append(f"{'':48}{check.advice}")
    found: Counter[str] = Counter(check.verdict for check in checks)
    labels = {"bad": "to be put right", "look": "to be seen to", "ok": "well", "unknown": "not known here"}
    if found["absent"]:
        labels["absent"] = "not installed"
    lines.append(", ".join(f"{found[verdict]} {label}" for verdict, label in labels.items()))
    return lines
