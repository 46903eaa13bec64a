"""The pit's server for people: the table page's own, on a loopback port, or on a Unix socket behind nginx."""

import socket
from contextlib import closing
from pathlib import Path

from flask import Flask

from dealer_ui.web.serve import SPARE_THREADS, listen_on, run_until_stopped, serve
from dealer_ui.web.serve_behind_nginx import make_unix_server
from dealer_ui.web.services import stream_source
from firmware.systemd import ServiceManager
from firmware.terminal import say
from pit.pages.app import STREAMS


def serve_on_loopback(app: Flask, host: str, port: int) -> None:
    """Serve until SIGINT or SIGTERM. Raises OSError if the address is not available."""
    with closing(listen_on(host, port)) as listening:
        shown, number = listening.getsockname()[:2]
        say(f"The pit: http://{shown}:{number}/", err=True)
        serve(app, listening, STREAMS, ServiceManager.from_environment().alive)


def serve_on_socket(app: Flask, path: Path) -> None:
    """Serve nginx on a Unix socket until SIGINT or SIGTERM. Raises OSError."""
    path.unlink(missing_ok=True)  # of a process that was killed
    with closing(socket.socket(socket.AF_UNIX)) as listening:
        listening.bind(str(path))
        path.chmod(0o660)
        live = stream_source(app)
        live.start()
        try:
            server = make_unix_server(app, listening, {}, STREAMS + SPARE_THREADS)  # it listens from here on
            ServiceManager.from_environment().alive()
            run_until_stopped(server, live.stop)
        finally:
            live.stop()
