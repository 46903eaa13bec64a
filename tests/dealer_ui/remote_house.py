"""A record, and the review of it for other machines: the application, a log-in, nginx before its server."""

from __future__ import annotations

import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flask import Flask
from flask.testing import FlaskClient

from dealer_ui.remote import front
from dealer_ui.remote.access import RemoteSessions
from dealer_ui.remote.app import create_app, remote_access
from dealer_ui.web.serve_behind_nginx import make_unix_server
from dealer_ui.web.tls import CERTIFICATE, KEY, certificate
from firmware.photo.reading_process import MAX_BYTES
from tests.dealer_ui.serving import running
from tests.tools import NGINX, need
from tests.waiting import DEADLINE, until

NAME: Final = "Ines"
PASSPHRASE: Final = "seven brown horses"
NOBODY: Final = 65534
"""Whom nginx runs as where the tests are root's."""


def remote_app(data: Path, secrets: Path) -> Flask:
    """The application, with one person who may look."""
    app = create_app(data, secrets)
    remote_access(app).people.add(NAME, PASSPHRASE)
    return app


def visitor(app: Flask, address: str = "192.0.2.10") -> FlaskClient:
    """Somebody at another machine, who has not logged in."""
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": address, "wsgi.url_scheme": "https", "HTTP_ACCEPT": "text/html"}
    return client


def logged_in(app: Flask, address: str = "192.0.2.10") -> FlaskClient:
    """Somebody who has: without the time that a passphrase takes."""
    client = visitor(app, address)
    known = remote_access(app).people._load()[NAME]["id"]
    client.set_cookie(RemoteSessions.cookie, remote_access(app).sessions.open(NAME, known), secure=True)
    return client


@dataclass
class NginxFront:
    """nginx before the page, and how a browser asks it."""

    port: int
    spoken: ssl.SSLContext
    claimed: bool = False
    """Whether it believes what address it is told by the first line of a connection: it was edited so."""

    def line(self, source: str = "127.0.0.1", within: float = DEADLINE) -> socket.socket:
        """Open a connection from an address, one of this machine's or a claimed one, and say nothing."""
        if not self.claimed:
            return socket.create_connection(("127.0.0.1", self.port), within, source_address=(source, 0))
        line = socket.create_connection(("127.0.0.1", self.port), within)
        line.sendall(f"PROXY TCP6 {source} ::1 40000 443\r\n".encode())
        return line

    def spoken_line(self, source: str = "127.0.0.1", within: float = DEADLINE) -> ssl.SSLSocket:
        """Open a connection and make the handshake. Raises OSError where nobody makes it in time."""
        line = self.line(source, within)
        try:
            return self.spoken.wrap_socket(line, server_hostname="localhost")
        except OSError:
            line.close()
            raise

    def ask(
        self, path: str, source: str = "127.0.0.1", within: float = DEADLINE, **headers: str
    ) -> http.client.HTTPResponse:
        """Ask for a page. Raises OSError where nobody answers in time."""
        asked = http.client.HTTPSConnection("localhost", self.port, context=self.spoken, timeout=within)
        asked.sock = self.spoken_line(source, within)
        try:
            asked.request("GET", path, headers={"Accept": "text/html", **headers})
            answer = asked.getresponse()
            answer.read()
            return answer
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            asked.close()


CLAIMED: Final = (r"(listen [^;]+);( #.*)?$", r"\1 proxy_protocol; set_real_ip_from 127.0.0.0/8;")
"""An edit by which nginx believes what address a connection says that it comes from."""


@contextmanager
def served(
    app: Flask, secrets: Path, *edits: tuple[str, str], photographs: bool = False
) -> Iterator[NginxFront]:
    """Serve the application through nginx by our own site file, as the box does; an ordinary user's processes.

    `edits`: what is put for what in that file, as regular expressions. `photographs`: the page takes some.
    """
    need(NGINX)
    with ExitStack() as stack:
        # a socket's path is short
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fw-")))
        _serve_page(app, folder / "page.sock", stack, photographs=photographs)
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        own = _own_files(secrets, folder)
        text = front.site([listening], folder / "page.sock", own, own, photographs=photographs)
        for old, new in edits:
            text, count = re.subn(old, new, text, count=1, flags=re.MULTILINE)
            assert count, f"{old} is not in the site file"
        _run_nginx([listening], text, own, stack)
        trusts = ssl.create_default_context(cafile=str(secrets / CERTIFICATE))
        there = NginxFront(listening.getsockname()[1], trusts, CLAIMED in edits)
        listening.close()
        yield there


def _serve_page(app: Flask, place: Path, stack: ExitStack, *, photographs: bool) -> None:
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(place))
    place.chmod(0o666)
    parts: dict[int, Any] = {}
    more: dict[str, Any] = {"largest": MAX_BYTES, "gone": lambda: None} if photographs else {}
    stack.enter_context(running(make_unix_server(app, listening, parts, **more), parts))


def _own_files(secrets: Path, folder: Path) -> Path:
    """Give nginx a folder of its own with the certificate in it, as the service manager does."""
    certificate(secrets, ["localhost"])
    own = folder / "own"
    own.mkdir()
    for name in (CERTIFICATE, KEY):
        shutil.copy(secrets / name, own)
    if os.geteuid() == 0:
        folder.chmod(0o755)
        for path in (own, *own.iterdir()):
            shutil.chown(path, NOBODY)
    return own


def _run_nginx(listening: list[socket.socket], text: str, own: Path, stack: ExitStack) -> None:
    command, environment = front.begin(listening, text, own)
    with (own / "said").open("wb") as said:
        process = subprocess.Popen(
            command,
            env=environment,
            pass_fds=[one.fileno() for one in listening],
            stderr=said,
            user=NOBODY if os.geteuid() == 0 else None,
        )
    stack.callback(process.wait, DEADLINE)
    stack.callback(process.terminate)

    def ready() -> bool:
        assert process.poll() is None, (own / "said").read_text()
        return (own / front.INSIDE).exists()

    until(ready)
