"""The page's server in a thread of the test: quick to start and to end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from flask import Flask
from waitress.channel import HTTPChannel
from waitress.server import create_server

from dealer_ui.web.services import services
from tests.waiting import DEADLINE


@contextmanager
def served(app: Flask, threads: int = 12) -> Iterator[int]:
    """Serve the application as `dealer_ui.web.serve` does, yield the port."""
    with listening(app, threads) as port:
        services(app).live.start()
        try:
            yield port
        finally:
            services(app).live.stop()


@contextmanager
def listening(application: Any, threads: int = 12) -> Iterator[int]:
    """Answer requests by a WSGI application, yield the port."""
    open_things: dict[int, Any] = {}
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    server: Any = create_server(application, sockets=[listener], threads=threads, map=open_things, ident=None)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield port
    finally:
        server.task_dispatcher.shutdown()  # the streams end, and their threads with them

        def close_all() -> None:
            for one in list(open_things.values()):
                if isinstance(one, HTTPChannel):
                    one.handle_close()  # also closes the file that it was sending
                else:
                    one.close()

        with suppress(OSError):  # an earlier pull may have run it already, and closed the trigger
            # in the server's own thread: nothing closes under its feet
            server.trigger.pull_trigger(close_all)
        thread.join(DEADLINE)
