"""Finds rows of the journal by type and hand: through the archive's index, and by a scan of the rows after its end.

The index is a cache, and lies in the runtime folder, which is empty after a start: who may write to the record may not
write there. Each result is checked against the row that it points to. If one does not match, or if there is no complete
index, the journal itself is scanned: that is slower and gives the same result.
"""

import hashlib
import json
import logging
import os
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

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
        ev.CameraCalibrated.type,
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
        ev.UpdateBegun.type,
    }
)
"""Types of the rows that the index holds."""
END: Final = 1 << 62
"""Larger than every row number and hand number."""
RUNTIME: Final = Path("/run/feltwatch")
"""The table's runtime folder: the table process alone writes there, the other programs of the box read."""
SHAPE: Final = 7
"""`PRAGMA user_version` of a complete index; -SHAPE while it is being made. One with another version is made again."""
WAIT_S: Final = 5.0
"""Seconds to wait for another connection."""
LATE: Final = 500
"""Rows by which the table's index may be behind: it follows every 15 s. A list from an older one lacks hands."""


def index_paths(folder: Path) -> tuple[Path, Path]:
    """Return where the index of a record may lie: the table's, and this user's own."""
    name = f"index-{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]}.sqlite"
    session = os.environ.get("XDG_RUNTIME_DIR", "")  # another user's where one acts as somebody else
    folder_of_user = session if session and os.access(session, os.W_OK) else tempfile.gettempdir()
    return RUNTIME / name, Path(folder_of_user) / f"feltwatch-{os.getuid()}" / name


def index_to_write(folder: Path) -> Path:
    """Return where this process makes the index of a record. Raises OSError where nobody else's may be excluded."""
    shared, own = index_paths(folder)
    if os.access(RUNTIME, os.W_OK):
        return shared
    own.parent.mkdir(mode=0o700, exist_ok=True)
    _need_own(own.parent)
    return own


def _need_own(folder: Path) -> None:
    stat = folder.lstat()
    if stat.st_uid != os.getuid() or stat.st_mode & 0o022 or folder.is_symlink():
        raise PermissionError(f"{folder} may be written by somebody else")


@contextmanager
def open_index(folder: Path) -> Iterator[sqlite3.Connection | None]:
    """Yield a read-only connection to a record's complete index, the one that reaches furthest; None without any.

    Raises sqlite3.Error.
    """
    with ExitStack() as stack:
        found = [db for path in index_paths(folder) if (db := stack.enter_context(_open(path))) is not None]
        yield max(found, key=lambda db: db.execute("SELECT seq FROM head").fetchone()[0], default=None)


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection | None]:
    try:
        if path.parent != RUNTIME:
            _need_own(path.parent)
        path.stat()
    except OSError:
        yield None
        return
    address = f"file:{quote(str(path))}?mode=ro"
    with closing(sqlite3.connect(address, uri=True, timeout=WAIT_S)) as db:
        yield db if db.execute("PRAGMA user_version").fetchone()[0] == SHAPE else None


def table_keeps_index(folder: Path, end: int) -> bool:
    """Return whether the table process has made its index of a record, and goes on with it up to row `end`, or nearly.

    Raises sqlite3.Error.
    """
    with _open(index_paths(folder)[0]) as db:
        return db is not None and end - db.execute("SELECT seq FROM head").fetchone()[0] <= LATE


def forget_index(folder: Path) -> None:
    """Remove the index that this process makes of a record, so that it is made again."""
    with suppress(OSError):
        index_to_write(folder).unlink(missing_ok=True)


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
class RowQuery:
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


def find(db: sqlite3.Connection, folder: Path, sought: RowQuery) -> list[Entry]:
    """Return rows of the journal that `db` is open to. Raises sqlite3.Error."""
    if not set(sought.types) <= INDEXED:
        return scan(db, sought)
    try:
        with open_index(folder) as index:
            if index is not None:
                return _by_index(db, index, sought)
    except (sqlite3.Error, UnicodeDecodeError, _Wrong) as error:
        log.warning("the archive's index is made again: %s", error)
        forget_index(folder)
    return scan(db, sought)


def _by_index(db: sqlite3.Connection, index: sqlite3.Connection, sought: RowQuery) -> list[Entry]:
    upto, digest, _ = index.execute("SELECT seq, hash, subject FROM head").fetchone()
    there = db.execute("SELECT hash FROM main.journal WHERE seq = ?", (upto,)).fetchone()
    if upto and (there is None or there[0] != digest):
        return scan(db, sought)  # the index belongs to another journal; `archive_index` rebuilds it
    tail = scan(db, sought, upto)
    if sought.newest_first and 0 <= sought.limit <= len(tail):
        return tail
    # The readable rows may end before the record does (`firmware.record.finished_reader`).
    end = db.execute("SELECT coalesce(max(seq), 0) FROM journal").fetchone()[0]
    known = [_check(db, seq, sought) for seq in _numbers(index, sought, end)]
    both = [*tail, *known] if sought.newest_first else [*known, *tail]
    return both[: sought.limit] if sought.limit >= 0 else both


def _numbers(index: sqlite3.Connection, sought: RowQuery, end: int) -> list[int]:
    """Return the row numbers up to `end` from the index: of one type in the order of hands, otherwise of rows."""
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


def _check(db: sqlite3.Connection, seq: int, sought: RowQuery) -> Entry:
    row = db.execute(f"SELECT {COLUMNS} FROM journal WHERE seq = ?", (seq,)).fetchone()
    if row is None or not _fits(entry := Entry(*row), sought):
        raise _Wrong(f"row {seq} is not what it says")
    return entry


def _fits(entry: Entry, sought: RowQuery) -> bool:
    if entry.type not in sought.types:
        return False
    first, after = sought.hands
    return (first, after) == (0, END) or first <= hand_of(entry.type, entry.hand, entry.payload) < after


def scan(db: sqlite3.Connection, sought: RowQuery, since: int = 0) -> list[Entry]:
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
