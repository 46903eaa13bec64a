"""`feltwatch pit serve-floor` and `feltwatch pit person`: the pages, and who may log in."""

import logging
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Final, TypeVar

import click

from dealer_ui.web.errors import PageError
from firmware.command_options import FILE, FOLDER
from firmware.terminal import say, say_json
from pit.options import pit_database_option, pit_folder_option

PORT: Final = 8080
T = TypeVar("T")
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def _or_sentence(do: Callable[[], T]) -> T:
    try:
        return do()
    except PageError as error:
        raise click.ClickException(str(error)) from error


@click.command("serve-floor")
@pit_database_option
@pit_folder_option
@click.option("--name", default="", show_default=False, help="The pit's name on its pages.")
@click.option("--listen", default="127.0.0.1", metavar="ADDRESS", help="A loopback address.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, help="The port that is listened on.")
@click.option(
    "--socket",
    "path",
    type=FILE,
    help="Serve nginx on this Unix socket instead: `feltwatch review front --page SOCKET` is TLS before it.",
)
@click.option(
    "--replica",
    metavar="URL",
    envvar="FELTWATCH_PIT_REPLICA",
    help="A standby that answers searches and reports while it is not behind. Without it the database does.",
)
@click.option(
    "--certificate",
    envvar="CREDENTIALS_DIRECTORY",
    type=FOLDER,
    help="The folder of the certificate of the TLS before these pages: its end is said in time.",
)
def serve_floor(
    url: str,
    folder: Path,
    name: str,
    listen: str,
    port: int,
    path: Path | None,
    replica: str | None,
    certificate: Path | None,
) -> None:
    """Serve the floor page, past hands and reports to people who log in.

    Without --socket only this machine reaches it: passphrases do not travel over a network without TLS.
    """
    from firmware.threads import end_with_its_threads
    from pit.pages.app import create_app
    from pit.pages.serve import serve_on_loopback, serve_on_socket
    from pit.store.database import Database, migrate

    end_with_its_threads()
    if path is None and listen not in LOOPBACK:
        raise click.UsageError(
            f"{listen} is no loopback address. Over a network people come through TLS: use --socket, and before it "
            "feltwatch review front."
        )
    logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
    migrate(url)
    with Database(url) as database, Database(replica) if replica else nullcontext() as copy:
        is_secure = path is not None
        app = create_app(
            database,
            folder,
            name,
            secure=is_secure,
            copy=copy,
            certificate=certificate if is_secure else None,
        )
        if path is not None:
            serve_on_socket(app, path)
        else:
            serve_on_loopback(app, listen, port)


@click.group("person")
def person_group() -> None:
    """Who may log in at the pit, and with which role."""


@person_group.command("add")
@click.argument("name")
@click.option(
    "--role",
    type=click.Choice(["floor", "auditor", "technician", "owner"]),
    required=True,
    help="What they may see.",
)
@click.option("--generate", is_flag=True, help="Make a passphrase and print it.")
@pit_database_option
def add_person(name: str, role: str, generate: bool, url: str) -> None:
    """Let NAME log in, or give NAME another role and passphrase: 12 letters or more.

    The passphrase is asked for and never shown. Where the input is no terminal, it is read from a line of it.
    """
    from pit.pages.people import PitPeople, PitRole
    from pit.pages.people_changes import make_passphrase
    from pit.store.database import Database, migrate

    if generate:
        passphrase = make_passphrase()
    elif sys.stdin.isatty():
        passphrase = click.prompt("Passphrase", hide_input=True, confirmation_prompt=True, err=True)
    else:
        passphrase = sys.stdin.readline()
    migrate(url)
    with Database(url, connections=1) as database:
        name = _or_sentence(lambda: PitPeople(database).add(name, PitRole(role), passphrase))
    say(f"{name} may log in as {role}.")
    if generate:
        say(f"Passphrase: {passphrase}")


@person_group.command("remove")
@click.argument("name")
@pit_database_option
def remove_person(name: str, url: str) -> None:
    """Take access away from NAME; open sessions end. What NAME did stays recorded."""
    from pit.pages.people import PitPeople
    from pit.store.database import Database

    with Database(url, connections=1) as database:
        _or_sentence(lambda: PitPeople(database).remove(name))
    say(f"{name} may look no more.")


@person_group.command("list")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON array.")
@pit_database_option
def list_people(is_json: bool, url: str) -> None:
    """Show who may log in."""
    from pit.pages.people import PitPeople
    from pit.store.database import Database

    with Database(url, connections=1) as database:
        people = PitPeople(database).list_people()
    if is_json:
        say_json([{"name": one.name, "role": one.role.value} for one in people])
        return
    for one in people:
        say(f"{one.name}: {one.role.value}")
    if not people:
        say("Nobody may look. Begin with: feltwatch pit person add NAME --role floor")
