"""`feltwatch pit send` and `feltwatch pit files`: files for tables, and how far each is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firmware.terminal import escape, say, say_json
from pit.options import maker_root_option, pit_database_option, pit_folder_option

if TYPE_CHECKING:
    from pit.files.requests import Request
    from pit.store.database import Connection


by_option = click.option(
    "--by",
    metavar="NAME",
    default=lambda: os.environ.get("SUDO_USER", "console"),
    help="Who does it: a profile is kept at the table in this name.  [default: who ran sudo]",
)


@click.command("send")
@click.argument("file", type=click.Path(path_type=Path, exists=True))
@click.option(
    "--to", "names", metavar="TABLE", multiple=True, help='A table, such as "Table 7". May be repeated.'
)
@click.option("--all", "to_all", is_flag=True, help="Every table that is enrolled.")
@click.option("--withdraw", is_flag=True, help="Withdraw it from these tables instead.")
@click.option("--machine", metavar="NAME", help="Where a release lies there for several: aarch64, x86_64.")
@by_option
@maker_root_option
@pit_database_option
@pit_folder_option
def send_command(
    file: Path,
    names: tuple[str, ...],
    to_all: bool,
    withdraw: bool,
    machine: str | None,
    by: str,
    maker_root: Path,
    url: str,
    folder: Path,
) -> None:
    """Offer FILE to tables: a profile (.toml), an enrolled deck (.json), or the folder of a release.

    All are named by the house's signed repository; a release has to be signed by the maker already. Its folder is what
    the maker gives: `maker` and `targets`. Each table named fetches it when it asks next, and decides between hands.
    Without a table it is only offered.
    """
    from pit.authority import Authority
    from pit.errors import PitError
    from pit.files import requests
    from pit.files.offers import HouseRepository, name_of_sender, offer
    from pit.store.database import Database, migrate

    if names and to_all:
        raise click.UsageError("Name tables with --to, or say --all.")
    migrate(url)
    with Database(url, connections=2) as database:
        with database.transaction() as connection:
            tables = _tables(connection, names, to_all=to_all)
        house = HouseRepository(folder, Authority(folder / "authority"))
        by = name_of_sender(by)
        one = offer(database, house, file, by, maker_root=maker_root, machine=machine)
        what = f"{one.kind} {one.version or one.name}"
        say(f"{what}, {one.size:,} bytes: {one.sha256}")
        refused = False
        for table_id, name in tables:
            try:
                with database.transaction() as connection:
                    if withdraw:
                        done = requests.withdraw(connection, table_id, one.sha256, by)
                        say(f"{name}: {'withdrawn' if done else 'was not asked for it'}")
                    else:
                        requests.ask(connection, table_id, one.sha256, by)
                        say(f"{name}: asked")
            except PitError as error:
                refused = True
                say(f"{name}: {error}", err=True)
        if not tables:
            say("No table was asked for it. Name one with --to, or move a release into a channel.")
        if refused:
            raise SystemExit(1)


def _tables(connection: Connection, names: tuple[str, ...], *, to_all: bool) -> list[tuple[int, str]]:
    """Return number and name of the tables that are meant. Raises PitError for a name that no table has."""
    from pit.errors import PitError

    found: dict[str, int] = dict(
        connection.execute(
            "SELECT name, table_id FROM gaming_table WHERE struck_at IS NULL ORDER BY name"
        ).fetchall()
    )
    if unknown := [name for name in names if name not in found]:
        raise PitError("There is no table %(name)s.", name=", ".join(unknown))
    wanted = list(found) if to_all else list(dict.fromkeys(names))
    return [(found[name], name) for name in wanted]


@click.command("files")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON array.")
@click.option(
    "--remove", metavar="NAME", help="Remove an offered file, by its name or SHA-256, from this server."
)
@click.option("--yes", is_flag=True, help="Do not ask before it is removed.")
@by_option
@pit_database_option
@pit_folder_option
def files_command(is_json: bool, remove: str | None, yes: bool, by: str, url: str, folder: Path) -> None:
    """List the files that were sent to tables, and how far each is; or remove one that no table needs any more.

    What was removed, when and by whom stays in this list. A file that a table is still to fetch or to take is not
    removed, nor one that a channel holds. A table that has taken it keeps it.
    """
    from pit.files.offers import listed, removed
    from pit.files.requests import requests
    from pit.store.database import Database

    if remove is not None:
        _remove(remove, url, folder, by, is_sure=yes)
        return
    with Database(url, connections=1) as database, database.transaction() as connection:
        sent, offered, gone = requests(connection), listed(connection), removed(connection)
    if is_json:
        say_json([_to_json(one) for one in sent])
        return
    for one in sent:
        why = f": {one.why}" if one.why is not None else ""
        say(f"{one.table}  {one.kind} {one.version or one.name}  {one.state.replace('_', ' ')}{why}")
    asked = {one.sha256 for one in sent}
    for file in offered:
        if file.sha256 not in asked:
            say(f"offered, no table was asked: {file.kind} {file.version or file.name}  {file.sha256}")
    for file, at, who in gone:
        say(f"removed {at:%Y-%m-%d %H:%M} by {who}: {file.kind} {file.version or file.name}  {file.sha256}")
    if not offered:
        say("No file was offered. Begin with: feltwatch pit send FILE --to TABLE")


def _remove(name: str, url: str, folder: Path, by: str, *, is_sure: bool) -> None:
    from pit.authority import Authority
    from pit.files.offers import HouseRepository, named, remove
    from pit.store.database import Database, migrate

    migrate(url)
    with Database(url, connections=2) as database:
        with database.transaction() as connection:
            one = named(connection, name)
        what = f"{one.kind} {one.version or one.name}, {one.size:,} bytes, offered by {one.offered_by}"
        if not is_sure:
            click.confirm(f"Remove {escape(what)} from this server?", abort=True)
        remove(database, HouseRepository(folder, Authority(folder / "authority")), one, by)
        say(f"removed: {what}")


def _to_json(one: Request) -> dict[str, object]:
    return {
        "table": one.table,
        "kind": one.kind,
        "name": one.name,
        "release": one.version,
        "sha256": one.sha256,
        "state": one.state,
        "why": str(one.why) if one.why is not None else None,
        "since": one.state_at.isoformat(),
        "by": one.asked_by,
    }
