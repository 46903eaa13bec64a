"""The page's server: waitress, with a thread for every stream and some to spare."""

from __future__ import annotations

import gc
import logging
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, NoReturn

from flask import Flask
from waitress import wasyncore
from waitress.server import create_server

from dealer_ui.services import services

SPARE_THREADS: Final = 16
"""Threads beside those that streams may hold. Waitress has 4 by default, and hangs at the 4th open stream."""
CONNECTIONS: Final = 512
"""Connections at once. Who is slow holds one of these and no thread; waitress has 100 by default."""
SILENT_S: Final = 20
"""Seconds after which a connection without a request in it is closed; waitress waits 120 by default."""
PULSE_S: Final = 1.0
"""Seconds between two pulses through the server."""


def listen_on(host: str, port: int) -> socket.socket:
    """Open the page's port. Raises OSError where the address cannot be had."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server((str(address[0]), port), family=family)


def serve(
    app: Flask, listening: socket.socket, streams: int, alive: Callable[[], None] = lambda: None
) -> None:
    """Serve the page on a socket until SIGINT or SIGTERM; `alive` is called as long as all of it works."""
    live = services(app).live
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # streams keep threads: depth is no news
    parts: dict[int, Any] = {}
    server = make_server(app, listening, streams + SPARE_THREADS, parts)

    def pulse() -> None:
        if live.following:
            alive()

    through = Pulse(parts, server.task_dispatcher.add_task, pulse)

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        live.stop()  # first: waitress waits for its threads, and streams hold some
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    live.start()
    gc.freeze()  # what was imported stays anyhow; else a full collection holds a page up for a tenth of a second
    try:
        server.run()
    finally:
        live.stop()
        through.close()
        server.close()


def make_server(app: Flask, listening: socket.socket, threads: int, parts: dict[int, Any]) -> Any:
    """Make waitress's server; `parts` is what its loop looks at."""
    return create_server(
        app,
        map=parts,
        sockets=[listening],
        threads=threads,
        connection_limit=CONNECTIONS,
        channel_timeout=SILENT_S,
        cleanup_interval=SILENT_S // 4,
        ident=None,
        expose_tracebacks=False,
        clear_untrusted_proxy_headers=True,
    )


class Pulse(wasyncore.dispatcher):
    """Goes through the server as a request does: its loop sends it, and a thread that is free takes it on.

    It stops where the loop hangs, or where every thread does.
    """

    def __init__(
        self,
        parts: dict[int, Any],
        add_task: Callable[[Any], None],
        reached: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`parts`: what the server's loop looks at; `reached` is called on one of its threads."""
        self._nobody, ours = socket.socketpair()
        super().__init__(ours, map=parts)
        self._add_task = add_task
        self._reached = reached
        self._clock = clock
        self._next = float("-inf")
        self._under_way = False

    def readable(self) -> bool:
        """Send a pulse if it is time: the loop asks every part at each turn, once a second at least."""
        now = self._clock()
        if now >= self._next and not self._under_way:
            self._next, self._under_way = now + PULSE_S, True
            self._add_task(self)
        return False

    def writable(self) -> bool:
        """Never: nothing is sent through the socket that it has to have."""
        return False

    def service(self) -> None:
        """Arrive on a thread of the server."""
        self._under_way = False
        self._reached()

    def cancel(self) -> None:
        """Be dropped: the server is being stopped."""

    def close(self) -> None:
        """Let go of the sockets."""
        self._nobody.close()
        super().close()
