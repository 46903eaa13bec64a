"""The review's own server: the page's (`dealer_ui.web.serve`) on a Unix socket, behind nginx (`front.py`)."""

import os
import socket
from pathlib import Path
from typing import Any, Final

import click
from flask import Flask

from dealer_ui.web.serve import Server, make_server, run_until_stopped

THREADS: Final = 16


class UnixServer(Server):
    """Takes the client's address from nginx alone: only nginx may open its socket."""

    def getsockname(self) -> tuple[str, str]:
        """Return the name that waitress uses for its listening address."""
        return "unix", ""

    def set_socket_options(self, conn: Any) -> None:
        """Set none: they apply to TCP."""

    def fix_addr(self, _addr: object) -> tuple[str, int]:
        """Return the peer of the socket: it has no address, and is trusted to forward the client's."""
        return "localhost", 0


def make_unix_server(
    app: Flask, listening: socket.socket, parts: dict[int, Any], threads: int = THREADS, **more: Any
) -> UnixServer:
    """Make the server of a Unix socket, which it takes over; `parts` is the map that its loop polls.

    `more`: as for `make_server`.
    """
    return make_server(
        app,
        listening,
        threads,
        parts,
        UnixServer,
        trusted_proxy="localhost",
        trusted_proxy_headers={"x-forwarded-for", "x-forwarded-proto"},
        **more,
    )


def socket_at(path: Path) -> socket.socket:
    """Open a Unix socket for this user alone. Raises click.ClickException."""
    found = socket.socket(socket.AF_UNIX)
    before = os.umask(0o177)
    try:
        if path.is_socket():
            path.unlink()
        found.bind(str(path))
    except OSError as error:
        found.close()
        raise click.ClickException(
            f"There can be no socket at {path} ({error.strerror or error}). Name another place with --page."
        ) from error
    finally:
        os.umask(before)
    return found


def serve(app: Flask, listening: socket.socket) -> None:
    """Serve the application until SIGINT or SIGTERM."""
    run_until_stopped(make_unix_server(app, listening, {}))
