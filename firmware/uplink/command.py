"""`feltwatch uplink`: sends this table's record to the pit, for ever; and its enrolment."""

from __future__ import annotations

import random
import time
from importlib.metadata import version
from pathlib import Path
from typing import Final

import click

from firmware.terminal import say
from firmware.uplink.heard import FOLDER as HEARD

FOLDER: Final = Path("/var/lib/feltwatch-uplink")
STATE: Final = Path("/") / HEARD
DROP_IN: Final = Path("/etc/systemd/system/feltwatch-uplink.service.d/pit.conf")


class _Uplink(click.Group):
    """Turns the package's errors into one sentence each."""

    def invoke(self, ctx: click.Context) -> object:
        from firmware.uplink.errors import UplinkError

        try:
            return super().invoke(ctx)
        except UplinkError as error:
            raise click.ClickException(str(error)) from error


@click.group("uplink", cls=_Uplink, invoke_without_command=True)
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
@click.pass_context
def command(context: click.Context, data: Path, enrolment: Path, state: Path) -> None:
    """Send this table's record to the pit as it grows, until stopped.

    Only outwards: nothing is listened on. The table never waits for it. A table that is not enrolled sends nothing, and
    the command ends.
    """
    if context.invoked_subcommand is None:
        _send(data, enrolment, state)


@command.command("enrol")
@click.argument("source", metavar="FOLDER", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option(
    "--into",
    type=click.Path(path_type=Path, file_okay=False),
    default=FOLDER,
    show_default=True,
    help="The uplink's own folder.",
)
@click.option(
    "--drop-in",
    type=click.Path(path_type=Path, dir_okay=False),
    default=DROP_IN,
    show_default=True,
    help="Where the service manager is told which addresses the uplink may reach.",
)
def enrol_command(source: Path, into: Path, drop_in: Path) -> None:
    """Enrol this table: put the files in FOLDER, which `feltwatch pit table add` wrote, in their place.

    Run it as root, then start the uplink as it says. Delete FOLDER afterwards: the table's key lies in it.
    """
    from firmware.uplink.place import place

    for address in place(source, into, drop_in):
        say(f"The pit: {address}")
    say(
        "This table is enrolled. Now: sudo systemctl daemon-reload && sudo systemctl restart feltwatch-uplink. "
        f"Then delete {source}: the table's key lies in it."
    )


def _send(data: Path, enrolment: Path, state: Path) -> None:
    from firmware.systemd import ServiceManager
    from firmware.uplink.client import Client
    from firmware.uplink.follow import Follower, Heard
    from firmware.uplink.health import box_health
    from firmware.uplink.heard import write
    from firmware.uplink.settings import load

    settings = load(enrolment)
    if settings is None:
        say(f"This table is not enrolled: there is no {enrolment / 'uplink.toml'}. Nothing is sent.")
        return
    client = Client(settings)
    follower = Follower(
        data,
        client,
        release=version("feltwatch"),
        health=lambda: box_health(data),
        clock=time.monotonic,
        rng=random.Random(),
    )
    manager = ServiceManager.from_environment()
    shown = Heard()
    write(state, shown)
    while True:
        wait = follower.step()
        if follower.heard != shown:
            if follower.heard.trouble != shown.trouble:
                say(follower.heard.trouble or "The pit answers.", err=True)
            shown = follower.heard
            write(state, shown)
        manager.alive()
        time.sleep(wait)
