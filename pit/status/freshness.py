"""Whether what the pit has of a table is live and whole: one function, for every page, report, metric and alert.

A table is well only if its process answers, its uplink speaks, the pit has all rows of one record, and follows them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from firmware.messages import Message
from firmware.pulse import FRESH_S
from firmware.uplink.follow import HEARTBEAT_S
from pit.status.table_health import health_of
from pit.store.database import Connection, rows_by_name

SILENT_MS: Final = round(1000 * HEARTBEAT_S) + 1_500
"""A heartbeat is missing: the table is not heard of any more. One that is late by a slow answer still comes in time."""
FOLLOWED_MS: Final = 5_000
"""For so long a row may wait to be followed: a busy pit follows many tables in turn. And by no more may what is shown
be older than the newest row, by the table's own clock: rows that come after an outage are old already."""


class Lack(StrEnum):
    """What is not live or whole, in the order in which it is said."""

    RECORD = "record"
    """The table's record differs from what it sent before; nothing more of it is taken."""
    HEARD = "heard"
    """The uplink was never heard of, or not lately."""
    PROCESS = "process"
    """The table process does not answer."""
    PULSE = "pulse"
    """Nothing says whether it answers: the uplink is of an older release, or the process never did."""
    ROWS = "rows"
    """The table has rows that are not here."""
    FOLLOWED = "followed"
    """Rows are here that were not followed: pages and reports do not know of them."""


@dataclass(frozen=True)
class Freshness:
    """What is known of a table; times are the pit's UTC milliseconds, None where nothing is known.

    `seq`: rows here; `table_seq`: rows at the table; `followed`: rows that pages and reports know of.
    """

    heard_ms: int | None = None
    seq: int = 0
    table_seq: int = 0
    followed: int = 0
    table_s: float | None = None
    """Seconds since the table process had last answered, when the uplink was heard."""
    last_ms: int | None = None
    """When the last row that is here was made."""
    waits_ms: int | None = None
    """When the first row came that was not followed."""
    waiting_ms: int | None = None
    """When that row was made."""
    fork_ms: int | None = None
    """Since when the table offers another record than the one that is here."""

    @property
    def answered_ms(self) -> int | None:
        """When the table process last answered."""
        if self.heard_ms is None or self.table_s is None:
            return None
        return self.heard_ms - round(self.table_s * 1000)

    @property
    def has_answered(self) -> bool:
        """Whether the table process answered when the uplink was heard last."""
        return self.table_s is not None and self.table_s <= FRESH_S


@dataclass(frozen=True)
class Status:
    """How a table stands. `lacks`: what is not live or whole, each with when that began, None if that is unknown."""

    known: Freshness
    lacks: tuple[tuple[Lack, int | None], ...] = ()

    @property
    def is_well(self) -> bool:
        """Whether all of it is live and whole."""
        return not self.lacks

    @property
    def behind(self) -> int:
        """Rows of the table that pages and reports do not know of."""
        return max(self.known.table_seq, self.known.seq) - min(self.known.followed, self.known.seq)

    def has(self, lack: Lack) -> bool:
        """Return whether something is lacking."""
        return any(found is lack for found, _ in self.lacks)

    @property
    def sentences(self) -> tuple[Message, ...]:
        """What is lacking, in words."""
        return tuple(self.words(lack) for lack, _ in self.lacks)

    def words(self, lack: Lack) -> Message:
        """Say what is lacking."""
        known = self.known
        match lack:
            case Lack.RECORD:
                return Message("its record differs from what was sent before")
            case Lack.HEARD if known.heard_ms is None:
                return Message("never heard of")
            case Lack.HEARD:
                return Message("not heard of now")
            case Lack.PROCESS:
                return Message("the table process does not answer")
            case Lack.PULSE:
                return Message("not known whether the table process answers")
            case Lack.ROWS:
                return Message("rows that have not come: %(rows)s", rows=f"{known.table_seq - known.seq:,}")
            case Lack.FOLLOWED:
                return Message("rows not followed: %(rows)s", rows=f"{known.seq - known.followed:,}")


def status_of(known: Freshness, now_ms: int) -> Status:
    """Return how a table stands at a time. Pure."""
    if known.heard_ms is None:
        return Status(known, ((Lack.HEARD, None),))
    lacks: list[tuple[Lack, int | None]] = []
    if known.fork_ms is not None:
        lacks.append((Lack.RECORD, known.fork_ms))
    if now_ms - known.heard_ms > SILENT_MS:
        lacks.append((Lack.HEARD, known.heard_ms))
    if known.table_s is None:
        lacks.append((Lack.PULSE, None))
    elif not known.has_answered:
        lacks.append((Lack.PROCESS, known.answered_ms))
    if known.table_seq > known.seq:
        lacks.append((Lack.ROWS, known.last_ms))
    if known.followed < known.seq and (known.waits_ms is None or _is_old(known, now_ms)):
        lacks.append((Lack.FOLLOWED, known.waiting_ms))
    return Status(known, tuple(lacks))


def _is_old(known: Freshness, now_ms: int) -> bool:
    """Return whether what pages show is too old: by the pit's clock, or by the table's, whose backlog came at once."""
    made_ms = (known.last_ms or 0) - known.waiting_ms if known.waiting_ms is not None else 0
    return max(now_ms - (known.waits_ms or 0), made_ms) > FOLLOWED_MS


def complete_ms(known: Freshness, now_ms: int) -> int | None:
    """Return up to when reports have all that the table recorded; None where nothing of it was ever here. Pure."""
    if known.heard_ms is None:
        return None
    ends = [now_ms, known.heard_ms, *([] if known.fork_ms is None else [known.fork_ms])]
    if known.answered_ms is not None and not known.has_answered:
        ends.append(known.answered_ms)
    if known.table_seq > known.seq:
        ends.append(known.last_ms or 0)
    if known.followed < known.seq:
        ends.append(known.waiting_ms or 0)
    return min(ends)


NEWEST: Final = """LATERAL (SELECT head.* FROM record JOIN head USING (record_id) WHERE record.table_id = t.table_id
    ORDER BY heard_at DESC, record_id DESC LIMIT 1)"""
"""The head of the newest record of the table `t`."""
FORKS: Final = """(SELECT DISTINCT ON (table_id) table_id, fork_seq, fork_at FROM record JOIN head USING (record_id)
    WHERE fork_seq IS NOT NULL AND NOT EXISTS (
        SELECT FROM record AS later WHERE later.genesis = record.genesis AND later.branch > record.branch)
    ORDER BY table_id, fork_at)"""
"""The oldest fork of any record of each table: another record, or a newer one, does not hide it."""
_FOLLOWED: Final = "least(coalesce(n.seq, 0), coalesce(p.seq, 0))"
"""The row up to which both the floor and the list of hands are."""
FROM: Final = f"""LEFT JOIN {NEWEST} h ON true LEFT JOIN {FORKS} f ON f.table_id = t.table_id
LEFT JOIN table_now n ON n.record_id = h.record_id LEFT JOIN projection p ON p.record_id = h.record_id
LEFT JOIN row_time last_row ON last_row.record_id = h.record_id AND last_row.seq = h.seq
    AND last_row.taken_at = h.taken_at"""
"""What `COLUMNS` are read from, after a table of the house as `t`. When a row came says in which month it lies."""
_WAITING: Final = f"""CASE WHEN {_FOLLOWED} < h.seq THEN
    (SELECT r.{{}} FROM row_time r WHERE r.record_id = h.record_id AND r.seq = {_FOLLOWED} + 1) END"""
"""A time of the first row that was not followed: looked up only where there is one."""
COLUMNS: Final = f"""(extract(epoch FROM h.heard_at) * 1000)::bigint AS fresh_heard_ms, coalesce(h.seq, 0) AS fresh_seq,
    coalesce(h.table_seq, 0) AS fresh_table_seq, {_FOLLOWED} AS fresh_followed, coalesce(h.health, '') AS fresh_health,
    coalesce(last_row.made_ms, (extract(epoch FROM h.taken_at) * 1000)::bigint) AS fresh_last_ms,
    {_WAITING.format("taken_ms")} AS fresh_waits_ms, {_WAITING.format("made_ms")} AS fresh_waiting_ms,
    (extract(epoch FROM f.fork_at) * 1000)::bigint AS fresh_fork_ms"""


def of_row(row: Mapping[str, Any]) -> Freshness:
    """Return what `COLUMNS` say of a table."""
    box = health_of(row["fresh_health"])
    return Freshness(
        heard_ms=row["fresh_heard_ms"],
        seq=row["fresh_seq"],
        table_seq=max(row["fresh_table_seq"], box.row),
        followed=row["fresh_followed"],
        table_s=box.table_s,
        last_ms=row["fresh_last_ms"],
        waits_ms=row["fresh_waits_ms"],
        waiting_ms=row["fresh_waiting_ms"],
        fork_ms=row["fresh_fork_ms"],
    )


def read(connection: Connection) -> dict[int, Freshness]:
    """Return what is known of every table, by its number."""
    rows = rows_by_name(connection, f"SELECT t.table_id, {COLUMNS} FROM gaming_table t {FROM}")
    return {row["table_id"]: of_row(row) for row in rows}
