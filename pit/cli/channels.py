"""`feltwatch pit channels`: which tables get a release first, and how far each release is."""

import json
from dataclasses import asdict

import click

from firmware.terminal import say, say_json
from pit.cli.files import by_option, offered_by_name
from pit.options import pit_database_option


@click.command("channels")
@click.argument("words", nargs=-1, metavar="[WHAT]...")
@click.option(
    "--without", multiple=True, metavar="TABLE", help="With `again`: leave this table out. May be repeated."
)
@click.option("--json", "is_json", is_flag=True, help="Print one JSON array.")
@by_option
@pit_database_option
def channels_command(
    words: tuple[str, ...], without: tuple[str, ...], is_json: bool, by: str, url: str
) -> None:
    """Show the channels first, tenth and rest; move a release to one, or put a table into one.

    \b
    feltwatch pit channels                       show them; ends with 1 while a release is stopped
    feltwatch pit channels TABLE first           put a table into a channel
    feltwatch pit channels tenth                 put a tenth of the tables into tenth
    feltwatch pit channels move RELEASE first    move an offered release to a channel
    feltwatch pit channels again RELEASE         let a stopped release go on
    feltwatch pit channels withdraw RELEASE      take it out of every channel

    A table is updated when the new release itself has started there and has settled a hand since, without a fault. A
    release moves on when every table before is updated. One that is silent, goes back, refuses or asks about twice as
    many cards stops it.
    """
    from pit.channels import store
    from pit.channels.store import Name
    from pit.store.database import Database

    with Database(url, connections=2) as database:
        match words:
            case ():
                pass
            case ("move", release, to) if to in list(Name):
                store.move(database, offered_by_name(database, release).sha256, Name(to), by)
            case ("again", release):
                store.try_again(database, offered_by_name(database, release).sha256, by, without)
            case ("withdraw", release):
                store.withdraw(database, offered_by_name(database, release).sha256, by)
            case (Name.TENTH,):
                store.fill_tenth(database, by)
            case (table, to) if to in list(Name):
                store.put(database, table, Name(to), by)
            case _:
                raise click.UsageError(
                    "Channels are first, tenth and rest. See: feltwatch pit channels --help"
                )
        with database.transaction() as connection:
            found = list(store.read_channels(connection).values())
    if is_json:
        say_json(json.loads(json.dumps([asdict(one) for one in found], default=str)))
        return
    for one in found:
        say(f"{one.name}: {one.release or 'no release'}, {one.updated} of {len(one.tables)} tables updated")
        if one.stopped:
            say(f"  stopped: {one.stopped}")
        for its in one.tables:
            why = f": {its.why}" if its.why else ""
            say(f"  {its.name}: {its.words}{why}{' (left out)' if its.is_left_out else ''}")
    if not words and any(one.stopped for one in found):
        raise SystemExit(1)
