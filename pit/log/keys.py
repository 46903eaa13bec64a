"""The keys with which tables sign: a key counts once a person has compared its five words at table and pit."""

from dataclasses import dataclass

from firmware.record.evidence.signing import fingerprint
from pit.errors import PitError
from pit.store.database import Connection, Database


@dataclass(frozen=True)
class TableKey:
    """A table's key. `words` are those of the key that counts, `other` those of one that signs and does not, or ""."""

    table_id: int
    name: str
    words: str
    other: str
    witness: str


def list_keys(connection: Connection) -> list[TableKey]:
    """Return the keys of all tables that are not struck off, by name."""
    rows = connection.execute(
        "SELECT t.table_id, t.name, t.device_key, t.witness_key, m.announced FROM gaming_table t LEFT JOIN LATERAL"
        " (SELECT announced FROM record JOIN head USING (record_id) JOIN log_mark USING (record_id)"
        "  WHERE record.table_id = t.table_id ORDER BY heard_at DESC, record_id DESC LIMIT 1) m ON true"
        " WHERE t.struck_at IS NULL ORDER BY t.name"
    ).fetchall()
    return [
        TableKey(table_id, name, _words(device), _words(announced) * (announced != device), _words(witness))
        for table_id, name, device, witness, announced in rows
    ]


def accept(database: Database, name: str, key: bytes) -> None:
    """Let this key count for a table from now on, and for what it has signed already. Raises PitError."""
    with database.transaction() as connection:
        found = connection.execute(
            "UPDATE gaming_table SET device_key = %s WHERE name = %s RETURNING table_id", (key, name)
        ).fetchone()
        if found is None:
            raise PitError("There is no table %(name)s.", name=name)
        connection.execute(  # its heads are checked again: those that it signed become leaves
            "UPDATE log_mark SET seq = 0 WHERE record_id IN (SELECT record_id FROM record WHERE table_id = %s)",
            found,
        )


def accept_words(database: Database, name: str, words: str) -> None:
    """Let the key count with which a table signs, if its words are these. Raises PitError."""
    with database.transaction() as connection:
        row = connection.execute(
            "SELECT announced FROM gaming_table t JOIN record USING (table_id) JOIN head USING (record_id)"
            " JOIN log_mark USING (record_id) WHERE t.name = %s ORDER BY heard_at DESC, record_id DESC LIMIT 1",
            (name,),
        ).fetchone()
    if row is None or row[0] is None:
        raise PitError("%(name)s has not said yet with which key it signs.", name=name)
    found = bytes(row[0])
    if "-".join(words.lower().replace("-", " ").split()) != fingerprint(found):
        raise PitError(
            "%(name)s signs with another key: %(words)s. Compare the words on the table's own page.",
            name=name,
            words=fingerprint(found),
        )
    accept(database, name, found)


def _words(key: bytes | None) -> str:
    return fingerprint(bytes(key)) if key is not None else ""
