"""The table's Unix socket: one JSON line in, one JSON line out, any number of lines per connection."""

from __future__ import annotations

import json
import logging
import socketserver
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from socket import SHUT_RDWR
from typing import Any, Final

from firmware.messages import Message
from firmware.runtime.errors import SocketError

log = logging.getLogger(__name__)

LONGEST_LINE: Final = 256 * 1024
"""Bytes; a command has a hundred, except one with a profile's text."""
LONGEST_PATH: Final = 107
"""Maximum length in bytes of a Unix socket's path."""
MOST_CONNECTIONS: Final = 128
"""Maximum number of connections; each holds a thread, and the page opens a few."""
SILENT_TOO_LONG: Final = 60.0
"""Seconds after which a silent connection is closed."""

Submit = Callable[[bytes], dict[str, Any]]


class CommandSocket:
    """Passes every line to `submit` and sends its answer. Any process that may open the socket may send commands."""

    def __init__(self, path: Path, submit: Submit) -> None:
        """Open the socket. Raises SocketError."""
        self._path = path
        if len(str(path).encode()) > LONGEST_PATH:
            raise SocketError(
                f"The path of the table's socket is too long ({path}); choose a shorter data folder."
            )
        try:
            path.unlink(missing_ok=True)  # left by a dead process: the journal is locked, so no other runs
            self._server = _Server(str(path), _Handler)
            path.chmod(0o660)
        except OSError as error:
            raise SocketError(f"The table's socket {path} cannot be opened: {error.strerror}.") from error
        self._server.submit = submit
        self._thread = threading.Thread(target=self._server.serve_forever, name="socket", daemon=True)

    def start(self) -> None:
        """Accept connections, on a separate thread."""
        self._thread.start()

    def close(self) -> None:
        """Accept no more connections."""
        if self._thread.is_alive():
            with suppress(OSError):
                self._server.socket.shutdown(
                    SHUT_RDWR
                )  # wakes the server, which otherwise polls only twice a second
            self._server.shutdown()
            self._thread.join()
        self._server.server_close()
        self._path.unlink(missing_ok=True)


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 16
    submit: Submit

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._free = threading.BoundedSemaphore(MOST_CONNECTIONS)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)  # so many connections are an attack; the table goes on
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.debug("a connection broke off", exc_info=True)


class _Handler(socketserver.StreamRequestHandler):
    server: _Server
    timeout = SILENT_TOO_LONG

    def handle(self) -> None:
        while line := self.rfile.readline(LONGEST_LINE):
            if not line.endswith(b"\n") and len(line) >= LONGEST_LINE:
                self._send(Message("That line is too long to be a command.").refusal())
                return
            self._send(self.server.submit(line))

    def _send(self, answer: dict[str, Any]) -> None:
        self.wfile.write(json.dumps(answer, separators=(",", ":"), default=vars).encode() + b"\n")
