"""`feltwatch photo-page`: serves the page on which phones have photographs settled."""

from __future__ import annotations

import secrets
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from firmware.command_options import ANY_PATH, PORT_NUMBER
from firmware.terminal import say

if TYPE_CHECKING:
    from dealer_ui.photo.visits import Visits

PORT: Final = 8016
WHOLE_S: Final = 120.0
"""Seconds that a photograph may take to arrive."""
FORGETS_EVERY_S: Final = 20.0


@click.command("photo-page")
@click.option("--port", type=PORT_NUMBER, default=PORT, help="The port, of this machine alone.")
@click.option("--page", type=ANY_PATH, help="A Unix socket for nginx instead, which speaks to the network.")
@click.option("--secret", type=ANY_PATH, help="Where the touchscreen's page finds out which code to show.")
def command(port: int, page: Path | None, secret: Path | None) -> None:
    """Serve the page on which a phone sends a photograph and has its hands settled.

    \b
        feltwatch photo-page

    Then open the address that it prints and key the code. It listens on this machine alone; for phones nginx runs in
    front of it, as for past hands: docs/technician/photo.md. Photographs stay in memory and are forgotten.
    """
    from dealer_ui.photo.app import create_app, desk
    from dealer_ui.photo.codes import Codes
    from dealer_ui.web.bare_app import LOOPBACK_HOSTS
    from dealer_ui.web.serve import Server, make_server, need_listening, run_until_stopped
    from dealer_ui.web.serve_behind_nginx import make_unix_server, socket_at
    from firmware.photo.reading_process import MAX_BYTES
    from firmware.systemd import sockets_from_manager
    from firmware.threads import end_with_its_threads

    end_with_its_threads()
    codes = Codes.new(secret) if secret else Codes(secrets.token_bytes(32))
    listening = next(iter(sockets_from_manager()), None) or (socket_at(page) if page else None)
    is_behind = listening is not None
    listening = listening or need_listening("The page", "127.0.0.1", port, "Choose another with --port.")
    app = create_app(codes, secure=is_behind)
    limits: dict[str, Any] = {"largest": MAX_BYTES, "whole_s": WHOLE_S, "gone": _nothing}
    with listening:
        if is_behind:
            server: Server = make_unix_server(app, listening, {}, **limits)
        else:
            app.config.update(TRUSTED_HOSTS=list(LOOPBACK_HOSTS))
            server = make_server(app, listening, 16, {}, Server, **limits)
            say(f"Open http://127.0.0.1:{port}/ and key {codes.shown().parted}.", err=True)
        _forget_in_time(desk(app).visits)
        run_until_stopped(server)


def _nothing() -> None:
    """No stream follows anything here."""


def _forget_in_time(visits: Visits) -> None:
    from firmware.threads import start_thread

    def forget() -> None:
        while not threading.Event().wait(FORGETS_EVERY_S):
            visits.forget_old()

    start_thread(forget, name="forget-photographs")
