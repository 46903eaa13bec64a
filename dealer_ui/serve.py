"""The page's server: waitress, with a thread for every stream and some to spare."""

from __future__ import annotations

import logging
import signal
from types import FrameType
from typing import Final, NoReturn

from flask import Flask
from waitress.server import create_server

from dealer_ui.services import services

SPARE_THREADS: Final = 16
"""Threads beside those that streams may hold. Waitress has 4 by default, and hangs at the 4th open stream."""


def serve(app: Flask, host: str, port: int, streams: int) -> None:
    """Serve the page until SIGINT or SIGTERM. Raises OSError where the address cannot be had."""
    live = services(app).live
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # streams keep threads: depth is no news
    server = create_server(
        app,
        host=host,
        port=port,
        threads=streams + SPARE_THREADS,
        ident=None,
        expose_tracebacks=False,
        clear_untrusted_proxy_headers=True,
    )

    def end(_number: int, _frame: FrameType | None) -> NoReturn:
        live.stop()  # first: waitress waits for its threads, and streams hold some
        raise SystemExit(0)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGINT, end)
    live.start()
    try:
        server.run()
    finally:
        live.stop()
        server.close()
