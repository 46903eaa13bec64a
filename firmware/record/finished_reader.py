"""The record as far as it is over: for anyone who may see nothing of the hand on the table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from firmware.record.journal.journal import JournalReader
from firmware.table.events import (
    HandArchived,
    HandMisdealt,
    HandOpened,
    HandReopened,
    HandVoided,
    HandWithdrawn,
)

_BEGIN: Final = (HandOpened.type, HandReopened.type)
_END: Final = (HandArchived.type, HandVoided.type, HandMisdealt.type, HandWithdrawn.type)


class FinishedReader(JournalReader):
    """Reads a journal as if it ended where no hand lay on the table.

    While a hand is open, or a past one lies on the table again, its rows and all after them are not there. No query
    has to think of it: in each connection the name `journal` is a view that shows no others.
    """

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection | None]:
        with super()._open() as db:
            if db is not None:
                db.execute(f"CREATE TEMP VIEW journal AS SELECT * FROM main.journal WHERE seq <= {_over(db)}")
            yield db


def _over(db: sqlite3.Connection) -> int:
    """Return the number of the last row with which no hand was open; what is written meanwhile lies after it."""
    marks = ", ".join("?" * len(_BEGIN + _END))
    last: int = db.execute("SELECT coalesce(max(seq), 0) FROM main.journal").fetchone()[0]
    found = db.execute(
        f"SELECT seq, type FROM main.journal WHERE seq <= ? AND type IN ({marks}) ORDER BY seq DESC LIMIT 1",
        (last, *_BEGIN, *_END),
    ).fetchone()  # a hand's worth of rows from the end back
    return found[0] - 1 if found and found[1] in _BEGIN else last
