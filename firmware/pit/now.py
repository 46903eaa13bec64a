"""What each table does now, and the totals of its dealers' downs, followed row by row with the table's own code.

Like the list of hands it never stands in the way of `take`. What it keeps of a hand that lies on the table names
no card. `finished` is the last row after which no hand was on the table: pages read rows up to there
(`entry_finished`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from firmware.messages import message_of
from firmware.pit.database import Connection, Database
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
"""Rows of one record in one transaction."""
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
    facts: TableFacts = field(default_factory=TableFacts)
    readings: dict[int, list[int]] = field(default_factory=dict)
    """Readings and their milliseconds, by the row with which the down began."""
    why: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Why a hand is disputed and who said so."""

    def take(self, row: _Row, taken_ms: int) -> None:
        before = self.facts
        self.state = apply(self.state, row.event)
        self.report.take(row)
        match row.event:
            case ev.HandOpened() as opened:
                rules = self.rules_of(opened)
                self.down_minutes = rules.collection.down_minutes if rules else 0
            case ev.HandDisputed() as disputed:
                self.why[disputed.hand] = disputed.reason, row.actor
            case ev.ReadingTaken() as reading if reading.frame_ms:
                sums = self.readings.setdefault(self.began_seq, [0, 0])
                sums[0] += 1
                sums[1] += round(reading.frame_ms)
        self.seq = row.seq
        if self.state.phase in BETWEEN_HANDS:
            self.finished = row.seq
        self.facts = _facts(before, self, row, taken_ms)

    @property
    def began_seq(self) -> int:
        """The row with which the down in progress began."""
        return self.report.began.seq if self.report.began else 0


def _facts(before: TableFacts, at: _Following, row: _Row, taken_ms: int) -> TableFacts:
    state = at.state
    since = {need.key: need.since_ms for need in before.needs}
    needs = (
        replace(need, since_ms=since.get(need.key, row.wall_ms))
        for need in _needs(state, at.why, row.wall_ms)
    )
    in_hand = state.phase in OPEN and not state.reopened
    playing = (
        state.seats if in_hand else tuple(s for s in state.house.seats if s.player not in state.sits_out)
    )
    return TableFacts(
        phase=state.phase.value,
        since_ms=before.since_ms if before.phase == state.phase and before.since_ms else row.wall_ms,
        hand=state.last_hand,
        dealer=state.dealer,
        down=state.down,
        down_minutes=at.down_minutes,
        down_ms=at.report.began.wall_ms if state.dealer and at.report.began else None,
        taken=len(playing),
        reopened=state.hand if state.reopened else 0,
        last_ms=row.wall_ms,
        taken_ms=taken_ms,
        synchronised=row.clock == "synchronised",
        table=state.house.table,
        profile=state.opened.profile if state.opened else "",
        needs=tuple(needs),
        joined=dict(at.report.joined),
    )


def _needs(state: State, why: dict[int, tuple[str, str]], at_ms: int) -> Iterable[Need]:
    """Yield what the table needs a person for; `since_ms` is set by the caller where a need is older."""
    if state.record_fault is not None:
        yield Need("record", "record", at_ms, text=state.record_fault.sentence)
    for hand in sorted((state.suspended_state or state).disputed):
        reason, by = why.get(hand, ("", ""))
        yield Need(f"dispute:{hand}", "dispute", at_ms, hand=hand, text=reason, by=by)
    if question := next(iter(state.questions), None):
        kind = "natural" if question.what is Ask.NATURAL else "question"
        yield Need(
            f"{kind}:{state.hand}:{_place(question)}",
            kind,
            at_ms,
            hand=state.hand,
            seat=question.seat,
            row=question.row or "",
            detail=question.what.value,
        )
    for device, text in sorted(state.faults.items()):
        yield Need(f"fault:{device}", "fault", at_ms, detail=device, text=message_of(text))


def _place(question: Question) -> str:
    """Tell a question from the others of its hand, without the cards that it may be about."""
    return ":".join(map(str, (question.what, question.seat, question.row, question.index, question.number)))


class Follower:
    """Follows every record; `follow` takes what is new."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._at: dict[int, _Following] = {}
        self._rules: dict[str, Profile] = {}

    def follow(self) -> int:
        """Follow every record that has new rows, one batch each; return how many rows were followed."""
        with self._database.transaction() as connection:
            behind = connection.execute(
                "SELECT head.record_id FROM head LEFT JOIN table_now USING (record_id)"
                " WHERE head.seq > coalesce(table_now.seq, 0) AND stuck_why IS NULL"
            ).fetchall()
        return sum(self._follow(record_id) for (record_id,) in behind)

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

    def _follow(self, record_id: int) -> int:
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO table_now VALUES (%s, 0, 0, 0, %s) ON CONFLICT DO NOTHING",
                (record_id, TableFacts().as_json()),
            )
            mark = connection.execute(
                "SELECT seq, finished, down_seq, facts FROM table_now WHERE record_id = %s"
                " FOR UPDATE SKIP LOCKED",
                (record_id,),
            ).fetchone()
            if mark is None:
                return 0  # another process follows it
            at = self._at.pop(record_id, None)
            if at is None or at.seq != mark[0]:
                at = self._recovered(connection, record_id, *mark)
            first, stuck = at.seq, None
            places: list[tuple[int, str, int, int]] = []
            for row, taken_ms in _rows(connection, record_id, at.seq, BATCH):
                try:
                    at.take(row, taken_ms)
                except TableError as error:
                    stuck = str(error)
                    break
                if row.type in INDEXED:
                    places.append((record_id, row.type, hand_of(row.type, row.hand, row.payload), row.seq))
            connection.cursor().executemany("INSERT INTO place VALUES (%s, %s, %s, %s)", places)
            _write_downs(connection, record_id, at)
            connection.execute(
                "UPDATE table_now SET seq = %s, finished = %s, down_seq = %s, facts = %s,"
                " stuck_why = %s WHERE record_id = %s",
                (at.seq, at.finished, at.began_seq, at.facts.as_json(), stuck, record_id),
            )
        if stuck is None:
            self._at[record_id] = at
        return at.seq - first

    def _recovered(
        self, connection: Connection, record_id: int, seq: int, finished: int, down_seq: int, facts: str
    ) -> _Following:
        """Return a record's state as it was written after row `seq`: from the rows since the last hand was opened."""
        rules_of = self._rules_of()
        at = _Following(RunningReport(rules_of), rules_of)
        if not seq:
            return at
        opened = connection.execute(
            "SELECT seq FROM place WHERE record_id = %s AND type = %s ORDER BY hand DESC LIMIT 1",
            (record_id, ev.HandOpened.type),
        ).fetchone()
        after = opened[0] - 1 if opened else 0
        rows = [row for row, _ in _rows(connection, record_id, after, seq - after)]
        at.state = fold(row.event for row in rows)
        at.seq, at.finished, at.facts = seq, finished, TableFacts.from_json(facts)
        at.why = {need.hand: (str(need.text), need.by) for need in at.facts.needs if need.kind == "dispute"}
        at.down_minutes = at.facts.down_minutes
        stored = connection.execute(
            f"SELECT dealer, down, began_ms, ended_ms, readings, reading_ms, {', '.join(_COUNTS)} FROM down_total"
            " WHERE record_id = %s AND began_seq = %s",
            (record_id, down_seq),
        ).fetchone()
        began = _rows(connection, record_id, down_seq - 1, 1)
        if stored and began:
            dealer, number, began_ms, ended_ms = stored[:4]
            down = Down(dealer, number, began_ms, ended_ms, Counts(*stored[6:]))
            at.report.resume(rows, began[0][0], down, at.facts.joined)
            at.readings[down_seq] = list(stored[4:6])
        return at

    def _rules_of(self) -> RulesOf:
        database = self._database

        def rules(opened: ev.HandOpened) -> Profile | None:
            key = canonical([opened.profile_hash, opened.options])
            if key not in self._rules:
                with database.transaction() as own:
                    row = own.execute(
                        "SELECT bytes FROM content WHERE hash = %s", (opened.profile_hash,)
                    ).fetchone()
                try:
                    found = rules_of(opened, bytes(row[0])) if row else None
                except TableError:
                    found = None
                if found is None:
                    return None  # the text may come later
                self._rules[key] = found
            return self._rules[key]

        return rules


def _rows(connection: Connection, record_id: int, after: int, most: int) -> list[tuple[_Row, int]]:
    found = connection.execute(
        f"SELECT {_NAMES}, (extract(epoch FROM taken_at) * 1000)::bigint FROM entry"
        " WHERE record_id = %s AND seq > %s ORDER BY seq LIMIT %s",
        (record_id, after, most),
    )
    return [(_Row(*row[:-1]), int(row[-1])) for row in found]


def _write_downs(connection: Connection, record_id: int, at: _Following) -> None:
    """Write the downs that the batch has changed; all but the last are over and are forgotten here."""
    rows = []
    for began_seq, down in at.report.downs():
        readings = at.readings.get(began_seq, [0, 0])
        counts = [getattr(down.counts, name) for name in _COUNTS]
        rows.append(
            (record_id, began_seq, down.dealer, down.number, down.began_ms, down.ended_ms, *counts, *readings)
        )
    names = (
        "record_id",
        "began_seq",
        "dealer",
        "down",
        "began_ms",
        "ended_ms",
        *_COUNTS,
        "readings",
        "reading_ms",
    )
    changes = ", ".join(f"{name} = excluded.{name}" for name in names[2:])
    connection.cursor().executemany(
        f"INSERT INTO down_total ({', '.join(names)}) VALUES ({', '.join(['%s'] * len(names))})"
        f" ON CONFLICT (record_id, began_seq) DO UPDATE SET {changes}",
        rows,
    )
    at.report.forget()
    at.readings = {began: sums for began, sums in at.readings.items() if began == at.began_seq}
