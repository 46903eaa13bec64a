"""Where commands come in: each is parsed, judged by access control, carried out once, and answered."""

import logging
from concurrent.futures import Future
from typing import Any, Final, Protocol

from firmware.access.control import AccessCommand, AccessControl, Record, Sender, with_sender
from firmware.messages import Message
from firmware.runtime.live_record import KNOWN_COMMANDS, LiveRecord
from firmware.runtime.maintenance import Answer, RecordMaintenance
from firmware.table import TableError
from firmware.table.command import Command, parse_command
from firmware.table.errors import CommandNotAllowed, JournalUncertain
from firmware.table.people import SCREEN, Place
from firmware.table.topics.evidence import ExportHand, SignHead

log = logging.getLogger(__name__)

OUT_OF_MEMORY: Final = Message(
    "The table is out of memory and starts again; look at the page, then try again."
).refusal() | {"uncertain": True}
"""The answer to a command that had no memory. Made beforehand."""


class CommandTable(Record, Protocol):
    """The table process, as far as it carries out commands."""

    def carry_out(self, command: Command, sender: Sender) -> Answer:
        """Carry out a command that this person may give. Raises TableError."""


class CommandDesk:
    """Answers commands on the table's own thread.

    `command_id`: of the command that is being carried out, for the rows that come of it; "" for none.
    """

    def __init__(
        self,
        table: CommandTable,
        record: LiveRecord,
        access: AccessControl,
        maintenance: RecordMaintenance | None,
    ) -> None:
        self.command_id = ""
        self._table = table
        self._record = record
        self._access = access
        self._maintenance = maintenance
        self._answers: dict[str, Answer] = {}
        """The last answers, by the id of the command; none of access control, which may hold a session."""

    def answer(self, line: bytes, answer: Future[dict[str, Any]]) -> None:
        """Parse and carry out a command, and set its answer: at once, or when the work that it began is over."""
        what = "a line"
        place: Place = SCREEN
        try:
            command = parse_command(line)
            what, place = command.do, command.at
            done = self._obey(command)
            if isinstance(done, Future):
                answer.set_running_or_notify_cancel()
                done.add_done_callback(lambda late: answer.set_result(late.result()))
            else:
                answer.set_result(done)
        except CommandNotAllowed as error:
            answer.set_result(self._access.refusal(error, self._table.state, place))
        except JournalUncertain as error:
            answer.set_result(error.sentence.refusal() | {"uncertain": True})
        except TableError as error:
            answer.set_result(error.sentence.refusal())
        except MemoryError:
            # nobody knows what is only half done: the record does, and a new process reads it
            answer.set_result(OUT_OF_MEMORY)
            raise
        except Exception:
            log.exception("%s met a fault of ours", what)  # never the line: it may hold a PIN
            met = Message("The table met an error of its own; look at its log.").refusal()
            answer.set_result(met if self._record.is_certain else met | {"uncertain": True})

    def _obey(self, command: Command) -> Answer:
        if (answer := self._answered_before(command)) is not None:
            return answer
        sender = self._access.authorize(command, self._table)
        self.command_id = command.id or ""
        try:
            answer = self._table.carry_out(with_sender(command, sender), sender)
        finally:
            self.command_id = ""
        if sender.notices and isinstance(answer, dict):
            answer = answer | sender.notices
        # those answers may hold a session
        if command.id is not None and not isinstance(command, AccessCommand):
            self._answers[command.id] = answer
            if len(self._answers) > KNOWN_COMMANDS:
                del self._answers[next(iter(self._answers))]
        return answer

    def _answered_before(self, command: Command) -> Answer | None:
        """Return the answer to a command that was carried out already: the first answer was lost on the way.

        After a restart only the rows say what was carried out. A dispute file is made again: it is a copy.
        """
        if command.id is None:
            return None
        answer = self._answers.get(command.id)
        if isinstance(answer, dict) or (answer is not None and (not answer.done() or answer.result()["ok"])):
            return answer
        seq = self._record.commands.get(command.id)
        if seq is None or isinstance(command, ExportHand):
            return None
        if isinstance(command, SignHead) and self._maintenance is not None:
            return self._maintenance.signed(seq)
        return {"ok": True, "seq": seq}
