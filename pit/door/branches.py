"""Branches of a record: a table that was restored goes on from an earlier row, and its old rows stay where they are."""

from dataclasses import dataclass
from typing import Final

from firmware.table.entry import Entry
from firmware.uplink.wire import Head
from pit.errors import Fork
from pit.status.tables import Table
from pit.store.database import Connection, columns, take_long

MAX_BRANCHES: Final = 5
"""Branches that a record may open within a day: each copies all rows before it, and a table is restored rarely."""


@dataclass(frozen=True)
class BranchState:
    """A record's branch, and how far the pit has it."""

    record_id: int
    branch: int
    head: Head


def hash_at(connection: Connection, stored: BranchState, seq: int) -> str | None:
    """Return the hash of a row that the pit has, None for any other."""
    if seq == stored.head.seq:
        return stored.head.hash
    row = connection.execute(
        "SELECT hash FROM entry WHERE record_id = %s AND seq = %s", (stored.record_id, seq)
    ).fetchone()
    return str(row[0]) if row else None


def is_branch(connection: Connection, stored: BranchState, restored: Entry) -> bool:
    """Return whether a restore at the table set the record back behind what the pit has, and goes on from there."""
    if restored.seq > stored.head.seq or restored.hash == hash_at(connection, stored, restored.seq):
        return False
    return restored.seq > 1 and restored.previous == hash_at(connection, stored, restored.seq - 1)


def open_branch(
    connection: Connection, table: Table, genesis: str, old: BranchState, stem: int
) -> BranchState:
    """Open the record's next branch with the rows that both have in common; the old one keeps all of its own.

    Raises Fork for a record that opened too many within a day.
    """
    today = connection.execute(
        "SELECT count(*) FROM record WHERE genesis = %s AND branch > 1 AND opened_at > now() - interval '1 day'",
        (genesis,),
    ).fetchone()
    if today is not None and today[0] >= MAX_BRANCHES:
        raise Fork(
            "This record was set back %(most)s times within a day. Row %(seq)s waits until that is a day ago; the table"
            " keeps everything.",
            most=MAX_BRANCHES,
            seq=stem + 1,
        )
    connection.execute(
        "UPDATE head SET fork_seq = %s, fork_at = coalesce(fork_at, now()) WHERE record_id = %s",
        (stem + 1, old.record_id),
    )
    row = connection.execute(
        "INSERT INTO record (table_id, genesis, branch, stem) VALUES (%s, %s, %s, %s) RETURNING record_id",
        (table.table_id, genesis, old.branch + 1, stem),
    ).fetchone()
    assert row is not None
    record_id = int(row[0])
    names = columns(Entry._fields).as_string(connection)
    take_long(connection)  # a whole record is copied
    connection.execute(
        f"INSERT INTO entry (record_id, {names}, taken_at) SELECT %s, {names}, taken_at FROM entry"
        " WHERE record_id = %s AND seq <= %s",
        (record_id, old.record_id, stem),
    )
    digest = hash_at(connection, old, stem)
    assert digest is not None
    connection.execute(
        "INSERT INTO head (record_id, seq, hash) VALUES (%s, %s, %s)", (record_id, stem, digest)
    )
    connection.execute("INSERT INTO projection (record_id) VALUES (%s)", (record_id,))
    return BranchState(record_id, old.branch + 1, Head(stem, digest))
