"""What a campaign found: to the terminal, to a JSON file, and from such files into the committed report.

python -m tests.campaigns.pit.report FOLDER --write docs/pit-report.md
"""

from __future__ import annotations

import dataclasses
import json
import textwrap
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Final, Protocol, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Finding(Protocol):
    """A campaign's findings, a dataclass."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

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
    text = json.dumps({**dataclasses.asdict(report), "ok": report.ok}, indent=2)
    click.echo(text)
    if path is not None:
        path.write_text(text + "\n", encoding="utf-8")
    raise SystemExit(not report.ok)


def _kills(found: dict[str, Any]) -> list[str]:
    kills = ", ".join(f"{name} {count}" for name, count in found["kills"].items())
    return [
        f"{found['tables']} tables, {_same(found['found'])}.",
        f"Kills (SIGKILL, with all children): {kills}; at {found['kills_while_tables_grew']} of them tables were still",
        f"writing. {found['seconds'] / 60:.0f} minutes.",
        "",
        _row(
            "Nothing lost, nothing twice, every list of hands as made from the table's own record",
            found["ok"],
        ),
    ]


def _outage(found: dict[str, Any]) -> list[str]:
    centre = sum(found["centre_ms"].values())
    parts = ", ".join(f"{name} {ms:.2f}" for name, ms in found["centre_ms"].items())
    return [
        f"{found['tables']} tables, {found['hours']:g} simulated hours, {_same(found['found'])}.",
        f"Caught up, lists included, {found['caught_up_s'] / 60:.1f} minutes after the pit's return.",
        "",
        "One table wrote row by row, each row a commit, and its file was set to let no write wait for another process:",
        "a write that had to wait would have failed. None did.",
        "",
        "| meanwhile | commits | median ms | 95 % ms |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {made['commits']} | {made['median_ms']} | {made['at_95_percent_ms']} |"
            for name, made in found["writes"].items()
        ),
        "",
        "These are wall times: here all uplinks, PostgreSQL and the pit share two cores with the table, as",
        "in no house.",
        "",
        f"Processor time of the centre: **{centre:.2f} ms a hand** ({parts}).",
        *(
            f"Of it, made again alone: {what} {found[name]:.2f}."
            for name, what in (("list_ms", "the list of hands"), ("floor_ms", "what the floor sees"))
            if name in found
        ),
        f"An uplink takes {found['uplink_ms']:.2f} ms a hand.",
        "",
        _row("No write of a table waits for the uplink", met=True),
        _row("Caught up; nothing lost, nothing twice, lists equal", _is_same(found["found"])),
        _row("2 ms of the centre's processor a hand, at most", centre <= MAX_MS),
    ]


def _setback(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['tables']} tables, {found['hands']} hands each before and again after. Nobody touches the uplinks.",
        "",
        "| what happened | lacked then | healed in s | rows at the end | lost | doubled | lists that differ |",
        "|---|---:|---:|---:|---:|---:|---:|",
        *(
            f"| {name} | {way['lacked']} | {way['healed_s']} | {way['found']['rows']} | {way['found']['lost']} |"
            f" {way['found']['doubled']} | {way['found']['differing_lists']} |"
            for name, way in found["ways"].items()
        ),
        "",
        "Ten seconds of it are the time until the next heartbeat. Rows that a *table* had lost by its own",
        "restore, and that",
        "only the pit still knew, do not come back to a pit that loses them, too: the last line's lacking",
        "rows count them.",
        "An empty database knows no tables: `feltwatch pit table readmit` enrols those that the authority",
        "knows, by name.",
        "",
        _row("Afterwards the same rows as before, by the tables alone", found["ok"]),
    ]


def _silent(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['sockets']} sockets held open at each door: a third never speak, a third stop in the TLS",
        "handshake, a third",
        "have no certificate that is believed. A table comes each time over a new connection.",
        "",
        "| door | requests | alone: median, longest s | meanwhile: median, longest s |",
        "|---|---:|---:|---:|",
        *(
            f"| {name} | {alone['requests']} | {alone['median_s']}, {alone['longest_s']} |"
            f" {found['meanwhile'][name]['median_s']}, {found['meanwhile'][name]['longest_s']} |"
            for name, alone in found["alone"].items()
        ),
        "",
        "No, a foreign, an unknown, a struck-off and an expired certificate and a forged header are refused",
        "at both doors:",
        "`tests/pit/test_who_comes_in.py`.",
        "",
        _row("A table's request meanwhile within 1 s (nginx)", found["ok"]),
    ]


def _skew(found: dict[str, Any]) -> list[str]:
    releases = ", ".join(f"{name}: {release}" for name, release in found["releases"].items())
    return [
        f"Two records that release 0.1 wrote and one of a later release; {_same(found['found'])}.",
        "Release 0.2.0 had no uplink, so no pit has ever heard a table of an earlier release: the old",
        "records are sent with",
        "the least that the wire asks for.",
        "",
        f"Stored and verified before the pit's update: {found['stored_before_the_update']} rows. Meanwhile",
        "the lists of",
        f"{len(found['waited'])} tables waited, with the reason. `feltwatch pit table list` says: {releases}.",
        "",
        _row(
            "Rows stored and verified; a table's line says its release; after the update the lists are complete",
            found["ok"],
        ),
    ]


def _same(found: dict[str, Any]) -> str:
    return (
        f"{found['hands']:,} hands, {found['rows']:,} rows: lost {found['lost']}, doubled {found['doubled']},"
        " records that"
        f" differ {found['differing']}, lists that differ {found['differing_lists']}, in quarantine"
        f" {found['quarantined']}"
    )


def _is_same(found: dict[str, Any]) -> bool:
    return not any(found[name] for name in ("lost", "doubled", "differing", "differing_lists", "quarantined"))


def _row(bound: str, met: bool) -> str:
    return f"- {bound}: **{'met' if met else 'missed'}**."


MAX_MS: Final = 2.0
SECTIONS: Final = {
    "kills": ("Kills", "kill_campaign", _kills),
    "outage": ("An outage of days", "outage", _outage),
    "setback": ("Set back", "setback", _setback),
    "silent": ("Strangers at the door", "silent_sockets", _silent),
    "skew": ("Other releases", "skew", _skew),
}


def report(folder: Path, date: str, notes: dict[str, str]) -> str:
    """Return the report of the campaigns whose JSON files lie in a folder. `notes`: more to say of a file, by name."""
    lines = [
        "# The pit: killed, away, set back, crowded, of another release",
        "",
        f"Written by `python -m tests.campaigns.pit.report FOLDER --date {date} --write docs/pit-report.md` on",
        f"{date} from",
        "what the commands below wrote with `--json`. Real processes: PostgreSQL 15, nginx, `feltwatch pit serve`, a",
        "`feltwatch uplink` for each table, all over TLS with a certificate each. The hands are generated;",
        "every row is",
        "chained and hashed as a table's. A short form of each runs in `make test`. Processor times are",
        "comparable, wall",
        "times are not: the machine was shared with other busy processes. A Raspberry Pi, a real network, power cuts:",
        "**UNTESTED**.",
    ]
    for name, (title, command, section) in SECTIONS.items():
        lines += ["", f"## {title}"]
        for file in sorted(folder.glob(f"{name}*.json")):
            found = json.loads(file.read_text(encoding="utf-8"))
            lines += ["", f"`python -m tests.pit.{command}{_arguments(found)}`", "", *section(found)]
            lines += [f"- Machine: {found['machine']}. {notes.get(file.stem, '')}".rstrip()]
    return "\n".join(wrapped(lines)) + "\n"


def wrapped(lines: list[str]) -> Iterator[str]:
    """Join the lines of each paragraph, and break them where they are full."""
    for is_text, some in groupby(lines, key=lambda line: bool(line) and line[0] not in "#|-"):
        paragraph = list(some)
        if is_text:
            paragraph = textwrap.wrap(
                " ".join(paragraph), 118, break_long_words=False, break_on_hyphens=False
            )
        yield from paragraph


def _arguments(found: dict[str, Any]) -> str:
    given: dict[str, float] = {name: found[name] for name in ("tables", "hours", "sockets") if name in found}
    if "hands" in found and "hours" not in found:
        given["hands"] = found["hands"]
    if "kills" in found:
        given["hands"] = found["found"]["hands"] // found["tables"]
        given["times"] = sum(found["kills"].values())
    return "".join(f" --{name} {value:g}" for name, value in given.items())


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--date", required=True, help="When the campaigns ran.")
@click.option(
    "--note",
    "notes",
    type=(str, str),
    multiple=True,
    help="A file's name without .json, and what to say of it.",
)
@click.option("--write", "path", type=click.Path(path_type=Path), required=True)
def main(folder: Path, date: str, notes: tuple[tuple[str, str], ...], path: Path) -> None:
    """Write the report."""
    path.write_text(report(folder, date, dict(notes)), encoding="utf-8")


if __name__ == "__main__":
    main()
