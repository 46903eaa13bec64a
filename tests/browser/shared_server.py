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

        return app(environ, begin)

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
