"""The camera's part in a hand: when to read the table, and how a reading is recorded. On the table's own thread.

While cards are placed it watches the open seats; after the showdown signal it reads the table. A reading that fails
loses no event and is repeated. An answer that is out of date for the hand is dropped.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from firmware.messages import Message, Text
from firmware.record.journal.captures import hand_folder
from firmware.record.journal.journal import TABLE, JournalReader
from firmware.runtime.reading.card_comparisons import CardComparisons, read_again
from firmware.runtime.reading.messages import (
    NothingNew,
    ReaderState,
    ReadingDone,
    ReadingJob,
    ReadingLost,
    Watch,
    short_places,
)
from firmware.runtime.reading.translate import (
    cards_on_record,
    lie_as_before,
    reading_failed,
    reading_taken,
    rows_to_show,
)
from firmware.table import CommandRefused, Phase, State, TableError, fold
from firmware.table import events as ev
from firmware.table.placing import compare
from firmware.table.streets import open_seats

log = logging.getLogger(__name__)

CAMERA: Final = "camera"
"""The actor of its events in the record."""
RETRY: Final = 1.0
"""Seconds before a lost reading is repeated."""
UNSEEN_TOO_LONG: Final = 15.0
"""Seconds without a view of the cards being placed before a fault is shown: hands may cover them that long."""
UNSEEN_LOOKS: Final = 5
"""Failed readings in a row before a fault is shown: on a busy machine a single one may take those seconds."""
SAME_FOR: Final = 3.0
"""Seconds for which the felt shows the same cards, too few of them, before the dealer is asked."""
LEFT_LYING: Final = Message("The last hand's cards still lie there; collect them, deal, then look again.")

ReaderAnswer = ReadingDone | ReadingLost | NothingNew


class ReadingTable(Protocol):
    """The part of the table process that is used here."""

    @property
    def state(self) -> State:
        """The record's current state."""

    @property
    def seq(self) -> int:
        """The last row's number."""

    def attempt(self, events: Sequence[ev.Event], actor: str) -> bool:
        """Record events that no user waits for; False if they cannot be written now."""


class ReadingScheduler:
    """Requests readings as the hand goes on, one at a time, and records what they show."""

    def __init__(
        self,
        table: ReadingTable,
        request: Callable[[ReadingJob], None],
        reader: JournalReader,
        turn_up: float,
        clock: Callable[[], float],
    ) -> None:
        """`turn_up`: seconds from the showdown signal to the first reading."""
        self._table = table
        self._request = request
        self._reader = reader
        self._turn_up = turn_up
        self._clock = clock
        self.trouble: Text = ""
        """The fault of the camera or of reading as a message; "" if there is none."""
        self.heard = False
        """Whether the reading process has reported its state."""
        self._last_read: tuple[int, ev.Event | None] = (0, None)
        self._showdown_at: float | None = None
        self._job: int | None = None
        self._jobs = 0
        self._watching = False
        self._from_start = True
        self._looked_at = clock()
        self._unseen: Text = ""
        self._unseen_looks = 0
        self._watch_at = 0.0
        self._short_since = 0.0
        self._short: frozenset[tuple[str, str, str]] | None = None
        """The cards on a felt that shows too few of them; None if no reading has shown that."""
        self.comparisons = CardComparisons(self._request_watch, lambda event: table.attempt([event], CAMERA))
        self._asks = False
        """Whether the reading under way asks the dealer if it shows the same; then its pictures are stored."""

    def read_from_start(self) -> None:
        """Have the next reading report everything on the table: it may contradict what a user has entered."""
        self._from_start = True

    def on_reader_state(self, reader: ReaderState) -> None:
        """Take the state of the reading process."""
        self.trouble, self.heard = reader.trouble, True

    @property
    def unseen(self) -> Text:
        """Why cards being placed have not been seen for too long; "" if they are seen."""
        long = self._clock() - self._looked_at > UNSEEN_TOO_LONG and self._unseen_looks >= UNSEEN_LOOKS
        return self._unseen if self._watching and long else ""

    def answered(self, answer: ReaderAnswer) -> bool:
        """Record what was seen; return False if it is out of date for the hand."""
        if self.comparisons.answered(answer, self._table.state):
            return False
        if answer.number != self._job:
            return False
        self._job = None
        if self._table.state.reopened:
            return False  # of the hand that waits for a correction: it is read again when it goes on
        if not isinstance(answer, ReadingLost):
            self.trouble = ""
        elif answer.fault or not self._watching:
            self.trouble = answer.reason if answer.fault else ""
        if self._watching:
            self._watched(answer)
        elif not isinstance(answer, NothingNew):
            self._read(answer)
        return True

    def _read(self, answer: ReadingDone | ReadingLost) -> None:
        """Record the reading after the showdown signal; it verifies the open seats' cards."""
        state = self._table.state
        if self._is_too_early(answer, state):
            return
        if isinstance(answer, ReadingLost):
            events: tuple[ev.Event, ...] = (reading_failed(answer),)
        else:
            taken = reading_taken(answer, state)
            try:
                events = (*self._compared(state, taken), *read_again(state, taken), taken)
                fold(events, state)
            except CommandRefused as error:
                events = (ev.ReadingFailed(_senseless(error), taken.frame),)
        if self._table.attempt(events, CAMERA):
            self.comparisons.begin(self._table.state)

    def _is_too_early(self, answer: ReadingDone | ReadingLost, state: State) -> bool:
        """Return whether to read again before asking the dealer, because cards are still being turned up.

        An empty felt is read again without limit; some cards that do not change lead to a question after a while.
        """
        now = self._clock()
        if isinstance(answer, ReadingLost):
            return self._short is not None and not answer.fault
        short = short_places(answer.reading["zones"], self._full(state))
        if not short:
            self._short = None
            return False
        lie = frozenset(
            (zone["place"], zone["row"], str(card["card"]))
            for zone in answer.reading["zones"]
            for card in zone["cards"]
        )
        if self._asks and lie == self._short:
            self._short = None
            return False
        if lie != self._short:
            self._short, self._short_since = lie, now
        shown = {place for place, _, _ in lie}
        awaited = ev.CardsAwaited(
            tuple(seat.seat for seat in state.seats if seat.place in short),
            tuple(seat.seat for seat in state.seats if seat.place in short and seat.place not in shown),
            rows_to_show(answer, state),
        )
        told = state.awaited
        if told is None or (awaited.seats, awaited.empty) != (told.seats, told.empty):
            self._table.attempt([awaited], CAMERA)
        return True

    def _full(self, state: State) -> tuple[str, ...]:
        """Return the places that should show a whole hand after the showdown signal."""
        return tuple(
            seat.place for seat in state.seats if not (seat.open or seat.surrenders or seat.confirmed)
        )

    def _compared(self, state: State, taken: ev.ReadingTaken) -> tuple[ev.Event, ...]:
        """Return the events for a reading compared with the record. Raises CommandRefused for one of another hand."""
        if self._left_over(state, taken):
            raise CommandRefused(LEFT_LYING)
        return compare(state, taken.rows, taken.things, taken.frame)

    def _left_over(self, state: State, taken: ev.ReadingTaken) -> bool:
        """Return whether the last hand's cards still lie there: white was pressed too early, before a deal."""
        if self._last_read[0] != state.hand:
            try:
                read = self._reader.last_reading_before(state.hand)
                self._last_read = (state.hand, read.event if read else None)
            except TableError as error:
                log.error("the last hand's reading: %s", error)
                return False
        before = self._last_read[1]
        return isinstance(before, ev.ReadingTaken) and lie_as_before(taken.rows, before.rows)

    def _watched(self, answer: ReaderAnswer) -> None:
        """Record what a reading of the open seats shows; a reading that fails is repeated."""
        match answer:
            case ReadingDone():
                state = self._table.state
                taken = reading_taken(answer, state)
                try:
                    events = self._compared(state, taken)
                    fold(events, state)
                except CommandRefused as error:
                    self._note_unseen(_senseless(error))
                    self._from_start = True
                    return
                if events and not self._table.attempt(events, CAMERA):
                    self._from_start = True
                    return
                self._note_seen()
            case NothingNew(why=""):
                self._note_seen()
            case NothingNew():
                self._note_unseen(Message("%(why)s.", why=answer.why))
            case ReadingLost():
                self._note_unseen(answer.reason)
                self._from_start = True
                self._watch_at = self._clock() + RETRY

    def _note_seen(self) -> None:
        self._unseen, self._unseen_looks = "", 0
        self._looked_at = self._clock()

    def _note_unseen(self, why: Text) -> None:
        self._unseen = why
        self._unseen_looks += 1

    def request_reading(self) -> None:
        """Request the reading that the hand needs: of open seats, after the showdown signal, or of missing cards."""
        phase, now = self._table.state.phase, self._clock()
        if phase is Phase.SHOWDOWN:
            self._showdown_at = now if self._showdown_at is None else self._showdown_at
            closed = any(not seat.open and not seat.surrenders for seat in self._table.state.seats)
            if now - self._showdown_at >= (self._turn_up if closed else 0.0):
                self._table.attempt([ev.PhaseAdvanced(Phase.READING)], TABLE)
        else:
            self._showdown_at = None
        watching = phase is Phase.PLACING and not self._table.state.keyed
        if phase is not Phase.READING:
            self._short = None
        if watching is not self._watching or (not watching and phase is not Phase.READING):
            self._job = None
        if watching and not self._watching:
            self._from_start = True
            self._note_seen()
        self._watching = watching
        self.comparisons.request(self._table.state)
        if self._job is not None:
            return
        state = self._table.state
        if watching and now >= self._watch_at:
            self._ask(
                [seat.place for seat in open_seats(state)], Watch(cards_on_record(state), self._from_start)
            )
            self._from_start = False
        elif state.phase is Phase.READING:
            self._asks = bool(self._short) and now - self._short_since >= SAME_FOR
            self._ask([seat.place for seat in state.seats], full=() if self._asks else self._full(state))

    def _ask(self, places: list[str], watch: Watch | None = None, full: tuple[str, ...] = ()) -> None:
        self._job = self._request_watch(places, watch, full)

    def _request_watch(
        self, places: list[str], watch: Watch | None = None, full: tuple[str, ...] = ()
    ) -> int:
        self._jobs += 1
        name = f"{hand_folder(self._table.state.hand)}/{self._table.seq:09}-{self._jobs}"
        self._request(ReadingJob(self._jobs, name, tuple(places), watch, full))
        return self._jobs


def _senseless(error: CommandRefused) -> Message:
    why = error.sentence
    return why if why == LEFT_LYING else Message("The reading makes no sense: %(why)s", why=why)
