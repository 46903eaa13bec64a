"""`feltwatch uplink`: sends this table's record to the pit, for ever; and its enrolment."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from firmware.command_options import ANY_PATH, FILE, data_option_unopened
from firmware.command_options import FOLDER as ANY_FOLDER
from firmware.pulse import PULSE as BEATEN
from firmware.terminal import say
from firmware.uplink.inbox.requests import FOLDER as IN_INBOX
from firmware.uplink.join_request import FOLDER as JOIN
from firmware.uplink.join_request import PROGRESS as JOIN_PROGRESS
from firmware.uplink.status_file import FOLDER as PIT_STATUS
from firmware.uplink.status_file import WITNESS as WITNESSED

if TYPE_CHECKING:
    from firmware.uplink.witness import State, Witness

FOLDER: Final = Path("/var/lib/feltwatch-uplink")
WITNESS: Final = Path("/") / WITNESSED
INBOX: Final = Path("/") / IN_INBOX
MAKER_ROOT: Final = Path("/etc/feltwatch/root.json")
"""The maker's root metadata that this box was installed with."""
STATE: Final = Path("/") / PIT_STATUS
PULSE: Final = Path("/") / BEATEN
DROP_IN: Final = Path("/etc/systemd/system/feltwatch-uplink.service.d/pit.conf")

F = TypeVar("F", bound=Callable[..., Any])


def _at(name: str, kind: click.ParamType[Any], default: Path, words: str) -> Callable[[F], F]:
    """Return an option that names a place."""
    return click.option(name, type=kind, default=default, help=words)


class _Uplink(click.Group):
    """Turns the package's errors into one sentence each."""

    def invoke(self, ctx: click.Context) -> object:
        from firmware.uplink.errors import UplinkError

        try:
            return super().invoke(ctx)
        except UplinkError as error:
            raise click.ClickException(str(error)) from error


@click.group("uplink", cls=_Uplink, invoke_without_command=True)
@data_option_unopened
@click.option(
    "--enrolment",
    envvar="FELTWATCH_UPLINK",
    type=ANY_PATH,
    default=FOLDER,
    help="The folder that `feltwatch pit table add` wrote.",
)
@_at("--state", ANY_FOLDER, STATE, "Where to say how far the pit has heard.")
@_at(
    "--witness",
    ANY_FOLDER,
    WITNESS,
    "Where to keep what this table witnesses of the pit's log, and the key that cosigns it.",
)
@_at(
    "--inbox",
    ANY_FOLDER,
    INBOX,
    "Where to lay profiles, decks and releases that the pit asks this table to fetch.",
)
@_at("--maker-root", FILE, MAKER_ROOT, "The maker's root metadata, by which a release is judged.")
@_at("--pulse", FILE, PULSE, "Where the table process says that it answers, and how its box is.")
@click.pass_context
def command(
    context: click.Context,
    data: Path,
    enrolment: Path,
    state: Path,
    witness: Path,
    inbox: Path,
    maker_root: Path,
    pulse: Path,
) -> None:
    """Send this table's record to the pit as it grows, and witness the pit's log, until stopped.

    Only outwards: nothing is listened on. The table never waits for it. A table that is not enrolled sends nothing, and
    the command ends.
    """
    if context.invoked_subcommand is None:
        _send(data, enrolment, state, witness, inbox, maker_root, pulse)


@command.command("enrol")
@click.argument("source", metavar="FOLDER", type=click.Path(path_type=Path, exists=True, file_okay=False))
@_at("--into", ANY_FOLDER, FOLDER, "The uplink's own folder.")
@_at(
    "--drop-in",
    FILE,
    DROP_IN,
    "The file that tells the service manager which addresses the uplink may reach.",
)
def enrol_command(source: Path, into: Path, drop_in: Path) -> None:
    """Enrol this table: put the files in FOLDER, which `feltwatch pit table add` wrote, in their place.

    Run it as root, then start the uplink as it says. Delete FOLDER afterwards: the table's key lies in it.
    """
    from firmware.uplink.installation import install_enrolment

    for address in install_enrolment(source, into, drop_in):
        say(f"The pit: {address}")
    say(
        "This table is enrolled. Now: sudo systemctl daemon-reload && sudo systemctl restart feltwatch-uplink. "
        f"Then delete {source}: the table's key lies in it."
    )


@command.command("join")
@_at("--asked", ANY_FOLDER, JOIN, "The folder in which the table asks.")
@_at("--progress", FILE, JOIN_PROGRESS, "Where to say how far it is.")
@_at(
    "--into",
    ANY_FOLDER,
    FOLDER / "new",
    "Where to write the enrolment; `feltwatch uplink enrol` puts it in its place.",
)
@_at("--witness", ANY_FOLDER, WITNESS, "The folder of the key that cosigns what the pit shows.")
def join_command(asked: Path, progress: Path, into: Path, witness: Path) -> None:
    """Bring this table in at a pit, by the code that the table was shown.

    The service manager starts this when a technician shows a code to the table's camera, or types it
    (feltwatch-join.service). The page says how it went.
    """
    from firmware.messages import Message
    from firmware.uplink.errors import UplinkError
    from firmware.uplink.join_request import JoinProgress, read_join_answer, read_join_request
    from firmware.uplink.joining import join

    request = read_join_request(asked)
    if request is None:
        raise click.UsageError(f"Nothing is asked for in {asked}.")
    try:
        join(
            request,
            into,
            witness,
            lambda shown: shown.write(progress),
            lambda: read_join_answer(asked, request.id),
        )
    except UplinkError as error:
        JoinProgress(request.id, "failed", refusal=error.sentence.to_json()).write(progress)
        raise
    except Exception:
        ours = Message("The program that enrols this table met an error of ours; look at the box's log.")
        JoinProgress(request.id, "failed", refusal=ours.to_json()).write(progress)
        raise
    JoinProgress(request.id, "done").write(progress)
    say("The pit has taken this table in.")


def _send(
    data: Path, enrolment: Path, state: Path, witness: Path, inbox: Path, maker_root: Path, pulse: Path
) -> None:
    from firmware.systemd import ServiceManager
    from firmware.update.release import running_release
    from firmware.uplink.client import Client
    from firmware.uplink.follow import Follower, UplinkStatus
    from firmware.uplink.health import table_health
    from firmware.uplink.held_checkpoint import held_to_json
    from firmware.uplink.inbox.fetching import Inbox
    from firmware.uplink.inbox.requests import NOTES
    from firmware.uplink.settings import HOUSE, load
    from firmware.uplink.status_file import write_status

    signal.signal(signal.SIGINT, signal.SIG_DFL)  # as SIGTERM: the kernel ends it, whatever it is doing
    settings = load(enrolment)
    if settings is None:
        say(f"This table is not enrolled: there is no {enrolment / 'uplink.toml'}. Nothing is sent.")
        return
    client = Client(settings)
    follower = Follower(
        data,
        client,
        release=running_release(),
        health=lambda: table_health(pulse, time.monotonic()),
        clock=time.monotonic,
        rng=random.Random(),
        witness=_witness(witness, settings.log()),
        inbox=Inbox(
            inbox, data / NOTES, house_key=enrolment / HOUSE, maker_root=maker_root, clock=time.monotonic
        ),
    )
    manager = ServiceManager.from_environment()
    shown: tuple[UplinkStatus, State] = UplinkStatus(), follower.witnessed
    write_status(state, shown[0], shown[1].trouble, held_to_json(shown[1]))
    while True:
        wait = follower.step()
        now = follower.status, follower.witnessed
        if now != shown:
            if now[0].trouble != shown[0].trouble:
                say(now[0].trouble or "The pit answers.", err=True)
            if now[1].trouble != shown[1].trouble:
                say(now[1].trouble or "The pit's log continues what this table has seen.", err=True)
            shown = now
            write_status(state, shown[0], shown[1].trouble, held_to_json(shown[1]))
        manager.alive()
        time.sleep(wait)


def _witness(folder: Path, log: bytes | None) -> Witness | None:
    """Return the witness; None, with a sentence, where it cannot be: rows are sent all the same."""
    from firmware.table.errors import TableError
    from firmware.uplink.witness import Witness

    try:
        return Witness(folder, log=log)
    except (TableError, OSError) as error:
        say(f"{error} The pit's log is not witnessed; rows are sent.", err=True)
        return None
