"""The page's server: waitress, with a thread for every stream and some to spare."""

from __future__ import annotations

import gc
import logging
import signal
import socket
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, NoReturn, TypeVar

from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from dealer_ui.web.services import services

SPARE_THREADS: Final = 16
"""Threads in addition to those that streams may hold. Waitress has 4 by default, and hangs at the 4th open stream."""
CONNECTIONS: Final = 512
"""Connections at once. Who is slow holds one of these and no thread, and gives it up to anyone who comes after him."""
SILENT_S: Final = 20
"""Seconds after which a connection without a request in it is closed; waitress waits 120 by default."""
WHOLE_S: Final = 20.0
"""Seconds that a request may take to arrive as a whole, however many bytes come meanwhile."""
PULSE_S: Final = 1.0
"""Seconds between two pulses through the server."""

AServer = TypeVar("AServer", bound="Server")


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
    threads = streams + 1 + SPARE_THREADS  # the screen at the table has one
    server = make_server(app, listening, threads, parts, Server)

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


def make_server(
    app: Flask,
    listening: socket.socket,
    threads: int,
    parts: dict[int, Any],
    kind: type[AServer],
    **more: Any,
) -> AServer:
    """Make waitress's server; `parts` is what its loop looks at, `more` what waitress is told besides."""
    server = kind(
        app,
        map=parts,
        _sock=listening,
        bind_socket=False,
        sockinfo=(listening.family, listening.type, listening.proto, listening.getsockname()),
        threads=threads,
        connection_limit=2 * CONNECTIONS,  # never reached: Server.handle_accept makes room before
        channel_timeout=SILENT_S,
        cleanup_interval=max(1, SILENT_S // 4),
        channel_request_lookahead=1,  # else nobody hears that a stream's other end has gone
        ident=None,
        expose_tracebacks=False,
        clear_untrusted_proxy_headers=True,
        **more,
    )
    server.gone = services(app).live.wake
    return server


class Channel(HTTPChannel):
    """A connection that knows since when it owes a whole request, and hears that its other end has gone."""

    server: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.owes_since = time.monotonic()
        self._has_begun = False
        super().__init__(*arguments, **named)

    @property
    def is_waited_for(self) -> bool:
        """Whether the next thing to come is the other end's: a request, or that it takes the answer."""
        return not self.requests

    @property
    def is_late(self) -> bool:
        """Whether a request has begun, and is not here as a whole within the time that it has."""
        return self.is_waited_for and self._has_begun and time.monotonic() - self.owes_since > WHOLE_S

    def received(self, data: bytes) -> bool:
        """Take what came; the time begins with a request's first byte and ends with its last."""
        if not self._has_begun:
            self._has_begun, self.owes_since = True, time.monotonic()
        taken = bool(super().received(data))
        if self.request is None:
            self._has_begun, self.owes_since = False, time.monotonic()
        return taken

    def readable(self) -> bool:
        """Whether there may be something to read: not from an end that has gone."""
        return bool(self.connected and super().readable())

    def handle_read(self) -> None:
        """Read; where the other end has gone, have the thread that serves it look up."""
        super().handle_read()
        if not self.connected and self.requests:
            self.server.gone()


class Server(TcpWSGIServer):
    """Waitress's server, which turns nobody away: anyone who has owed a request the longest makes room."""

    channel_class = Channel
    active_channels: Any
    gone: Callable[[], None]

    def handle_accept(self) -> None:
        """Accept a connection; beyond the limit, close one for it."""
        super().handle_accept()
        while len(self.active_channels) > CONNECTIONS:
            waited_for = [one for one in self.active_channels.values() if one.is_waited_for]
            if not waited_for:
                return
            min(waited_for, key=lambda one: one.owes_since).handle_close()

    def maintenance(self, now: Any) -> None:
        """Close connections that are silent, as waitress does, and those whose request does not come to an end."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            if channel.is_late:
                channel.will_close = True


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
