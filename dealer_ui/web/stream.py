"""A view followed by server-sent events: one message per change, and a heartbeat every second.

A heartbeat says that the latest snapshot is of now. Where the thread that makes snapshots hangs, `stale` comes instead.
Every stream begins with the whole view, so a client that reconnects has missed nothing; later messages carry the parts
that changed.
"""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Final, Protocol, TypeVar

from dealer_ui.view.snapshot_follower import NumberedSnapshot

HEARTBEAT_S: Final = 1.0
S = TypeVar("S", bound=NumberedSnapshot)
S_co = TypeVar("S_co", bound=NumberedSnapshot, covariant=True)
S_contra = TypeVar("S_contra", bound=NumberedSnapshot, contravariant=True)


class StreamSource(Protocol[S_co]):
    """What is followed: the table's page, or the floor's."""

    @property
    def stopped(self) -> bool:
        """True once streams end."""

    @property
    def stale(self) -> bool:
        """True if the latest snapshot may be old."""

    @property
    def language(self) -> str:
        """The language of a client that has chosen none."""

    def now(self) -> S_co:
        """Look, and return the current snapshot."""

    def wait(self, version: int, timeout: float, gone: Callable[[], bool] = ...) -> S_co | None:
        """Wait for another snapshot."""


class StreamRenderer(Protocol[S_contra]):
    """The stream's message for a snapshot."""

    def text(self, snapshot: S_contra, has: int | None = None, language: str = ...) -> tuple[str, int]:
        """Return the message for a receiver that `has` an earlier snapshot, and the snapshot that it then has."""


def client_gone(disconnected: Callable[[], bool] | None, taken: threading.Event | None) -> Callable[[], bool]:
    """Return a callable that says whether the client has left, or another stream has taken its place."""
    return lambda: bool(taken and taken.is_set()) or bool(disconnected and disconnected())


def following(
    live: StreamSource[S],
    messages: StreamRenderer[S],
    hello: dict[str, str],
    own: str,
    gone: Callable[[], bool],
) -> Iterator[str]:
    """Follow the table in the client's `own` language, or in the table's current one."""
    yield _event("hello", json.dumps(hello))
    snapshot = live.now()
    spoken = own or live.language
    text, has = messages.text(snapshot, None, spoken)
    yield _event("view", text, has)
    while not live.stopped:
        later = live.wait(has, HEARTBEAT_S, gone)
        if gone():
            return
        if live.stale:
            yield _event("stale", str(has))
        elif later is None or later.version < has:
            yield _event("beat", str(has))
        else:
            before, spoken = spoken, own or live.language
            text, has = messages.text(later, has if spoken == before else None, spoken)
            yield _event("view", text, has)


def _event(name: str, data: str, number: int | None = None) -> str:
    """Return one event of a stream; `data` is one line."""
    head = f"event: {name}\n" + (f"id: {number}\n" if number is not None else "")
    return f"{head}data: {data}\n\n"
