"""Proofs for dispute files: that a signed head is in the log, with a checkpoint and everybody who has cosigned it."""

from firmware.record.evidence.dispute_verifier import COSIGNATURE, LOG_KEYS, PROOFS
from firmware.record.evidence.merkle import inclusion
from firmware.record.evidence.notes import Proof, cosignature_of, verifier_key, witness_name
from pit.log.tree import Trees, over
from pit.status.tables import witnesses
from pit.store.database import Database


def proofs_of(database: Database, record_id: int, rows: list[int]) -> dict[str, bytes]:
    """Return the proofs of these signed rows as files of a dispute file, by name. Raises DatabaseError.

    The checkpoint is the first that most tables have cosigned and that has the row; where there is none, the first.
    """
    files: dict[str, bytes] = {}
    keys: dict[str, None] = {}
    notes: list[str] = []
    with database.transaction() as connection:
        for seq, epoch, number, origin, key in connection.execute(
            "SELECT seq, epoch, number, origin, key FROM leaf JOIN epoch USING (epoch)"
            " WHERE record_id = %s AND seq = ANY(%s) ORDER BY seq",
            (record_id, rows),
        ).fetchall():
            found = connection.execute(
                "SELECT size, note FROM checkpoint c LEFT JOIN proven p USING (epoch, size)"
                " WHERE epoch = %s AND size > %s ORDER BY p.size IS NULL, size LIMIT 1",
                (epoch, number),
            ).fetchone()
            if found is None:
                continue
            size, note = found
            lines = connection.execute(
                "SELECT line FROM cosignature WHERE epoch = %s AND size = %s ORDER BY table_id", (epoch, size)
            ).fetchall()
            hashes = inclusion(Trees().of(over(connection), epoch), number, size)
            proof = Proof(number, tuple(hashes), note + "".join(line for (line,) in lines))
            files[f"{PROOFS}{seq}.tlog-proof"] = proof.text.encode()
            notes.append(proof.note)
            keys[verifier_key(origin, bytes(key))] = None
        of_tables = witnesses(connection)
        for (table_id,) in connection.execute(
            "SELECT table_id FROM gaming_table WHERE struck_at IS NULL ORDER BY table_id"
        ).fetchall():
            have = of_tables[table_id]
            signed = [key for key in have if any(cosignature_of(note, key) for note in notes)]
            for public in signed or have[:1]:
                keys[verifier_key(witness_name(public), public, COSIGNATURE)] = None
    if files:
        files[LOG_KEYS] = "".join(f"{one}\n" for one in keys).encode()
    return files
