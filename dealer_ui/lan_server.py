"""The server of the review for other machines: cheroot, which speaks TLS (waitress does not).

Each connection holds a thread while it is heard, so every one of them has its limits: so many of one address, so many
in all, and a minute from the first byte of a request to the last one of its answer, however slowly somebody goes on.
"""

from __future__ import annotations

import logging
import signal
import socket
import ssl
import threading
import time
from collections import Counter
from types import FrameType
from typing import Any, Final, NoReturn

from cheroot.errors import FatalSSLAlert
from cheroot.makefile import StreamReader, StreamWriter
from cheroot.server import HTTPConnection
from cheroot.ssl import Adapter
from cheroot.wsgi import Server
from flask import Flask

from dealer_ui.lan_access import NETWORK, counted_as, network_of

log = logging.getLogger(__name__)

THREADS: Final = 64
OF_ONE: Final = 12
"""Connections of one address at once; a browser opens six."""
OF_ALL: Final = 256
SILENT_S: Final = 10
"""Seconds without a byte after which a connection is closed."""
REQUEST_S: Final = 60.0
"""Seconds that one request and its answer may take together; the largest picture has 5 MB."""
HEADER: Final = 16 * 1024
BODY: Final = 16 * 1024


class Line(ssl.SSLSocket):
    """A connection with an end: whoever sends or takes a byte at a time holds a thread no longer than anybody else."""

    until = float("inf")
    """Of the machine's monotonic clock."""

    def recv_into(self, *arguments: Any, **more: Any) -> int:
        """Receive, where there is time left. Raises TimeoutError."""
        self._need_time()
        return super().recv_into(*arguments, **more)

    def send(self, *arguments: Any, **more: Any) -> int:
        """Send, where there is time left. Raises TimeoutError."""
        self._need_time()
        return super().send(*arguments, **more)

    def _need_time(self) -> None:
        if time.monotonic() >= self.until:
            raise TimeoutError("timed out")


class Tls(Adapter):
    """Lets connections in, so many and no more. The handshake is made later, on a thread: it may never come."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self.context = context
        context.sslsocket_class = Line
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()
        self._in_all = 0

    def bind(self, sock: socket.socket) -> socket.socket:
        """Leave the listening socket as it is."""
        return sock

    def wrap(self, sock: socket.socket) -> tuple[ssl.SSLSocket, dict[str, str]]:
        """Take a connection, or close it where there are too many. Raises FatalSSLAlert, as cheroot expects."""
        try:
            address = counted_as(sock.getpeername()[0])
            if not self._take(address):
                raise FatalSSLAlert("too many connections")
        except (OSError, FatalSSLAlert) as error:
            sock.close()
            raise FatalSSLAlert(str(error)) from error
        try:
            line = self.context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        except OSError as error:
            self.gone(address)
            raise FatalSSLAlert(str(error)) from error
        return line, {"wsgi.url_scheme": "https", "HTTPS": "on"}

    def get_environ(self) -> dict[str, str]:
        """Nothing beside what `wrap` gives."""
        return {}

    def makefile(self, sock: socket.socket, mode: str = "rb", bufsize: int = -1) -> Any:
        """Return a connection's reader or writer."""
        return StreamReader(sock, mode, bufsize) if "r" in mode else StreamWriter(sock, mode, bufsize)

    def _take(self, address: str) -> bool:
        with self._lock:
            if self._open[address] >= OF_ONE or self._in_all >= OF_ALL:
                return False
            network = network_of(address)
            if network != address:
                if self._open[network] >= NETWORK * OF_ONE:
                    return False
                self._open[network] += 1
            self._open[address] += 1
            self._in_all += 1
            return True

    def gone(self, address: str) -> None:
        """Count a connection of an address no more."""
        with self._lock:
            for name in {address, network_of(address)}:
                self._open[name] -= 1
            self._open += Counter()  # keeps what is above 0
            self._in_all -= 1


class Connection(HTTPConnection):
    """A connection: the handshake first, then a request at a time, each within its time."""

    shaken = False
    closed = False

    def communicate(self) -> bool:
        """Hear one request and answer it; say whether the connection stays."""
        self.socket.until = time.monotonic() + REQUEST_S
        if not self.shaken:
            try:
                self.socket.do_handshake()
            except OSError as error:  # plain HTTP is one, too
                log.debug("no handshake with %s: %s", self.remote_addr, error)
                return False
            self.shaken = True
        return bool(super().communicate())  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Close it, and let another one of its address in."""
        try:
            super().close()
        finally:
            if not self.closed:
                self.closed = True
                self.server.ssl_adapter.gone(counted_as(self.remote_addr or ""))


class TlsServer(Server):
    """cheroot on a socket that is open already. `run` serves until `stop`."""

    ConnectionClass = Connection
    max_request_header_size = HEADER
    max_request_body_size = BODY
    keep_alive_conn_limit = OF_ALL

    def __init__(self, app: Flask, listening: socket.socket, context: ssl.SSLContext) -> None:
        """Serve an application on a listening socket, which is taken over."""
        super().__init__(
            listening.getsockname()[:2],
            app,
            numthreads=THREADS,
            server_name="Feltwatch",
            request_queue_size=128,
            timeout=SILENT_S,
            shutdown_timeout=2,
        )
        self._listening = listening
        self.ssl_adapter = Tls(context)

    def bind(self, family: int, type: int, proto: int = 0) -> socket.socket:
        """Listen on the socket that was handed over, in the place of one of cheroot's own."""
        self.socket = self._listening
        return self._listening

    def error_log(self, msg: str = "", level: int = logging.INFO, traceback: bool = False) -> None:
        """Keep what clients do wrong out of the log: there is no end of it."""
        log.log(level if level >= logging.ERROR else logging.DEBUG, "%s", msg, exc_info=traceback)


def serve(app: Flask, listening: socket.socket, context: ssl.SSLContext) -> None:
    """Serve an application over TLS on a socket until SIGINT or SIGTERM."""
    server = TlsServer(app, listening, context)

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    try:
        server.start()
    finally:
        server.stop()
