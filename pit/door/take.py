"""Takes a table's rows: one transaction that compares what is repeated, verifies what is new, and stores it.

The database holds the cursor: the answer says how far the pit has the record, and the table goes on from there. Rows
are opaque here. Their hashes and their order are checked, their events are not read: a later release's are stored.
"""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

import psycopg.errors

from firmware.table.entry import Entry
from firmware.table.events import RecordRestored
from firmware.uplink.follow import FORKED_S
from firmware.uplink.wire import Head, Offer, encode_rows
from pit.door.branches import BranchState, hash_at, is_branch, open_branch
from pit.errors import Fork
from pit.files.requests import FILES
from pit.follow.data_requests import DATA_REQUESTS, data_requests_of, end_missing
from pit.status.tables import TABLE_COLUMNS, Table, serial_text, table_of_row, table_of_serial
from pit.store.database import Connection, Database
from pit.store.months import make_months

log = logging.getLogger(__name__)

ASKED: Final = (
    f"{TABLE_COLUMNS}, {DATA_REQUESTS}, (extract(epoch FROM now()) * 1000)::bigint,"
    f" set_config('synchronous_commit', CASE WHEN %s THEN 'local' ELSE 'off' END, true), {FILES}"
)
"""What is asked of a table first. A heartbeat waits for no disk: a crash of the database forgets when it was. Rows are
durable here, and a standby is not waited for: what it lacks the tables send again."""
_COLUMNS: Final = ("record_id", *Entry._fields)
MAX_QUARANTINED_OFFERS: Final = 1_000
MAX_QUARANTINED_BYTES: Final = 64 << 20
"""Refused offers of one table that are kept within a day: more would fill the disk, and say nothing new."""
REFUSED_S: Final = 3 * FORKED_S
"""So long after an offer that was refused a fork stays one, even if a table agrees meanwhile: of a copied box's two,
one does. A refused uplink tries again after `FORKED_S` at most. A table that shows where a restore goes on
ends it at once."""
FEW: Final = 3
"""Up to so many rows, inserting costs less than COPY."""
_HEARD: Final = (
    "heard_at = least(now(), greatest(heard_at, coalesce(to_timestamp(%s::float8 / 1000), now())))"
)
"""A table is heard of as of when it looked, not as of when a line that hung has let that through."""
_HEAD: Final = (
    f"UPDATE head SET seq = %s, hash = %s, taken_at = CASE WHEN %s THEN now() ELSE taken_at END, {_HEARD},"
    " table_seq = %s, release = %s, health = %s, (fork_seq, fork_at) ="
    " (SELECT fork_seq, fork_at WHERE NOT %s OR refused_at > now() - %s * interval '1 second')"
    " WHERE record_id = %s"
)
_ONE: Final = f"({', '.join(['%s'] * len(_COLUMNS))})"
_MOVE: Final = (
    _HEAD,
    *(
        f"WITH new AS (INSERT INTO entry ({', '.join(_COLUMNS)}) VALUES {', '.join([_ONE] * rows)}) {_HEAD}"
        for rows in range(1, FEW + 1)
    ),
)
"""The statement that stores so many rows and moves the head."""


_TYPES: Final = {"seq": "bigint", "hand": "bigint", "monotonic_ns": "bigint", "wall_ms": "bigint"}


def _quickly(rows: int) -> str:
    """Return the statement that takes so many rows, or a heartbeat, that continue the record without a gap.

    It needs one round trip and one transaction, and fits nearly every request. In any other case it changes nothing.
    One such case is a fork: while another request opens a branch, this statement waits for the newest head, then
    finds it marked, and leaves the rows to `_take`.
    """
    row = ", ".join(f"%s::{_TYPES.get(name, 'text')}" for name in Entry._fields)
    store = (
        f", stored AS (INSERT INTO entry ({', '.join(_COLUMNS)})"
        f" SELECT * FROM moved CROSS JOIN (VALUES {', '.join([f'({row})'] * rows)}) AS row)"
    )
    return f"""
WITH moved AS (
    UPDATE head SET seq = %s, hash = %s, taken_at = {"now()" if rows else "taken_at"}, {_HEARD}, table_seq = %s,
        release = %s, health = %s
    WHERE record_id = (
        SELECT record_id FROM record JOIN gaming_table USING (table_id)
        WHERE genesis = %s AND serial = %s AND struck_at IS NULL ORDER BY branch DESC LIMIT 1
    ) AND seq = %s AND hash = %s AND fork_seq IS NULL RETURNING record_id
){store if rows else ""}
SELECT {ASKED}, (SELECT record_id FROM moved) FROM gaming_table WHERE serial = %s"""


_QUICKLY: Final = tuple(map(_quickly, range(FEW + 1)))


@dataclass(frozen=True)
class TakeResult:
    """What came of an offer."""

    head: Head
    """How far the pit has the record now."""
    data_requests: list[dict[str, Any]]
    """What the table is asked for."""
    record_id: int = 0
    rows: Sequence[Entry] = ()
    """The rows that were stored."""
    at_ms: int = 0
    """When, by the database's clock."""
    table_id: int = 0
    files: list[dict[str, Any]] = field(default_factory=list)
    """What the table is asked to fetch, in the shape of `Asked`: all that is open."""


def take(database: Database, table: Table, offer: Offer) -> Head:
    """Store what is new of an offer; return how far the pit has the record. When it returns, that is durable.

    Rows beyond the next one are not an error: the answer says from which row to continue. Raises Fork for an offer that
    does not continue the record, with its rows in quarantine; NotEnrolledError; DatabaseError.
    """
    return take_from(database, table.serial, offer).head


def take_from(database: Database, serial: str, offer: Offer) -> TakeResult:
    """Do the same for the table of a certificate."""
    try:
        return _take_from(database, serial, offer)
    except psycopg.errors.CheckViolation:  # this month's part is not made yet
        with database.transaction() as connection:
            make_months(connection)
        return _take_from(database, serial, offer)


def _take_from(database: Database, serial: str, offer: Offer) -> TakeResult:
    try:
        if taken := _take_quickly(database, serial_text(serial), offer):
            return taken
        with database.transaction() as connection:
            asked = connection.execute(
                f"SELECT {ASKED} FROM gaming_table WHERE serial = %s", (bool(offer.rows), serial_text(serial))
            ).fetchone()
            table = table_of_row(asked)
            assert asked is not None
            data_requests, at_ms, _, files = asked[4:]
            if offer.missing:
                end_missing(connection, table, offer.missing)
                data_requests = data_requests_of(connection, table)
            if not offer.record:
                return TakeResult(Head(), data_requests, at_ms=at_ms, table_id=table.table_id, files=files)
            _verify(offer.rows)
            stored = _lock(connection, table, offer)
            if stored is None:
                return TakeResult(Head(), data_requests, at_ms=at_ms, table_id=table.table_id, files=files)
            record_id, head, new = _take(connection, table, offer, stored)
            return TakeResult(head, data_requests, record_id, new, at_ms, table.table_id, files)
    except Fork as fork:
        with database.transaction() as connection:
            _quarantine(connection, table_of_serial(connection, serial), offer, fork)
        raise


def _take_quickly(database: Database, serial: str, offer: Offer) -> TakeResult | None:
    """Take an offer that goes on right where the pit has the record; return None for any other. Raises Fork."""
    rows = offer.rows
    if not offer.record or offer.missing or len(rows) > FEW or offer.head.seq < 1:
        return None
    before, head = offer.head, offer.head
    if rows:
        before, head = Head(rows[0].seq - 1, rows[0].previous), Head(rows[-1].seq, rows[-1].hash)
        if before.seq < 1 or offer.head.seq < head.seq or (offer.head.seq == head.seq and offer.head != head):
            return None
        if any(row.type == RecordRestored.type for row in rows):
            return None
        _verify(rows)
    found = database.at_once(
        _QUICKLY[len(rows)],
        (
            *(*head, offer.at_ms or None, offer.head.seq, offer.release, json.dumps(offer.health)),
            *(offer.record, serial, *before),
            *chain.from_iterable(rows),
            *(bool(rows), serial),
        ),
    )
    if found is None or found[-1] is None:
        return None
    return TakeResult(head, found[4], found[-1], rows, found[5], found[0], found[7])


def _take(
    connection: Connection, table: Table, offer: Offer, stored: BranchState
) -> tuple[int, Head, Sequence[Entry]]:
    restored = next((row for row in offer.rows if row.type == RecordRestored.type), None)
    if restored and is_branch(connection, stored, restored):
        stored = open_branch(connection, table, offer.record, stored, restored.seq - 1)
    new = _new(connection, stored, offer)
    head = Head(new[-1].seq, new[-1].hash) if new else stored.head
    few = new if len(new) <= FEW else ()
    if len(new) > FEW:
        with connection.cursor().copy(f"COPY entry ({', '.join(_COLUMNS)}) FROM STDIN") as copy:
            for row in new:
                copy.write_row((stored.record_id, *row))
    compared = bool(new) or offer.head.seq <= stored.head.seq  # else nothing was: a fork stays one
    connection.execute(
        _MOVE[len(few)],
        (
            *chain.from_iterable((stored.record_id, *row) for row in few),
            *(*head, bool(new), offer.at_ms or None, offer.head.seq, offer.release, json.dumps(offer.health)),
            *(compared, 0 if restored else REFUSED_S, stored.record_id),
        ),
    )
    return stored.record_id, head, new


def _lock(connection: Connection, table: Table, offer: Offer) -> BranchState | None:
    """Return the record's newest branch, with its head locked. A record that is new is opened by its first row.

    Without that row it stays unknown, and this returns None: nobody can claim a record by its name alone.
    """
    first, genesis = next(iter(offer.rows), None), offer.record
    if first is not None and first.seq == 1 and first.hash != genesis:
        raise Fork("The first row is not the one that names the record.", seq=1)
    find = (
        "SELECT record_id, branch, table_id, head.seq, head.hash FROM record JOIN head USING (record_id)"
        " WHERE genesis = %s ORDER BY branch DESC LIMIT 1 FOR UPDATE OF head"
    )
    # anyone who opens a branch holds this lock: what is the newest is read after it
    connection.execute(
        "SELECT FROM record JOIN head USING (record_id) WHERE genesis = %s AND branch = 1 FOR UPDATE OF head",
        (genesis,),
    )
    row = connection.execute(find, (genesis,)).fetchone()
    if row is None:
        if first is None or first.seq != 1:
            return None
        made = connection.execute(
            "INSERT INTO record (table_id, genesis) VALUES (%s, %s) ON CONFLICT DO NOTHING RETURNING record_id",
            (table.table_id, genesis),
        ).fetchone()
        if made:
            connection.execute("INSERT INTO head (record_id) VALUES (%s)", made)
            connection.execute("INSERT INTO projection (record_id) VALUES (%s)", made)
        row = connection.execute(find, (genesis,)).fetchone()
        assert row is not None
    record_id, branch, table_id, seq, digest = row
    if table_id != table.table_id:
        raise Fork("This record is another table's. Tell a technician which table this is.", seq=1)
    return BranchState(record_id, branch, Head(seq, digest))


def _verify(rows: Sequence[Entry]) -> None:
    """Raise Fork unless the rows follow each other and each has its right hash."""
    before: Entry | None = None
    for row in rows:
        if row.hash != row.sealed():
            raise Fork("Row %(seq)s was changed after it was written.", seq=row.seq)
        if row.seq < 1 or (before and (row.seq, row.previous) != (before.seq + 1, before.hash)):
            raise Fork("Row %(seq)s does not follow the row before it.", seq=row.seq)
        if (row.seq == 1) != (row.previous == ""):
            raise Fork("Row %(seq)s does not follow the row before it.", seq=row.seq)
        before = row


def _new(connection: Connection, stored: BranchState, offer: Offer) -> Sequence[Entry]:
    """Return the rows that the pit lacks, and follow on what it has. Raises Fork for any that differ."""
    head = stored.head
    known = [Head(row.seq, row.hash) for row in offer.rows if row.seq <= head.seq]
    for seq, digest in (offer.head, *known[-1:]):  # the last repeated row's hash covers all before it
        if 0 < seq <= head.seq and digest != hash_at(connection, stored, seq):
            raise Fork("Row %(seq)s is another than the one that was sent before.", seq=seq)
    new = [row for row in offer.rows if row.seq > head.seq]
    if not new or new[0].seq > head.seq + 1:
        return ()
    if new[0].previous != head.hash:
        raise Fork("Row %(seq)s does not continue what was sent before.", seq=new[0].seq)
    return new


def _quarantine(connection: Connection, table: Table, offer: Offer, fork: Fork) -> None:
    """Keep an offer that was refused, the same rows once, and mark its record.

    A table that offers more than the limits within a day has the rest itself: nothing more of it is kept until then.
    """
    body = encode_rows({"head": list(offer.head)}, offer.rows)
    digest = hashlib.sha256(encode_rows({}, offer.rows) if offer.rows else body).hexdigest()
    kept = connection.execute(
        "INSERT INTO quarantine (table_id, genesis, why, seq, digest, rows)"
        " SELECT %(table)s, %(genesis)s, %(why)s, %(seq)s, %(digest)s, %(rows)s WHERE NOT EXISTS ("
        "SELECT FROM quarantine WHERE table_id = %(table)s AND taken_at > now() - interval '1 day'"
        " HAVING count(*) >= %(most)s OR sum(octet_length(rows)) >= %(bytes)s)"
        " ON CONFLICT DO NOTHING",
        {
            "table": table.table_id,
            "genesis": offer.record,
            "why": str(fork),
            "seq": fork.seq,
            "digest": digest,
            "rows": body,
            "most": MAX_QUARANTINED_OFFERS,
            "bytes": MAX_QUARANTINED_BYTES,
        },
    )
    if kept.rowcount == 0:
        log.warning(
            "%s: what was refused is not kept: it is kept already, or too much of this day is", table.name
        )
    connection.execute(
        "UPDATE head SET heard_at = now(), fork_seq = %s, fork_at = coalesce(fork_at, now()), refused_at = now(),"
        " table_seq = %s"
        " WHERE record_id = (SELECT record_id FROM record WHERE genesis = %s AND table_id = %s"
        " ORDER BY branch DESC LIMIT 1)",
        (fork.seq, offer.head.seq, offer.record, table.table_id),
    )
