"""`feltwatch people`: manages the people of this table: dealers, and users with a PIN."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from firmware.cli.options import (
    ask_table,
    by_option,
    data_option,
    need_record,
    need_writable,
    pin_asked,
    say_missing_record,
)
from firmware.terminal import say, say_json

ROLES: Final = ("dealer", "floor", "technician", "auditor")


@click.group("people")
def command() -> None:
    """Manage the list of people: who deals, and who has a PIN, at this table.

    The first person to be listed is a technician:

        feltwatch people add Ada --role technician

    A PIN is asked for and never shown. Where the input is no terminal, each PIN is read from a line of it. While the
    table process runs, it decides who may do this: --by names the person who gives the command, and that person's own
    PIN is asked for last. While it is stopped, a user who may write to the record may change the list; the record
    says that it was done from the console.
    """


@command.command("list")
@data_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object.")
def list_people(data: Path, is_json: bool) -> None:
    """Show who is listed, and who is logged on."""
    from firmware.record.journal.journal import JournalReader

    state, _ = JournalReader(data).recover()
    say_missing_record(data)
    people = [{"name": p.name, "role": str(p.role), "wrong_pins": p.tried} for p in state.people]
    if is_json:
        say_json({"people": people, "dealer": state.dealer or None, "down": state.down})
    elif not people:
        say("Nobody is listed. Begin with: feltwatch people add NAME --role technician")
    for person in [] if is_json else state.people:
        columns = [f"{person.name}  {person.role}"]
        columns += [f"{person.tried} wrong PINs in a row"] if person.tried else []
        columns += [f"logged on, down {state.down}"] if person.name == state.dealer else []
        say(", ".join(columns))


def _name(name: str, data: Path) -> str:
    """Return the name as it is or will be listed. Raises click's errors."""
    from firmware.record.journal.journal import JournalReader
    from firmware.table import CommandRefused
    from firmware.table.people import check_name

    state, _ = JournalReader(data).recover()
    try:
        return check_name(name, (person.name for person in state.people))
    except CommandRefused as error:
        raise click.BadParameter(str(error), param_hint="NAME") from error


@command.command("add")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), required=True, help="What NAME may do.")
@by_option
@data_option
def add(name: str, role: str, by: str | None, data: Path) -> None:
    """Add NAME to the list, or give NAME another role."""
    need_writable(data)  # before a PIN is keyed in vain
    name = _name(name, data)
    asked = pin_asked(f"New PIN for {name}", new=True) if role != "dealer" else None
    order = {"do": "list_person", "person": name, "role": role}
    _give(order | ({"new_pin": asked} if asked else {}), by, data)
    say(f"{name} is listed: {role}.")


@command.command("pin")
@click.argument("name")
@by_option
@data_option
def pin(name: str, by: str | None, data: Path) -> None:
    """Set another PIN for NAME; this also ends a lock-out."""
    _need_one_for_a_pin(name, data)
    _give({"do": "set_pin", "person": name, "new_pin": pin_asked(f"New PIN for {name}", new=True)}, by, data)
    say(f"{name} has a new PIN.")


@command.command("badge")
@click.argument("name")
@click.option("--off", is_flag=True, help="Take the badge off the list.")
@by_option
@data_option
def badge(name: str, off: bool, by: str | None, data: Path) -> None:
    """List the badge that lies at a seat for NAME. The table must run: its puck reader reads the badge.

    With its own badge on the table a person needs no name, and enters a PIN also while the screen waits after wrong
    ones.
    """
    need_record(data)
    _give_running({"do": "list_badge", "person": name, "off": off}, by, data)
    say(f"{name} has no badge any more." if off else f"The badge is listed for {name}.")


@command.command("end-wait")
@by_option
@data_option
def end_wait(by: str | None, data: Path) -> None:
    """End the screen's wait after wrong PINs. Wrong PINs at the console are counted apart."""
    need_record(data)
    _give_running({"do": "end_wait"}, by, data)
    say("The screen takes a PIN again.")


@command.command("remove")
@click.argument("name")
@by_option
@data_option
def remove(name: str, by: str | None, data: Path) -> None:
    """Take NAME off the list; what NAME did stays in the record."""
    _give({"do": "remove_person", "person": name}, by, data)
    say(f"{name} is off the list.")


def _need_one_for_a_pin(name: str, data: Path) -> None:
    """Refuse a PIN for a person who is not listed or needs none, before it is keyed. Raises click's errors."""
    from firmware.record.journal.journal import JournalReader
    from firmware.table import apply
    from firmware.table.events import PinSet

    need_record(data)
    apply(JournalReader(data).recover()[0], PinSet(name, ""))
    need_writable(data)


def _give_running(order: dict[str, Any], by: str | None, data: Path) -> None:
    """Send a command to the running table. Raises click's errors, also if it is stopped."""
    if ask_table(order, by, data) is None:
        raise click.ClickException("The table process is not running. Start it, then try again.")


def _give(order: dict[str, Any], by: str | None, data: Path) -> None:
    """Send the command to the running table, or run it on the record of a stopped one. Raises click's errors."""

    if ask_table(order, by, data) is not None:
        return
    if order["do"] != "list_person":
        need_record(data)
    _at_the_console(order, data)


def _at_the_console(order: dict[str, Any], data: Path) -> None:
    """Run it on the record of a stopped table: a user who may write there could change anything anyway."""
    from firmware.access.control import AccessCommand, AccessControl, Sender
    from firmware.access.pins import PinStore
    from firmware.record.journal.journal import Journal
    from firmware.runtime.timestamps import box_clock
    from firmware.table import State, fold
    from firmware.table.command import parse_command
    from firmware.table.events import Event, canonical
    from firmware.table.people import Role

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
    assert isinstance(wanted, AccessCommand)
    with Journal(data, box_clock()) as journal:
        AccessControl(PinStore(data)).handle(wanted, Console(journal), Sender("console", Role.TECHNICIAN))
