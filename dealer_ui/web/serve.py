"""The page's server: waitress, with one thread for every stream and some to spare."""

from __future__ import annotations

import gc
import logging
import socket
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Final, NoReturn, TypeVar

import click
from flask import Flask
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.server import TcpWSGIServer

from dealer_ui.web.services import stream_source
from firmware.request_threads import RequestThreads
from firmware.stop_signals import stop_at_signals

SPARE_THREADS: Final = 16
"""Threads in addition to those that streams may hold. Waitress has 4 by default, and hangs at the 4th open stream."""
CONNECTIONS: Final = 512
"""Connections at once. A slow client holds one of these and no thread, and gives it up to the next one that comes."""
SILENT_S: Final = 20
"""Seconds after which a connection without a request in it is closed; waitress waits 120 by default."""
WHOLE_S: Final = 20.0
"""Seconds that a request may take to arrive as a whole, however many bytes come meanwhile."""
LARGEST_BODY: Final = 1 << 18
"""Bytes of a request's body that are taken in; the application refuses a much smaller one, but only once it is here.
Waitress takes in a gigabyte, on the disk."""
STOPS_S: Final = 8
"""Seconds that a page may take to end, within TimeoutStopSec of its unit."""
PULSE_S: Final = 1.0
"""Seconds between two pulses through the server."""

AServer = TypeVar("AServer", bound="Server")


def listen_on(host: str, port: int) -> socket.socket:
    """Open the page's port. Raises OSError if the address is not available."""
    family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server((str(address[0]), port), family=family)


def need_listening(what: str, host: str, port: int, hint: str) -> socket.socket:
    """Open a page's port. Raises click.ClickException, with a hint, if the address is not available."""
    try:
        return listen_on(host, port)
    except OSError as error:
        why = error.strerror or error
        raise click.ClickException(f"{what} cannot listen on {host}:{port} ({why}). {hint}") from error


def serve(
    app: Flask, listening: socket.socket, streams: int, alive: Callable[[], None] = lambda: None
) -> None:
    """Serve the page on a socket until SIGINT or SIGTERM. `alive` is called as long as every part works."""
    live = stream_source(app)
    parts: dict[int, Any] = {}
    threads = streams + 1 + SPARE_THREADS  # one thread is for the screen at the table
    server = make_server(app, listening, threads, parts, Server)

    def pulse() -> None:
        if live.is_following:
            alive()

    with closing(Pulse(parts, server.task_dispatcher.add_task, pulse)):
        live.start()
        gc.freeze()  # imported modules are never freed; without this a full collection delays a page by 0.1 s
        try:
            # waitress waits for its threads, and streams hold some of them
            run_until_stopped(server, live.stop)
        finally:
            live.stop()


def run_until_stopped(server: Server, first: Callable[[], None] = lambda: None) -> None:
    """Run a server until SIGINT or SIGTERM, and close it; `first` is called at the signal."""

    def end() -> NoReturn:
        first()
        raise SystemExit(0)

    with stop_at_signals(end, STOPS_S), closing(server):
        server.run()


def make_server(
    app: Flask,
    listening: socket.socket,
    threads: int,
    parts: dict[int, Any],
    kind: type[AServer],
    *,
    largest: int = 0,
    whole_s: float = 0.0,
    gone: Callable[[], None] | None = None,
    **more: Any,
) -> AServer:
    """Make waitress's server. `parts` is the map that its loop polls; `more` are further settings of waitress.

    `largest`: bytes of a request's body, kept in memory, else `LARGEST_BODY`; `whole_s`: seconds that a request may
    take to arrive, else `WHOLE_S`. `gone` is called when a client has disconnected that is being served; by default
    it wakes the streams.
    """
    # Below the level of errors it logs every client who disconnects, with the unescaped address. It logs a long queue,
    # too, which is normal.
    logging.getLogger("waitress").setLevel(logging.ERROR)
    server = kind(
        app,
        map=parts,
        _sock=listening,
        bind_socket=False,
        sockinfo=(listening.family, listening.type, listening.proto, listening.getsockname()),
        dispatcher=RequestThreads(threads),
        connection_limit=2 * CONNECTIONS,  # never reached: Server.handle_accept makes room first
        channel_timeout=SILENT_S,
        cleanup_interval=max(1, SILENT_S // 4),
        channel_request_lookahead=1,  # else nobody notices that the client of a stream has disconnected
        max_request_body_size=largest or LARGEST_BODY,
        inbuf_overflow=max(largest or LARGEST_BODY, 1 << 19),
        ident=None,
        expose_tracebacks=False,
        clear_untrusted_proxy_headers=True,
        **more,
    )
    server.gone = gone or stream_source(app).wake
    server.whole_s = whole_s or WHOLE_S
    return server


class Channel(HTTPChannel):
    """A connection that knows how long a request has been incomplete, and notices that its client has disconnected."""

    server: Any

    def __init__(self, *arguments: Any, **named: Any) -> None:
        self.owes_since = time.monotonic()
        self._has_begun = False
        super().__init__(*arguments, **named)

    @property
    def is_waited_for(self) -> bool:
        """Whether the server waits for the client: for a request, or for it to take the response."""
        return not self.requests

    @property
    def is_late(self) -> bool:
        """Whether a request has begun but is not complete within its time limit."""
        return (
            self.is_waited_for
            and self._has_begun
            and time.monotonic() - self.owes_since > self.server.whole_s
        )

    def received(self, data: bytes) -> bool:
        """Take received bytes. The time limit runs from a request's first byte to its last."""
        if not self._has_begun:
            self._has_begun, self.owes_since = True, time.monotonic()
        taken = bool(super().received(data))
        if self.request is None:
            self._has_begun, self.owes_since = False, time.monotonic()
        return taken

    def readable(self) -> bool:
        """Whether there may be something to read; False once the client has disconnected."""
        return bool(self.connected and super().readable())

    def handle_read(self) -> None:
        """Read. If the client has disconnected, wake the thread that serves it."""
        super().handle_read()
        if not self.connected and self.requests:
            self.server.gone()


class Server(TcpWSGIServer):
    """Waitress's server, which refuses no connection: at the limit it closes the one that it has waited for longest."""

    channel_class = Channel
    active_channels: Any
    gone: Callable[[], None]
    whole_s: float = WHOLE_S

    def handle_accept(self) -> None:
        """Accept a connection; beyond the limit, close another one for it."""
        super().handle_accept()
        while len(self.active_channels) > CONNECTIONS:
            waited_for = [one for one in self.active_channels.values() if one.is_waited_for]
            if not waited_for:
                return
            min(waited_for, key=lambda one: one.owes_since).handle_close()

    def maintenance(self, now: Any) -> None:
        """Close silent connections, as waitress does, and those whose request takes too long."""
        super().maintenance(now)
        for channel in self.active_channels.values():
            if channel.is_late:
                channel.will_close = True


class Pulse(wasyncore.dispatcher):
    """A watchdog that takes the path of a request: the server's loop sends it, and a free thread receives it.

    It stops if the loop hangs, or if every thread does.
    """

    def __init__(
        self,
        parts: dict[int, Any],
        add_task: Callable[[Any], None],
        reached: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`parts`: the map that the server's loop polls. `reached` is called on one of the server's threads."""
        self._nobody, ours = socket.socketpair()
        super().__init__(ours, map=parts)
        self._add_task = add_task
        self._reached = reached
        self._clock = clock
        self._next = float("-inf")
        self._under_way = False

    def readable(self) -> bool:
        """Send a pulse if one is due. The loop asks at each turn, at least once a second."""
        now = self._clock()
        if now >= self._next and not self._under_way:
            self._next, self._under_way = now + PULSE_S, True
            self._add_task(self)
        return False

    def writable(self) -> bool:
        """Always False: nothing is sent through the socket, which waitress requires."""
        return False

    def service(self) -> None:
        """Run on a thread of the server: the pulse has arrived."""
        self._under_way = False
        self._reached()

    def cancel(self) -> None:
        """Do nothing: the server is being stopped."""

    def close(self) -> None:
        """Close the sockets."""
        self._nobody.close()
        super().close()
