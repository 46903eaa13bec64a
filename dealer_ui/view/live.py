"""Follow the journal, and keep the page's latest view for the streams."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from dealer_ui.text.i18n import N_, SOURCE, language, speaking, supported_language
from dealer_ui.text.messages import say
from dealer_ui.text.words import speaking_of
from dealer_ui.view.build import view
from dealer_ui.view.downs import DownClock, DownTime
from dealer_ui.view.floor_call import CallClock, CallState, PitNews
from dealer_ui.view.last_exchange import LastExchange
from dealer_ui.view.screen import Screen
from dealer_ui.view.sibling_page import SiblingPage
from dealer_ui.view.snapshot_follower import SnapshotFollower
from dealer_ui.view.table_answer import TableAnswer
from firmware.messages import Message
from firmware.record.journal import witness
from firmware.record.journal.end_mark import need_head
from firmware.record.journal.journal import JournalReader
from firmware.record.journal.witness import Head
from firmware.rules import Profile, paying_in
from firmware.table.errors import TableError
from firmware.table.house import currency_now, rules_now
from firmware.table.state import INITIAL, State

POLL_S: Final = 0.02
"""Seconds between two reads of the journal. A read takes well under a millisecond."""

OWN_ERROR: Final = N_("The page met an error of its own. The table goes on; look at the log.")

ASK_S: Final = 0.5
"""Seconds between two heartbeats to the table process. With the time that an answer may take
(`firmware.table_client.HEARTBEAT_WITHIN_S`), the page shows within two seconds that the process does not answer."""


@dataclass(frozen=True)
class Snapshot:
    """A view and its number: `version` counts every change within one run of the page's process."""

    version: int
    screen: Screen
    trouble: str = ""
    """Why the record cannot be read; the screen is then empty, never an old one."""
    make: Callable[[], tuple[Screen, str]] | None = field(default=None, repr=False, compare=False)
    """Makes the same screen and trouble in the language that is in use when it is called."""
    _translations: dict[str, Snapshot] = field(default_factory=dict, repr=False, compare=False)

    @property
    def wants_set_up(self) -> bool:
        """Whether the box was never set up: the table answers, and its record, which can be read, shows no set-up."""
        return self.screen.answering and not self.trouble and not self.screen.set_up

    def in_language(self, code: str) -> Snapshot:
        """Return the same snapshot in a language; each translation is made once."""
        if code == SOURCE or self.make is None:
            return self
        if code not in self._translations:
            with speaking(code):
                self._translations[code] = Snapshot(self.version, *self.make())
        return self._translations[code]


ScreenFilter = Callable[[Screen, State, Profile | None], Screen]


class Live(SnapshotFollower[Snapshot]):
    """The latest view of the table, for many streams. `refresh` reads the journal now."""

    poll_s = POLL_S

    def __init__(
        self,
        reader: JournalReader,
        heartbeat: Callable[[], Mapping[str, Any] | None],
        screen_filter: ScreenFilter | None = None,
        sibling: SiblingPage | None = None,
        pit: PitNews = lambda: None,
    ) -> None:
        """`heartbeat` returns the table's answer to a heartbeat, None if it does not answer.

        `screen_filter` changes a screen for its viewers; `sibling` is the page that this one links to; `pit` returns
        how much of the record the pit has.
        """
        super().__init__(Snapshot(0, view(0, INITIAL, None, table=TableAnswer())))
        self._filter = screen_filter
        self._sibling = sibling
        self._links: tuple[tuple[str, str], ...] = ()
        self._again = False
        self._reader = reader
        self._heartbeat = heartbeat
        self._refreshing = threading.Lock()
        self._seq = -1
        self._known: tuple[int | None, Head, Head | None, Head | None] | None = None
        """What the last read was of: the file, its last row, and the rows that `_read` looks for in it."""
        self._state: State = INITIAL
        self._rules: Profile | None = None
        self._downs = DownClock(reader)
        self._time: DownTime | None = None
        self._past = LastExchange(reader)
        self._call = CallClock(pit)
        self._call_state = CallState.NONE
        self._answer = TableAnswer()
        self._shown_answer = self._answer
        """The answer that the latest snapshot shows."""
        self._answered_s = time.time()
        self._asked_at = float("-inf")
        self._record_fault: Message | None = None

    @property
    def rules(self) -> Profile | None:
        """The rules in force, as of the last read of the journal."""
        return self._rules

    def show_again(self) -> None:
        """Make a new view even if nothing changed, because the screen filter now gives another result."""
        self._again = True
        self.refresh()

    @property
    def language(self) -> str:
        """The table's language, as of the last read of the record."""
        return supported_language(self._state.house.language)

    def now(self) -> Snapshot:
        """Refresh, and return the latest snapshot in the current language."""
        self.refresh()
        return self._snapshot.in_language(language())

    def state(self) -> State:
        """Refresh, and return the table's state, or the initial state if the record cannot be read."""
        self.refresh()
        return self._state if not self._snapshot.trouble else INITIAL

    def record_fault(self) -> Message | None:
        """Read the journal and return why nothing of it can be shown; None if all is well."""
        self.refresh()
        return self._record_fault

    def refresh(self) -> None:
        """Read the journal, check whether the table answers, and publish a snapshot if anything changed.

        While another thread keeps this up to date, only that thread sends heartbeats: a request must not wait for a
        table that hangs.
        """
        since = time.monotonic() - self._asked_at
        asks = since >= ASK_S and (since == float("inf") or not self.is_followed_elsewhere)
        if asks:
            self._answer = self._ask()
            self._asked_at = time.monotonic()
        with self._refreshing:
            table, call_state = self._answer, self._call_state
            try:
                news = self._read(table)
                if news or asks:
                    call_state = self._call.at(self._state, self._seq, time.monotonic())
                time_is_new = self._update_clock()
                past = self._past.of(self._state)
                links = self._sibling.links() if self._sibling else ()
            except TableError as error:
                self._seq = -1  # read the whole record as soon as it is readable again
                self._shown_answer = table
                self._record_fault = error.sentence
                self._publish(_empty_screen(error.sentence))
                return
            self._record_fault = None
            shown = self._shown_answer, self._links, self._call_state
            again = (table, links, call_state) != shown or self._again
            if news or time_is_new or again or self._snapshot.trouble:
                self._shown_answer, self._links, self._call_state = table, links, call_state
                self._again = False
                self._publish(
                    partial(
                        self._make_screen,
                        links,
                        self._seq,
                        self._state,
                        self._rules,
                        table=table,
                        time=self._time,
                        past=past,
                        call=call_state,
                    )
                )

    def _ask(self) -> TableAnswer:
        """Send a heartbeat to the table."""
        asked = time.time()
        answer = self._heartbeat()
        if answer is not None:
            self._answered_s = asked
        return self._answer.next(answer, self._answered_s)

    def _make_screen(
        self,
        links: tuple[tuple[str, str], ...],
        seq: int,
        state: State,
        rules: Profile | None,
        **by_name: Any,
    ) -> tuple[Screen, str]:
        with paying_in(currency_now(state)), speaking_of(rules):
            screen = replace(view(seq, state, rules, **by_name), links=links)
            return self._filter(screen, state, rules) if self._filter else screen, ""

    def _update_clock(self) -> bool:
        """Update the duration of the dealer's down; return True if it has changed."""
        before = self._time
        self._time = self._downs.at(self._seq) if self._state.dealer else None
        return before != self._time

    def publish_failure(self) -> None:
        """Publish an empty screen with an error message."""
        self._publish(_empty_screen(Message(OWN_ERROR)))

    def _read(self, table: TableAnswer) -> bool:
        """Read the state if the journal ends at another row or is another file; return True if so.

        Raises JournalError if a row is missing that the table or the witness names: the file was removed or replaced.
        """
        witnessed = self._witnessed()  # before the rows: neither this nor the table's answer is ever ahead
        try:
            file = self._reader.path.stat().st_ino
        except FileNotFoundError:
            file = None
        head = self._reader.head()
        now = file, head, witnessed, table.head
        before = self._known if self._seq >= 0 else None
        if now == before:
            return False
        for written in (witnessed, table.head):
            if written != head:
                need_head(self._reader, written)
        is_news = not before or before[:2] != now[:2]
        if is_news:
            state, seq = self._reader.recover()
            self._rules = rules_now(state, self._reader.content)
            self._state, self._seq = state, seq
        self._known = now
        return is_news

    def _witnessed(self) -> Head | None:
        """Return the record's last row by its witness file; None if that does not say."""
        try:
            return witness.read(self._reader.path.parent)
        except OSError:
            return None

    def _publish(self, make: Callable[[], tuple[Screen, str]]) -> None:
        with speaking(SOURCE):  # whatever the request's language is, snapshots are compared in one language
            screen, trouble = make()
        if (screen, trouble) == (self._snapshot.screen, self._snapshot.trouble) and self._snapshot.version:
            return
        self.publish(Snapshot(self._snapshot.version + 1, screen, trouble, make))


def _empty_screen(why: Message) -> Callable[[], tuple[Screen, str]]:
    """Return a function that makes an empty screen and the reason for it."""
    return lambda: (view(0, INITIAL, None, table=TableAnswer()), say(why))
