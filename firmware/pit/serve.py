"""The pit's service: the door on a Unix socket, and the projections beside it."""

from __future__ import annotations

import logging
import socket
import sys
import threading
from pathlib import Path
from typing import Final

from flask import Flask
from waitress import create_server  # type: ignore[attr-defined]
from waitress.server import BaseWSGIServer

from firmware.pit.database import Database
from firmware.pit.errors import DatabaseError
from firmware.pit.now import Follower
from firmware.pit.projector import project, retry
from firmware.pit.turns import PLACES

THREADS: Final = 8 + PLACES
"""Requests at once; each is some milliseconds of work and one commit, or waits in `Turns`."""
SWITCH_S: Final = 0.001
"""Seconds after which a thread lets others compute: a request waits for a long one or the projector some ten times."""
CONNECTIONS: Final = 1000
"""Connections from nginx, which keeps few open; more only while many tables come at once."""
PROJECT_EVERY_S: Final = 0.1
"""Seconds between two looks at which records have new rows."""
log = logging.getLogger(__name__)


def listen_on(path: Path) -> socket.socket:
    """Open the door's Unix socket. Raises OSError."""
    path.unlink(missing_ok=True)  # of a process that was killed
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(path))
    path.chmod(0o660)
    return listening


def server(app: Flask, listening: socket.socket) -> BaseWSGIServer:
    """Return the server of the door on a socket; `run` serves until it is closed."""
    sys.setswitchinterval(SWITCH_S)
    logging.getLogger("waitress.queue").setLevel(
        logging.ERROR
    )  # a long queue is normal when all tables come back
    made: BaseWSGIServer = create_server(
        app,
        sockets=[listening],
        map={},  # its own: by default all servers of a process poll the same
        threads=THREADS,
        connection_limit=CONNECTIONS,
        backlog=4096,
        channel_timeout=120,
        clear_untrusted_proxy_headers=True,
        ident=None,
    )
    return made


class Projector(threading.Thread):
    """Follows the records in the background. A database that is away is waited for."""

    def __init__(self, database: Database) -> None:
        super().__init__(name="projector", daemon=True)
        self._database = database
        self._end = threading.Event()

    def run(self) -> None:
        """Follow until `stop`."""
        wait = PROJECT_EVERY_S
        is_first = True
        follower = Follower(self._database)
        while not self._end.wait(wait):
            try:
                if is_first:
                    retry(self._database)
                    follower.retry()
                    is_first = False
                news = follower.follow()  # first: the floor waits for it
                wait = 0.0 if project(self._database) + news else PROJECT_EVERY_S
            except DatabaseError as error:
                log.warning("The list of hands waits: %s", error)
                wait = 1.0

    def stop(self) -> None:
        """End after the batch in work."""
        self._end.set()
        self.join()
