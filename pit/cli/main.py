"""`feltwatch pit`: the pit's service, its tables, its list of hands."""

import os
from pathlib import Path
from typing import Final, NoReturn

import click

from firmware.command_options import ANY_PATH, FILE, FOLDER
from firmware.terminal import say
from pit.cli.channels import channels_command
from pit.cli.copies import backup_group, chain_group
from pit.cli.files import files_command, send_command
from pit.cli.log import key_command, verify_command
from pit.cli.months import months_group
from pit.cli.people import person_group, serve_floor
from pit.cli.table_list import list_command
from pit.demo.cli import command as demo_command
from pit.errors import PitError
from pit.options import pit_database_option, pit_folder_option

SOCKET: Final = Path("/run/feltwatch-pit/door.sock")
OLDER: Final = 3
"""The exit status of `migrate --check` where the database has an older schema."""


class _Pit(click.Group):
    """Turns the package's errors into one sentence each."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except PitError as error:
            raise click.ClickException(str(error)) from error
        except Exception as error:
            from psycopg.errors import InsufficientPrivilege

            if not isinstance(error, InsufficientPrivilege):
                raise
            why = str(error).partition("\n")[0]
            raise click.ClickException(
                f"This user may not do that in the pit's database ({why}). The book says who may: sudo -u USER"
            ) from error


@click.group("pit", cls=_Pit)
def command() -> None:
    """Keep the records of all tables in one PostgreSQL database.

    Tables send by themselves, over HTTPS with a certificate each; nothing here can play, confirm or settle.
    """


for _one in (
    backup_group,
    chain_group,
    channels_command,
    demo_command,
    files_command,
    key_command,
    months_group,
    person_group,
    send_command,
    serve_floor,
    verify_command,
):
    command.add_command(_one)


@command.command("serve")
@pit_database_option
@pit_folder_option
@click.option(
    "--socket", "path", type=FILE, default=SOCKET, help="The Unix socket of the door; only nginx may open it."
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    envvar="FELTWATCH_PIT_WORKERS",
    default=1,
    show_envvar=True,
    help="Processes that serve; one for each core that many tables keep busy.",
)
def serve_command(url: str, folder: Path, path: Path, workers: int) -> None:
    """Serve the door, and make the list of hands from what comes.

    With --workers several processes do so on one socket. They share the tables' records, and where one ends or freezes
    the others go on. A second `serve` on the same database, with a copy of the folder's keys, shares the work, too.
    """
    from functools import partial

    from firmware.systemd import ServiceManager
    from firmware.threads import end_with_its_threads
    from pit.authority import Authority
    from pit.door.processes import serve_in_processes
    from pit.door.serve import listen_on, serve
    from pit.store.database import migrate

    end_with_its_threads()
    Authority(folder / "authority").door()
    migrate(url)
    with listen_on(path) as listening:
        serving = partial(serve, url, folder, listening)
        is_ready = ServiceManager.from_environment().alive
        if workers == 1:
            serving(is_ready)
        else:
            serve_in_processes(workers, serving, is_ready)


@command.command("front")
@pit_folder_option
@click.option("--listen", default="0.0.0.0:8443", help="The tables' address and port.")
@click.option(
    "--socket",
    "paths",
    type=ANY_PATH,
    multiple=True,
    default=(SOCKET,),
    help="The door's socket; again for that of another `serve` on the same database.",
)
@click.option(
    "--certificates",
    envvar="CREDENTIALS_DIRECTORY",
    type=FOLDER,
    help="The folder of the door's certificate and the authority's.  [default: authority in --folder]",
)
@click.option(
    "--work",
    envvar="RUNTIME_DIRECTORY",
    type=FOLDER,
    default=Path("/run/feltwatch-pit-front"),
    help="nginx's own folder.",
)
def front_command(
    folder: Path, listen: str, paths: tuple[Path, ...], certificates: Path | None, work: Path
) -> NoReturn:
    """Run nginx before the door."""
    from pit.door import front
    from pit.files.offers import REPOSITORY

    if not front.is_installed():
        raise PitError(
            "nginx is not installed: sudo apt-get install --no-install-recommends nginx-light libnginx-mod-stream"
        )
    repository = folder / REPOSITORY
    arguments = front.command(listen, paths, certificates or folder / "authority", repository, work)
    os.execv(arguments[0], arguments)


@command.command("migrate")
@pit_database_option
@click.option("--door", metavar="ROLE", help="The role that serves: gets its rights, and no others.")
@click.option(
    "--floor", metavar="ROLE", help="The role of the floor's pages: reads no hand that lies on a table."
)
@click.option(
    "--check", is_flag=True, help="Only say whether it has this schema: exits with 3 if it is older."
)
def migrate_command(url: str, door: str | None, floor: str | None, check: bool) -> None:
    """Bring the database to this release's schema, as its owner.

    The service and the other commands can then run as a role that changes and removes no row.
    """
    from pit.store.database import is_current, migrate
    from pit.store.rights import FLOOR_RIGHTS, allow

    if check:
        if not is_current(url):
            say("The database's schema is older than this release's.")
            raise SystemExit(OLDER)
        return
    revision = migrate(url)
    if door:
        allow(url, door)
    if floor:
        allow(url, floor, FLOOR_RIGHTS)
    say(f"The database's schema is {revision}.")


@command.command("reindex")
@pit_database_option
def reindex_command(url: str) -> None:
    """Make the list of hands, and what each table does, again from the rows; nothing is lost by it."""
    from pit.follow.follower import Follower
    from pit.follow.projector import reindex
    from pit.store.database import LONG_JOB, Database

    with Database(url, limits=LONG_JOB) as database:
        Follower(database).start_over()
        say(f"{reindex(database)} rows were followed.")


@command.group("table")
def table_group() -> None:
    """Enrol tables, list them, strike them off."""


_to = click.option("--to", type=FOLDER, help="Show no code: write the enrolment here, for a stick.")
_addresses = click.option(
    "--pit",
    "addresses",
    multiple=True,
    metavar="HOST:PORT",
    help="The pit's address; a second one for a second server.  [default: as for the last code]",
)


def _enrol(
    name: str, to: Path | None, addresses: tuple[str, ...], url: str, folder: Path, *, renews: bool
) -> None:
    """Enrol a table by a code, or by files in a folder."""
    from pit.authority import Authority
    from pit.cli.bring_in import bring_in
    from pit.status.tables import enrol, known_name, new_table, renew
    from pit.store.database import Database, migrate

    if to is not None and not addresses:
        raise click.UsageError("With --to, say where the table finds the pit: --pit HOST:PORT")
    migrate(url)
    with Database(url) as database:
        if to is None:
            bring_in(database, name, addresses, "console", renews=renews)
            return
        name = (known_name if renews else new_table)(database, name)
        (renew if renews else enrol)(
            database, name, Authority(folder / "authority").enrol(name, to, list(addresses))
        )
    say(f"{name} is enrolled{' again' if renews else ''}. Its files are in {to}.")


@table_group.command("add")
@click.argument("name")
@_to
@_addresses
@pit_database_option
@pit_folder_option
def add_command(name: str, to: Path | None, addresses: tuple[str, ...], url: str, folder: Path) -> None:
    """Enrol the table NAME: shows a code for its camera, good once and for fifteen minutes.

    Then compare the five words that the table shows. NAME holds the table's number: "Table 7". With --to the table's
    key, its certificate and the pit's addresses are written into a folder: carry it to the table by a stick, put it in
    its place there (feltwatch uplink enrol), and delete it here.
    """
    _enrol(name, to, addresses, url, folder, renews=False)


@table_group.command("readmit")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@pit_database_option
@pit_folder_option
def readmit_command(names: tuple[str, ...], url: str, folder: Path) -> None:
    """Enrol tables NAME with the certificates they have, in a database that was lost.

    Without a NAME: says whose certificates the authority has issued. Which of them were struck off only a person knows.
    A table that is readmitted sends its whole record again by itself.
    """
    from pit.authority import Authority
    from pit.status.tables import enrol
    from pit.store.database import Database, migrate

    issued = Authority(folder / "authority").issued()
    if unknown := sorted(set(names) - set(issued)):
        raise PitError("There is no table %(name)s.", name=", ".join(unknown))
    if not names:
        for name in sorted(issued) or ["No certificate was issued."]:
            say(name)
        return
    migrate(url)
    with Database(url) as database:
        for name in names:
            enrol(database, name, issued[name])
            say(f"{name} is enrolled again.")


@table_group.command("renew")
@click.argument("name")
@_to
@_addresses
@pit_database_option
@pit_folder_option
def renew_command(name: str, to: Path | None, addresses: tuple[str, ...], url: str, folder: Path) -> None:
    """Enrol the table NAME again, for a new card: its record goes on, and its old certificate is refused.

    It shows a code, as `add` does. Then the table can fetch its record: feltwatch restore --from-pit.
    """
    _enrol(name, to, addresses, url, folder, renews=True)


@table_group.command("strike")
@click.argument("name")
@pit_database_option
def strike_command(name: str, url: str) -> None:
    """Strike the table NAME off: nothing more is taken from it, and what it sent stays."""
    from pit.status.tables import strike
    from pit.store.database import Database

    with Database(url) as database:
        strike(database, name)
    say(f"{name} is struck off.")


table_group.add_command(list_command)
