"""Finds rows of the journal by type and hand: through the archive's index, and by a scan of the rows after its end.

The index is a cache. Each result is checked against the row that it points to. If one does not match, or if there is no
valid index, the journal itself is scanned: that is slower and gives the same result.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firmware.record.journal import index_file
from firmware.table import events as ev
from firmware.table.entry import COLUMNS, Entry

log = logging.getLogger(__name__)

ENDS: Final = frozenset(
    {ev.HandArchived.type, ev.HandVoided.type, ev.HandMisdealt.type, ev.HandWithdrawn.type}
)
"""Types of the rows that end a hand."""
ABOUT_TYPES: Final = frozenset(
    {
        ev.HandReopened.type,
        ev.HandDisputed.type,
        ev.DisputeClosed.type,
        ev.HandReviewed.type,
        ev.ImagesDropped.type,
        ev.ImagesLost.type,
    }
)
"""Types of rows about a past hand. They are not among the hand's own rows."""
SET_UP_TYPES: Final = frozenset(
    {
        ev.StepSettled.type,
        ev.DeviceTried.type,
        ev.SetUpEnded.type,
        ev.Calibrated.type,
        ev.DeckEnrolled.type,
        ev.DeckChecked.type,
    }
)
PROFILE_TYPES: Final = frozenset({ev.ProfileKept.type, ev.HouseSet.type})
"""Types of rows about rule profiles: stored versions, and table settings, which include the profile in force."""
_OF_HAND: Final = frozenset({ev.HandOpened.type, ev.ReadingTaken.type})
INDEXED: Final = (
    ABOUT_TYPES
    | SET_UP_TYPES
    | PROFILE_TYPES
    | _OF_HAND
    | {
        ev.DisksNamed.type,
        ev.HeadSigned.type,
        ev.KeyAnnounced.type,
        ev.LoggedOn.type,
        ev.PlayerRenamed.type,
        ev.PlayerLeft.type,
    }
)
"""Types of the rows that the index holds."""
END: Final = 1 << 62
"""Larger than every row number and hand number."""


def hand_of(kind: str, hand: int, payload: str) -> int:
    """Return the hand under which a row is indexed; 0 for a row that is indexed by its type alone."""
    if kind in _OF_HAND:
        return hand
    if kind not in ABOUT_TYPES:
        return 0
    try:
        fields = json.loads(payload)
        return int(fields["opened"]["hand"] if kind == ev.HandReopened.type else fields["hand"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return 0  # the row was changed; `verify` reports that


@dataclass(frozen=True)
class Sought:
    """A query: rows of these types, about a hand from `hands[0]` to before `hands[1]`, after row `since`.

    The result is in order, or newest first; `limit` rows at most, -1 for no limit.
    """

    types: Iterable[str]
    hands: tuple[int, int] = (0, END)
    since: int = 0
    newest_first: bool = False
    limit: int = -1


class _Wrong(Exception):
    """The index does not match the journal."""


def find(db: sqlite3.Connection, folder: Path, sought: Sought) -> list[Entry]:
    """Return rows of the journal that `db` is open to. Raises sqlite3.Error."""
    if not set(sought.types) <= INDEXED:
        return scan(db, sought)
    path = folder / index_file.FILE
    try:
        with index_file.opened(path) as index:
            if index is not None:
                return _by_index(db, index, sought)
    except (sqlite3.Error, UnicodeDecodeError, _Wrong) as error:
        log.warning("the archive's index is made again: %s", error)
        index_file.distrust(path)
    return scan(db, sought)


def _by_index(db: sqlite3.Connection, index: sqlite3.Connection, sought: Sought) -> list[Entry]:
    upto, digest, _ = index.execute("SELECT seq, hash, subject FROM head").fetchone()
    there = db.execute("SELECT hash FROM main.journal WHERE seq = ?", (upto,)).fetchone()
    if upto and (there is None or there[0] != digest):
        return scan(db, sought)  # the index belongs to another journal; `archive_index` rebuilds it
    tail = scan(db, sought, upto)
    if sought.newest_first and 0 <= sought.limit <= len(tail):
        return tail
    # The readable rows may end before the record does (`firmware.record.finished_reader`).
    end = db.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0]
    known = [_checked(db, seq, sought) for seq in _numbers(index, sought, end)]
    both = [*tail, *known] if sought.newest_first else [*known, *tail]
    return both[: sought.limit] if sought.limit >= 0 else both


def _numbers(index: sqlite3.Connection, sought: Sought, end: int) -> list[int]:
    """Return the row numbers up to `end` from the index; for one type ordered by hand, otherwise by row number."""
    types = sorted(sought.types)
    marks = ", ".join("?" * len(types))
    order = "DESC" if sought.newest_first else "ASC"
    by = f"hand {order}, seq {order}" if len(types) == 1 else f"seq {order}"
    found = index.execute(
        f"SELECT seq FROM places WHERE type IN ({marks}) AND hand >= ? AND hand < ? AND seq > ? AND seq <= ? "
        f"ORDER BY {by} LIMIT ?",
        (*types, *sought.hands, sought.since, end, sought.limit),
    )
    return [seq for (seq,) in found]


def _checked(db: sqlite3.Connection, seq: int, sought: Sought) -> Entry:
    row = db.execute(f"SELECT {COLUMNS} FROM journal WHERE seq = ?", (seq,)).fetchone()
    if row is None or not _fits(entry := Entry(*row), sought):
        raise _Wrong(f"row {seq} is not what it says")
    return entry


def _fits(entry: Entry, sought: Sought) -> bool:
    if entry.type not in sought.types:
        return False
    first, after = sought.hands
    return (first, after) == (0, END) or first <= hand_of(entry.type, entry.hand, entry.payload) < after


def scan(db: sqlite3.Connection, sought: Sought, since: int = 0) -> list[Entry]:
    """Return the matching rows after number `since` by reading the journal. Raises sqlite3.Error."""
    types = sorted(sought.types)
    marks = ", ".join("?" * len(types))
    order = "DESC" if sought.newest_first else "ASC"
    rows: Iterable[Any] = db.execute(
        f"SELECT {COLUMNS} FROM journal WHERE seq > ? AND type IN ({marks}) ORDER BY seq {order}",
        (max(since, sought.since), *types),
    )
    found: list[Entry] = []
    for row in rows:
        if len(found) == sought.limit:
            break
        if _fits(entry := Entry(*row), sought):
            found.append(entry)
    return found
