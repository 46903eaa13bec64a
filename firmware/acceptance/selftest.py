"""`feltwatch selftest`: the acceptance run of a new table, step by step, stored as a report."""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.cli.options import by_option, data_option, pin_asked, say_missing_record
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from firmware.health.check import Check

FOLDER: Final = "reports"
_WORDS: Final = {"ok": "pass", "bad": "FAIL", "unknown": "skipped", "absent": "none"}
_STORED: Final = {"ok": "pass", "bad": "fail", "unknown": "skip", "absent": "skip"}
"""The verdicts of steps, on the terminal and in the stored report."""


@click.command("selftest")
@data_option
@by_option
@click.option(
    "--yes", is_flag=True, help="Take it that every lamp is lit and the buzzer sounds; the report says so."
)
@click.option(
    "--skip",
    multiple=True,
    metavar="STEP",
    help="Leave a step out; may be given more than once. 'hands': all steps that need a person.",
)
@click.option("--list", "listing", is_flag=True, help="List the steps, and do nothing.")
@click.option("--json", "is_json", is_flag=True, help="Print the report as JSON.")
def command(
    data: Path, by: str | None, yes: bool, skip: tuple[str, ...], listing: bool, is_json: bool
) -> None:
    """Test a whole table: its devices, camera, rules, record, export, clock, power and speed.

    The table process must be running, no hand may be open, and the felt must be bare. --by names the technician. The
    test asks you to press push-buttons, to move the pucks and to look at lamps. It keeps its report in the data folder,
    in reports/. The exit status is 1 if a step failed, otherwise 0. The
    report says "passed" only if no step was left out.
    """
    from firmware.acceptance.table_trial import HANDS, STEPS, TableTrial

    names = {step.name for step in STEPS}
    if listing:
        for number, step in enumerate(STEPS, start=1):
            say(f"{number:2} {step.name:12} {step.title}{' (hands)' if step.name in HANDS else ''}")
        return
    if strange := sorted(set(skip) - names - {"hands"}):
        raise click.UsageError(f"There is no step {strange[0]!r}; see: feltwatch selftest --list")
    say_missing_record(data)
    left_out = set(skip) | (HANDS if "hands" in skip else set())

    def show(text: str) -> None:
        say(text, err=is_json)

    def confirm(text: str) -> bool:
        return yes or click.confirm(text, err=is_json)

    results: list[Check] = []
    with TableTrial(data, by, pin_asked(f"PIN of {by}") if by else None, show, confirm) as trial:
        folder = reports_folder(data)
        for number, result in enumerate(trial.run(frozenset(left_out)), start=1):
            results.append(result)
            show(line(number, result))
    document = report(results, by, yes)
    kept = _keep(folder, document, results)
    if is_json:
        say_json(document, indent=1)
    show(f"{counts(results)} The report: {kept}")
    sys.exit(any(result.verdict == "bad" for result in results))


def line(number: int, result: Check) -> str:
    """Return a step's line."""
    figures = ", ".join(f"{name} {value}" for name, value in result.figures.items())
    return f"{number:2} {_WORDS[result.verdict]:8} {result.title}: {result.says}{f' ({figures})' if figures else ''}"


def counts(results: list[Check]) -> str:
    """Return the run's last line."""
    of: Counter[str] = Counter(result.verdict for result in results)
    absent = f", {of['absent']} not installed" if of["absent"] else ""
    return f"{of['ok']} passed, {of['bad']} failed, {of['unknown']} skipped{absent}."


def report(results: list[Check], by: str | None, yes: bool) -> dict[str, Any]:
    """Return the report as it is stored."""
    from firmware.runtime.house_config import SOFTWARE

    return {
        "what": "feltwatch selftest",
        "software": SOFTWARE,
        "at": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
        "by": by or "",
        "answered_yes_unseen": yes,
        "steps": [_store(number, result) for number, result in enumerate(results, start=1)],
        "passed": all(result.verdict == "ok" for result in results),
    }


def _store(number: int, result: Check) -> dict[str, Any]:
    return {
        "number": number,
        "name": result.name,
        "title": str(result.title),
        "verdict": _STORED[result.verdict],
        "says": str(result.says),
        "figures": dict(result.figures),
    }


def reports_folder(data: Path) -> Path:
    """Return the reports' folder; fails before the run if nothing could be stored. Raises click.ClickException."""
    from firmware.record.journal.disk import make_folder

    folder = data / FOLDER
    owner = data.stat().st_uid
    try:
        if os.geteuid() == 0 and owner != 0:
            raise PermissionError(errno.EPERM, "it belongs to the table's user")
        make_folder(folder)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise click.ClickException(
            f"The report cannot be kept in {folder}: {error.strerror}. "
            f"Run it as the table's user: sudo -u feltwatch-table feltwatch {click.get_current_context().info_name}"
        ) from error
    return folder


def _keep(folder: Path, document: dict[str, Any], results: list[Check]) -> Path:
    """Store the report next to the record, as JSON and as printable text. Raises click.ClickException."""
    from firmware.record.journal.disk import sync_folder

    name = f"selftest-{document['at'].replace(':', '').replace('+0000', 'Z')}"
    lines = [f"{document['software']} · {document['at']} · {document['by']}"]
    lines += [line(number, result) for number, result in enumerate(results, start=1)]
    lines.append(counts(results))
    if document["answered_yes_unseen"]:
        lines.append("Nobody looked at the lamps or listened to the buzzer: --yes was given.")
    kept = folder / f"{name}.json"
    try:
        _write(folder / f"{name}.txt", "\n".join(lines))
        _write(kept, json.dumps(document, ensure_ascii=False, indent=1))
        sync_folder(folder)
    except OSError as error:
        raise click.ClickException(f"The report cannot be kept in {folder}: {error.strerror}.") from error
    return kept


def _write(path: Path, text: str) -> None:
    """Write a file durably, readable for the page's user. Raises OSError."""
    from firmware.record.journal.disk import make_file

    make_file(path)
    with path.open("w", encoding="utf-8") as file:
        file.write(text + "\n")
        file.flush()
        os.fsync(file.fileno())
