"""What each table does now, and the totals of its dealers' downs, followed row by row with the table's own code.

Like the list of hands, it never delays the rows that tables send (`pit.door.take`). What it keeps of a hand that lies
on the table names no card. `finished` is the last row after which no hand was on the table: pages read rows up to there
(`entry_finished`).
"""

import logging
import time
from collections.abc import Container, Mapping
from typing import Any, Final

from firmware.record.shift_counts import Counts
from firmware.record.shift_report import RulesOf, RunningReport
from firmware.rules import Profile
from firmware.table import events as ev
from firmware.table.errors import TableError
from firmware.table.event import canonical, fold
from firmware.table.settling import rules_of
from pit.errors import not_taken, of_no_state, reason
from pit.follow.following import RecordState
from pit.follow.news import BATCH, Source, read_rows
from pit.follow.totals import DOWN, down_of
from pit.status.table_facts import TableFacts
from pit.store.database import REFUSED, Connection, Database, insert, rows_by_name, write_each
from pit.store.workers import OURS

MAX_RECORDS: Final = 500
"""Records that are followed in one transaction."""
HELD_S: Final = 5.0
"""Seconds for which a record may be held by something else before that is logged."""
log = logging.getLogger(__name__)
_COUNTS: Final = tuple(vars(Counts()))


class Follower:
    """Follows every record; `follow` takes what is new."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._states: dict[int, RecordState] = {}
        self._rules: dict[str, Profile] = {}
        self._lacking: set[str] = set()
        """Rules whose text was not there in this transaction; it may come later."""
        self._held: dict[int, float] = {}
        """Records that somebody else holds, and since when by the monotonic clock."""

    def follow(self) -> int:
        """Follow the records that have new rows, some rows of each; return how many rows were followed."""
        with self._database.transaction() as connection:
            return self.follow_in(Source(connection))

    def follow_in(self, source: Source) -> int:
        """Do the same in a transaction."""
        connection, records = source.connection, source.records
        if records is None or not self._states.keys() >= set(records):
            connection.execute(
                "INSERT INTO table_now SELECT record_id, 0, 0, 0, %s FROM head LEFT JOIN table_now USING (record_id)"
                " WHERE table_now.record_id IS NULL ORDER BY record_id ON CONFLICT DO NOTHING",
                (TableFacts().to_text(),),
            )
        marks = connection.execute(
            "SELECT record_id, table_now.seq FROM table_now JOIN head USING (record_id)"
            f" WHERE table_now.seq < head.seq AND stuck_why IS NULL AND (%s OR record_id = ANY(%s)) AND {OURS}"
            " ORDER BY head.seq - table_now.seq, record_id LIMIT %s FOR UPDATE OF table_now SKIP LOCKED",
            (records is None, records or [], *source.share.values, MAX_RECORDS),
        ).fetchall()
        before: dict[int, int] = dict(marks)
        if records is None and len(before) < MAX_RECORDS:
            self._watch(source, before)
        self._lacking.clear()
        followed: dict[int, RecordState] = {}
        refused: dict[int, str] = {}
        rows = 0
        for record_id, seq in marks:
            if rows >= BATCH:
                break
            # if this transaction fails, the state is made again from the rows
            record = self._states.pop(record_id, None)
            if record is None or record.seq != seq:
                try:
                    record = self._recover(connection, record_id, seq)
                except (TableError, *REFUSED):
                    refused[record_id] = reason(of_no_state(seq))
                    continue
            record.take_all(source.after(record_id, seq))
            rows += record.seq - seq
            followed[record_id] = record
        if followed:
            for record_id in write_each(connection, followed, lambda some: _write(connection, some)):
                record = followed.pop(record_id)
                refused[record_id] = reason(not_taken(before[record_id], record.seq))
            for record_id, record in followed.items():
                record.forget_written()
                if record.stuck is None:
                    self._states[record_id] = record
        connection.cursor().executemany(
            "UPDATE table_now SET stuck_why = %s WHERE record_id = %s",
            [(why, record_id) for record_id, why in refused.items()],
        )
        return rows

    def _watch(self, source: Source, taken: Container[int]) -> None:
        """Log which records somebody else holds: they are passed over, and stay behind (`freshness`)."""
        behind = source.connection.execute(
            "SELECT record_id FROM table_now JOIN head USING (record_id)"
            f" WHERE table_now.seq < head.seq AND stuck_why IS NULL AND {OURS}",
            source.share.values,
        )
        now = time.monotonic()
        self._held = {one: self._held.get(one, now) for (one,) in behind if one not in taken}
        for record_id, since in self._held.items():
            if now - since > HELD_S:
                log.warning("Record %s is not followed: something else holds its row of table_now", record_id)
                self._held[record_id] = float("inf")  # logged once is enough

    def start_over(self) -> None:
        """Forget everything, so that `follow` makes it again from the rows."""
        self._states.clear()
        with self._database.transaction() as connection:
            for name in ("table_now", "place", "down_total"):
                connection.execute(f"DELETE FROM {name}")

    def retry(self) -> None:
        """Try records again that an earlier release could not follow: this release may be able to."""
        with self._database.transaction() as connection:
            connection.execute("UPDATE table_now SET stuck_why = NULL WHERE stuck_why IS NOT NULL")

    def _recover(self, connection: Connection, record_id: int, seq: int) -> RecordState:
        """Return a record's state as it was written after row `seq`: from the rows since the last hand was opened."""
        rules_of = self._rules_of()
        record = RecordState(RunningReport(rules_of), rules_of)
        mark = connection.execute(
            "SELECT finished, down_seq, facts FROM table_now WHERE record_id = %s", (record_id,)
        ).fetchone()
        if not seq or mark is None:
            return record
        finished, down_seq, facts = mark
        opened = connection.execute(
            "SELECT seq FROM place WHERE record_id = %s AND type = %s ORDER BY seq DESC LIMIT 1",
            (record_id, ev.HandOpened.type),
        ).fetchone()
        before = opened[0] - 1 if opened else 0
        rows = [row for row, _ in read_rows(connection, record_id, before, seq - before)]
        record.state = fold(row.event for row in rows)
        known = TableFacts.from_text(facts)
        record.seq, record.finished, record.down_minutes, record.phase_ms = (
            seq,
            finished,
            known.down_minutes,
            known.since_ms,
        )
        record.since_ms = {need.key: need.since_ms for need in known.needs}
        record.why = {need.hand: (str(need.text), need.by) for need in known.needs if need.kind == "dispute"}
        for need in known.needs:
            if need.kind == "call":
                record.call = int(need.key.partition(":")[2]), need.by
        total = rows_by_name(
            connection,
            f"SELECT {DOWN}, readings, reading_ms FROM down_total WHERE record_id = %s AND began_seq = %s",
            (record_id, down_seq),
        )
        began = read_rows(connection, record_id, down_seq - 1, 1)
        if total and began:
            record.report.resume(rows, began[0][0], down_of(total[0]), known.joined)
            record.readings[down_seq] = [total[0]["readings"], total[0]["reading_ms"]]
        return record

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


def _write(connection: Connection, followed: Mapping[int, RecordState]) -> None:
    """Write what the rows have changed."""
    places = [(record_id, *place) for record_id, record in followed.items() for place in record.places]
    downs = [down for record_id, record in followed.items() for down in _downs(record_id, record)]
    updates = [
        (
            record.seq,
            record.finished,
            record.began_seq,
            record.last and record.facts().to_text(),
            record.stuck and reason(record.stuck),
            record_id,
        )
        for record_id, record in followed.items()
    ]
    insert(connection, "place", ("record_id", "type", "hand", "seq"), places)
    cursor = connection.cursor()
    with connection.pipeline():
        if downs:
            cursor.executemany(_PUT_DOWN, downs)
        cursor.executemany(
            "UPDATE table_now SET seq = %s, finished = %s, down_seq = %s, facts = coalesce(%s, facts),"
            " stuck_why = %s WHERE record_id = %s",
            updates,
        )


def _downs(record_id: int, record: RecordState) -> list[tuple[Any, ...]]:
    """Return the downs that the rows have changed."""
    rows = []
    for began_seq, down in record.report.downs():
        counts = [getattr(down.counts, name) for name in _COUNTS]
        readings = record.readings.get(began_seq, [0, 0])
        rows.append(
            (record_id, began_seq, down.dealer, down.number, down.began_ms, down.ended_ms, *counts, *readings)
        )
    return rows
