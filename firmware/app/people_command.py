"""`feltwatch people`: lists who deals, and who has a PIN, at this table."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from firmware.app.config import DATA, SOCKET

ROLES: Final = ("dealer", "floor", "technician", "auditor")

_data = click.option(
    "--data",
    envvar="FELTWATCH_DATA",
    type=click.Path(path_type=Path),
    default=DATA,
    show_default=True,
    help="The folder of the record.",
)
_by = click.option("--by", metavar="NAME", help="Who asks for it; needed while the table process runs.")


@click.group("people")
def command() -> None:
    """List who deals, and who has a PIN, at this table.

    The first to be listed is a technician:

        feltwatch people add Ada --role technician

    A PIN is asked for and never shown; where the input is no terminal, each is read from a line of it. While the
    table process runs, it judges: --by names who asks, and his own PIN is asked for last. While it is stopped, whoever
    may write to the record may list people; the record says that it was done from the console.
    """


@command.command("list")
@_data
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def list_people(data: Path, as_json: bool) -> None:
    """Show who is listed, and who is logged on."""
    from firmware.table import TableError
    from firmware.table.journal import JournalReader

    try:
        state, _ = JournalReader(data).recover()
    except TableError as error:
        raise click.ClickException(str(error)) from error
    people = [{"name": p.name, "role": str(p.role), "wrong_pins": p.tried} for p in state.people]
    if as_json:
        click.echo(json.dumps({"people": people, "dealer": state.dealer or None, "down": state.down}))
    elif not people:
        click.echo("Nobody is listed. Begin with: feltwatch people add NAME --role technician")
    for person in [] if as_json else state.people:
        said = [f"{person.name}  {person.role}"]
        said += [f"{person.tried} wrong PINs in a row"] if person.tried else []
        said += [f"logged on, down {state.down}"] if person.name == state.dealer else []
        click.echo(", ".join(said))


def _name(_: click.Context, __: click.Parameter, name: str) -> str:
    from firmware.table import NotNow
    from firmware.table.people import check_name

    try:
        return check_name(name)
    except NotNow as error:
        raise click.BadParameter(str(error)) from error


@command.command("add")
@click.argument("name", callback=_name)
@click.option("--role", type=click.Choice(ROLES), required=True)
@_by
@_data
def add(name: str, role: str, by: str | None, data: Path) -> None:
    """List NAME, or give NAME another role."""
    asked = _pin(f"New PIN for {name}", new=True) if role != "dealer" else None
    order = {"do": "list_person", "person": name, "role": role}
    _give(order | ({"new_pin": asked} if asked else {}), by, data)
    click.echo(f"{name} is listed: {role}.")


@command.command("pin")
@click.argument("name")
@_by
@_data
def pin(name: str, by: str | None, data: Path) -> None:
    """Set another PIN for NAME; it ends a lock-out, too."""
    _give({"do": "set_pin", "person": name, "new_pin": _pin(f"New PIN for {name}", new=True)}, by, data)
    click.echo(f"{name} has a new PIN.")


@command.command("remove")
@click.argument("name")
@_by
@_data
def remove(name: str, by: str | None, data: Path) -> None:
    """Take NAME off the list; what he did stays in the record."""
    _give({"do": "strike_person", "person": name}, by, data)
    click.echo(f"{name} is off the list.")


def _pin(text: str, new: bool = False) -> str:
    if sys.stdin.isatty():
        return str(click.prompt(text, hide_input=True, confirmation_prompt=new))
    return sys.stdin.readline().strip()


def _give(order: dict[str, Any], by: str | None, data: Path) -> None:
    """Give the command to the running table, or do it on its record where none runs. Raises click's errors."""
    from dealer_ui.errors import PageError
    from dealer_ui.link import TableLink
    from firmware.table import TableError

    link = TableLink(data / SOCKET, timeout=15.0)
    try:
        if not link.answers():
            _at_the_console(order, data)
            return
        signed = {"by": by, "pin": _pin(f"PIN of {by}")} if by else {}
        answer = link.send(order | signed)
    except (TableError, PageError) as error:
        raise click.ClickException(str(error)) from error
    if not answer["ok"]:
        hint = " Name who asks with --by." if answer.get("ask") and not by else ""
        raise click.ClickException(f"{answer['error']}{hint}")


def _at_the_console(order: dict[str, Any], data: Path) -> None:
    """Do it on the record of a stopped table: who may write there could do anything to it anyway."""
    from firmware.app.moments import box_clock
    from firmware.table import State, fold
    from firmware.table.commands import parse_command
    from firmware.table.events import Event, canonical
    from firmware.table.gate import Gate, GateCommand, Who
    from firmware.table.journal import Journal
    from firmware.table.people import Role
    from firmware.table.pins import PinStore

    class Console:
        def __init__(self, journal: Journal) -> None:
            self.journal = journal
            self.state: State = journal.recover()

        def write(self, events: Sequence[Event], actor: str) -> int:
            state = fold(events, self.state)
            seq = self.journal.append(events, actor)
            self.state = state
            return seq

    wanted = parse_command(canonical(order))
    assert isinstance(wanted, GateCommand)
    with Journal(data, box_clock()) as journal:
        Gate(PinStore(data)).obey(wanted, Console(journal), Who("console", Role.TECHNICIAN))
