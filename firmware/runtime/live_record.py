"""The table's state and its journal: the one place that writes events.

Every event is in the journal before it is in the state, and before anything is shown, lit or answered. After a write
whose result is unknown, nothing is written until the state has been recovered from the journal (`make_certain`).
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

from firmware.messages import Message
from firmware.record.journal.journal import BROKEN_OFF, Journal, JournalReader
from firmware.record.journal.row_index import ENDS
from firmware.record.reopening import end_of_hand
from firmware.rules import Profile
from firmware.table import State, TableError
from firmware.table import events as ev
from firmware.table.decide import step
from firmware.table.errors import JournalDamaged, JournalUncertain
from firmware.table.event import fold
from firmware.table.house import House, house_now
from firmware.table.phase import OPEN
from firmware.table.settling import rules_of

log = logging.getLogger(__name__)

RETRY: Final = 1.0
"""Seconds before a failed write is repeated."""
KNOWN_COMMANDS: Final = 1000
"""Number of last commands whose ids are kept; a sender gives up long before."""

ChangeListener = Callable[[State, Sequence[ev.Event], str, float], None]
"""Called after a change with the state before, all events, who acted, and when writing began (monotonic seconds)."""


class LiveRecord:
    """State, house settings and rules in force, as the journal has them. Used on the table's own thread."""

    def __init__(
        self, data: Path, journal: Journal, house: House, clock: Callable[[], float], changed: ChangeListener
    ) -> None:
        """Recover the state. `house`: the configured settings. Raises TableError: this record cannot be continued."""
        self.journal = journal
        self._configured = house
        self._clock = clock
        self._changed = changed
        self.state: State = journal.recover()
        self.reader = JournalReader(data, training=journal.training)
        self.commands = journal.commands()
        """The last commands' ids → the number of their last row."""
        self.trouble = ""
        """Why the last write failed; "" if it did not."""
        self.retry_at = 0.0
        self._uncertain: Message | None = None
        """Why the result of a write is unknown; None once the state has been recovered."""
        self._read_house()

    def _read_house(self) -> None:
        self.house = house_now(self._configured, self.state.house, self.reader.content)
        self.rules = self._rules_now()

    def _rules_now(self) -> Profile:
        opened = self.state.opened
        return self._rules_of(opened) if opened and self.state.phase in OPEN else self.house.rules

    def _rules_after(self, events: Sequence[ev.Event]) -> Profile:
        """Return the rules of the hand, or of the house, that hold after these events."""
        if not any(event.type in (ev.HandReopened.type, *ENDS) for event in events):
            return self.rules
        after = fold(events, self.state)
        if (
            after.phase not in OPEN
            or after.opened is None
            or any(isinstance(e, ev.HandOpened) for e in events)
        ):
            return self.house.rules
        return self._rules_of(after.opened)

    def _rules_of(self, opened: ev.Opening) -> Profile:
        return rules_of(opened, self.reader.content(opened.profile_hash))

    @property
    def is_certain(self) -> bool:
        """Whether the state is what the journal holds. If not, nothing is written before `make_certain`."""
        return self._uncertain is None and not self.journal.is_uncertain

    def past(self, hand: int) -> State:
        """Return the state at a past hand's end. Raises CommandRefused."""
        return end_of_hand(self.reader, hand)

    def make_certain(self, on_recovery: Callable[[], None]) -> bool:
        """After a write whose result is unknown, continue from what the journal holds; return whether that was needed.

        `on_recovery` brings everything else to that state. Raises TableError if that cannot be done yet.
        """
        if self.is_certain or self._clock() < self.retry_at:
            return False
        if self.journal.is_uncertain:
            self.journal.settle()
        self.state = self.journal.recover()
        self._read_house()
        self.commands = self.journal.commands()
        on_recovery()
        self._uncertain = None
        self.trouble = ""
        return True

    def keep(self, kind: str, data: bytes) -> str:
        """Store content that events name by hash; return its hash. Raises JournalError."""
        try:
            return self.journal.keep(kind, data)
        except JournalUncertain as error:
            self._uncertain = error.sentence
            raise

    def write(self, events: Iterable[ev.Event], actor: str, command: str = "") -> int:
        """Write events to the journal, then apply them to the state; return the last row's number.

        `command`: the id of their command. Raises CommandRefused, JournalError: nothing was written. Raises
        JournalUncertain if the result is not known yet; after any other error `is_certain` says whether it is.
        """
        if self._uncertain is not None:
            raise JournalUncertain(self._uncertain)
        events = list(events)
        state, consequences = step(self.state, events, self._rules_after(events))
        before, began = self.state, self._clock()
        try:
            seq = self.journal.append(events, actor, consequences, command)
        except JournalUncertain as error:
            self._uncertain = error.sentence
            raise
        except TableError:
            raise
        except BaseException:
            self._uncertain = BROKEN_OFF
            raise
        try:
            self._apply(state, [*events, *consequences], seq, command)
            self._changed(before, [*events, *consequences], actor, began)
        except BaseException as error:  # the rows are there: the state is recovered from them
            self._uncertain = BROKEN_OFF
            if isinstance(error, TableError):
                raise JournalUncertain(BROKEN_OFF) from error
            raise
        return seq

    def _apply(self, state: State, events: Sequence[ev.Event], seq: int, command: str) -> None:
        """Bring state, commands, settings and rules to what has been written."""
        if command:
            self.commands[command] = seq
            if len(self.commands) > 2 * KNOWN_COMMANDS:
                self.commands = self.journal.commands()
        before, self.state = self.state, state
        if state.house != before.house:
            self.house = house_now(self._configured, state.house, self.reader.content)
        if any(isinstance(event, ev.HandOpened) for event in events):
            self.rules = self.house.rules
        elif state.opened is not before.opened or state.house != before.house:
            self.rules = self._rules_now()  # a past hand was opened or closed, so the rules may differ
        self.trouble = ""

    def attempt(self, events: Sequence[ev.Event], actor: str) -> TableError | None:
        """Record events that no user waits for; return what prevented it. Raises JournalDamaged."""
        try:
            self.write(events, actor)
        except JournalDamaged:
            raise
        except TableError as error:
            return error
        return None

    def report(self, error: TableError) -> None:
        """Keep a failure as the record's trouble, until the next write that succeeds."""
        if str(error) != self.trouble:
            log.error("%s", error)
        self.trouble = str(error)
        self.retry_at = self._clock() + RETRY
