"""Rows that the door has just stored, handed on to what follows them, so that they need not be read again."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Final

from firmware.table.entry import Entry

Rows = Sequence[tuple[Entry, int]]
"""Rows of one record, each with the time at which the pit took it, in milliseconds."""
MOST: Final = 500
"""Rows that are kept; of more, only the records are named, and the rows are read."""


class News:
    """What came since the last look, by record. Several threads may add."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: dict[int, list[tuple[Entry, int]]] = {}
        self._kept = 0

    def add(self, record_id: int, rows: Sequence[Entry], at_ms: int) -> None:
        """Add rows that are stored for good."""
        if not rows:
            return
        with self._lock:
            known = self._rows.setdefault(record_id, [])
            if self._kept + len(rows) <= MOST:
                known.extend((row, at_ms) for row in rows)
                self._kept += len(rows)

    def taken(self) -> Mapping[int, Rows]:
        """Return what came, and forget it."""
        with self._lock:
            rows, self._rows, self._kept = self._rows, {}, 0
        return rows


def after(rows: Rows, seq: int) -> Rows:
    """Return the rows after number `seq`, as far as they follow it without a gap."""
    found = []
    for row, at_ms in rows:
        if row.seq == seq + 1:
            found.append((row, at_ms))
            seq += 1
    return found
