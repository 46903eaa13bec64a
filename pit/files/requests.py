"""Which tables are asked to fetch a file, and how far each is. Every request ends: in force, refused or withdrawn.

A request that nobody ends is withdrawn after `LASTS`. What a table says of it comes with its heartbeat.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, LiteralString

from firmware.messages import Message
from firmware.uplink.inbox.wire import MOST_OPEN, OVER, SAID_BY_TABLES, Kind, Progress, State
from pit.errors import PitError
from pit.store.database import Connection

LASTS: Final = timedelta(days=30)
"""A table that was off for weeks still finds what it was asked for."""
_LOCK: Final = 0x444F574E << 32
"""With a table's number, the advisory lock of what it is asked: two requests cannot both be the last that is open."""
LATE: Final = Message("The table did not take it within 30 days.")
NEWER: Final = Message("Another one of its kind was asked for.")
WITHDRAWN: Final = Message("It was withdrawn at the pit.")
STRUCK_OFF: Final = Message("The table was struck off.")
_WHAT: Final = (
    "request_id, r.table_id, t.name, r.sha256, f.kind, f.name, f.version, r.state, r.why, r.state_at, r.asked_by,"
    " r.asked_at, r.ends_at, r.ended_at, r.ended_by"
)
_FROM: Final = "file_request r JOIN offered_file f USING (sha256) JOIN gaming_table t USING (table_id)"
FILES: Final = """(SELECT coalesce(json_agg(json_build_array(request_id, sha256) ORDER BY request_id), '[]')
    FROM file_request WHERE file_request.table_id = gaming_table.table_id AND ended_at IS NULL AND ends_at > now())"""
"""What a row of `gaming_table` is asked to fetch, as JSON: number and SHA-256 of each."""


@dataclass(frozen=True)
class Request:
    """A table that is asked to fetch a file, and what it said last. `why` is the reason for its state, if there is one.

    `ended_at` is None while it is open. A release is `in_force` only if the release itself, running, has said so.
    """

    number: int
    table_id: int
    table: str
    sha256: str
    kind: Kind
    name: str
    version: str
    state: State
    why: Message | None
    state_at: datetime
    asked_by: str
    asked_at: datetime
    ends_at: datetime
    ended_at: datetime | None
    ended_by: str


def ask(connection: Connection, table_id: int, sha256: str, by: str) -> int:
    """Ask a table to fetch a file; return the request's number. If it is asked for already, that one's.

    Open requests of that table for another release, or for another version of the same profile or deck, are withdrawn.
    Raises PitError: no such file, no such table, or too many are open.
    """
    connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK | table_id,))
    file = connection.execute(
        "SELECT kind, name FROM offered_file WHERE sha256 = %s AND removed_at IS NULL", (sha256,)
    ).fetchone()
    if file is None:
        raise PitError("There is no such file. Offer it first: feltwatch pit send FILE")
    table = connection.execute(
        "SELECT name, struck_at FROM gaming_table WHERE table_id = %s", (table_id,)
    ).fetchone()
    if table is None or table[1] is not None:
        raise PitError("There is no such table, or it was struck off.")
    end_late(connection)
    _end(
        connection,
        "table_id = %s AND sha256 <> %s AND sha256 IN (SELECT sha256 FROM offered_file WHERE kind = %s AND name = %s)",
        (table_id, sha256, *file),
        NEWER,
        by,
    )
    open_now = connection.execute(
        "SELECT request_id, sha256 FROM file_request WHERE table_id = %s AND ended_at IS NULL", (table_id,)
    ).fetchall()
    for number, digest in open_now:
        if digest == sha256:
            return int(number)
    if len(open_now) >= MOST_OPEN:
        raise PitError(
            "%(table)s is asked for %(most)s files already. Withdraw some first.",
            table=table[0],
            most=MOST_OPEN,
        )
    row = connection.execute(
        "INSERT INTO file_request (table_id, sha256, asked_by, ends_at) VALUES (%s, %s, %s, now() + %s)"
        " RETURNING request_id",
        (table_id, sha256, by, LASTS),
    ).fetchone()
    assert row is not None
    return int(row[0])


def withdraw(connection: Connection, table_id: int, sha256: str, by: str, why: Message = WITHDRAWN) -> bool:
    """End a table's open request for a file; return False if there was none.

    A file that the table has taken already stays in force: that is decided at the table.
    """
    return bool(_end(connection, "table_id = %s AND sha256 = %s", (table_id, sha256), why, by))


def withdraw_all(connection: Connection, table_id: int, by: str, why: Message) -> int:
    """End all open requests of a table; return how many there were."""
    return _end(connection, "table_id = %s", (table_id,), why, by)


def state_of(connection: Connection, table_id: int, sha256: str) -> Request | None:
    """Return a table's newest request for a file, with what it said last; None if it was never asked."""
    end_late(connection)
    row = connection.execute(
        f"SELECT {_WHAT} FROM {_FROM} WHERE r.table_id = %s AND r.sha256 = %s ORDER BY request_id DESC LIMIT 1",
        (table_id, sha256),
    ).fetchone()
    return _request(row) if row else None


def requests(connection: Connection, table_id: int | None = None) -> list[Request]:
    """Return each table's newest request for each file, or one table's, the newest first."""
    end_late(connection)
    rows = connection.execute(
        f"SELECT * FROM (SELECT DISTINCT ON (r.table_id, r.sha256) {_WHAT.replace('t.name', 't.name AS of_table')}"
        f" FROM {_FROM} WHERE %s::bigint IS NULL OR r.table_id = %s"
        " ORDER BY r.table_id, r.sha256, request_id DESC) AS newest ORDER BY request_id DESC",
        (table_id, table_id),
    ).fetchall()
    return [_request(row) for row in rows]


def may_fetch(connection: Connection, table_id: int, sha256: str) -> bool:
    """Return whether a table is asked to fetch a file now."""
    end_late(connection)
    row = connection.execute(
        "SELECT FROM file_request WHERE table_id = %s AND sha256 = %s AND ended_at IS NULL",
        (table_id, sha256),
    ).fetchone()
    return row is not None


def keep_progress(connection: Connection, table_id: int, release: str, what: Iterable[Progress]) -> None:
    """Store what a table says of its requests; `release` is the one that it says it runs.

    Nothing is taken for a request that is over or another table's, nor "in force" for a release that does not run.
    States of a later release are left out.
    """
    for one in what:
        if one.state not in SAID_BY_TABLES:
            continue
        why = json.dumps(one.why.to_json()) if one.why is not None else ""
        connection.execute(
            "UPDATE file_request r SET state = %(state)s, why = %(why)s, state_at = now(),"
            " ended_at = CASE WHEN %(over)s THEN now() END FROM offered_file f"
            " WHERE request_id = %(number)s AND table_id = %(table)s AND ended_at IS NULL AND f.sha256 = r.sha256"
            " AND (state, why) <> (%(state)s, %(why)s)"
            " AND NOT (%(state)s = 'in_force' AND f.kind = 'release' AND f.version <> %(release)s)",
            {
                "state": one.state,
                "why": why,
                "over": one.state in OVER,
                "number": one.number,
                "table": table_id,
                "release": release,
            },
        )


def asked_now(connection: Connection, table_id: int) -> list[Any]:
    """Return number and SHA-256 of what a table is asked to fetch."""
    row = connection.execute(f"SELECT {FILES} FROM gaming_table WHERE table_id = %s", (table_id,)).fetchone()
    return list(row[0]) if row else []


def end_late(connection: Connection) -> None:
    """Withdraw what no table took in time."""
    _end(connection, "ends_at < now()", (), LATE, "")


def _end(connection: Connection, where: LiteralString, values: Sequence[Any], why: Message, by: str) -> int:
    done = connection.execute(
        "UPDATE file_request SET state = 'withdrawn', why = %s, state_at = now(), ended_at = now(), ended_by = %s"
        f" WHERE ended_at IS NULL AND {where}",
        (json.dumps(why.to_json()), by, *values),
    )
    return done.rowcount


def _request(row: Sequence[Any]) -> Request:
    number, table_id, table, sha256, kind, name, version, state, why, *rest = row
    said = Message.from_json(json.loads(why)) if why else None
    return Request(number, table_id, table, sha256, kind, name, version, state, said, *rest)
