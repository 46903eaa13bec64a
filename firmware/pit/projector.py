"""Makes the list of hands from the rows, record by record, with the table's own code.

It never stands in the way of `take`: it follows each record from its own mark, and a row that it cannot read stops the
projection of that record only, with the reason. It follows records, not one number over all tables, because a late
commit would be overtaken there and never be seen.
"""

from __future__ import annotations

import json
from typing import Any, Final

from psycopg.rows import TupleRow

from firmware.messages import Message
from firmware.pit.database import Connection, Database, columns
from firmware.pit.wishes import images_of_hand, wish
from firmware.record.archive_lines import COLUMNS, TOLD, Batch, HandLine, SeatLine
from firmware.table.events import BY_TYPE, HandDisputed
from firmware.uplink.wire import NAMING_TEXTS, texts_named

BATCH: Final = 5_000
"""Rows in one transaction."""
_OF_NO_INTEREST: Final = sorted(frozenset(BY_TYPE) - {*TOLD, *NAMING_TEXTS})
"""Types of the rows that change nothing here."""
_LINE: Final = (*COLUMNS, "image_names")
_SEAT: Final = ("seat", "player", "points", "foul", "natural")


def project(database: Database) -> int:
    """Follow every record that has new rows, one batch each; return how many rows were followed."""
    with database.transaction() as connection:
        behind = connection.execute(
            "SELECT record_id, projection.seq, head.seq FROM head JOIN projection USING (record_id)"
            " WHERE projection.seq < head.seq AND stuck_at IS NULL"
        ).fetchall()
        passed = _pass(connection, behind)
    return passed + sum(_follow(database, one[0]) for one in behind)


def _pass(connection: Connection, behind: list[TupleRow]) -> int:
    """Pass new rows that change nothing here, which are most of a hand's; return how many, and leave the others."""
    # One look for each record: over all of them, planning for the partitions would cost more than looking.
    keep = {record_id for record_id, seq, _ in behind if _is_of_interest(connection, record_id, seq)}
    free = [one for one in behind if one[0] not in keep]
    if not free:
        return 0
    moved = connection.execute(
        "UPDATE projection SET seq = mark.head FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[])"
        " AS mark (record_id, seq, head) WHERE projection.record_id = mark.record_id AND projection.seq = mark.seq"
        " RETURNING mark.head - mark.seq",
        [list(column) for column in zip(*free, strict=True)],
    ).fetchall()
    behind[:] = [one for one in behind if one[0] in keep]
    return sum(rows for (rows,) in moved)


def _is_of_interest(connection: Connection, record_id: int, seq: int) -> bool:
    """Return whether a row after number `seq` changes anything here."""
    found = connection.execute(
        "SELECT FROM entry WHERE record_id = %s AND seq > %s AND type <> ALL(%s) LIMIT 1",
        (record_id, seq, _OF_NO_INTEREST),
    )
    return found.fetchone() is not None


def reindex(database: Database) -> int:
    """Make all projections again; return how many rows were followed. The list is empty meanwhile, and fills up."""
    with database.transaction() as connection:
        connection.execute("DELETE FROM hand_seat")
        connection.execute("DELETE FROM hand")
        connection.execute("UPDATE projection SET seq = 0, subject = 0, stuck_at = NULL, stuck_why = NULL")
    rows = 0
    while more := project(database):
        rows += more
    return rows


def retry(database: Database) -> None:
    """Let projections that wait for a later release try again: this one may be it."""
    with database.transaction() as connection:
        connection.execute(
            "UPDATE projection SET stuck_at = NULL, stuck_why = NULL WHERE stuck_at IS NOT NULL"
        )


def _follow(database: Database, record_id: int) -> int:
    with database.transaction() as connection:
        mark = connection.execute(
            "SELECT seq, subject FROM projection WHERE record_id = %s FOR UPDATE SKIP LOCKED", (record_id,)
        ).fetchone()
        if mark is None:
            return 0  # another process follows it
        seq, subject = mark
        batch = Batch(lambda hand: _line(connection, record_id, hand), subject)
        stuck: tuple[int, Message] | None = None
        texts: dict[str, str] = {}
        disputed: set[int] = set()
        rows = connection.execute(
            "SELECT seq, hand, wall_ms, type, payload FROM entry WHERE record_id = %s AND seq > %s"
            " ORDER BY seq LIMIT %s",
            (record_id, seq, BATCH),
        )
        first = seq
        for row in rows:
            if why := _add(batch, row):
                stuck = row[0], why
                break
            seq = row[0]
            texts.update(texts_named(row[3], row[4]))
            if row[3] == HandDisputed.type:
                disputed.add(json.loads(row[4])["hand"])
        _write(connection, record_id, batch)
        wish(connection, record_id, "content", [(what, digest) for digest, what in texts.items()])
        for hand in disputed:
            wish(connection, record_id, "image", images_of_hand(connection, record_id, hand))
        connection.execute(
            "UPDATE projection SET seq = %s, subject = %s, stuck_at = %s, stuck_why = %s WHERE record_id = %s",
            (seq, batch.subject, *((stuck[0], str(stuck[1])) if stuck else (None, None)), record_id),
        )
    return int(seq - first)


def _add(batch: Batch, row: tuple[Any, ...]) -> Message | None:
    """Add a row; return why it cannot be read."""
    if row[3] not in BY_TYPE:
        return Message(
            "Row %(seq)s is of a later release (%(type)s). Update the pit.", seq=row[0], type=row[3]
        )
    if row[3] in TOLD:
        try:
            batch.take(*row)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return Message(
                "Row %(seq)s (%(type)s) is of no release. Show it to a technician.", seq=row[0], type=row[3]
            )
    return None


def _line(connection: Connection, record_id: int, hand: int) -> HandLine | None:
    names = columns(_LINE).as_string(connection)
    row = connection.execute(
        f"SELECT {names} FROM hand WHERE record_id = %s AND hand = %s", (record_id, hand)
    ).fetchone()
    if row is None:
        return None
    line = HandLine(**dict(zip(COLUMNS, row[:-1], strict=True)), names=set(row[-1]))
    seats = connection.execute(
        'SELECT seat, player, points, foul, "natural" FROM hand_seat WHERE record_id = %s AND hand = %s ORDER BY seat',
        (record_id, hand),
    )
    line.seats = [SeatLine(*seat) for seat in seats]
    return line


def _write(connection: Connection, record_id: int, batch: Batch) -> None:
    hands = list(batch.lines)
    for table in ("hand_seat", "hand"):
        connection.execute(f"DELETE FROM {table} WHERE record_id = %s AND hand = ANY(%s)", (record_id, hands))
    cursor = connection.cursor()
    names = columns(("record_id", *_LINE)).as_string(connection)
    cursor.executemany(
        f"INSERT INTO hand ({names}) VALUES ({', '.join(['%s'] * (len(_LINE) + 1))})",
        [
            (record_id, *(getattr(line, name) for name in COLUMNS), sorted(line.names))
            for line in batch.lines.values()
        ],
    )
    names = columns(("record_id", "hand", "opened_ms", *_SEAT)).as_string(connection)
    cursor.executemany(
        f"INSERT INTO hand_seat ({names}) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
        [
            (
                record_id,
                line.hand,
                line.opened_ms,
                seat.seat,
                seat.player,
                seat.points,
                seat.foul,
                seat.natural,
            )
            for line in batch.lines.values()
            for seat in line.seats
        ],
    )
