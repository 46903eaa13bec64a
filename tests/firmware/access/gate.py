"""A journal with the gate before it, as the table process has it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firmware.access.control import AccessCommand, AccessControl, with_sender
from firmware.access.pins import PinStore
from firmware.record.journal.journal import Journal, JournalReader
from firmware.table import State, fold
from firmware.table import events as ev
from firmware.table.command import parse_command
from firmware.table.decide import decide
from firmware.table.errors import CommandNotAllowed
from firmware.table.events import canonical
from firmware.table.house import House

PIN, OTHER, AUDITORS, WRONG = "471153", "9021053", "3141553", "1357"


class Table:
    """A journal with a gate before it; `now` is the monotonic clock."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self.now = 1000.0
        self.laid: frozenset[str] = frozenset()
        self.start()

    def start(self) -> None:
        self.journal = Journal(self.data)
        self.state: State = self.journal.recover()
        self.access = AccessControl(PinStore(self.data), lambda: self.now, lambda: self.laid)
        self.access.tidy(self.state)

    def restart(self) -> None:
        self.journal.close()
        self.now = 5.0  # the machine started again: its monotonic clock did, too
        self.start()

    def write(self, events: Sequence[ev.Event], actor: str) -> int:
        self.state = fold(events, self.state)
        return self.journal.append(events, actor)

    def give(self, do: str, **fields: Any) -> dict[str, Any]:
        """Give a command as the table process judges it."""
        command = parse_command(canonical({"do": do, **fields}))
        try:
            sender = self.access.authorize(command, self)
            if isinstance(command, AccessCommand):
                return self.access.handle(command, self, sender) | sender.notices
            command = with_sender(command, sender)
            seq = self.write(decide(self.state, command, no_house(), no_house().rules), sender.actor)
            return {"ok": True, "seq": seq} | sender.notices
        except CommandNotAllowed as error:
            return self.access.refusal(error, self.state, command.at)

    def actors(self) -> list[tuple[str, str]]:
        return [(entry.type, entry.actor) for entry in JournalReader(self.data).events_since(0)]


def no_house() -> House:
    from firmware.rules import load_profile

    return House(load_profile("washington-1-unit"), "washington-1-unit", "", 100, ())


@contextmanager
def logged_on(folder: Path) -> Iterator[Table]:
    """Yield a table at which Lin is logged on as dealer; Ada is technician, Moreno floor, Bert a dealer, too."""
    table = Table(folder)
    ada = {"by": "Ada", "pin": OTHER}
    try:
        table.give("list_person", person="Ada", role="technician", new_pin=OTHER)
        table.give("list_person", person="Moreno", role="floor", new_pin=PIN, **ada)
        for dealer in ("Lin", "Bert"):
            table.give("list_person", person=dealer, role="dealer", **ada)
        table.give("log_on", person="Lin")
        yield table
    finally:
        table.journal.close()
