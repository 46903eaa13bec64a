"""The table's Unix socket: one JSON line in, one JSON line out, any number of lines per connection.

All threads are started at the beginning, so a machine that is out of memory later still has them. Each accepts and
serves one connection after another. An error, also a lack of memory, costs one connection and no thread.
"""

import json
import logging
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message
from firmware.runtime.errors import SocketError
from firmware.threads import start_thread

log = logging.getLogger(__name__)

LONGEST_LINE: Final = 256 * 1024
"""Bytes; a command has a hundred, except one with a profile's text."""
LONGEST_PATH: Final = 107
"""Maximum length in bytes of a Unix socket's path."""
MAX_CONNECTIONS: Final = 32
"""Connections that are served at once, each by a thread; further ones wait for a moment, until one is free."""
WAITING: Final = 128
"""Connections that wait at most; the next one is refused by the kernel."""
SILENT_TOO_LONG: Final = 60.0
"""Seconds after which a silent connection is closed."""
NOT_TAKEN: Final = 10.0
"""Seconds after which a connection is closed whose client does not take its answer."""
PAUSE: Final = 0.05
"""Seconds between an error and the next try."""
CLOSED_WITHIN: Final = 2.0
"""Seconds that `close` waits for its threads at most."""

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
        self._listening = socket.socket(socket.AF_UNIX)
        try:
            path.unlink(missing_ok=True)  # left by a dead process: the journal is locked, so no other runs
            self._listening.bind(str(path))
            path.chmod(0o660)
            self._listening.listen(WAITING)
        except OSError as error:
            self._listening.close()
            raise SocketError(f"The table's socket {path} cannot be opened: {error.strerror}.") from error
        self._closing = threading.Event()
        self._places = [_Place(submit, self._closing) for _ in range(MAX_CONNECTIONS)]
        self._threads: list[threading.Thread] = []

    @property
    def is_crowded(self) -> bool:
        """Whether every thread has a connection: further ones wait for one of them."""
        return not any(place.is_free for place in self._places)

    def start(self) -> None:
        """Accept connections, on threads. Raises NoThread."""
        for number, place in enumerate(self._places):
            self._threads.append(start_thread(place.run, self._listening, name=f"socket-{number}"))
        self._threads.append(start_thread(self._make_room, name="socket-room"))

    def close(self) -> None:
        """Accept no more connections, and close those that wait for a line. Returns within seconds."""
        self._closing.set()
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes all threads that accept
        ends = time.monotonic() + CLOSED_WITHIN
        for place, thread in zip(self._places, self._threads, strict=False):
            while thread.is_alive() and not place.works and time.monotonic() < ends:
                place.close_silent()
                thread.join(PAUSE)
        self._listening.close()
        self._path.unlink(missing_ok=True)

    def _make_room(self) -> None:
        """Close the connection that has been silent longest whenever another one waits and no thread is free."""
        coming = select.poll()
        coming.register(self._listening, select.POLLIN)
        while not self._closing.is_set():
            try:
                coming.poll()
                self._closing.wait(PAUSE)  # a free thread takes it within this time
                if coming.poll(0) and self.is_crowded:
                    silent = [(place.silent_since, place) for place in self._places if place.silent_since]
                    if silent:
                        min(silent, key=lambda one: one[0])[1].close_silent()
            except Exception:
                _pause(self._closing)


def _pause(closing: threading.Event) -> None:
    with suppress(MemoryError):
        closing.wait(PAUSE)


class _Place:
    """One thread's place for one connection at a time."""

    def __init__(self, submit: Submit, closing: threading.Event) -> None:
        self._submit, self._closing = submit, closing
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None
        self.silent_since = 0.0
        """When the connection that waits for a line sent its last one, in monotonic seconds; 0 if it does not wait."""
        self._last_line_at = 0.0
        self.is_free = True
        """Whether it has no connection."""

    @property
    def works(self) -> bool:
        """Whether a command is in progress, or its answer is being sent."""
        return not self.is_free and not self.silent_since

    def close_silent(self) -> None:
        """Close the connection if it waits for a line. What it sends from now on is not carried out."""
        with self._lock:
            connection = self._connection
            if self.silent_since and connection is not None:
                self._connection = None
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def run(self, listening: socket.socket) -> None:
        """Serve one connection after another until the socket is closed."""
        while not self._closing.is_set():
            try:
                connection, _ = listening.accept()
                with connection:
                    self._serve(connection)
            except TimeoutError:
                continue  # a silent client
            except Exception:  # the client's, ours, or no memory: it costs this connection
                if not self._closing.is_set():
                    with suppress(MemoryError):
                        log.debug("a connection broke off", exc_info=True)
                    _pause(self._closing)
            finally:
                self._take(None)

    def _take(self, connection: socket.socket | None) -> None:
        with self._lock:
            self.silent_since, self._last_line_at = 0.0, time.monotonic()
            self._connection = connection
            self.is_free = connection is None

    def _serve(self, connection: socket.socket) -> None:
        self._take(connection)
        with connection.makefile("rb") as lines:
            while (line := self._next_line(connection, lines)) and self._takes():
                if not line.endswith(b"\n") and len(line) >= LONGEST_LINE:
                    answer = Message("That line is too long to be a command.").refusal()
                    _send(connection, answer)
                    return
                _send(connection, self._submit(line))
                if self._closing.is_set():
                    return

    def _next_line(self, connection: socket.socket, lines: Any) -> bytes:
        connection.settimeout(SILENT_TOO_LONG)
        self.silent_since = self._last_line_at
        line: bytes = lines.readline(LONGEST_LINE)
        return line

    def _takes(self) -> bool:
        """Return whether the line is carried out: not if the connection was closed meanwhile."""
        with self._lock:
            self.silent_since, self._last_line_at = 0.0, time.monotonic()
            return self._connection is not None


def _send(connection: socket.socket, answer: dict[str, Any]) -> None:
    connection.settimeout(NOT_TAKEN)
    connection.sendall(json.dumps(answer, separators=(",", ":"), default=vars).encode() + b"\n")
