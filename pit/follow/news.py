"""Rows for the code that follows the records (`follower.py`, `projector.py`).

Rows that were just stored are passed on in memory. Other rows are read from the database, once for all followers.
"""

import threading
from collections.abc import Mapping, Sequence
from typing import Final

from firmware.table.entry import COLUMNS, Entry
from pit.store.database import Connection
from pit.store.workers import Share

Rows = Sequence[tuple[Entry, int]]
"""Rows of one record, each with the time at which the pit stored it, in milliseconds since 1970."""
BATCH: Final = 2_000
"""Rows read from one record at once. A transaction that has reached this number starts no other record."""
MAX_ROWS: Final = 500
"""Rows kept in memory. For further rows only the record is noted, and the rows are read from the database."""


class News:
    """The rows added since the last call of `taken`, by record. Several threads may add rows."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[int, list[tuple[Entry, int]]] = {}
        self._kept = 0

    def add(self, record_id: int, rows: Sequence[Entry], at_ms: int) -> None:
        """Add rows whose transaction is committed."""
        if not rows:
            return
        with self._lock:
            known = self._rows.setdefault(record_id, [])
            if self._kept + len(rows) <= MAX_ROWS:
                known.extend((row, at_ms) for row in rows)
                self._kept += len(rows)

    def taken(self) -> Mapping[int, Rows]:
        """Return the rows by record, and forget them. A record's rows may be incomplete or missing (`MAX_ROWS`)."""
        with self._lock:
            rows, self._rows, self._kept = self._rows, {}, 0
        return rows


def after(rows: Rows, seq: int) -> Rows:
    """Return the rows after number `seq`, up to the first gap. Without row `seq + 1` there are none."""
    if rows and rows[0][0].seq == seq + 1 and rows[-1][0].seq == seq + len(rows):
        return rows  # no gap: the rows of a record are in order
    found = []
    for row, at_ms in rows:
        if row.seq == seq + 1:
            found.append((row, at_ms))
            seq += 1
    return found


class Source:
    """Where followers get the rows of one transaction: from memory or from the database."""

    def __init__(
        self,
        connection: Connection,
        known: Mapping[int, Rows] | None = None,
        *,
        only_known: bool = False,
        share: Share = Share(),  # noqa: B008 - immutable
    ) -> None:
        """`known`: rows in memory, which need not be read. With `only_known`, only their records are followed.

        `share`: the part of all records that this process follows.
        """
        self.connection: Final = connection
        self._rows = dict(known or {})
        self.records: Final = list(self._rows) if only_known else None
        self.share: Final = share

    def known(self, record_id: int, seq: int) -> Rows:
        """Return the rows of a record after number `seq` that are in memory."""
        return after(self._rows.get(record_id, ()), seq)

    def after(self, record_id: int, seq: int) -> Rows:
        """Return the rows of a record after number `seq`.

        These are the rows in memory. If there are none, at most `BATCH` rows are read from the database.
        """
        if known := self.known(record_id, seq):
            return known
        self._rows[record_id] = read_rows(self.connection, record_id, seq, BATCH)
        return self._rows[record_id]


def read_rows(connection: Connection, record_id: int, seq: int, most: int) -> Rows:
    """Read at most `most` rows of a record after number `seq`."""
    found = connection.execute(
        f"SELECT {COLUMNS}, (extract(epoch FROM taken_at) * 1000)::bigint FROM entry"
        " WHERE record_id = %s AND seq > %s ORDER BY seq LIMIT %s",
        (record_id, seq, most),
    )
    return [(Entry._make(row[:-1]), row[-1]) for row in found]
