"""Client of the table process: one JSON line as the request, one as the reply, over its Unix socket."""

import json
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firmware.adaptive_limit import AdaptiveLimit
from firmware.table.errors import TableError

LONGEST_REPLY = 2 * 1024 * 1024  # bytes; a reply is one short sentence, or a picture of the bare felt
ANSWER_FLOOR_S: Final = 3.0
ANSWER_CEILING_S: Final = 30.0
"""Bounds of the limit for an answer, in seconds. The table answers after the event is durable."""
HEARTBEAT_WITHIN_S: Final = 1.2
"""Seconds in which a table process that works answers a heartbeat."""


class TableUnreachable(TableError, ConnectionError):
    """The table process does not answer on its socket."""


@dataclass(frozen=True)
class TableLink:
    """Sends commands to the table process.

    Each command opens its own connection, so nothing has to reconnect after a restart of the table process.
    """

    path: Path
    timeout: float | None = None
    """A fixed limit for an answer in seconds, for shell commands, which end before they can adapt."""
    limit: AdaptiveLimit = field(default_factory=lambda: AdaptiveLimit(ANSWER_FLOOR_S, ANSWER_CEILING_S))
    """The limit for an answer if `timeout` is None. It adapts to the durations of answers and to timeouts."""

    def send(self, command: dict[str, Any], within: float | None = None) -> dict[str, Any]:
        """Send one command and return the table's answer: `{"ok": true}` or `{"ok": false, "error": "..."}`.

        `within`: the limit in seconds, for a command that takes longer than others. Raises TableUnreachable if the
        table does not answer; the command may have been carried out or not.
        """
        line = json.dumps(command, separators=(",", ":")).encode() + b"\n"
        fixed = self.timeout if within is None else within
        try:
            if fixed is not None:
                reply = self._exchange(line, fixed)
            else:
                with self.limit.timed() as seconds:
                    reply = self._exchange(line, seconds)
        except TimeoutError as error:
            raise TableUnreachable(
                "The table did not answer in time. Look at the page before you try again."
            ) from error
        except OSError as error:
            raise TableUnreachable("The table process is not running. Start it, then try again.") from error
        try:
            answer = json.loads(reply)
        except ValueError as error:
            raise TableUnreachable("The table broke off. Look at the page before you try again.") from error
        if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
            raise TableUnreachable("The table gave an answer that this page does not understand.")
        return answer

    def _exchange(self, line: bytes, within: float) -> bytes:
        """Send a line and return the table's reply. Raises TimeoutError, OSError."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(within)
            link.connect(str(self.path))
            link.sendall(line)
            with link.makefile("rb") as replies:
                return replies.readline(LONGEST_REPLY)

    def heartbeat(self) -> dict[str, Any] | None:
        """Ask the table process for a sign of life, and return its answer; None if none comes in time.

        That it accepts the connection says nothing: the system does so for a process that hangs.
        """
        try:
            answer = self.send({"do": "heartbeat"}, HEARTBEAT_WITHIN_S)
        except TableUnreachable:
            return None
        return answer if answer["ok"] else None

    def is_listening(self) -> bool:
        """Return whether a process holds the socket. It may hang: only `heartbeat` says whether it answers."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(0.5)
                link.connect(str(self.path))
        except BlockingIOError:  # it hangs, and so many have asked already that no more may wait
            return True
        except OSError:
            return False
        return True
