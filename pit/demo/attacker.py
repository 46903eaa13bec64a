"""Somebody who has a table's disk: they rewrite a past hand in the journal's files, from outside, and hide it well."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from firmware.record.journal.file import FILE
from firmware.record.journal.transaction import Transaction
from firmware.record.journal.witness import Witness
from firmware.table.entry import COLUMNS, Entry

EVE: Final = "dealer:Eve"
WAITS_S: Final = 60.0
"""Timeout in seconds for anything else that reads the file."""


def rewrite(data: Path) -> Entry:
    """Put another dealer's name into the first hand, and make every later hash and the witness fit; return that row.

    The record verifies at the table: only who has an older copy can tell. Nobody may be writing it. Raises
    sqlite3.Error, OSError.
    """
    with closing(sqlite3.connect(data / FILE, isolation_level=None, timeout=WAITS_S)) as db:
        rows = [Entry(*row) for row in db.execute(f"SELECT {COLUMNS} FROM journal ORDER BY seq")]
        changed = next((row for row in rows if row.hand and row.actor.startswith("dealer")), rows[-1])
        later = _reseal([changed._replace(actor=EVE), *rows[changed.seq :]])
        protected = db.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'journal'"
        ).fetchall()
        with Transaction(db):
            for name, _ in protected:
                db.execute(f"DROP TRIGGER {name}")
            db.executemany(
                "UPDATE journal SET actor = ?, previous = ?, hash = ? WHERE seq = ?",
                [(row.actor, row.previous, row.hash, row.seq) for row in later],
            )
            for _, text in protected:
                db.execute(text)
    with closing(Witness(data)) as witness:
        witness.write((later[-1].seq, later[-1].hash))
    return changed


def _reseal(rows: list[Entry]) -> list[Entry]:
    """Return the rows, each with the hash that fits it and the row before it."""
    made: list[Entry] = []
    for row in rows:
        fits = row._replace(previous=made[-1].hash) if made else row
        made.append(fits._replace(hash=fits.sealed()))
    return made
