"""Which tables are asked to fetch a file, and how far each is. Every request ends: in force, refused or withdrawn.

A request that nobody ends is withdrawn after `LASTS`. What a table says of it comes with its heartbeat.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, LiteralString

from firmware.messages import Message, message_of, text_from, text_to_store
from firmware.update.house import HouseFile
from firmware.uplink.inbox.requests import FROM_TABLE, MAX_OPEN_REQUESTS, WITHDRAWN, FileRequest
from pit.errors import PitError
from pit.files.offers import COLUMNS, HouseRepository, check_sender, find_offered
from pit.store.database import Connection, Database

log = logging.getLogger(__name__)

LASTS: Final = timedelta(days=30)
"""A table that was off for weeks still finds what it was asked for."""
LATE: Final = Message("The table did not take it within 30 days.")
NEWER: Final = Message("Another one of its kind was asked for.")
FILES: Final = """(SELECT coalesce(json_agg(json_build_object('number', request_id, 'sha256', sha256)
    ORDER BY request_id), '[]') FROM file_request
    WHERE file_request.table_id = gaming_table.table_id AND ended_at IS NULL AND ends_at > now())"""
"""What a row of `gaming_table` is asked to fetch, as JSON: a `FileRequest` each."""
_NEWEST: Final = f"""SELECT request_id, state, why, table_id, t.name, state_at, asked_by, {COLUMNS}
    FROM file_request JOIN offered_file f USING (sha256) JOIN gaming_table t USING (table_id)
    WHERE request_id IN (SELECT max(request_id) FROM file_request
        WHERE %(table)s::bigint IS NULL OR table_id = %(table)s GROUP BY table_id, sha256) ORDER BY request_id DESC"""
_SAYS: Final = """UPDATE file_request r SET state = %(state)s, why = %(why)s, state_at = now(),
    ended_at = CASE WHEN %(is_over)s THEN now() END FROM offered_file f
    WHERE request_id = %(number)s AND table_id = %(table)s AND ended_at IS NULL AND f.sha256 = r.sha256
    AND (state, why) <> (%(state)s, %(why)s)
    AND NOT (%(state)s = 'in_force' AND f.kind = 'release' AND f.version <> %(release)s)"""


@dataclass(frozen=True, kw_only=True)
class TableRequest(FileRequest):
    """A request as the pit knows it, with what the table said last, and when that was.

    A release is `in_force` only if the release itself, running, has said so.
    """

    table_id: int
    table: str
    state_at: datetime
    asked_by: str


def ask(connection: Connection, table_id: int, sha256: str, by: str) -> int:
    """Ask a table to fetch a file; return the request's number. If it is asked for already, that one's.

    Open requests of that table for another release, or for another version of the same profile or deck, are withdrawn.
    Raises PitError: no such file, no such table, or too many are open.
    """
    table = connection.execute(  # locked: two requests cannot both be the last that is open
        "SELECT name FROM gaming_table WHERE table_id = %s AND struck_at IS NULL FOR NO KEY UPDATE",
        (table_id,),
    ).fetchone()
    if table is None:
        raise PitError("There is no such table, or it was struck off.")
    file = find_offered(connection, sha256)
    if file is None:
        raise PitError("There is no such file. Offer it first: feltwatch pit send FILE")
    _end_late(connection)
    others: LiteralString = (
        "table_id = %(table)s AND sha256 <> %(sha256)s"
        " AND sha256 IN (SELECT sha256 FROM offered_file WHERE kind = %(kind)s AND name = %(name)s)"
    )
    _end(connection, others, vars(file) | {"table": table_id}, NEWER, by)
    rows = connection.execute(
        "SELECT sha256, request_id FROM file_request WHERE table_id = %s AND ended_at IS NULL", (table_id,)
    )
    open_now: dict[str, int] = dict(rows.fetchall())
    if sha256 in open_now:
        return open_now[sha256]
    if len(open_now) >= MAX_OPEN_REQUESTS:
        raise PitError(
            "%(table)s is asked for %(most)s files already. Withdraw some first.",
            table=table[0],
            most=MAX_OPEN_REQUESTS,
        )
    [(number,)] = connection.execute(
        "INSERT INTO file_request (table_id, sha256, asked_by, ends_at) VALUES (%s, %s, %s, now() + %s)"
        " RETURNING request_id",
        (table_id, sha256, by, LASTS),
    ).fetchall()
    return int(number)


def withdraw(
    connection: Connection, table_id: int, by: str, *, sha256: str | None = None, why: Message = WITHDRAWN
) -> int:
    """End a table's open request for a file, or all of them; return how many there were.

    A file that the table has taken already stays in force: that is decided at the table.
    """
    where: LiteralString = "table_id = %(table)s AND coalesce(sha256 = %(sha256)s, true)"
    return _end(connection, where, {"table": table_id, "sha256": sha256}, why, by)


def requests(connection: Connection, table_id: int | None = None) -> list[TableRequest]:
    """Return each table's newest request for each file, or one table's, the newest first."""
    _end_late(connection)
    return [_request(*row) for row in connection.execute(_NEWEST, {"table": table_id})]


def remove(database: Database, house: HouseRepository, one: HouseFile, by: str) -> None:
    """Remove an offered file's bytes; its row and what was asked of tables stay. Offered again it is back.

    Raises PitError while a table is still to fetch or to take it, or while a channel holds it;
    FilesError.
    """
    by = check_sender(by)
    with database.transaction() as connection:
        # a request, or a channel that takes it at this moment waits for this row, or is seen here
        connection.execute("SELECT FROM offered_file WHERE sha256 = %s FOR UPDATE", (one.sha256,))
        asked = (each for each in requests(connection) if each.sha256 == one.sha256 and not each.is_over)
        if tables := sorted((each.table for each in asked), key=lambda name: (len(name), name)):
            raise PitError(
                "%(tables)s: still to be fetched or taken there. Withdraw it first: feltwatch pit send FILE --withdraw",
                tables=", ".join(tables),
            )
        if connection.execute("SELECT FROM channel WHERE sha256 = %s", (one.sha256,)).fetchone() is not None:
            raise PitError(
                "A channel holds %(release)s. Withdraw it first: feltwatch pit channels withdraw %(release)s",
                release=one.version,
            )
        connection.execute(
            "UPDATE offered_file SET removed_at = now(), removed_by = %s WHERE sha256 = %s AND removed_at IS NULL",
            (by, one.sha256),
        )
        house.publish(connection, remove=one.sha256)
    house.files.remove(one.sha256)
    log.info("%s %s was removed by %s", one.kind, one.title, by)


def may_fetch(connection: Connection, table_id: int, sha256: str) -> bool:
    """Return whether a table is asked to fetch a file now."""
    found = connection.execute(
        "SELECT FROM file_request WHERE table_id = %s AND sha256 = %s AND ended_at IS NULL AND ends_at > now()",
        (table_id, sha256),
    )
    return found.fetchone() is not None


def keep_progress(
    connection: Connection, table_id: int, release: str, said: Iterable[FileRequest]
) -> list[dict[str, Any]]:
    """Store what a table says of its requests; return those that are open then, as its answer has them.

    `release` is the one that it says it runs. Nothing is taken for a request that is over or another table's, nor "in
    force" for a release that does not run. States of a later release are left out.
    """
    for one in said:
        if one.state in FROM_TABLE:
            stored = {"is_over": one.is_over, "why": text_to_store(one.why)}
            connection.execute(_SAYS, vars(one) | stored | {"table": table_id, "release": release})
    row = connection.execute(f"SELECT {FILES} FROM gaming_table WHERE table_id = %s", (table_id,)).fetchone()
    return list(row[0]) if row else []


def _end_late(connection: Connection) -> None:
    """Withdraw what no table took in time."""
    _end(connection, "ends_at < now()", {}, LATE, "")


def _end(connection: Connection, where: LiteralString, values: dict[str, Any], why: Message, by: str) -> int:
    return connection.execute(
        "UPDATE file_request SET state = 'withdrawn', why = %(why)s, state_at = now(), ended_at = now(),"
        f" ended_by = %(who)s WHERE ended_at IS NULL AND {where}",
        values | {"why": text_to_store(why), "who": by},
    ).rowcount


def _request(
    number: int, state: str, why: str, table_id: int, table: str, at: datetime, by: str, *file: Any
) -> TableRequest:
    known, reason = HouseFile(*file), message_of(text_from(why)) if why else None
    return TableRequest(
        *(number, known.sha256, state, reason, known),
        table_id=table_id,
        table=table,
        state_at=at,
        asked_by=by,
    )
