"""The tables of the house: enrolled by a certificate, struck off by a row."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

import psycopg.errors
from psycopg import sql
from psycopg.rows import TupleRow

from firmware.messages import Message, text_to_store
from firmware.names import NameRefused, new_name, normal_spelling
from firmware.uplink.enrolment import STRUCK
from pit.errors import NotEnrolledError, PitError
from pit.files.requests import withdraw
from pit.status import freshness
from pit.status.freshness import Freshness
from pit.status.table_health import TableHealth, health_of
from pit.store.database import Connection, Database, rows_by_name

TABLE_COLUMNS: Final = "table_id, name, serial, struck_at"
"""What is read of a table that sends."""
FORMER_WITNESS: Final = "former witness "
"""Facts of the house that begin with it name a table's number and a key, in hex, with which it has cosigned."""
STRUCK_OFF: Final = Message("The table was struck off.")


@dataclass(frozen=True)
class Table:
    """A table that may send. `serial` is its certificate's, in lower-case hexadecimal digits."""

    table_id: int
    name: str
    serial: str


@dataclass(frozen=True)
class TableState:
    """A table with what is known of it, of its newest record. `health`: as its last heartbeat had it."""

    table: Table
    struck_at: datetime | None
    release: str
    fork_seq: int | None
    stuck_why: str | None
    health: TableHealth
    fresh: Freshness


def serial_text(serial: int | str) -> str:
    """Return a certificate's serial number as this package stores it."""
    return (f"{serial:x}" if isinstance(serial, int) else serial.lower()).lstrip("0")


def table_of_serial(connection: Connection, serial: str) -> Table:
    """Return the table of a certificate. Raises NotEnrolledError if there is none, or if it was struck off."""
    return table_of_row(
        connection.execute(
            f"SELECT {TABLE_COLUMNS} FROM gaming_table WHERE serial = %s", (serial_text(serial),)
        ).fetchone()
    )


def table_of_row(row: TupleRow | None) -> Table:
    """Return the table of a row that begins with `TABLE_COLUMNS`. Raises NotEnrolledError."""
    if row is None:
        raise NotEnrolledError("No table has this certificate. Enrol the table.")
    if row[3] is not None:
        raise NotEnrolledError("%(table)s was struck off. Enrol it again if it is to send.", table=row[1])
    return Table(*row[:3])


def enrol(database: Database, name: str, serial: int | str) -> Table:
    """Add a table. Raises PitError if there is one of this name."""
    try:
        with database.transaction() as connection:
            row = connection.execute(
                "INSERT INTO gaming_table (name, serial) VALUES (%s, %s) RETURNING table_id, name, serial",
                (name, serial_text(serial)),
            ).fetchone()
    except psycopg.errors.UniqueViolation as error:
        raise PitError("There is a table %(name)s already.", name=name) from error
    assert row is not None
    return Table(*row)


def keep_witness(connection: Connection, name: str) -> None:
    """Keep the key with which a table has cosigned so far: what it has signed holds after it gets another one."""
    connection.execute(
        "INSERT INTO house_fact SELECT %s || table_id || ' ' || encode(witness_key, 'hex'), '' FROM gaming_table"
        " WHERE name = %s AND witness_key IS NOT NULL ON CONFLICT DO NOTHING",
        (FORMER_WITNESS, name),
    )


def witnesses(connection: Connection) -> dict[int, list[bytes]]:
    """Return the keys with which each table cosigns and has cosigned, by its number, the present one first."""
    found = {
        table_id: [bytes(key)] if key is not None else []
        for table_id, key in connection.execute("SELECT table_id, witness_key FROM gaming_table").fetchall()
    }
    for (name,) in connection.execute(
        "SELECT name FROM house_fact WHERE starts_with(name, %s)", (FORMER_WITNESS,)
    ).fetchall():
        number, _, key = name.removeprefix(FORMER_WITNESS).partition(" ")
        if bytes.fromhex(key) not in found.setdefault(int(number), []):
            found[int(number)].append(bytes.fromhex(key))
    return found


def renew(database: Database, name: str, serial: int | str) -> None:
    """Give a table another certificate; the one before is refused from now on.

    The key with which it cosigns becomes that of its next cosignature, unless another table cosigns with that.
    """
    with database.transaction() as connection:
        keep_witness(connection, name)
        connection.execute(
            "UPDATE gaming_table SET serial = %s, witness_key = NULL, struck_at = NULL WHERE name = %s",
            (serial_text(serial), name),
        )


def strike(database: Database, name: str) -> None:
    """Take nothing more from a table, and end its open codes; what it sent stays, and its forks are dealt with.

    Raises PitError if there is none of this name.
    """
    with database.transaction() as connection:
        why = Message(STRUCK.message, name=name)
        end_codes(connection, sql.SQL("name = {}").format(name), why)  # first: an answer locks in this order
        found = connection.execute(
            "UPDATE gaming_table SET struck_at = coalesce(struck_at, now()) WHERE name = %s RETURNING table_id",
            (name,),
        ).fetchone()
        if found is None:
            raise PitError("There is no table %(name)s.", name=name)
        withdraw(connection, found[0], "", why=STRUCK_OFF)
        connection.execute(
            "UPDATE head SET fork_seq = NULL, fork_at = NULL WHERE fork_seq IS NOT NULL AND record_id IN"
            " (SELECT record_id FROM record JOIN gaming_table USING (table_id) WHERE name = %s)",
            (name,),
        )


def end_codes(connection: Connection, where: sql.Composable, why: Message) -> None:
    """End the open codes that meet this condition; their pages say why."""
    connection.execute(
        sql.SQL(
            "UPDATE enrolment SET ended_at = now(), code = NULL, why = {} WHERE ended_at IS NULL AND {}"
        ).format(text_to_store(why), where)
    )


def list_tables(database: Database) -> list[TableState]:
    """Return all tables by name, each with its newest record and its oldest fork."""
    with database.transaction() as connection:
        rows = rows_by_name(
            connection,
            "SELECT t.table_id, t.name, t.serial, t.struck_at, coalesce(h.release, '') AS release, f.fork_seq,"
            f" coalesce(p.stuck_why, n.stuck_why) AS stuck_why, {freshness.COLUMNS}"
            f" FROM gaming_table t {freshness.FROM} ORDER BY t.name",
        )
    return [
        TableState(
            table=Table(row["table_id"], row["name"], row["serial"]),
            struck_at=row["struck_at"],
            release=row["release"],
            fork_seq=row["fork_seq"],
            stuck_why=row["stuck_why"],
            health=health_of(row["fresh_health"]),
            fresh=freshness.of_row(row),
        )
        for row in rows
    ]


def known_name(database: Database, name: str) -> str:
    """Return the name of a table that is known. Raises PitError if there is none of this name."""
    found = _names(database)
    for form in (name, normal_spelling(name)):
        if form in found:
            return form
    raise PitError("There is no table %(name)s.", name=name)


def new_table(database: Database, name: str) -> str:
    """Return a new table's name as it is stored. Raises PitError for a name that is none, or like another table's."""
    taken = _names(database)
    try:
        name = new_name(name, taken)
    except NameRefused as error:
        raise PitError(error.sentence) from error
    if name in taken:
        raise PitError("There is a table %(name)s already.", name=name)
    return name


def _names(database: Database) -> list[str]:
    with database.transaction() as connection:
        rows = connection.execute("SELECT name FROM gaming_table ORDER BY name").fetchall()
    return [str(row[0]) for row in rows]
