"""One address for many applications, one after another.

A browser keeps its process and the static files for as long as it stays at one address; both are most of what a page
costs. Nothing else may stay of a page when the next one comes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from flask import Flask

from dealer_ui.web.services import services
from tests.dealer_ui.served import listening

STATIC: Final = "/static/"
KEPT: Final = ("Cache-Control", "max-age=86400, immutable")
NOT_KEPT: Final = ("Cache-Control", "no-store")
"""For all but static files: two applications have different pictures under one name."""
EMPTY: Final = "/empty"
"""A page without anything, at the same address and, by its header, in the same process of the browser."""
OWN_WORKER: Final = """(() => {
  if (self.SharedWorker) self.SharedWorker = class extends SharedWorker {
    constructor(script, name) { super(script, `${name} ${performance.timeOrigin}`); }
  };
})()"""
"""A script for each page, before its own: the stream of a page before it is not its stream."""
STREAM: Final = STATIC + "stream.js"
QUIET_LIMIT: Final = b"QUIET_LIMIT_MS = 2300"
PATIENT: Final = b"QUIET_LIMIT_MS = 1e8"
"""On a machine that stands still for seconds the worker would take the stream for broken, and the page would close what
a state has opened; the worker's clock cannot be frozen as the page's is."""


class SharedServer:
    """A WSGI application that hands each request to the application of the moment."""

    def __init__(self, port: int = 0) -> None:
        self.port = port
        self._app: Flask | None = None

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """Answer as the application does, with other rules for caches."""
        app = self._app
        if environ["PATH_INFO"] == EMPTY:
            isolated = [("Cross-Origin-Opener-Policy", "same-origin"), ("Content-Type", "text/html")]
            start("200 OK", [*isolated, ("Content-Length", "0")])
            return []
        if app is None:
            start("503 Service Unavailable", [("Content-Length", "0")])
            return []
        cached = KEPT if environ["PATH_INFO"].startswith(STATIC) else NOT_KEPT

        def begin(status: str, headers: list[tuple[str, str]], *failure: Any) -> Any:
            others = [header for header in headers if header[0] != "Cache-Control"]
            return start(status, [*others, cached], *failure)

        if environ["PATH_INFO"] != STREAM:
            return app(environ, begin)
        with app.test_client().get(STREAM) as script:
            assert QUIET_LIMIT in script.data
            body = script.data.replace(QUIET_LIMIT, PATIENT)
        begin("200 OK", [("Content-Length", str(len(body))), ("Content-Type", script.content_type)])
        return [body]

    @contextmanager
    def serving(self, app: Flask) -> Iterator[int]:
        """Answer by this application, yield the port."""
        self._app = app
        services(app).live.start()
        try:
            yield self.port
        finally:
            self._app = None
            services(app).live.stop()


@contextmanager
def shared_server() -> Iterator[SharedServer]:
    """Start the server."""
    server = SharedServer()
    with listening(server) as port:
        server.port = port
        yield server
