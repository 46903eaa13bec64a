"""`feltwatch audit`: checks the whole record again."""

import sys
from pathlib import Path
from typing import Final

import click

from firmware.cli.options import data_option, no_record
from firmware.terminal import say, say_json

SHOWN: Final = 50
"""Number of differences printed as text; JSON has all of them."""


@click.command("audit")
@data_option
@click.option("--from", "first", type=click.IntRange(min=1), help="The first hand.  [default: 1]")
@click.option("--to", "last", type=click.IntRange(min=1), help="The last hand.  [default: the last one]")
@click.option("--no-pictures", is_flag=True, help="Settle again only; read no picture.")
@click.option(
    "--processes", type=click.IntRange(1, 256), help="Number of processes.  [default: one for each core]"
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object with every difference.")
def command(
    data: Path, first: int | None, last: int | None, no_pictures: bool, processes: int | None, is_json: bool
) -> None:
    """Check the whole record again and list every difference.

    This release reads every stored picture of a reading, and of every card that was placed face up. It settles every
    hand by the rules that the hand was played under. A difference in a settlement means that this release would pay
    something else. A difference in a picture means that it would read or ask something else. Nothing is changed. The
    exit status is 1 if there is a difference.

    A hand is read from several frames that must agree, and one of them is stored. So a card that was barely sure may
    be unsure in the stored frame, or the other way round.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from firmware.cli.record_audit import WORDS, audit
    from firmware.record.journal.journal import JournalReader
    from firmware.table.errors import TableError
    from vision.base.errors import VisionError

    console = Console(stderr=True)
    columns = (TextColumn("hands"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    try:
        openings = JournalReader(data).openings(limit=1)
        if not openings:
            raise no_record(data, "hand on record")
        hands = range(first or 1, min(last or openings[0].hand, openings[0].hand) + 1)
        if not hands:
            raise click.UsageError(f"There is no such hand: the record has hands 1 to {openings[0].hand}.")
        with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
            task = bar.add_task("audit", total=len(hands))
            found = audit(
                data,
                hands,
                pictures=not no_pictures,
                processes=processes,
                on_progress=lambda gone, of: bar.update(task, completed=gone),
            )
        if not found.hands:
            raise click.ClickException("None of these hands has ended: nothing was gone through.")
    except (TableError, VisionError) as error:
        raise click.ClickException(str(error)) from error
    if is_json:
        say_json(found.to_json())
    else:
        for one in found.differences[:SHOWN]:
            say(f"hand {one.hand}, row {one.row}: {WORDS[one.what]}: {one.words}")
        if len(found.differences) > SHOWN:
            say(f"and {len(found.differences) - SHOWN} more; --json lists them all")
        say(
            f"{found.hands:,} hands, {found.settlements:,} settlements and {found.pictures:,} pictures gone through "
            f"({found.dropped:,} pictures no longer kept): {len(found.differences):,} differences"
        )
    sys.exit(1 if found.differences else 0)
