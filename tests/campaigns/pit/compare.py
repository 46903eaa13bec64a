"""What the pit has, against the tables' own journals: rows one by one, and the list of hands made from them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firmware.record.archive_lines import COLUMNS, TOLD, Batch
from firmware.record.journal.reader import JournalReader
from firmware.table.entry import Entry
from pit.follow.projector import project
from pit.store.database import Connection, Database

_NEWEST = (
    "FROM {} WHERE record_id ="
    " (SELECT record_id FROM record WHERE genesis = %s ORDER BY branch DESC LIMIT 1) ORDER BY {}"
)
_LISTS_BEHIND = (
    "SELECT FROM head JOIN projection p USING (record_id) LEFT JOIN table_now n USING (record_id)"
    " WHERE p.seq < head.seq AND stuck_at IS NULL"
)
TAKEN_MS = "(extract(epoch FROM taken_at) * 1000)::bigint"
"""When the pit took a row: its list dates nothing later."""
_SEAT = ("hand", "seat", "player", "points", "foul", "natural")


@dataclass
class Difference:
    """What differs; all but `rows` and `hands` must be 0.

    `differing`: tables whose rows are not exactly those of the journal, in order; `differing_lists`: tables whose list
    of hands or of seats is not the one made from the journal.
    """

    rows: int = 0
    hands: int = 0
    lost: int = 0
    doubled: int = 0
    differing: int = 0
    differing_lists: int = 0
    quarantined: int = 0

    @property
    def ok(self) -> bool:
        return not (self.lost or self.doubled or self.differing or self.differing_lists or self.quarantined)


def compare(database: Database, data: list[Path]) -> Difference:
    """Compare every table's journal with its newest branch at the pit, after the list of hands was made."""
    while project(database) or _is_behind(database, _LISTS_BEHIND):
        pass  # the pit's own projector may have some of them in its hands
    found = Difference()
    for path in data:
        rows = JournalReader(path).events_since(0, 10**9)
        with database.transaction() as connection:
            _compare(connection, rows, found)
    with database.transaction() as connection:
        found.quarantined = _all(connection, "SELECT count(*) FROM quarantine")[0][0]
    return found


def _compare(connection: Connection, rows: list[Entry], found: Difference) -> None:
    genesis = rows[0].hash
    kept = [
        Entry(*row)
        for row in _all(
            connection, f"SELECT {', '.join(Entry._fields)} {_NEWEST.format('entry', 'seq')}", genesis
        )
    ]
    hands = _all(connection, f"SELECT {', '.join(COLUMNS)} {_NEWEST.format('hand', 'hand')}", genesis)
    seats = _all(
        connection,
        'SELECT hand, seat, player, points, foul, "natural" ' + _NEWEST.format("hand_seat", "hand, seat"),
        genesis,
    )
    found.rows += len(rows)
    found.hands += len(hands)
    found.lost += len(set(rows) - set(kept))
    found.doubled += len(kept) - len({row.seq for row in kept})
    found.differing += kept != rows
    taken = dict(_all(connection, f"SELECT seq, {TAKEN_MS} {_NEWEST.format('entry', 'seq')}", genesis))
    dated = [row._replace(wall_ms=min(row.wall_ms, taken.get(row.seq, row.wall_ms))) for row in rows]
    found.differing_lists += (hands, seats) != lists_of(dated)


def lists_of(rows: list[Entry]) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Return the list of hands and of seats that a journal's rows make, by the table's own code."""
    batch = Batch(lambda hand: None)
    for row in rows:
        if row.type in TOLD:
            batch.take(row.seq, row.hand, row.wall_ms, row.type, row.payload)
    lines = [line for _, line in sorted(batch.lines.items())]
    seats = [
        (line.hand, *(getattr(seat, name) for name in _SEAT[1:]))
        for line in lines
        for seat in sorted(line.seats, key=lambda seat: seat.seat)
    ]
    return [tuple(getattr(line, name) for name in COLUMNS) for line in lines], seats


def has_all(database: Database, data: list[Path]) -> bool:
    """Return whether the pit has every table's last row as its head."""
    heads = {JournalReader(path).head() for path in data}
    with database.transaction() as connection:
        return heads <= set(_all(connection, "SELECT seq, hash FROM head"))


def is_listed(database: Database) -> bool:
    """Return whether every list of hands, and what the floor sees, is as far as this release can make it."""
    return not _is_behind(
        database, f"{_LISTS_BEHIND} OR coalesce(n.seq, 0) < head.seq AND n.stuck_why IS NULL"
    )


def _is_behind(database: Database, query: str) -> bool:
    with database.transaction() as connection:
        return bool(_all(connection, query))


def _all(connection: Connection, query: str, *values: object) -> list[tuple[Any, ...]]:
    return connection.execute(query, values).fetchall()
