"""`feltwatch pit wave`: a release goes to one table, then to a share of them, then to the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.pit_options import maker_root_option, pit_database_option, pit_folder_option
from firmware.terminal import say, say_json

if TYPE_CHECKING:
    from firmware.pit.database import Database
    from firmware.pit.waves.store import Wave, WaveTable

_SHA: Final = re.compile("[0-9a-f]{64}")


class _Share(click.ParamType):  # type: ignore[type-arg]
    name = "PERCENT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value).removesuffix("%").strip()
        if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= 100):
            self.fail(f"{value} is not 1% to 100%.", param, ctx)
        return int(text)


@click.group("wave")
def wave_group() -> None:
    """Send a release to one table, then to a tenth of them, then to the rest.

    A table counts as updated when the new release itself has started there and has settled a hand since, without a
    fault. A table that is silent, goes back, refuses or asks about twice as many cards stops the wave.
    """


@wave_group.command("start")
@click.argument("release", metavar="FILE|SHA256")
@click.option(
    "--first", metavar="TABLE", default="", help="The first table.  [default: one that is heard of]"
)
@click.option("--tenth", "share", type=_Share(), default="10%", show_default=True, help="How many follow it.")
@click.option("--without", multiple=True, metavar="TABLE", help="Leave this table out. May be repeated.")
@click.option(
    "--silent",
    type=click.IntRange(1, 1440),
    default=30,
    show_default=True,
    help="Minutes after which a table that is waited for and not heard of stops the wave.",
)
@click.option(
    "--within",
    type=click.IntRange(1, 720),
    default=24,
    show_default=True,
    help="Hours that a table has for taking the release and settling a hand.",
)
@pit_folder_option
@maker_root_option
@pit_database_option
def start_command(
    release: str,
    first: str,
    share: int,
    without: tuple[str, ...],
    silent: int,
    within: int,
    folder: Path,
    maker_root: Path,
    url: str,
) -> None:
    """Begin a wave of a release: a file (.tar.gz), or the SHA-256 of one that was offered before."""
    from firmware.pit.authority import Authority
    from firmware.pit.database import Database, migrate
    from firmware.pit.down.offers import HouseRepository, offer
    from firmware.pit.waves.plan import Rules
    from firmware.pit.waves.store import CONSOLE, start

    migrate(url)
    with Database(url) as database:
        sha256 = release
        if not _SHA.fullmatch(release):
            house = HouseRepository(folder, Authority(folder / "authority"))
            sha256 = offer(database, house, Path(release), CONSOLE, maker_root=maker_root).sha256
        rules = Rules(share, silent * 60, within * 3600)
        start(database, sha256, CONSOLE, first=first, without=without, rules=rules)
        _show(database, as_json=False)


@wave_group.command("show")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@pit_database_option
def show_command(as_json: bool, url: str) -> None:
    """Show the newest wave: each table, what the wave waits for, why it stopped. Ends with 1 if it was stopped."""
    from firmware.pit.database import Database
    from firmware.pit.waves.plan import Phase

    with Database(url) as database:
        wave = _show(database, as_json=as_json)
    if wave is not None and wave.phase is Phase.STOPPED:
        raise SystemExit(1)


@wave_group.command("stop")
@pit_database_option
def stop_command(url: str) -> None:
    """Stop the wave: no further table is asked. A table that has taken the release keeps it."""
    from firmware.pit.waves.store import CONSOLE, stop

    _change(url, lambda database, wave, _: stop(database, wave.wave_id, CONSOLE))


@wave_group.command("resume")
@click.option(
    "--without",
    multiple=True,
    metavar="TABLE",
    help="Go on without this table, which failed. May be repeated.",
)
@pit_database_option
def resume_command(without: tuple[str, ...], url: str) -> None:
    """Let a stopped wave go on, after a person has looked: tables that failed are tried again."""
    from firmware.pit.errors import PitError
    from firmware.pit.waves.store import CONSOLE, resume

    def do(database: Database, wave: Wave, tables: list[WaveTable]) -> None:
        numbers = {one.name: one.table_id for one in tables}
        if unknown := sorted(set(without) - numbers.keys()):
            raise PitError("There is no table %(name)s.", name=", ".join(unknown))
        resume(database, wave.wave_id, CONSOLE, {numbers[name] for name in without})

    _change(url, do)


def _change(url: str, do: Callable[[Database, Wave, list[WaveTable]], None]) -> None:
    from firmware.pit.database import Database
    from firmware.pit.errors import PitError
    from firmware.pit.waves.store import newest, tables_of

    with Database(url) as database:
        with database.transaction() as connection:
            wave = newest(connection)
            if wave is None:
                raise PitError("There was no wave yet.")
            tables = tables_of(connection, wave)
        do(database, wave, tables)
        _show(database, as_json=False)


def _show(database: Database, *, as_json: bool) -> Wave | None:
    from firmware.pit.waves.store import newest, tables_of
    from firmware.pit.waves.words import MARKS, said

    with database.transaction() as connection:
        wave = newest(connection)
        tables = tables_of(connection, wave) if wave else []
    if as_json:
        say_json(_as_json(wave, tables))
    elif wave is None:
        say("There was no wave yet. Begin one with: feltwatch pit wave start FILE")
    else:
        say(f"Release {wave.release}: {said(wave, tables)}")
        for one in tables:
            since = f", since {_time(one.since)}" if one.since else ""
            why = f": {one.why}" if one.why else ""
            say(f"{one.name}: {MARKS[one.mark] if one.failure is None else _failed(one)}{since}{why}")
    return wave


def _failed(one: WaveTable) -> str:
    from firmware.pit.waves.words import ACCEPTED, FAILURES

    assert one.failure is not None
    accepted = ACCEPTED.get(one.accepted)
    return f"{FAILURES[one.failure]}{f' ({accepted})' if accepted else ''}"


def _time(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


def _as_json(wave: Wave | None, tables: list[WaveTable]) -> dict[str, Any]:
    if wave is None:
        return {}
    return {
        "release": wave.release,
        "sha256": wave.sha256,
        "phase": wave.phase.value,
        "step": wave.step,
        "by": wave.began_by,
        "tables": [
            {
                "table": one.name,
                "step": one.step,
                "mark": one.mark.value,
                "failure": one.failure.value if one.failure else None,
                "since": one.since,
                "why": str(one.why),
                "accepted": int(one.accepted),
            }
            for one in tables
        ],
    }
