"""What the routes work with, in one place."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from flask import Flask, current_app

from dealer_ui.view.live import Live
from dealer_ui.view.render import Messages
from dealer_ui.web.metrics import Tallies
from dealer_ui.web.sessions import Sessions
from firmware.record.journal.captures import CaptureStore
from firmware.record.journal.journal import JournalReader
from firmware.record.stick_request import PROGRESS
from firmware.table_client import TableLink

_KEY: Final = "feltwatch"


class StreamLimiter:
    """Counts the open streams: each holds one of the server's threads, and the page needs some for itself."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    def take(self) -> bool:
        """Take a place; False where none is free."""
        return self._free.acquire(blocking=False)

    def give_back(self) -> None:
        """Give a place back."""
        self._free.release()


class KioskStream:
    """One stream next to the others, for the screen at the table: no crowd takes it.

    Who asks last has it. So the screen gets it back at once where somebody else said that he was the screen.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over: threading.Event | None = None

    def take(self) -> threading.Event:
        """Take the place, and return what tells that somebody else has taken it since."""
        mine = threading.Event()
        with self._lock:
            before, self._over = self._over, mine
        if before is not None:
            before.set()
        return mine


@dataclass(frozen=True)
class Services:
    """The record, the way to the table, the images, who is signed on, and what the streams need."""

    live: Live
    reader: JournalReader
    link: TableLink
    captures: CaptureStore
    streams: StreamLimiter
    kiosk: KioskStream
    messages: Messages
    sessions: Sessions
    tallies: Tallies
    slow_s: Mapping[str, float] = field(default_factory=dict)
    """Seconds that the table may take for commands that are more than an event, by name."""
    stick: Path = PROGRESS
    """Where it is told how far a dispute file is on its way to a stick."""

    def attach(self, app: Flask) -> None:
        """Make them the application's."""
        app.extensions[_KEY] = self


def services(app: Flask | None = None) -> Services:
    """Return an application's services; without one, those of the request at hand."""
    found = (app or current_app).extensions[_KEY]
    assert isinstance(found, Services)
    return found
