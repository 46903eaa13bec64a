"""Makes the list of hands from the rows, record by record, with the table's own code.

It never delays the rows that tables send (`pit.door.take`): it follows each record from its own mark, and a row that it
cannot read stops the projection of that record only, with the reason. It follows records, not one number over all
tables, because a late commit would be overtaken there and never be seen.
"""

import json
from dataclasses import dataclass, field
from typing import Final

from firmware.messages import Message
from firmware.record.archive_lines import COLUMNS, TOLD, Batch, HandLine, SeatLine
from firmware.table.entry import Entry
from firmware.table.events import BY_TYPE, HandDisputed
from firmware.uplink.wire import NAMING_TEXTS, texts_named
from pit.errors import UNREADABLE, not_taken, of_no_release, reason
from pit.follow.data_requests import images_of_hand, request_data
from pit.follow.news import BATCH, Source
from pit.store.database import Connection, Database, columns, insert, rows_by_name, write_each
from pit.store.workers import OURS

_OF_NO_INTEREST: Final = frozenset(BY_TYPE) - {*TOLD, *NAMING_TEXTS}
"""Types of the rows that change nothing here."""
_LINE: Final = (*COLUMNS, "image_names")
_SEAT: Final = ("seat", "player", "points", "foul", "natural")


def project(database: Database) -> int:
    """Follow the records that have new rows, some rows of each; return how many rows were followed."""
    with database.transaction() as connection:
        return project_in(Source(connection))


def project_in(source: Source) -> int:
    """Do the same in a transaction."""
    connection, records = source.connection, source.records
    marks = connection.execute(
        "SELECT record_id, projection.seq, subject, head.seq FROM projection JOIN head USING (record_id)"
        f" WHERE projection.seq < head.seq AND stuck_at IS NULL AND (%s OR record_id = ANY(%s)) AND {OURS}"
        " ORDER BY head.seq - projection.seq, record_id LIMIT 500 FOR UPDATE OF projection SKIP LOCKED",
        (records is None, records or [], *source.share.values),
    ).fetchall()
    followed: dict[int, _RecordChange] = {}
    rows = 0
    for record_id, seq, subject, head in marks:
        if rows >= BATCH:
            break
        followed[record_id] = at = _follow(source, record_id, seq, subject, head)
        rows += at.seq - seq
    if followed:
        refused = write_each(connection, followed, lambda some: _write(connection, list(some.values())))
        connection.cursor().executemany(
            "UPDATE projection SET stuck_at = seq + 1, stuck_why = %s WHERE record_id = %s",
            [(reason(not_taken(seq, followed[key].seq)), key) for key, seq, *_ in marks if key in refused],
        )
    return rows


def _is_of_interest(connection: Connection, record_id: int, seq: int) -> bool:
    """Return whether a row after number `seq` changes anything here."""
    found = connection.execute(
        "SELECT FROM entry WHERE record_id = %s AND seq > %s AND type <> ALL(%s) LIMIT 1",
        (record_id, seq, list(_OF_NO_INTEREST)),
    )
    return found.fetchone() is not None


def reindex(database: Database) -> int:
    """Make all projections again; return how many rows were followed. The list is emptied first, and fills up."""
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


@dataclass
class _RecordChange:
    """What new rows of a record change."""

    record_id: int
    seq: int
    batch: Batch
    stuck: tuple[int, Message] | None = None
    texts: dict[str, str] = field(default_factory=dict)
    """What each text is that the rows name, by its hash."""
    disputed: set[int] = field(default_factory=set)


def _follow(source: Source, record_id: int, seq: int, subject: int, head: int) -> _RecordChange:
    """Follow a record from row `seq` to row `head`.

    No row is dated later than the pit took it: else a table whose clock is ahead stands first in every list.
    """
    connection = source.connection
    at = _RecordChange(record_id, seq, Batch(lambda hand: _line(connection, record_id, hand), subject))
    if not source.known(record_id, seq) and not _is_of_interest(connection, record_id, seq):
        at.seq = head  # as most of a hand's are
        return at
    for row, taken_ms in source.after(record_id, seq):
        if row.seq > head:
            break
        if row.type not in _OF_NO_INTEREST and (why := _add(at, row, min(row.wall_ms, taken_ms))):
            at = _follow(source, record_id, seq, subject, row.seq - 1)  # again, with nothing of this row
            at.stuck = row.seq, why
            break
        at.seq = row.seq
    return at


def _add(at: _RecordChange, row: Entry, at_ms: int) -> Message | None:
    """Add a row, dated so; return why it cannot be read."""
    if row.type not in BY_TYPE:
        return Message(
            "Row %(seq)s is of a later release (%(type)s). Update the pit.", seq=row.seq, type=row.type
        )
    try:
        if row.type in TOLD:
            at.batch.take(row.seq, row.hand, at_ms, row.type, row.payload)
        at.texts.update(texts_named(row.type, row.payload))
        if row.type == HandDisputed.type:
            at.disputed.add(json.loads(row.payload)["hand"])
    except UNREADABLE:
        return of_no_release(row.seq, row.type)
    return None


def _line(connection: Connection, record_id: int, hand: int) -> HandLine | None:
    """Return the line of a hand. Raises ValueError for a number that no release writes."""
    if type(hand) is not int:
        raise ValueError(f"{hand!r} is not a hand's number")
    names = columns(_LINE).as_string(connection)
    rows = rows_by_name(
        connection, f"SELECT {names} FROM hand WHERE record_id = %s AND hand = %s", (record_id, hand)
    )
    if not rows:
        return None
    line = HandLine(names=set(rows[0].pop("image_names")), **rows[0])
    seats = rows_by_name(
        connection,
        'SELECT seat, player, points, foul, "natural" FROM hand_seat WHERE record_id = %s AND hand = %s ORDER BY seat',
        (record_id, hand),
    )
    line.seats = [SeatLine(**seat) for seat in seats]
    return line


def _write(connection: Connection, followed: list[_RecordChange]) -> None:
    hands = [(at.record_id, line) for at in followed for line in at.batch.lines.values()]
    if hands:
        _write_hands(connection, hands)
    for at in followed:
        if at.texts:
            request_data(
                connection, at.record_id, "content", [(what, digest) for digest, what in at.texts.items()]
            )
        for hand in at.disputed:
            request_data(connection, at.record_id, "image", images_of_hand(connection, at.record_id, hand))
    connection.cursor().executemany(
        "UPDATE projection SET seq = %s, subject = %s, stuck_at = %s, stuck_why = %s WHERE record_id = %s",
        [
            (
                at.seq,
                at.batch.subject,
                *((at.stuck[0], reason(at.stuck[1])) if at.stuck else (None, None)),
                at.record_id,
            )
            for at in followed
        ],
    )


def _write_hands(connection: Connection, hands: list[tuple[int, HandLine]]) -> None:
    """Write the lines of hands, each with its record, in place of those that are there."""
    places = ([record_id for record_id, _ in hands], [line.hand for _, line in hands])
    for table in ("hand_seat", "hand"):
        connection.execute(
            f"DELETE FROM {table} WHERE (record_id, hand) IN (SELECT * FROM unnest(%s::bigint[], %s::bigint[]))",
            places,
        )
    insert(
        connection,
        "hand",
        ("record_id", *_LINE),
        [
            (record_id, *(getattr(line, name) for name in COLUMNS), sorted(line.names))
            for record_id, line in hands
        ],
    )
    insert(
        connection,
        "hand_seat",
        ("record_id", "hand", "opened_ms", *_SEAT),
        [
            (record_id, line.hand, line.opened_ms, *(getattr(seat, name) for name in _SEAT))
            for record_id, line in hands
            for seat in line.seats
        ],
    )
