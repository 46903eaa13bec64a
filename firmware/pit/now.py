"""What each table does now, and the totals of its dealers' downs, followed row by row with the table's own code.

Like the list of hands it never stands in the way of `take`. What it keeps of a hand that lies on the table names
no card. `finished` is the last row after which no hand was on the table: pages read rows up to there
(`entry_finished`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

from firmware.messages import message_of
from firmware.pit.database import Connection, Database
from firmware.pit.errors import UNREADABLE, of_no_release
from firmware.pit.news import Rows, after
from firmware.pit.table_facts import Need, TableFacts
from firmware.record.journal.row_index import INDEXED, hand_of
from firmware.record.running_report import RunningReport
from firmware.record.shift_report import Counts, Down, RulesOf
from firmware.rules import Profile
from firmware.table import events as ev
from firmware.table.entry import Entry
from firmware.table.errors import TableError
from firmware.table.event import Event, apply, canonical, fold
from firmware.table.phase import BETWEEN_HANDS, OPEN
from firmware.table.settling import rules_of
from firmware.table.state import INITIAL, Ask, Question, State

BATCH: Final = 2_000
"""Rows in one transaction: no record adds more, and then no other record."""
_NAMES: Final = ", ".join(Entry._fields)
_COUNTS: Final = tuple(vars(Counts()))


class _Row(Entry):
    """A row whose event is parsed once."""

    @cached_property
    def event(self) -> Event:
        return super().event


@dataclass
class _Following:
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
        for entry, taken_ms in rows:
            row = _Row(*entry)
            try:
                self.take(row, taken_ms)
            except TableError as error:
                self.stuck = str(error)
                break
            except UNREADABLE:
                self.stuck = str(of_no_release(row.seq, row.type))
                break
            if row.type in INDEXED:
                self.places.append((row.type, hand_of(row.type, row.hand, row.payload), row.seq))

    def take(self, row: _Row, taken_ms: int) -> None:
        before = self.state.phase
        self.state = apply(self.state, row.event)
        self.report.take(row)
        match row.event:
            case ev.HandOpened() as opened:
                rules = self.rules_of(opened)
                self.down_minutes = rules.collection.down_minutes if rules else 0
            case ev.HandDisputed() as disputed:
                self.why[disputed.hand] = disputed.reason, row.actor
            case ev.FloorCalled():
                self.call = row.seq, row.actor
            case ev.ReadingTaken() as reading if reading.frame_ms:
                sums = self.readings.setdefault(self.began_seq, [0, 0])
                sums[0] += 1
                sums[1] += round(reading.frame_ms)
        self.seq = row.seq
        if self.state.phase in BETWEEN_HANDS:
            self.finished = row.seq
        if self.state.phase is not before or not self.phase_ms:
            self.phase_ms = row.wall_ms
        self.since_ms = {need.key: self.since_ms.get(need.key, row.wall_ms) for need in _needs(self)}
        self.last = row.wall_ms, row.clock == "synchronised", taken_ms

    @property
    def began_seq(self) -> int:
        """The row with which the down in progress began."""
        return self.report.began.seq if self.report.began else 0


def _facts(at: _Following) -> TableFacts:
    """Return what the table does as of its last row."""
    assert at.last is not None
    state, (last_ms, is_synchronised, taken_ms) = at.state, at.last
    in_hand = state.phase in OPEN and not state.reopened
    playing = (
        state.seats if in_hand else tuple(s for s in state.house.seats if s.player not in state.sits_out)
    )
    return TableFacts(
        phase=state.phase.value,
        since_ms=at.phase_ms,
        hand=state.last_hand,
        dealer=state.dealer,
        down=state.down,
        down_minutes=at.down_minutes,
        down_ms=at.report.began.wall_ms if state.dealer and at.report.began else None,
        taken=len(playing),
        reopened=state.hand if state.reopened else 0,
        last_ms=last_ms,
        taken_ms=taken_ms,
        synchronised=is_synchronised,
        table=state.house.table,
        profile=state.opened.profile if state.opened else "",
        needs=tuple(replace(need, since_ms=at.since_ms[need.key]) for need in _needs(at)),
        joined=dict(at.report.joined),
    )


def _needs(at: _Following) -> Iterable[Need]:
    """Yield what the table needs a person for, without since when."""
    state, why = at.state, at.why
    if state.record_fault is not None:
        yield Need("record", "record", 0, text=state.record_fault.sentence)
    if state.floor_called:
        seq, by = at.call
        yield Need(f"call:{seq}", "call", 0, hand=state.last_hand, by=by)
    for hand in sorted((state.suspended_state or state).disputed):
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


class Follower:
    """Follows every record; `follow` takes what is new."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._at: dict[int, _Following] = {}
        self._rules: dict[str, Profile] = {}
        self._lacking: set[str] = set()
        """Rules whose text was not there in this transaction; it may come later."""

    def follow(self) -> int:
        """Follow the records that have new rows, some rows of each; return how many rows were followed."""
        with self._database.transaction() as connection:
            return self.follow_in(connection)

    def follow_in(self, connection: Connection, news: Mapping[int, Rows] | None = None) -> int:
        """Do the same in a transaction; with `news`, for these records only."""
        if news is None or news.keys() - self._at.keys():
            connection.execute(
                "INSERT INTO table_now SELECT record_id, 0, 0, 0, %s FROM head LEFT JOIN table_now USING (record_id)"
                " WHERE table_now.record_id IS NULL ORDER BY record_id ON CONFLICT DO NOTHING",
                (TableFacts().as_json(),),
            )
        marks = connection.execute(
            "SELECT record_id, table_now.seq FROM table_now JOIN head USING (record_id)"
            " WHERE table_now.seq < head.seq AND stuck_why IS NULL AND (%s OR record_id = ANY(%s))"
            " ORDER BY head.seq - table_now.seq, record_id LIMIT 500 FOR UPDATE OF table_now SKIP LOCKED",
            (news is None, list(news or ())),
        ).fetchall()
        self._lacking.clear()
        followed: dict[int, _Following] = {}
        rows = 0
        for record_id, seq in marks:
            if rows >= BATCH:
                break
            at = self._at.pop(record_id, None)  # and if this transaction fails, it is made again
            if at is None or at.seq != seq:
                at = self._recovered(connection, record_id, seq)
            at.take_all(
                after((news or {}).get(record_id, ()), seq) or _rows(connection, record_id, seq, BATCH)
            )
            rows += at.seq - seq
            followed[record_id] = at
        if followed:
            _write(connection, followed)
            self._at |= {record_id: at for record_id, at in followed.items() if at.stuck is None}
        return rows

    def again(self) -> None:
        """Make everything again from the rows."""
        self._at.clear()
        with self._database.transaction() as connection:
            for name in ("table_now", "place", "down_total"):
                connection.execute(f"DELETE FROM {name}")

    def retry(self) -> None:
        """Let records that wait for a later release try again: this one may be it."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE table_now SET stuck_why = NULL WHERE stuck_why IS NOT NULL")

    def _recovered(self, connection: Connection, record_id: int, seq: int) -> _Following:
        """Return a record's state as it was written after row `seq`: from the rows since the last hand was opened."""
        rules_of = self._rules_of()
        at = _Following(RunningReport(rules_of), rules_of)
        mark = connection.execute(
            "SELECT finished, down_seq, facts FROM table_now WHERE record_id = %s", (record_id,)
        ).fetchone()
        if not seq or mark is None:
            return at
        finished, down_seq, facts = mark
        opened = connection.execute(
            "SELECT seq FROM place WHERE record_id = %s AND type = %s ORDER BY hand DESC LIMIT 1",
            (record_id, ev.HandOpened.type),
        ).fetchone()
        before = opened[0] - 1 if opened else 0
        rows = [row for row, _ in _rows(connection, record_id, before, seq - before)]
        at.state = fold(row.event for row in rows)
        known = TableFacts.from_json(facts)
        at.seq, at.finished, at.down_minutes, at.phase_ms = seq, finished, known.down_minutes, known.since_ms
        at.since_ms = {need.key: need.since_ms for need in known.needs}
        at.why = {need.hand: (str(need.text), need.by) for need in known.needs if need.kind == "dispute"}
        for need in known.needs:
            if need.kind == "call":
                at.call = int(need.key.partition(":")[2]), need.by
        stored = connection.execute(
            f"SELECT dealer, down, began_ms, ended_ms, readings, reading_ms, {', '.join(_COUNTS)} FROM down_total"
            " WHERE record_id = %s AND began_seq = %s",
            (record_id, down_seq),
        ).fetchone()
        began = _rows(connection, record_id, down_seq - 1, 1)
        if stored and began:
            dealer, number, began_ms, ended_ms = stored[:4]
            down = Down(dealer, number, began_ms, ended_ms, Counts(*stored[6:]))
            at.report.resume(rows, began[0][0], down, known.joined)
            at.readings[down_seq] = list(stored[4:6])
        return at

    def _rules_of(self) -> RulesOf:
        database = self._database

        def rules(opened: ev.HandOpened) -> Profile | None:
            key = canonical([opened.profile_hash, opened.options])
            if key not in self._rules and key not in self._lacking:
                with database.transaction() as own:
                    row = own.execute(
                        "SELECT bytes FROM content WHERE hash = %s", (opened.profile_hash,)
                    ).fetchone()
                try:
                    found = rules_of(opened, bytes(row[0])) if row else None
                except TableError:
                    found = None
                if found is None:
                    self._lacking.add(key)
                else:
                    self._rules[key] = found
            return self._rules.get(key)

        return rules


def _rows(connection: Connection, record_id: int, after_seq: int, most: int) -> list[tuple[Entry, int]]:
    found = connection.execute(
        f"SELECT {_NAMES}, (extract(epoch FROM taken_at) * 1000)::bigint FROM entry"
        " WHERE record_id = %s AND seq > %s ORDER BY seq LIMIT %s",
        (record_id, after_seq, most),
    )
    return [(Entry(*row[:-1]), int(row[-1])) for row in found]


_DOWN: Final = (
    *("record_id", "began_seq", "dealer", "down", "began_ms", "ended_ms"),
    *_COUNTS,
    *("readings", "reading_ms"),
)
_PUT_DOWN: Final = (
    f"INSERT INTO down_total ({', '.join(_DOWN)}) VALUES ({', '.join(['%s'] * len(_DOWN))})"
    " ON CONFLICT (record_id, began_seq) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in _DOWN[2:])
)


def _write(connection: Connection, followed: Mapping[int, _Following]) -> None:
    """Write what the rows have changed."""
    places = [(record_id, *place) for record_id, at in followed.items() for place in at.places]
    downs = [down for record_id, at in followed.items() for down in _downs(record_id, at)]
    marks = [
        (at.seq, at.finished, at.began_seq, at.last and _facts(at).as_json(), at.stuck, record_id)
        for record_id, at in followed.items()
    ]
    cursor = connection.cursor()
    with connection.pipeline():
        if places:
            cursor.executemany("INSERT INTO place VALUES (%s, %s, %s, %s)", places)
        if downs:
            cursor.executemany(_PUT_DOWN, downs)
        cursor.executemany(
            "UPDATE table_now SET seq = %s, finished = %s, down_seq = %s, facts = coalesce(%s, facts),"
            " stuck_why = %s WHERE record_id = %s",
            marks,
        )
    for at in followed.values():
        at.places.clear()


def _downs(record_id: int, at: _Following) -> list[tuple[Any, ...]]:
    """Return the downs that the rows have changed; all but the last are over and are forgotten here."""
    rows = []
    for began_seq, down in at.report.downs():
        counts = [getattr(down.counts, name) for name in _COUNTS]
        readings = at.readings.get(began_seq, [0, 0])
        rows.append(
            (record_id, began_seq, down.dealer, down.number, down.began_ms, down.ended_ms, *counts, *readings)
        )
    at.report.forget()
    at.readings = {began: sums for began, sums in at.readings.items() if began == at.began_seq}
    return rows
