"""Reads only the finished part of the record: for readers who may not see the hand on the table."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from firmware.record.journal.journal import JournalReader
from firmware.record.journal.row_index import ENDS
from firmware.table.events import HandOpened, HandReopened

_BEGIN: Final = (HandOpened.type, HandReopened.type)


class FinishedReader(JournalReader):
    """Reads a journal up to the last row at which no hand was open.

    While a hand is open or reopened, its rows and all later ones are hidden. Queries need no change: in each connection
    the name `journal` is a view of the visible rows.
    """

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection | None]:
        """Yield a connection in which `journal` is that view."""
        with super().opened() as db:
            if db is not None:
                db.execute(f"CREATE TEMP VIEW journal AS SELECT * FROM main.journal WHERE seq <= {_over(db)}")
            yield db


def _over(db: sqlite3.Connection) -> int:
    """Return the number of the last row after which no hand was open. Rows written from now on come after it."""
    marks = ", ".join("?" * len((*_BEGIN, *ENDS)))
    last: int = db.execute("SELECT coalesce(max(seq), 0) FROM main.journal").fetchone()[0]
    # reads about one hand's rows, from the end back
    found = db.execute(
        f"SELECT seq, type FROM main.journal WHERE seq <= ? AND type IN ({marks}) ORDER BY seq DESC",
        (last, *_BEGIN, *ENDS),
    )
    ended, began = 0, last + 1
    for seq, kind in found:
        if kind in ENDS:
            ended += 1
        elif ended:
            ended -= 1  # the beginning of a hand that is over, or of a correction that is
        else:
            began = seq
        if kind == HandOpened.type:
            break
    return began - 1
