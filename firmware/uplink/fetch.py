"""Fetches a whole record back from the pit, for a new card: every row that the old card had sent.

The rows are written into a backup's folder, chained and verified as any backup is before it is restored. Images are not
fetched: those that the pit asked for stay there, the others went with the old card.
"""

from collections.abc import Callable
from pathlib import Path

from firmware.record.journal.journal import Journal
from firmware.table.entry import Entry, content_hash
from firmware.uplink.client import Client
from firmware.uplink.errors import PitRefusal, UplinkError
from firmware.uplink.wire import decode_rows, texts_named


def fetch(
    client: Client, folder: Path, on_progress: Callable[[int, int], None] = lambda rows, of: None
) -> int:
    """Write this table's record, as the pit has it, into an empty folder; return the number of its last row.

    Raises UplinkError, JournalError.
    """
    named: dict[str, str] = {}
    with Journal(folder) as journal:
        while True:
            first, rows = decode_rows(client.get(f"/v1/record?after={journal.seq}"))
            _follows(journal, rows)
            journal.append_sealed(rows)
            for row in rows:
                named.update(texts_named(row.type, row.payload))
            match first:
                case {"head": [int(end), str(_)]}:
                    on_progress(journal.seq, end)
                case _:
                    raise UplinkError("The pit gave an answer that this release does not understand.")
            if not rows or journal.seq >= end:
                break
        for digest, kind in named.items():
            _keep(client, journal, kind, digest)
        return journal.seq


def _follows(journal: Journal, rows: tuple[Entry, ...]) -> None:
    seq, digest = journal.head
    for row in rows:
        if (row.seq, row.previous) != (seq + 1, digest) or row.hash != row.sealed():
            raise UplinkError(
                "Row %(seq)s from the pit does not continue the record. Tell a technician.", seq=row.seq
            )
        seq, digest = row.seq, row.hash


def _keep(client: Client, journal: Journal, kind: str, digest: str) -> None:
    try:
        data = client.get(f"/v1/files/{digest}")
    except PitRefusal:
        return  # the pit had not fetched it yet: the verification of the backup says so
    if content_hash(data) != digest:
        raise UplinkError("The pit's file %(hash)s is not what its name says.", hash=digest)
    journal.keep(kind, data)
