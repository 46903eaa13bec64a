"""`feltwatch uplink`: sends this table's record to the pit, for ever."""

from __future__ import annotations

import random
import time
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click

from firmware.terminal import say

FOLDER: Final = Path("/var/lib/feltwatch-uplink")
STATE: Final = Path("/run/feltwatch-uplink")


@click.command("uplink")
@click.option(
    "--data",
    envvar="FELTWATCH_DATA",
    type=click.Path(path_type=Path),
    default=Path("/var/lib/feltwatch"),
    show_default=True,
    help="The folder of the record.",
)
@click.option(
    "--enrolment",
    envvar="FELTWATCH_UPLINK",
    type=click.Path(path_type=Path),
    default=FOLDER,
    show_default=True,
    help="The folder that `feltwatch pit table add` wrote.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    default=STATE,
    show_default=True,
    help="Where to say how far the pit has heard.",
)
def command(data: Path, enrolment: Path, state: Path) -> None:
    """Send this table's record to the pit as it grows, until stopped.

    Only outwards: nothing is listened on. The table never waits for it. A table that is not enrolled sends nothing, and
    the command ends.
    """
    from firmware.systemd import ServiceManager
    from firmware.uplink.client import Client
    from firmware.uplink.errors import UplinkError
    from firmware.uplink.follow import Follower, Heard
    from firmware.uplink.health import box_health
    from firmware.uplink.heard import write
    from firmware.uplink.settings import load

    try:
        settings = load(enrolment)
        client = Client(settings) if settings else None
    except UplinkError as error:
        raise click.ClickException(str(error)) from error
    if client is None:
        say(f"This table is not enrolled: there is no {enrolment / 'uplink.toml'}. Nothing is sent.")
        return
    follower = Follower(
        data,
        client,
        release=version("feltwatch"),
        health=lambda: box_health(data),
        clock=time.monotonic,
        rng=random.Random(),
    )
    manager = ServiceManager.from_environment()
    shown: Heard | None = None
    while True:
        wait = follower.step()
        if follower.heard != shown:
            shown = follower.heard
            write(state, shown, time.time_ns() // 1_000_000)
        manager.alive()
        time.sleep(wait)
