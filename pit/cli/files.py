"""`feltwatch pit send` and `feltwatch pit files`: files for tables, and how far each is."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from firmware.terminal import escape, say, say_json
from pit.options import maker_root_option, pit_database_option, pit_folder_option

if TYPE_CHECKING:
    from firmware.update.house import HouseFile
    from pit.store.database import Database

by_option = click.option(
    "--by",
    metavar="NAME",
    default=lambda: os.environ.get("SUDO_USER", "console"),
    show_default=False,
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
    from pit.files.offers import HouseRepository, check_sender, offer
    from pit.status.tables import list_tables
    from pit.store.database import Database, migrate

    if names and to_all:
        raise click.UsageError("Name tables with --to, or say --all.")
    migrate(url)
    with Database(url, connections=2) as database:
        enrolled = {
            one.table.name: one.table.table_id for one in list_tables(database) if one.struck_at is None
        }
        if unknown := [name for name in names if name not in enrolled]:
            raise PitError("There is no table %(name)s.", name=", ".join(unknown))
        tables = enrolled if to_all else {name: enrolled[name] for name in names}
        house = HouseRepository(folder, Authority(folder / "authority"))
        by = check_sender(by)
        one = offer(database, house, file, by, maker_root=maker_root, machine=machine)
        say(f"{one.kind} {one.title}, {one.size:,} bytes: {one.sha256}")
        refused = False
        for name, table_id in tables.items():
            try:
                with database.transaction() as connection:
                    if not withdraw:
                        requests.ask(connection, table_id, one.sha256, by)
                        done = "asked"
                    else:
                        had = requests.withdraw(connection, table_id, by, sha256=one.sha256)
                        done = "withdrawn" if had else "was not asked for it"
                say(f"{name}: {done}")
            except PitError as error:
                refused = True
                say(f"{name}: {error}", err=True)
    if not tables:
        say("No table was asked for it. Name one with --to, or move a release into a channel.")
    if refused:
        raise SystemExit(1)


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
    from pit.authority import Authority
    from pit.files import offers
    from pit.files.requests import remove as remove_offered
    from pit.files.requests import requests
    from pit.store.database import Database, migrate

    if remove is not None:
        migrate(url)
    with Database(url, connections=2) as database:
        if remove is not None:
            file = offered_by_name(database, remove)
            what = f"{file.kind} {file.title}, {file.size:,} bytes, offered by {file.by}"
            if not yes:
                click.confirm(f"Remove {escape(what)} from this server?", abort=True)
            remove_offered(
                database, offers.HouseRepository(folder, Authority(folder / "authority")), file, by
            )
            say(f"removed: {what}")
            return
        with database.transaction() as connection:
            sent, offered, gone = (
                requests(connection),
                offers.list_offered(connection),
                offers.list_removed(connection),
            )
    if is_json:
        say_json(
            [
                {
                    "table": one.table,
                    "kind": one.file.kind,
                    "name": one.file.name,
                    "release": one.file.version,
                    "sha256": one.sha256,
                    "state": one.state,
                    "why": str(one.why) if one.why is not None else None,
                    "since": one.state_at.isoformat(),
                    "by": one.asked_by,
                }
                for one in sent
            ]
        )
        return
    for one in sent:
        why = f": {one.why}" if one.why is not None else ""
        say(f"{one.table}  {one.file.kind} {one.title}  {one.state.replace('_', ' ')}{why}")
    sent_hashes = {one.sha256 for one in sent}
    for file in offered:
        if file.sha256 not in sent_hashes:
            say(f"offered, no table was asked: {file.kind} {file.title}  {file.sha256}")
    for file, at, who in gone:
        say(f"removed {at:%Y-%m-%d %H:%M} by {who}: {file.kind} {file.title}  {file.sha256}")
    if not offered:
        say("No file was offered. Begin with: feltwatch pit send FILE --to TABLE")


def offered_by_name(database: Database, name: str) -> HouseFile:
    """Return the offered file of a name, of a release's name, or of a hash's first eight or more digits.

    Raises PitError where there is none, or more than one.
    """
    from pit.errors import PitError
    from pit.files.offers import list_offered

    with database.transaction() as connection:
        match = [
            one
            for one in list_offered(connection)
            if name in (one.title, one.sha256) or (len(name) >= 8 and one.sha256.startswith(name))
        ]
    if not match:
        raise PitError("No file %(name)s is offered. See: feltwatch pit files", name=name)
    if len(match) > 1:
        raise PitError(
            "There are %(count)s files %(name)s. Say which by its SHA-256: %(files)s",
            count=len(match),
            name=name,
            files=", ".join(one.sha256[:12] for one in match),
        )
    return match[0]
