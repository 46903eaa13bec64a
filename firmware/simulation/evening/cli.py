"""`feltwatch simulate`: evenings of hands, faster than real time, with faults; reports what was lost."""

from __future__ import annotations

import logging
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from firmware.command_options import FOLDER, profile_option
from firmware.simulation.evening.faults import FAULTS, FaultName, UnknownFault, parse_faults
from firmware.terminal import say_json

if TYPE_CHECKING:
    from firmware.simulation.evening.run import Outcome

IN_MEMORY: Final = Path("/dev/shm")
"""Folder of the temporary record, if it exists: power is never cut here, and a disk syncs slowly."""

_EPILOG: Final = (
    "\b\nFAULTS: all, none, or a comma list of\n"
    + "\n".join(f"  {name:18} {words}" for name, words in FAULTS.items())
    + "\n\nThe reader's ordinary errors are always on: models/reader_errors.json, as measured."
)


def _faults(_: click.Context, __: click.Parameter, text: str) -> tuple[FaultName, ...]:
    try:
        return parse_faults(text)
    except UnknownFault as error:
        raise click.BadParameter(str(error)) from error


@click.command("simulate", epilog=_EPILOG)
@click.option("--hands", type=click.IntRange(1), default=1000, help="Number of hands to play.")
@click.option("--faults", callback=_faults, default="none", help="What goes wrong (see below).")
@click.option("--seed", type=int, default=1, help="The same seed plays the same evening.")
@profile_option
@click.option(
    "--pixels",
    type=click.IntRange(1),
    metavar="N",
    help="Play N hands in real time instead, through rendered pictures, the card reader and real processes.",
)
@click.option("--json", "is_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--data",
    envvar="FELTWATCH_DATA",
    type=FOLDER,
    help="Keep the record in this folder, which must hold none yet.  [default: a temporary one]",
)
def command(
    hands: int,
    faults: tuple[FaultName, ...],
    seed: int,
    profile: str,
    pixels: int | None,
    is_json: bool,
    data: Path | None,
) -> None:
    """Play a simulated table faster than real time, let things go wrong, and report what was lost.

    The table process and its journal are the product's own. The clock, the devices, the reader, the players and the
    dealer are simulated. Every row of the record is compared with what was dealt, read and done.

    The exit status is 1 if a hand was lost, settled twice, settled on a doubtful card without asking the dealer, or
    settled in another way than `feltwatch settle` settles the same cards.
    """
    from firmware.record.journal.journal import FILE

    logging.disable(logging.CRITICAL)  # the product's log reports each fault; here they are counted
    try:
        with ExitStack() as stack:
            if data is None:
                memory = IN_MEMORY if IN_MEMORY.is_dir() else None
                folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="feltwatch-", dir=memory))
                data = Path(folder)
            elif (data / FILE).exists():
                raise click.UsageError(f"There is a record in {data} already; choose an empty folder.")
            outcome = _play(data, pixels or hands, faults, seed, profile, pixels is not None)
    finally:
        logging.disable(logging.NOTSET)
    if is_json:
        say_json(outcome.to_json())
    else:
        from firmware.simulation.evening.report import show

        show(outcome)
    if not outcome.ok:
        sys.exit(1)


def _play(
    data: Path, hands: int, faults: tuple[FaultName, ...], seed: int, profile: str, pixels: bool
) -> Outcome:
    """Play, with a progress bar on stderr."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from firmware.simulation.evening.run import simulate
    from firmware.simulation.house import make_config

    make_config(data, profile)  # reports an invalid house before there is a progress bar
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("hands", total=hands)
        if pixels:
            from firmware.simulation.evening.pixels import simulate_pixels

            return simulate_pixels(data, hands, faults, seed, profile, lambda _: progress.advance(bar))
        return simulate(data, hands, faults, seed, profile, lambda _: progress.advance(bar))
