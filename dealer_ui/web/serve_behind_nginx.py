"""The review's own server: the page's (`dealer_ui.web.serve`) on a Unix socket, behind nginx (`front.py`)."""

from __future__ import annotations

import socket
from typing import Any, Final

from flask import Flask

from dealer_ui.web.serve import Server, make_server, run_until_stopped

THREADS: Final = 16


class LanServer(Server):
    """Takes the client's address from nginx alone: only nginx may open its socket."""

    def getsockname(self) -> tuple[str, str]:
        """Return the name that waitress uses for its listening address."""
        return "unix", ""

    def set_socket_options(self, conn: Any) -> None:
        """Set none: they apply to TCP."""

    def fix_addr(self, _addr: object) -> tuple[str, int]:
        """Return the peer of the socket: it has no address, and is trusted to forward the client's."""
        return "localhost", 0


def make_lan_server(
    app: Flask, listening: socket.socket, parts: dict[int, Any], threads: int = THREADS
) -> LanServer:
    """Make the server of a Unix socket, which it takes over; `parts` is the map that its loop polls."""
    return make_server(
        app,
        listening,
        threads,
        parts,
        LanServer,
        trusted_proxy="localhost",
        trusted_proxy_headers={"x-forwarded-for", "x-forwarded-proto"},
    )


def serve(app: Flask, listening: socket.socket) -> None:
    """Serve the application until SIGINT or SIGTERM."""
    run_until_stopped(make_lan_server(app, listening, {}))
