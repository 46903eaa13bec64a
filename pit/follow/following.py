"""One record followed: what its table does and needs now, where its rows are, the totals of its dealers' downs.

Every hand's opening holds the table's whole state. So of many rows only those from the last opening on are applied to a
state. Only two things are taken from the rows before it: what counts for the dealer's down, and when a need began.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from pydantic import JsonValue, TypeAdapter

from firmware.messages import message_of
from firmware.record.journal.row_index import INDEXED, hand_of
from firmware.record.shift_report import LONG, RulesOf, RunningReport
from firmware.table import events as ev
from firmware.table.entry import Entry
from firmware.table.errors import TableError
from firmware.table.event import Event, apply
from firmware.table.phase import BETWEEN_HANDS, OPEN
from firmware.table.state import INITIAL, Ask, Question, State
from pit.errors import UNREADABLE, of_no_release
from pit.follow.news import Rows
from pit.status.table_facts import Need, TableFacts
from pit.store.database import REFUSED


class Row(Entry):
    """A row whose event is parsed once."""

    @cached_property
    def event(self) -> Event:
        """The event. Raises UnknownEvent if this release cannot read it."""
        return super().event


@dataclass(frozen=True)
class _Durations:
    ms: dict[str, JsonValue] = field(default_factory=dict)


_DURATIONS: Final = TypeAdapter(_Durations)
"""What is read of a reading: parsing the rest takes ten times as long."""


_OUTLASTING: Final = frozenset(
    event.type
    for event in (
        *(ev.HandOpened, ev.HandDisputed, ev.DisputeClosed, ev.FloorCalled, ev.FloorCallEnded),
        *(ev.TableStarted, ev.DeviceFault, ev.DeviceRecovered),
    )
)
"""Types of rows that begin or end a need for a person, if such a need may outlast a hand.

All but the first may happen in any phase.
"""


@dataclass
class RecordState:
    """One record's state as of row `seq`, kept between two batches."""

    report: RunningReport
    rules_of: RulesOf
    seq: int = 0
    finished: int = 0
    down_minutes: int = 0
    state: State = INITIAL
    last: tuple[int, bool, int] | None = None
    """The last row's time at the table, whether that clock was synchronised, and when the pit took the row."""
    phase_ms: int = 0
    """When the phase began."""
    since_ms: dict[str, int] = field(default_factory=dict)
    """Since when there is each need, by its key."""
    readings: dict[int, list[int]] = field(default_factory=dict)
    """Readings and their milliseconds, by the row with which the down began."""
    why: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Why a hand is disputed and who said so."""
    call: tuple[int, str] = (0, "")
    """The row with which the floor was called last, and who called."""
    stuck: str | None = None
    """Why the next row cannot be followed."""
    places: list[tuple[str, int, int]] = field(default_factory=list)
    """Where the rows of the searched types are that are not written yet: type, hand and number."""

    def take_all(self, rows: Rows) -> None:
        """Follow rows up to one that this release cannot read."""
        known = self._until_stuck([Row._make(entry) for entry, _ in rows], _parse_if_short)
        begins = next((at for at in range(len(known) - 1, 0, -1) if _begins_again(known[at])), 0)
        passed = self._until_stuck(known[:begins], self._pass_over)
        if len(passed) == begins:
            if begins:
                self.state, self.finished = INITIAL, known[begins].seq - 1
            passed = passed + self._until_stuck(known[begins:], self._apply)
        known = self._until_stuck(passed, self._count)
        if known:
            row, taken_ms = known[-1], rows[len(known) - 1][1]
            self.seq, self.finished = row.seq, min(self.finished, row.seq)
            self.last = row.wall_ms, row.clock == "synchronised", taken_ms

    def _until_stuck(self, rows: list[Row], follow: Callable[[Row], object]) -> list[Row]:
        """Do something with each row; return those before the first one with which it cannot be done."""
        for at, row in enumerate(rows):
            try:
                follow(row)
            except TableError as error:
                self.stuck = str(error)
                return rows[:at]
            except REFUSED:
                self.stuck = str(of_no_release(row.seq, row.type))
                return rows[:at]
        return rows

    def _pass_over(self, row: Row) -> None:
        """Follow only what outlasts a hand: since when somebody is needed, and why."""
        if row.type not in _OUTLASTING:
            return
        begins = row.type == ev.HandOpened.type
        self.state = apply(INITIAL if begins else self.state, row.event)
        self._note(row)

    def _apply(self, row: Row) -> None:
        """Let a row change the table's state."""
        before, event = self.state.phase, row.event
        self.state = apply(self.state, event)
        if isinstance(event, ev.HandOpened):
            rules = self.rules_of(event)
            self.down_minutes = rules.collection.down_minutes if rules else 0
        if self.state.phase in BETWEEN_HANDS:
            self.finished = row.seq
        if self.state.phase is not before or not self.phase_ms:
            self.phase_ms = row.wall_ms
        self._note(row)

    def _note(self, row: Row) -> None:
        """Note what is needed as of a row; what was needed before has its beginning already."""
        match row.event:
            case ev.HandOpened() as opened:
                self.why = {hand: why for hand, why in self.why.items() if hand in opened.disputed}
            case ev.HandDisputed() as disputed:
                self.why[disputed.hand] = disputed.reason, row.actor
            case ev.FloorCalled():
                self.call = row.seq, row.actor
        self.since_ms = {need.key: self.since_ms.get(need.key, row.wall_ms) for need in _needs(self)}

    def _count(self, row: Row) -> None:
        """Let a row count for the dealer's down, and note where it is."""
        self.report.take(row)
        if row.type == ev.ReadingTaken.type and (ms := _frame_ms(row.payload)):
            sums = self.readings.setdefault(self.began_seq, [0, 0])
            sums[0] += 1
            sums[1] += round(ms)
        if row.type in INDEXED:
            self.places.append((row.type, hand_of(row.type, row.hand, row.payload), row.seq))

    @property
    def began_seq(self) -> int:
        """The row with which the down in progress began."""
        return self.report.began.seq if self.report.began else 0

    def forget_written(self) -> None:
        """Forget what is written by now: where rows are, and the downs that are over."""
        self.places.clear()
        self.report.forget()
        self.readings = {began: sums for began, sums in self.readings.items() if began == self.began_seq}

    def facts(self) -> TableFacts:
        """Return what the table does as of its last row."""
        assert self.last is not None
        state, (last_ms, is_synchronised, taken_ms) = self.state, self.last
        table = state.suspended_state or state
        in_hand = table.phase in OPEN
        playing = (
            table.seats if in_hand else tuple(s for s in state.house.seats if s.player not in state.sits_out)
        )
        return TableFacts(
            phase=state.phase.value,
            since_ms=self.phase_ms,
            hand=state.last_hand,
            dealer=state.dealer,
            down=state.down,
            down_minutes=self.down_minutes,
            down_ms=self.report.began.wall_ms if state.dealer and self.report.began else None,
            taken=len(playing),
            seats=len(state.house.seats),
            reopened=state.hand if state.reopened else 0,
            last_ms=last_ms,
            taken_ms=taken_ms,
            synchronised=is_synchronised,
            table=state.house.table,
            profile=state.opened.profile if state.opened else "",
            needs=tuple(replace(need, since_ms=self.since_ms[need.key]) for need in _needs(self)),
            joined=dict(self.report.joined),
        )


def _parse_if_short(row: Row) -> object:
    """Parse a row, unless it is of a long type. Raises UnknownEvent."""
    return None if row.type in LONG else row.event


def _begins_again(row: Row) -> bool:
    """Return whether a state may begin with a row."""
    if row.type != ev.HandOpened.type:
        return False
    try:
        apply(INITIAL, row.event)
    except (TableError, *UNREADABLE):
        return False
    return True


def _frame_ms(reading: str) -> float:
    """Return a reading's `frame_ms` from its payload. Raises ValueError for a payload that no release wrote."""
    return ev.ReadingTaken((), ms=_DURATIONS.validate_json(reading).ms).frame_ms


def _needs(at: RecordState) -> Iterable[Need]:
    """Yield what the table needs a person for; its time, `since_ms`, is not set here."""
    state, why = at.state, at.why
    if state.record_fault is not None:
        yield Need("record", "record", 0, text=state.record_fault.sentence)
    if state.floor_called:
        seq, by = at.call
        yield Need(f"call:{seq}", "call", 0, hand=state.last_hand, by=by)
    for hand in sorted(state.disputed):
        reason, by = why.get(hand, ("", ""))
        yield Need(f"dispute:{hand}", "dispute", 0, hand=hand, text=reason, by=by)
    if question := next(iter(state.questions), None):
        kind = "natural" if question.what is Ask.NATURAL else "question"
        yield Need(
            f"{kind}:{state.hand}:{_place(question)}",
            kind,
            0,
            hand=state.hand,
            seat=question.seat,
            row=question.row or "",
            detail=question.what.value,
        )
    for device, text in sorted(state.faults.items()):
        yield Need(f"fault:{device}", "fault", 0, detail=device, text=message_of(text))


def _place(question: Question) -> str:
    """Tell a question from the others of its hand, without the cards that it may be about."""
    return ":".join(map(str, (question.what, question.seat, question.row, question.index, question.number)))
