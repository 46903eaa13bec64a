"""Screens that follow the floor page while tables play: how long after an event each shows it.

Each screen is a connection of its own that has logged in and reads the server-sent events as a browser does; nothing is
drawn. An opened hand is what they wait for: it begins a phase, and a tile tells since when its phase lasts. The load
sends at the moment of an event; a table's uplink looks every 200 ms. So each event counts as older by a random part of
that.
"""

from __future__ import annotations

import http.client
import json
import random
import re
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlencode, urlsplit

from firmware.bench.pit_load import Target
from firmware.bench.played_record import Commit, Record
from firmware.runtime.errors import AppError
from firmware.table.events import HandOpened
from firmware.uplink.follow import LOOK_EVERY_S
from pit.demo.floor import floor_page

_TILE: Final = re.compile(r">([^<]+)</a></h3>.*?data-since=\"(\d+)\"", re.DOTALL)
ROLE: Final = "floor"


class Screens:
    """The floor page's server as a process of its own, and screens that follow it. A context manager."""

    def __init__(self, url: str, folder: Path, screens: int) -> None:
        """`url`: the pit's database; `folder`: the page's own."""
        self._url, self._folder, self._screens = url, folder, screens
        self._stack = ExitStack()
        self._lock = threading.Lock()
        self._waiting: list[dict[str, list[tuple[int, float]]]] = [{} for _ in range(screens)]
        """By screen and table, the events that it does not show yet: what its tile will tell, and when it happened."""
        self._end = threading.Event()
        self.seen_ms: list[float] = []
        """From an event at its table to a screen's having it."""
        self._rng = random.Random(screens)

    def __enter__(self) -> Self:
        """Serve, log in and follow. Raises AppError."""
        with ExitStack() as stack:
            page, people = stack.enter_context(floor_page(self._url, self._folder))
            stack.callback(self._end.set)
            address = urlsplit(page)
            cookie = _log_in(address.netloc, people[ROLE])
            for number in range(self._screens):
                connection = http.client.HTTPConnection(address.netloc, timeout=60)
                stack.callback(connection.close)
                connection.request("GET", "/events", headers={"Cookie": cookie})
                answer = connection.getresponse()
                if answer.status != http.HTTPStatus.OK:
                    raise AppError(f"A screen cannot follow the floor: {answer.status} {answer.reason}")
                threading.Thread(target=self._follow, args=(number, answer), daemon=True).start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def watched(self, name: str, target: Target) -> Target:
        """Return the target of the table of this name, whose opened hands the screens wait for."""
        return _Watched(target, lambda opened_ms, sent: self._expect(name, opened_ms, sent))

    @property
    def missing(self) -> int:
        """Events that some screen has not shown yet, counted for each screen."""
        with self._lock:
            return sum(len(events) for waiting in self._waiting for events in waiting.values())

    def forget(self) -> None:
        """Begin to measure."""
        with self._lock:
            self.seen_ms.clear()
            for waiting in self._waiting:
                waiting.clear()

    def _expect(self, name: str, opened_ms: int, sent: float) -> None:
        with self._lock:
            happened = sent - self._rng.uniform(0, LOOK_EVERY_S)
            for waiting in self._waiting:
                waiting.setdefault(name, []).append((opened_ms, happened))

    def _follow(self, number: int, answer: http.client.HTTPResponse) -> None:
        try:
            for line in answer:
                if line.startswith(b"data: {") and b'"parts"' in line:
                    self._shown(number, json.loads(line[6:]), time.monotonic())
        except (OSError, ValueError, AttributeError):  # closed meanwhile
            if not self._end.is_set():
                raise

    def _shown(self, number: int, message: dict[str, Any], now: float) -> None:
        for html in message["parts"].values():
            found = _TILE.search(html)
            if found is None:
                continue
            name, since_ms = found[1], int(found[2])
            with self._lock:
                events = self._waiting[number].get(name, [])
                self.seen_ms += [1000 * (now - at) for opened, at in events if opened <= since_ms]
                events[:] = [one for one in events if one[0] > since_ms]


class _Watched:
    """A target whose opened hands are noted before they are sent."""

    def __init__(self, target: Target, opened: Callable[[int, float], None]) -> None:
        self._target, self._opened = target, opened

    @property
    def record(self) -> Record:
        return self._target.record

    def send(self, rows: Commit) -> None:
        for row in rows:
            if row.type == HandOpened.type:
                self._opened(row.wall_ms, time.monotonic())
        self._target.send(rows)

    def after(self) -> None:
        self._target.after()


def _log_in(address: str, passphrase: str) -> str:
    """Log in at the floor page and return the session's cookie. Raises AppError."""
    connection = http.client.HTTPConnection(address, timeout=60)
    body = urlencode({"name": ROLE, "passphrase": passphrase})
    head = {"Origin": f"http://{address}", "Content-Type": "application/x-www-form-urlencoded"}
    connection.request("POST", "/log-in", body, head)
    answer = connection.getresponse()
    cookie = answer.headers.get("Set-Cookie", "").partition(";")[0]
    connection.close()
    if not cookie:
        raise AppError(f"The bench cannot log in at the floor page: {answer.status} {answer.reason}")
    return cookie
