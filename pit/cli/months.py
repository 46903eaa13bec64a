"""`feltwatch pit months`."""

import click

from firmware.terminal import say, say_json
from pit.options import pit_database_option


@click.group("months", invoke_without_command=True)
@pit_database_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON array.")
@click.pass_context
def months_group(context: click.Context, url: str, is_json: bool) -> None:
    """Say how many rows each month has, and where they lie; move an old month to another disk.

    Rows are evidence: nothing here removes one.
    """
    if context.invoked_subcommand is not None:
        return
    from pit.store.database import Database
    from pit.store.months import list_months

    with Database(url, connections=1) as database, database.transaction() as connection:
        months = list_months(connection)
    if is_json:
        say_json([month._asdict() for month in months])
        return
    for month in months:
        say(f"{month.name}: about {month.rows:,} rows, {month.size / 1e6:,.0f} MB, in {month.tablespace}")


@months_group.command("move")
@click.argument("month")
@click.option("--tablespace", required=True, help="PostgreSQL's name of the place on the other disk.")
@pit_database_option
def move_command(month: str, tablespace: str, url: str) -> None:
    """Move the rows of a past MONTH, as in 2026-11, to another tablespace, as the database's owner.

    Tables and pages go on. Both places need room for the month until it is done.
    """
    from pit.store.database import LONG_JOB, Database
    from pit.store.months import move

    with Database(url, connections=1, limits=LONG_JOB) as database:
        say(f"{move(database, month, tablespace)} rows were moved.")
