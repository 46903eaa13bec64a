"""Follows the journal and holds the page's latest view; streams wait here for the next one."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dealer_ui.downs import DownClock, DownTime
from dealer_ui.past import LastExchange
from dealer_ui.screen import Screen
from dealer_ui.view import view
from firmware.rules import Profile
from firmware.table.errors import TableError
from firmware.table.journal import JournalReader
from firmware.table.settling import rules_of
from firmware.table.state import INITIAL, State

log = logging.getLogger(__name__)

POLL_S: Final = 0.05
"""How often the journal is looked at. A look costs well under a millisecond."""

STUCK_S: Final = 10.0
"""After so long without a look at the journal the thread that follows it is stuck."""

ASK_S: Final = 1.0
"""How often the table process is asked whether it is there."""


@dataclass(frozen=True)
class Moment:
    """A view and its number: `version` counts up with every change, within one run of the page's process."""

    version: int
    screen: Screen
    trouble: str = ""
    """A sentence where the record cannot be read; the screen is then empty, never an old one."""


class Live:
    """The latest view, for many readers.

    `refresh` looks at the journal now; `start` does so from a thread until `stop`.
    """

    def __init__(self, reader: JournalReader, table_answers: Callable[[], bool]) -> None:
        self._reader = reader
        self._table_answers = table_answers
        self._changed = threading.Condition()
        self._refreshing = threading.Lock()
        self._stopped = threading.Event()
        self._seq = -1
        self._file: int | None = None
        self._state: State = INITIAL
        self._rules: Profile | None = None
        self._downs = DownClock(reader)
        self._time: DownTime | None = None
        self._past = LastExchange(reader)
        self._answering = False
        self._asked_at = float("-inf")
        self._moment = Moment(0, view(0, INITIAL, None, answering=False))
        self._followed_at = float("-inf")

    @property
    def stopped(self) -> bool:
        """True once `stop` was called: streams end."""
        return self._stopped.is_set()

    @property
    def language(self) -> str:
        """The table's language, as the record said when it was last looked at."""
        return str(getattr(self._state, "language", "en"))

    @property
    def following(self) -> bool:
        """True while the thread follows the journal, and is not stuck."""
        return time.monotonic() - self._followed_at < STUCK_S

    def now(self) -> Moment:
        """Look at the journal and return what it says now."""
        self.refresh()
        return self._moment

    def state(self) -> State:
        """Look at the journal and return the table's state; the empty one where the record cannot be read."""
        self.refresh()
        return self._state if not self._moment.trouble else INITIAL

    def wait(self, version: int, timeout: float) -> Moment | None:
        """Wait for a moment other than `version`; None where none comes within `timeout` seconds."""
        with self._changed:
            changed = self._changed.wait_for(lambda: self.stopped or self._moment.version != version, timeout)
            return self._moment if changed and not self.stopped else None

    def refresh(self) -> None:
        """Look at the journal, and whether the table answers; make a new moment if anything changed."""
        with self._refreshing:
            asked = time.monotonic()
            answering = self._answering
            if asked - self._asked_at >= ASK_S:
                self._asked_at = asked
                answering = self._table_answers()
            try:
                news = self._read()
                time_is_new = self._tell_time()
                past = self._past.look(self._state)
            except TableError as error:
                self._seq = -1  # read all of it again once it can be read
                self._publish(view(0, INITIAL, None, answering=False), trouble=str(error))
                return
            if news or time_is_new or answering != self._answering or self._moment.trouble:
                self._answering = answering
                self._publish(
                    view(self._seq, self._state, self._rules, answering=answering, time=self._time, past=past)
                )

    def _tell_time(self) -> bool:
        """Look at the clock of the dealer's down; True if another minute of it has begun."""
        before = self._time
        self._time = self._downs.look(self._seq) if self._state.dealer else None
        return before != self._time

    def start(self) -> None:
        """Follow the journal from a thread of its own."""
        threading.Thread(target=self._follow, name="journal", daemon=True).start()

    def stop(self) -> None:
        """End the thread and every stream."""
        self._stopped.set()
        with self._changed:
            self._changed.notify_all()

    def _follow(self) -> None:
        while not self._stopped.wait(POLL_S):
            self._followed_at = time.monotonic()
            try:
                self.refresh()
            except Exception:
                # The thread must outlive a bug in a view: the page says so and shows the next one that works.
                log.exception("the view could not be made")
                self._publish(
                    view(0, INITIAL, None, answering=False),
                    trouble="The page met an error of its own. The table goes on; look at the log.",
                )
                self._stopped.wait(1.0)

    def _read(self) -> bool:
        """Read the state if the journal has grown or is another file; True if so."""
        try:
            file = self._reader.path.stat().st_ino
        except FileNotFoundError:
            file = None
        if file == self._file and self._seq >= 0 and not self._reader.events_since(self._seq, limit=1):
            return False
        state, seq = self._reader.recover()
        opened = state.opened
        self._rules = rules_of(opened, self._reader.content(opened.profile_hash)) if opened else None
        self._state, self._seq = state, seq
        self._file = file
        return True

    def _publish(self, screen: Screen, trouble: str = "") -> None:
        if (screen, trouble) == (self._moment.screen, self._moment.trouble) and self._moment.version:
            return
        with self._changed:
            self._moment = Moment(self._moment.version + 1, screen, trouble)
            self._changed.notify_all()
