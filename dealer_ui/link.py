"""The way to the table process: one JSON line out, one JSON line back, over its Unix socket."""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dealer_ui.errors import TableUnreachable
from dealer_ui.i18n import N_

LONGEST_REPLY = 2 * 1024 * 1024  # bytes; a reply is one short sentence, or a picture of the bare felt


@dataclass(frozen=True)
class TableLink:
    """Sends commands to the table process.

    Each command opens its own connection, so a restarted table needs no reconnecting here.
    """

    path: Path
    timeout: float = 3.0
    """Seconds to wait for the table's answer; it answers after the event is durable."""

    def send(self, command: dict[str, Any], within: float | None = None) -> dict[str, Any]:
        """Send one command and return the table's answer: `{"ok": true}` or `{"ok": false, "error": "..."}`.

        `within` are the seconds to wait for it, where a command takes longer than others. Raises
        TableUnreachable where the table does not answer; the command may then have been done or not.
        """
        line = json.dumps(command, separators=(",", ":")).encode() + b"\n"
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(self.timeout if within is None else within)
                link.connect(str(self.path))
                link.sendall(line)
                with link.makefile("rb") as replies:
                    reply = replies.readline(LONGEST_REPLY)
        except TimeoutError as error:
            raise TableUnreachable(
                N_("The table did not answer in time. Look at the page before you try again.")
            ) from error
        except OSError as error:
            raise TableUnreachable(
                N_("The table process is not running. Start it, then try again.")
            ) from error
        try:
            answer = json.loads(reply)
        except ValueError as error:
            raise TableUnreachable(
                N_("The table broke off. Look at the page before you try again.")
            ) from error
        if not isinstance(answer, dict) or not isinstance(answer.get("ok"), bool):
            raise TableUnreachable(N_("The table gave an answer that this page does not understand."))
        return answer

    def answers(self) -> bool:
        """Say whether the table process takes connections now. Sends nothing."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
                link.settimeout(0.5)
                link.connect(str(self.path))
        except OSError:
            return False
        return True
