"""The objects that all routes of the page share, such as the record, the table connection and the streams."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from flask import Flask, current_app, g

from dealer_ui.view.live import Live
from dealer_ui.view.render import Messages
from dealer_ui.view.snapshot_follower import SnapshotFollower
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.sessions import Sessions
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import JournalReader
from firmware.record.stick_request import PROGRESS
from firmware.table_client import TableLink
from firmware.uplink.join_request import PROGRESS as JOIN

_KEY: Final = "feltwatch"
_STREAM_SOURCE: Final = "feltwatch-stream-source"


class StreamLimiter:
    """Limits the number of open streams.

    Each stream occupies one of the server's threads, and the page's other requests need threads too.
    """

    def __init__(self, most: int, share: int | None = None) -> None:
        """`most`: the limit for all people together. `share`: the limit for one person (None: no separate limit)."""
        self._most, self._share = most, most if share is None else share
        self._lock = threading.Lock()
        self._held: Counter[str] = Counter()

    def take(self, person: str = "") -> bool:
        """Reserve a stream. Return False if none is free, or if this person already has their share."""
        with self._lock:
            if self._held.total() >= self._most or self._held[person] >= self._share:
                return False
            self._held[person] += 1
            return True

    def give_back(self, person: str = "") -> None:
        """Release a stream of this person."""
        with self._lock:
            self._held[person] -= 1


KIOSK: Final = "feltwatch_kiosk"
"""The name of the cookie that identifies the touchscreen at the table."""


class Kiosk:
    """The touchscreen at the table: its reserved stream, and the time at which it last acknowledged what it painted.

    There is one such stream, and the latest request gets it. If another browser claims to be the touchscreen, the
    touchscreen's next request takes the stream back.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._taken_over: threading.Event | None = None
        self._clock = clock
        self._began = clock()
        self._painted_at: float | None = None
        self._leaving = False

    def acknowledge(self, *, leaving: bool) -> None:
        """Record an acknowledgement from the screen. `leaving`: it has begun to load another page."""
        self._painted_at, self._leaving = self._clock(), leaving

    def to_json(self) -> dict[str, Any]:
        """Return the touchscreen's state for the kiosk's supervisor (`feltwatch kiosk`).

        `painted_s`: seconds since the last acknowledgement, None if there was none. `leaving`: of that acknowledgement.
        `up_s`: seconds since the server began.
        """
        now, painted = self._clock(), self._painted_at
        since = None if painted is None else round(now - painted, 2)
        return {"painted_s": since, "leaving": self._leaving, "up_s": round(now - self._began, 2)}

    def take(self) -> threading.Event:
        """Take the reserved stream. Return an event that is set when another request takes it."""
        mine = threading.Event()
        with self._lock:
            before, self._taken_over = self._taken_over, mine
        if before is not None:
            before.set()
        return mine


@dataclass(frozen=True)
class Services:
    """The record, the connection to the table process, the images, the sessions, and the objects for the streams."""

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
    """Seconds that the table process may take for slow commands, by the command's name."""
    stick: Path = PROGRESS
    """The file with the progress of writing a dispute file to a USB stick."""
    join: Path = JOIN
    """The file with the progress of the table's enrolment at a pit."""
    pit: Path | None = None
    """The uplink's folder in /run, with the checkpoint that it holds; None in training and at the pit."""

    def attach(self, app: Flask) -> None:
        """Use these services for the application."""
        app.extensions[_KEY] = self

    def attach_here(self) -> None:
        """Use these services for the current request only."""
        setattr(g, _KEY, self)


def services(app: Flask | None = None) -> Services:
    """Return an application's services. Without an argument, return those of the current request."""
    of_request = (
        g.get(_KEY) if app is None else None
    )  # set by `attach_here`: at the pit, for one table's record
    found = of_request or (app or current_app).extensions[_KEY]
    assert isinstance(found, Services)
    return found


def stream_source(app: Flask) -> SnapshotFollower[Any]:
    """Return the source of the snapshots that an application's streams send."""
    found = app.extensions.get(_STREAM_SOURCE, services(app).live)
    assert isinstance(found, SnapshotFollower)
    return found


def set_stream_source(app: Flask, source: SnapshotFollower[Any]) -> None:
    """Make an application's streams send snapshots from a source other than the table: at the pit, the floor."""
    app.extensions[_STREAM_SOURCE] = source
