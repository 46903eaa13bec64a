"""TLS before the door where there is no nginx: in the demo and in tests. In a house nginx stands there.

A thread for each connection makes the handshake itself, so that a silent peer holds up nobody else.
"""

import socket
import ssl
from pathlib import Path
from typing import Any, Final

from flask import Flask, Request
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler

from pit.authority import CERTIFICATE, DOOR_CERTIFICATE, DOOR_KEY
from pit.status.tables import serial_text

SILENT_S: Final = 30.0
"""Seconds after which a connection is closed on which nothing comes."""


def by_tls(asked: Request) -> str | None:
    """Return the serial number of the certificate of the connection that a request came over."""
    connection = asked.environ.get("werkzeug.socket")
    shown = connection.getpeercert() if isinstance(connection, ssl.SSLSocket) else None
    return serial_text(str(shown["serialNumber"])) if shown else None


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = SILENT_S

    def log(self, type: str, message: str, *args: Any) -> None:
        """Log nothing of a request: the door logs what it refuses."""


class TlsFront(ThreadedWSGIServer):
    """Serves the door on an open socket, to clients with a certificate of the pit's authority, or with none.

    The door judges those without one: a table that is being brought in has none yet.
    """

    daemon_threads = True

    def __init__(self, app: Flask, listening: socket.socket, folder: Path) -> None:
        """`folder` holds the authority's certificates. Raises OSError if they cannot be used."""
        host, port = listening.getsockname()[:2]
        super().__init__(host, port, app, _Handler, fd=listening.fileno())
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._context.verify_mode = ssl.CERT_OPTIONAL
        self._context.load_verify_locations(folder / CERTIFICATE)
        self._context.load_cert_chain(folder / DOOR_CERTIFICATE, folder / DOOR_KEY)

    def finish_request(self, request: Any, client_address: Any) -> None:
        """Make the handshake, then answer, in the connection's own thread."""
        request.settimeout(SILENT_S)
        try:
            secure = self._context.wrap_socket(request, server_side=True)
        except (OSError, ssl.SSLError):
            return  # nobody of ours
        with secure:
            super().finish_request(secure, client_address)
