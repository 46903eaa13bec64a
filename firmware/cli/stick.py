"""`feltwatch stick`: copies the dispute file requested by the table to a USB stick, or reads the profiles on one."""

import logging
from functools import partial
from pathlib import Path

import click

from firmware.command_options import ANY_PATH, data_option_unopened
from firmware.record.stick_request import PROGRESS, REQUEST

WAIT_S = 30.0


@click.command("stick")
@data_option_unopened
@click.option(
    "--request",
    "asked",
    type=ANY_PATH,
    default=REQUEST,
    help="The file that says what the table asks for; it is deleted.",
)
@click.option("--progress", type=ANY_PATH, default=PROGRESS, help="The file that says how far it is.")
@click.option(
    "--onto",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder instead of a stick.",
)
@click.option("--wait", type=click.FloatRange(0, 300), default=WAIT_S, help="Seconds to wait for a stick.")
def command(data: Path, asked: Path, progress: Path, onto: Path | None, wait: float) -> None:
    """Put the dispute file that the table asks for on a USB stick, or read the rule profiles on it.

    The service manager starts this command when somebody touches "Put on the stick" or "Read the stick"
    (feltwatch-stick.service). It mounts the stick only for this, replaces no file on it, and reads back what it wrote.
    The page says how it went.
    """
    from firmware.record.stick_request import read_request
    from firmware.runtime.sticks.disks import FolderStick, find_stick
    from firmware.runtime.sticks.profiles import fetch
    from firmware.runtime.sticks.write import Teller, put

    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    try:
        request = read_request(asked)
        asked.unlink()  # the service manager watches for it: if it stayed, this would be started for ever
    except OSError as error:
        raise click.UsageError(f"Nothing is asked for: {asked}: {error.strerror}.") from error
    if request is None:
        raise click.UsageError(f"{asked} holds no request that a table writes.")
    find = partial(FolderStick, onto) if onto else partial(find_stick, write=bool(request.hand))
    teller = Teller(request, progress)
    if request.hand:
        put(request, data, find, teller, wait)
    else:
        fetch(request.id, find, teller, progress, wait)
