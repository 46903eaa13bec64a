"""The table process asks itself, through its own socket, whether it answers.

Only such an answer feeds the service watchdog and the pulse file: it takes the path of a command, from accepting the
connection to the table's own thread and back. A process whose loop turns but which takes no commands is not alive.
While clients hold every place of the socket, the table still takes commands, but the heartbeat finds no place: then it
asks the table's own thread. Otherwise a page that was taken over could have the table ended by the watchdog.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from firmware.health.check import GRAVITY, Check
from firmware.health.checks import judge
from firmware.health.facts import Facts
from firmware.health.record_facts import record_facts
from firmware.pulse import Pulse, PulseCheck, write_pulse
from firmware.record.journal.journal import JournalReader
from firmware.table.errors import TableError
from firmware.table_client import TableLink, TableUnreachable
from firmware.threads import start

log = logging.getLogger(__name__)

EVERY_S: Final = 0.5
"""Seconds between two heartbeats."""
WITHIN_S: Final = 5.0
"""Seconds in which an answer must come; a commit that waits for a worn card's flash may take some of them."""
CHECKS_EVERY_S: Final = 60.0
"""Seconds between two rounds of the health checks."""
CHECKED_ROWS: Final = 200
"""How many of the record's last rows a round checks: it runs next to the hands."""
AskInACrowd = Callable[[dict[str, Any]], dict[str, Any] | None]


class Heartbeat:
    """Asks the table's socket from a thread of its own, and reports each answer."""

    def __init__(
        self,
        data: Path,
        socket: Path,
        pulse: Path | None = None,
        alive: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`data`: the folder of the record; `pulse`: the file to write, None for none; `alive`: feeds the watchdog."""
        self._reader = JournalReader(data)
        self._link = TableLink(socket, timeout=WITHIN_S)
        self._pulse = pulse
        self._alive = alive
        self._clock = clock
        self._over = threading.Event()
        self._checks: tuple[PulseCheck, ...] | None = None
        self._checked_at = float("-inf")
        self._trouble = ""
        self._in_a_crowd: AskInACrowd = lambda command: None
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self, in_a_crowd: AskInACrowd = lambda command: None) -> None:
        """Begin to ask. `in_a_crowd`: asks while the socket has no place free, else returns None. Raises NoThread."""
        self._in_a_crowd = in_a_crowd
        start(self._thread)

    def close(self) -> None:
        """Stop asking. May be called twice."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join(WITHIN_S)

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                self.beat()
            except Exception as error:  # whatever fails: no answer, so nothing is fed
                self._report(str(error) or type(error).__name__)
            self._over.wait(EVERY_S)

    def beat(self) -> None:
        """Ask once, and report the answer. Raises TableError without one, OSError if the pulse cannot be written."""
        answer = self.ask("heartbeat")
        at = self._clock()
        self._alive()
        self._trouble = ""
        if self._pulse is None:
            return
        write_pulse(self._pulse, Pulse(at, int(answer["seq"]), self._checks))
        if at - self._checked_at >= CHECKS_EVERY_S:
            self._checked_at = at
            self._checks = tuple(map(_pulse_check, sorted(self._judge(), key=_graver_first)))

    def _judge(self) -> Sequence[Check]:
        record = record_facts(self._reader, time.time_ns() // 1_000_000, CHECKED_ROWS)
        return judge(Facts.from_json({**record, **self.ask("health").get("facts", {})}))

    def ask(self, do: str) -> dict[str, Any]:
        """Return the table's answer to a command. Raises TableError."""
        try:
            answer = self._link.send({"do": do})
        except TableUnreachable:
            asked = self._in_a_crowd({"do": do})
            if asked is None:
                raise
            answer = asked
        if not answer["ok"]:
            raise TableError(str(answer["error"]))
        return answer

    def _report(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._trouble = trouble
            log.warning("the table's own socket: %s", trouble)


def _graver_first(check: Check) -> int:
    return -GRAVITY.index(check.verdict)


def _pulse_check(check: Check) -> PulseCheck:
    return PulseCheck(check.name, str(check.verdict), check.title, check.says, check.figure)
