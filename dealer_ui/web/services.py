"""The services that the routes share."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from flask import Flask, current_app, g

from dealer_ui.view.followed import SnapshotFollower
from dealer_ui.view.live import Live
from dealer_ui.view.render import Messages
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.sessions import Sessions
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import JournalReader
from firmware.record.stick_request import PROGRESS
from firmware.table_client import TableLink
from firmware.uplink.join_request import PROGRESS as JOIN

_KEY: Final = "feltwatch"
_FOLLOWED: Final = "feltwatch-followed"


class StreamLimiter:
    """Limits the number of open streams. Each holds one of the server's threads, and the page needs some too."""

    def __init__(self, most: int, share: int | None = None) -> None:
        """`share`: how many of them one person may hold; all where nobody is named."""
        self._most, self._share = most, most if share is None else share
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def take(self, person: str = "") -> bool:
        """Take a place; return False if none is free, or if this person holds a whole share."""
        with self._lock:
            if self._held.total() >= self._most or self._held[person] >= self._share:
                return False
            self._held[person] += 1
            return True

    def give_back(self, person: str = "") -> None:
        """Give a place back."""
        with self._lock:
            self._held[person] -= 1


KIOSK: Final = "feltwatch_kiosk"
"""The cookie of the screen at the table."""


class Kiosk:
    """The screen at the table: a stream that others cannot take, and when it last acknowledged what it painted.

    The latest request gets the stream: the screen gets it back at once after somebody else claimed to be the screen.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._over: threading.Event | None = None
        self._clock = clock
        self._began = clock()
        self._painted_at: float | None = None
        self._leaving = False

    def acknowledge(self, *, leaving: bool) -> None:
        """Take an acknowledgement of the screen; `leaving`: it has begun to load another page."""
        self._painted_at, self._leaving = self._clock(), leaving

    def to_json(self) -> dict[str, Any]:
        """Return what the kiosk's supervisor asks for, in seconds (`feltwatch kiosk`).

        `painted_s`: since the last acknowledgement, None if there was none; `leaving`; `up_s`: since the server began.
        """
        now, painted = self._clock(), self._painted_at
        since = None if painted is None else round(now - painted, 2)
        return {"painted_s": since, "leaving": self._leaving, "up_s": round(now - self._began, 2)}

    def take(self) -> threading.Event:
        """Take the place. Return a callable that says whether another stream has taken it since."""
        mine = threading.Event()
        with self._lock:
            before, self._over = self._over, mine
        if before is not None:
            before.set()
        return mine


@dataclass(frozen=True)
class Services:
    """The record, the connection to the table, the images, the sessions, and what the streams need."""

    live: Live
    reader: JournalReader
    link: TableLink
    captures: CaptureStore
    streams: StreamLimiter
    kiosk: Kiosk
    messages: Messages
    sessions: Sessions
    tallies: Tallies
    slow_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds that the table may take for commands that are more than an event, by name."""
    stick: Path = PROGRESS
    """Where it is told how far a dispute file is on its way to a stick."""

    join: Path = JOIN
    """Where it is told how far the table is with its enrolment at a pit."""
    pit: Path | None = None
    """Where the uplink says what this table holds of the pit's log; None for a table that sends to no pit."""

    def attach(self, app: Flask) -> None:
        """Make these the application's services."""
        app.extensions[_KEY] = self

    def attach_here(self) -> None:
        """Make these the current request's services."""
        setattr(g, _KEY, self)


def services(app: Flask | None = None) -> Services:
    """Return an application's services; without an argument, those of the current request."""
    here = g.get(_KEY) if app is None else None  # of one record among many, in this request
    found = here or (app or current_app).extensions[_KEY]
    assert isinstance(found, Services)
    return found


def stream_source(app: Flask) -> SnapshotFollower[Any]:
    """Return what an application's streams follow."""
    found = app.extensions.get(_FOLLOWED, services(app).live)
    assert isinstance(found, SnapshotFollower)
    return found


def follow(app: Flask, live: SnapshotFollower[Any]) -> None:
    """Let an application's streams follow something other than a table."""
    app.extensions[_FOLLOWED] = live
