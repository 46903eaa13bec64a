"""The link to the other page on the same machine: from the table's page to the training page, and back."""

import json
import threading
import time
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Final

from dealer_ui.text.i18n import N_
from firmware.table_client import TableLink
from firmware.threads import NoThread, start_thread

ASK_S: Final = 5.0
"""Seconds between two checks whether it answers."""
PATIENCE_S: Final = 2.0
LONGEST: Final = 4096

TABLE_HOST: Final = "127.0.0.1"
TRAINING_HOST: Final = "localhost"
"""Another name than the table's: a browser keeps cookies by name and not by port, and asks for both pages' at once."""
TRAINING: Final = N_("Training")
TABLE: Final = N_("Leave training")


class SiblingPage:
    """Finds the other page's address, while that page answers on this machine and is of the expected kind.

    It is asked at its port on the loopback interface. On a box, where the page may not reach ports, the Unix socket of
    the table process behind it is asked.
    """

    def __init__(self, port: int, *, training: bool, socket: Path | None = None) -> None:
        """`training`: look for the training page."""
        self._port = port
        self._training = training
        self._table = TableLink(socket) if socket else None
        self._asked = float("-inf")
        self._answers = False
        self._asking: threading.Thread | None = None

    def links(self) -> tuple[tuple[str, str], ...]:
        """Return the page's title and address, or nothing. Never blocks: a separate thread asks."""
        if time.monotonic() - self._asked >= ASK_S and not (self._asking and self._asking.is_alive()):
            self._asked = time.monotonic()
            try:
                self._asking = start_thread(self.update, name="sibling")
            except NoThread:
                self._answers = False
        if not self._answers:
            return ()
        name, host = (TRAINING, TRAINING_HOST) if self._training else (TABLE, TABLE_HOST)
        return ((name, f"http://{host}:{self._port}/"),)

    def update(self) -> None:
        """Ask the other page now."""
        self._answers = bool(self._table and self._table.heartbeat()) or self._ask()

    def _ask(self) -> bool:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_S)
        try:
            connection.request("GET", "/healthz", headers={"Accept": "application/json"})
            words = json.loads(connection.getresponse().read(LONGEST))
        except (OSError, HTTPException, ValueError):
            return False
        finally:
            connection.close()
        return isinstance(words, dict) and words.get("training") is self._training
