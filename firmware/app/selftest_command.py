"""`feltwatch selftest`: the acceptance run of a new table, step by step, kept as a report."""

from __future__ import annotations

import json
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.app.asking import by_option, data_option, pin_asked

if TYPE_CHECKING:
    from firmware.app.selftest import Result

FOLDER: Final = "reports"
_WORDS: Final = {"pass": "pass", "fail": "FAIL", "skip": "skipped"}


@click.command("selftest")
@data_option
@by_option
@click.option(
    "--yes", is_flag=True, help="Take every lamp for lit and the buzzer for heard; the report says so."
)
@click.option(
    "--skip",
    multiple=True,
    metavar="STEP",
    help="Leave a step out; may come more than once. 'hands': all that need hands.",
)
@click.option("--list", "listing", is_flag=True, help="Say what the steps are, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def command(
    data: Path, by: str | None, yes: bool, skip: tuple[str, ...], listing: bool, as_json: bool
) -> None:
    """Try a whole table: its devices, camera, rules, record, export, clock, power and speed.

    The table process must be running, no hand open, and the felt bare. A technician gives his name with --by. Buttons
    are pressed, the disk is moved and lamps are looked at when asked. The report is kept in the data folder, in
    reports/. Exit status 0 where nothing failed, 1 where something did; a step that was left out did not pass.
    """
    from firmware.app.selftest import HANDS, STEPS, Selftest, SelftestError

    names = {step.name for step in STEPS}
    if listing:
        for number, step in enumerate(STEPS, start=1):
            click.echo(f"{number:2} {step.name:12} {step.title}{' (hands)' if step.name in HANDS else ''}")
        return
    if strange := sorted(set(skip) - names - {"hands"}):
        raise click.UsageError(f"There is no step {strange[0]!r}; see: feltwatch selftest --list")
    left_out = set(skip) | (HANDS if "hands" in skip else set())

    def tell(text: str) -> None:
        click.echo(text, err=as_json)

    def asked(text: str) -> bool:
        return yes or click.confirm(text, err=as_json)

    results: list[Result] = []
    try:
        with Selftest(data, by, pin_asked(f"PIN of {by}") if by else None, tell, asked) as test:
            for number, result in enumerate(test.run(frozenset(left_out)), start=1):
                results.append(result)
                tell(line(number, result))
    except SelftestError as error:
        raise click.ClickException(str(error)) from error
    told = report(results, by, yes)
    kept = _keep(data, told)
    if as_json:
        click.echo(json.dumps(told, ensure_ascii=False, indent=1))
    counts = {verdict: sum(result.verdict == verdict for result in results) for verdict in _WORDS}
    tell(f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped. The report: {kept}")
    sys.exit(counts["fail"] > 0)


def line(number: int, result: Result) -> str:
    """Return a step's line."""
    figures = ", ".join(f"{name} {value}" for name, value in result.figures.items())
    return f"{number:2} {_WORDS[result.verdict]:8} {result.title}: {result.says}{f' ({figures})' if figures else ''}"


def report(results: list[Result], by: str | None, yes: bool) -> dict[str, Any]:
    """Return the report as it is kept."""
    from firmware.app.house import SOFTWARE

    return {
        "what": "feltwatch selftest",
        "software": SOFTWARE,
        "at": datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds"),
        "by": by or "",
        "answered_yes_unseen": yes,
        "steps": [{"number": number, **vars(result)} for number, result in enumerate(results, start=1)],
        "passed": all(result.verdict == "pass" for result in results),
    }


def _keep(data: Path, told: dict[str, Any]) -> Path:
    """Keep the report beside the record, as JSON and as text to be printed. Raises click.ClickException."""
    from firmware.app.selftest import Result
    from firmware.table.disk import make_folder, sync_folder

    name = f"selftest-{told['at'].replace(':', '').replace('+0000', 'Z')}"
    lines = [f"{told['software']} · {told['at']} · {told['by']}"]
    for step in told["steps"]:
        lines.append(
            line(step["number"], Result(**{key: value for key, value in step.items() if key != "number"}))
        )
    folder = data / FOLDER
    try:
        make_folder(folder)
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        kept = folder / f"{name}.json"
        kept.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        sync_folder(folder)
    except OSError as error:
        raise click.ClickException(f"The report cannot be kept in {folder}: {error.strerror}.") from error
    return kept
