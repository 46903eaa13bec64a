"""What tables hold of the log: checkpoints that they have checked and cosigned.

The door notes in memory what each table reports; the keeper of the log stores it at each of its turns. What a crash
loses, the tables report again.
"""

import logging
import threading
from dataclasses import dataclass
from typing import Final

import psycopg.errors

from firmware.record.evidence.notes import (
    Checkpoint,
    NoNote,
    cosignature_of,
    epoch_of,
    open_note,
    parts,
    without_cosignatures,
)
from pit.log import epochs
from pit.store.database import Connection

log = logging.getLogger(__name__)

HEARD: Final = """SELECT DISTINCT table_id FROM record JOIN head USING (record_id) JOIN gaming_table USING (table_id)
WHERE heard_at > now() - interval '10 minutes' AND struck_at IS NULL"""
"""The tables that count: a checkpoint is proven when more than half of them have cosigned it."""
_PROVEN: Final = f"""
WITH heard AS ({HEARD})
INSERT INTO proven (epoch, size, signers, heard)
SELECT epoch, size, count(DISTINCT witness_key), (SELECT count(*) FROM heard)
FROM cosignature JOIN heard USING (table_id) JOIN gaming_table USING (table_id)
JOIN epoch USING (epoch) WHERE (origin, size) IN (SELECT * FROM unnest(%s::text[], %s::bigint[]))
GROUP BY epoch, size HAVING 2 * count(DISTINCT witness_key) > (SELECT count(*) FROM heard) ON CONFLICT DO NOTHING
"""
KEY_OF: Final = "SELECT table_id, witness_key FROM gaming_table WHERE table_id = ANY(%s)"
MAX_KNOWN_CHECKPOINTS: Final = 10_000
"""Checkpoints that are remembered as known."""


@dataclass(frozen=True)
class HeldCheckpoint:
    """The checkpoint that a table holds, with its own signature under it, and its witness's public key."""

    note: str
    witness: bytes


class Cosignatures:
    """The newest checkpoint that each table holds."""

    def __init__(self, public: bytes) -> None:
        """`public`: of the log's key."""
        self._public = public
        self._lock = threading.Lock()
        self._new: dict[int, HeldCheckpoint] = {}
        self._to_store: dict[int, tuple[Checkpoint, HeldCheckpoint]] = {}
        self._stored: dict[int, Checkpoint] = {}
        self._known: dict[Checkpoint, None] = {}

    def add(self, table_id: int, held: HeldCheckpoint) -> None:
        """Note what a table holds. For any thread."""
        with self._lock:
            self._new[table_id] = held

    def take_unknown(self, connection: Connection) -> list[str]:
        """Return checkpoints that this log's key has signed and this database does not know, oldest first."""
        with self._lock:
            new, self._new = self._new, {}
        unknown: dict[Checkpoint, str] = {}
        for table_id, held in new.items():
            try:
                checkpoint = Checkpoint.parse(parts(held.note)[0])
                if checkpoint not in self._known and not epochs.is_known(connection, checkpoint):
                    unknown[open_note(held.note, self._public)] = held.note
                    continue
            except NoNote as error:
                log.warning("Table %s says that it holds a checkpoint, and it is none: %s", table_id, error)
                continue
            self._known[checkpoint] = None
            self._to_store[table_id] = checkpoint, held
        while len(self._known) > MAX_KNOWN_CHECKPOINTS:
            del self._known[next(iter(self._known))]
        order = sorted(unknown, key=lambda one: (epoch_of(one.origin, self._public), one.size), reverse=True)
        return [without_cosignatures(unknown[one]) for one in order]

    def store(self, connection: Connection) -> int:
        """Store the valid cosignatures, and which checkpoints they prove; return how many tables count."""
        held_now, self._to_store = self._to_store, {}
        new = {table_id: one for table_id, one in held_now.items() if self._stored.get(table_id) != one[0]}
        if new:
            keys: dict[int, bytes | None] = dict(connection.execute(KEY_OF, (list(new),)).fetchall())
            rows = []
            for table_id, (checkpoint, held) in new.items():
                key = keys.get(table_id)
                signature = cosignature_of(held.note, held.witness)
                if signature is None:
                    continue  # it holds a checkpoint that it has not cosigned
                if key is not None and bytes(key) != held.witness:
                    log.warning("Table %s cosigns with another key than it is enrolled with.", table_id)
                    continue
                if key is None and not _learn(connection, table_id, held.witness):
                    log.warning("Table %s cosigns with another table's key.", table_id)
                    continue
                rows.append((table_id, signature.line, checkpoint.origin, checkpoint.size))
                self._stored[table_id] = checkpoint
            connection.cursor().executemany(
                "INSERT INTO cosignature (epoch, size, table_id, line) SELECT epoch, size, %s, %s"
                " FROM checkpoint JOIN epoch USING (epoch) WHERE origin = %s AND size = %s ON CONFLICT DO NOTHING",
                rows,
            )
            signed = {(origin, size) for *_, origin, size in rows}
            connection.execute(_PROVEN, ([one for one, _ in signed], [size for _, size in signed]))
        found = connection.execute(f"SELECT count(*) FROM ({HEARD}) AS heard").fetchone()
        return int(found[0]) if found else 0


def _learn(connection: Connection, table_id: int, witness: bytes) -> bool:
    """Store the key with which a table cosigns; return False if it is another table's key."""
    try:
        with connection.transaction():
            connection.execute(
                "UPDATE gaming_table SET witness_key = %s WHERE table_id = %s AND witness_key IS NULL",
                (witness, table_id),
            )
    except psycopg.errors.UniqueViolation:
        return False
    return True
