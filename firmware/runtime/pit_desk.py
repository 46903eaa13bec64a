"""What the table process does for the pit: asks for the enrolment, decides about files from the pit. No network."""

from typing import Any

from firmware.access.control import Sender
from firmware.runtime.inbox.desk import Inbox, InboxTable
from firmware.runtime.maintenance import RecordMaintenance
from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.table.topics.inbox import TakeFile
from firmware.table.topics.pit import ComparePitWords, JoinPit, PitCommand
from firmware.uplink.code import parse
from firmware.uplink.enrolment import NO_NUMBER, device_text
from firmware.uplink.join_request import JoinDesk


class PitDesk:
    """Used on the table's thread."""

    def __init__(self, join: JoinDesk, inbox: Inbox | None = None) -> None:
        """`inbox`: what the uplink has fetched; None for a table that takes no files."""
        self._join = join
        self._inbox = inbox

    def turn(self, table: InboxTable) -> None:
        """Decide about the files in the inbox, if it is time."""
        if self._inbox is not None:
            self._inbox.turn(table)

    def handle(
        self,
        command: PitCommand | TakeFile,
        table: InboxTable,
        sender: Sender,
        maintenance: RecordMaintenance | None,
    ) -> dict[str, Any]:
        """Run a command. Raises CommandRefused, UplinkError, JournalError."""
        match command:
            case JoinPit():
                if maintenance is None:
                    raise CommandRefused("This table signs nothing.")
                number = table.state.house.table
                if not number:
                    raise CommandRefused(NO_NUMBER)
                code = parse(command.code)
                key = maintenance.need_key()
                return {
                    "ok": True,
                    "join": self._join.ask(code.text, key.public, key.sign(device_text(code.name)), number),
                }
            case TakeFile():
                if self._inbox is None:
                    raise CommandRefused("This table takes no files from a pit.")
                return self._inbox.take(command, table, sender)
            case ComparePitWords():
                words = self._join.say("same" if command.same else "other")
                return {
                    "ok": True,
                    "seq": table.write([ev.PitWordsCompared(words, command.same)], sender.actor),
                }
