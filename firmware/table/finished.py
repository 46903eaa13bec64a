"""The record as far as it is over: for whoever may see nothing of the hand on the table."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from firmware.table.events import HandArchived, HandMisdealt, HandOpened, HandReopened, HandVoided
from firmware.table.journal import JournalReader

_BEGIN: Final = (HandOpened.type, HandReopened.type)
_END: Final = (HandArchived.type, HandVoided.type, HandMisdealt.type)


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
    last: int = db.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0]
    opened = db.execute(
        "SELECT seq FROM journal WHERE type = 'hand_opened' AND seq <= ? ORDER BY hand DESC, seq DESC LIMIT 1",
        (last,),
    ).fetchone()
    if opened is None:
        return last
    marks = ", ".join("?" * len(_BEGIN + _END))
    seq, kind = db.execute(
        f"SELECT seq, type FROM journal WHERE seq BETWEEN ? AND ? AND type IN ({marks}) ORDER BY seq DESC LIMIT 1",
        (opened[0], last, *_BEGIN, *_END),
    ).fetchone()
    return seq - 1 if kind in _BEGIN else last
