"""A record, and the review of it for other machines: the application, a log-in, a server that speaks TLS."""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Final

from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.lan import create_app, door
from dealer_ui.lan_access import LanSessions
from dealer_ui.lan_server import TlsServer
from dealer_ui.lan_tls import CERTIFICATE, certificate, context
from tests.waiting import DEADLINE, until

NAME: Final = "Ines"
PASSPHRASE: Final = "seven brown horses"


def lan_app(data: Path, secrets: Path) -> Flask:
    """The application, with one person who may look."""
    app = create_app(data, secrets)
    door(app).people.add(NAME, PASSPHRASE)
    return app


def visitor(app: Flask, address: str = "192.0.2.10") -> FlaskClient:
    """Somebody at another machine, who has not logged in."""
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": address, "wsgi.url_scheme": "https", "HTTP_ACCEPT": "text/html"}
    return client


def logged_in(app: Flask, address: str = "192.0.2.10") -> FlaskClient:
    """Somebody who has: without the time that a passphrase takes."""
    client = visitor(app, address)
    known = door(app).people._load()[NAME]["id"]
    client.set_cookie(LanSessions.cookie, door(app).sessions.open(NAME, known), secure=True)
    return client


@dataclass
class Served:
    """A server that speaks TLS, and how a browser asks it."""

    port: int
    spoken: ssl.SSLContext

    def line(self, source: str = "127.0.0.1", within: float = DEADLINE) -> socket.socket:
        """Open a connection from one of this machine's loopback addresses, and say nothing."""
        return socket.create_connection(("127.0.0.1", self.port), within, source_address=(source, 0))

    def ask(self, path: str, source: str = "127.0.0.1", within: float = DEADLINE) -> http.client.HTTPResponse:
        """Ask for a page. Raises OSError where nobody answers in time."""
        asked = http.client.HTTPSConnection("localhost", self.port, context=self.spoken, timeout=within)
        asked.sock = self.spoken.wrap_socket(self.line(source, within), server_hostname="localhost")
        try:
            asked.request("GET", path, headers={"Accept": "text/html"})
            answer = asked.getresponse()
            answer.read()
            return answer
        finally:
            asked.close()


@contextmanager
def served(app: Flask, secrets: Path) -> Iterator[Served]:
    """Serve the application as `feltwatch review serve` does."""
    certificate(secrets, ["localhost"])
    listening = socket.create_server(("127.0.0.1", 0))
    server = TlsServer(app, listening, context(secrets))
    thread = Thread(target=server.start)
    thread.start()
    try:
        until(lambda: server.ready)
        trusts = ssl.create_default_context(cafile=str(secrets / CERTIFICATE))
        yield Served(listening.getsockname()[1], trusts)
    finally:
        server.stop()
        thread.join(DEADLINE)
