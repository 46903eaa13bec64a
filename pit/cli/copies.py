"""`feltwatch pit backup` and `feltwatch pit chain`: copies of the pit's database elsewhere."""

import os
import time
from pathlib import Path
from typing import Final, NoReturn

import click

from firmware.command_options import FILE
from firmware.terminal import say, say_json
from pit.options import BACKUP_DISK, BACKUP_STATE, PIT_FOLDER, pit_database_option

FOLDERS: Final = (PIT_FOLDER, Path(f"{PIT_FOLDER}-floor"), Path("/etc/feltwatch-pit"))
"""What is copied next to the database: authority, keys, certificates."""
_path = click.Path(path_type=Path, file_okay=False, readable=False)  # click would ask without its capability
_disk = click.option("--disk", type=_path, default=BACKUP_DISK, help="Where the second disk is mounted.")
_state = click.option("--state", type=FILE, default=BACKUP_STATE, help="What the last backup came to.")
_reader = click.option(
    "--to", "reader", required=True, metavar="ROLE", help="The role by which the head office comes."
)


@click.group("backup")
def backup_group() -> None:
    """Copy the pit's database, its certificates and images to a second disk.

    On a server both run by themselves: feltwatch-pit-backup.timer each night, feltwatch-pit-wal.service all the time.
    """


@backup_group.command("make")
@pit_database_option
@_disk
@_state
@click.option(
    "--folder",
    "folders",
    type=_path,
    multiple=True,
    default=FOLDERS,
    help="Folder that is copied too; once for each.",
)
def make_command(url: str, disk: Path, state: Path, folders: tuple[Path, ...]) -> None:
    """Make a whole backup now, verify it, and remove what is older than the last two."""
    from pit.copies.backup import make

    made = make(url, disk, state, folders, folders[0] / "images")
    say(f"Backup {made.name}: {made.size / 1e6:.0f} MB in {made.seconds:.0f} s, verified.")


@backup_group.command("receive")
@pit_database_option
@_disk
def receive_command(url: str, disk: Path) -> NoReturn:
    """Receive PostgreSQL's log on the second disk, as it is written."""
    from pit.copies.backup import receiver

    arguments = receiver(url, disk)
    os.execv(arguments[0], arguments)


@backup_group.command("last")
@_state
def last_command(state: Path) -> None:
    """Say when the last backup was made; exits with 1 if that is more than a day ago."""
    from pit.copies.backup import LATE_S, last

    found = last(state)
    if found is None:
        raise click.ClickException("No backup was ever made.")
    ago = time.time() - found.at
    say(
        f"Backup {found.name} was made {ago / 3600:.1f} h ago: {found.size / 1e6:.0f} MB in {found.seconds:.0f} s."
    )
    if ago > LATE_S:
        raise click.ClickException("That is more than a day ago: journalctl -u feltwatch-pit-backup")


@click.group("chain")
def chain_group() -> None:
    """A chain of houses: hands and downs without names, at a head office."""


@chain_group.command("publish")
@click.argument("name")
@_reader
@pit_database_option
def publish_command(name: str, reader: str, url: str) -> None:
    """Publish this house's hands, downs and tables under NAME, without names of people. Run it as the tables' owner."""
    from pit.copies.chain import publish

    say(f"{name} is published. The house's number: {publish(url, name, reader)}")


@chain_group.command("withdraw")
@_reader
@pit_database_option
def withdraw_command(reader: str, url: str) -> None:
    """Publish nothing any more."""
    from pit.copies.chain import withdraw

    withdraw(url, reader)
    say("Nothing is published any more.")


@chain_group.command("head-office")
@pit_database_option
def head_office_command(url: str) -> None:
    """Make the head office's tables, in a database of its own."""
    from pit.copies.chain import make_head_office

    make_head_office(url)
    say("The tables are there. Next, for each house: feltwatch pit chain subscribe URL-OF-THE-HOUSE")


@chain_group.command("subscribe")
@click.argument("house_url")
@click.option("--again", is_flag=True, help="Remove what is there of the house, and copy all of it again.")
@pit_database_option
def subscribe_command(house_url: str, again: bool, url: str) -> None:
    """Follow the house whose database is at HOUSE_URL. Run it as a superuser of the head office's PostgreSQL."""
    from pit.copies.chain import subscribe

    say(f"House {subscribe(url, house_url, again=again)} is followed.")


@chain_group.command("houses")
@click.option("--json", "is_json", is_flag=True, help="Print one JSON array.")
@pit_database_option
def houses_command(is_json: bool, url: str) -> None:
    """List the houses at the head office: how many hands, and when each house was last heard of."""
    from pit.copies.chain import houses

    found = houses(url)
    if is_json:
        say_json(
            [
                {
                    "house": one.house,
                    "name": one.name,
                    "followed": one.is_followed,
                    "hands": one.hands,
                    "heard": one.heard_at.isoformat() if one.heard_at else None,
                }
                for one in found
            ]
        )
        return
    for one in found:
        heard = f"{one.heard_at:%Y-%m-%d %H:%M:%S}" if one.heard_at else "never"
        trouble = "" if one.is_followed else "  not followed now"
        say(f"{one.name or one.house}: {one.hands} hands, heard {heard}{trouble}")
    if not found:
        say("No house is followed.")
