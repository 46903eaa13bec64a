"""Keeps the log: every few seconds new signed heads become leaves, and a checkpoint of them is signed.

`take` does not need it: rows are stored and answered whether it runs or not. The door notes in memory what tables hold
and cosign (`held`), and the keeper stores it.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firmware.record.evidence.merkle import leaf_hash
from firmware.record.evidence.notes import Checkpoint, NoNote, epoch_of, open_note, sign
from firmware.record.evidence.signing import DeviceKey
from firmware.threads import start
from firmware.uplink.wire import MAX_HEADS
from pit.authority import LOG_FOLDER
from pit.errors import DatabaseError
from pit.log import epochs
from pit.log.cosignatures import Cosignatures, HeldCheckpoint
from pit.log.epochs import Epoch, NewestFile
from pit.log.heads import MAX_NEW_HEADS, HeadCheck, SignedHead, new_heads, store_marks
from pit.log.state import WAITS
from pit.log.tree import Trees
from pit.store.background import BackgroundThread
from pit.store.database import Connection, Database
from pit.store.facts import set_fact

log = logging.getLogger(__name__)

EVERY_S: Final = 10.0
"""Seconds between two checkpoints; more where more than `MAX_COSIGNATURES_PER_S` tables would cosign."""
FOLLOWS_S: Final = 2.0
"""Seconds between two checks for new signatures, in a process that does not sign."""
MAX_COSIGNATURES_PER_S: Final = 10
"""Cosignatures a second: each costs the pit some tenths of a millisecond, for proof and check."""
WAITS_S: Final = 60.0
"""Seconds for which a checkpoint may wait for a standby before it is said."""
STOPS_S: Final = 10.0
"""Seconds that the end of the process waits for a turn: one that waits for a standby may never end."""
CAREFUL_S: Final = 60.0
"""Seconds for which a pit that does not know what was signed before it listens to the tables: two of their longest
pauses (`firmware.uplink.follow.LONGEST_BACK_OFF_S`)."""
_LOCK: Final = 0x46454C56


@dataclass(frozen=True)
class NewestCheckpoint:
    """The newest checkpoint, as the door hands it on.

    `unknown`: the first leaf of a later epoch, the checkpoint that the database did not know. `proven`: the newest
    checkpoint that most tables have cosigned: origin, size, of how many tables, of how many that were heard of.
    """

    epoch: int
    checkpoint: Checkpoint
    note: str
    unknown: str = ""
    proven: tuple[str, int, int, int] | None = None


class Keeper:
    """One pit's log. `turn` does what is due; `held` may be called from any thread."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        careful_s: float = CAREFUL_S,
        leads: Callable[[], bool] = lambda: True,
    ) -> None:
        """`folder`: the pit's own; the log's key is made there. `leads`: whether this process is the one that signs.

        Raises KeyUnusable.
        """
        self._database, self._clock, self._careful_s, self._leads = database, clock, careful_s, leads
        self.key: Final = DeviceKey.open(folder / LOG_FOLDER)
        self._file = NewestFile(folder / LOG_FOLDER, self.key)
        self._trees = Trees()
        self._cosigned = Cosignatures(self.key.public)
        self._listens_until: float | None = None
        self._said_key = False
        self._read_to = (0, 0)
        """The epoch and the number of its leaves as far as they are in `recent`."""
        self.newest: NewestCheckpoint | None = None
        self.recent: dict[int, deque[tuple[int, int, int]]] = {}
        """Each record's newest leaves: row, epoch, number."""
        self.every_s = EVERY_S

    def held(self, table_id: int, held: HeldCheckpoint) -> None:
        """Note what a table holds and has cosigned."""
        self._cosigned.add(table_id, held)

    def waits(self, since: float | None) -> None:
        """Let the pages say since when a checkpoint waits, seconds since 1970; None: it does not."""
        with self._database.transaction() as connection:
            set_fact(connection, WAITS, "" if since is None else str(round(since * 1000)))

    def turn(self) -> float:
        """Append what is new and sign it; return the seconds until the next turn. Raises DatabaseError.

        Of several processes one signs; the others store what tables told them, and read what it has signed.
        """
        rows, leads = 0, self._leads()
        try:
            with self._database.transaction() as connection:
                # A checkpoint is not handed on before a standby has it, where there is one that is waited for.
                connection.execute("SET LOCAL synchronous_commit = on")
                (is_mine,) = connection.execute(
                    "SELECT pg_try_advisory_xact_lock(%s)", (_LOCK,)
                ).fetchone() or (False,)
                if is_mine:
                    rows = self._turn(connection, leads=leads)
                newest = _newest(connection, self.key)
                leaves = self._new_leaves(connection, newest)
        except BaseException:
            self._trees.forget()
            raise
        if not (is_mine and leads):
            self._trees.forget()
        if is_mine and newest and newest.note != self._file.read():
            self._file.write(newest.note)
        if newest:
            for record_id, seq, number in leaves:
                self.recent.setdefault(record_id, deque(maxlen=MAX_HEADS)).append((seq, newest.epoch, number))
            self._read_to = newest.epoch, newest.checkpoint.size
        self.newest = newest
        if rows >= MAX_NEW_HEADS:
            return 0.0
        return self.every_s if is_mine and leads else FOLLOWS_S

    def _new_leaves(
        self, connection: Connection, newest: NewestCheckpoint | None
    ) -> list[tuple[int, int, int]]:
        """Return the leaves that the newest checkpoint has more than the one before: record, row, number."""
        if newest is None:
            return []
        size = newest.checkpoint.size
        epoch, first = self._read_to
        if epoch != newest.epoch:
            first = max(0, size - MAX_NEW_HEADS)
        return connection.execute(
            "SELECT record_id, seq, number FROM leaf WHERE epoch = %s AND number >= %s AND number < %s"
            " AND record_id IS NOT NULL ORDER BY number",
            (newest.epoch, first, size),
        ).fetchall()

    def _turn(self, connection: Connection, *, leads: bool) -> int:
        epoch = epochs.current(connection)
        if epoch and not epoch_of(epoch.origin, self.key.public):
            if not leads:
                if not self._said_key:
                    log.error(
                        "The log is signed with another key than this folder's: copy the first server's folder."
                    )
                self._said_key = True
                return 0
            log.error("The log's key is another than before: a new epoch of the log begins.")
            epoch = epochs.begin(connection, self.key)
        unknown = self._unknown(connection)
        if unknown:
            log.error(
                "The database does not know a checkpoint that was signed: a new epoch of the log begins."
            )
            epoch = epochs.begin(connection, self.key, unknown)
            self._sign(connection, epoch, 0)
        elif self._listens(connection):
            return 0
        looked = new_heads(connection) if leads else HeadCheck()
        if looked.heads:
            epoch = epoch or epochs.begin(connection, self.key)
            added = self._append(connection, epoch, looked.heads)
            if added:
                self._sign(connection, epoch, added)
        if looked.marks:
            store_marks(connection, looked.marks)
        heard = self._cosigned.store(connection)
        self.every_s = max(EVERY_S, heard / MAX_COSIGNATURES_PER_S)
        return looked.rows

    def _unknown(self, connection: Connection) -> str:
        """Return a checkpoint of this log that the database does not have, "" if there is none."""
        filed = self._file.read()
        for note in [filed] * bool(filed) + self._cosigned.take_unknown(connection):
            if not epochs.is_known(connection, open_note(note, self.key.public)):
                is_told = connection.execute("SELECT FROM epoch WHERE unknown = %s", (note,)).fetchone()
                if is_told is None and self._is_newer(connection, note):
                    return note
        return ""

    def _is_newer(self, connection: Connection, note: str) -> bool:
        """Return whether a note is not from before an epoch that began because of such a note."""
        claimed = epoch_of(note.partition("\n")[0], self.key.public)
        found = epochs.current(connection)
        return found is None or claimed >= found.number

    def _listens(self, connection: Connection) -> bool:
        """Return whether nothing may be signed yet: what was signed before is not known for certain."""
        if self._listens_until is None:
            is_sure = epochs.newest(connection) == self._file.read()
            self._listens_until = self._clock() + (0.0 if is_sure else self._careful_s)
        return self._clock() < self._listens_until

    def _append(self, connection: Connection, epoch: Epoch, heads: list[SignedHead]) -> int:
        """Add the leaves that are not in the log; return how many."""
        known = set(
            connection.execute(
                "SELECT leaf.record_id, leaf.seq FROM leaf"
                " JOIN unnest(%s::bigint[], %s::bigint[]) AS n (record_id, seq) USING (record_id, seq)",
                ([one.record_id for one in heads], [one.seq for one in heads]),
            ).fetchall()
        )
        new = {(one.record_id, one.seq): one for one in heads if (one.record_id, one.seq) not in known}
        connection.cursor().executemany(
            "INSERT INTO leaf (epoch, number, record_id, seq, hash) VALUES (%s, %s, %s, %s, %s)",
            [
                (epoch.number, number, *place, leaf_hash(one.entry))
                for number, (place, one) in enumerate(new.items(), start=epoch.size)
            ],
        )
        return len(new)

    def _sign(self, connection: Connection, epoch: Epoch, added: int) -> None:
        size = epoch.size + added
        found = self._trees.append(connection, epoch.number, epoch.size, added)
        note = sign(self.key, Checkpoint(epoch.origin, size, found))
        connection.execute(
            "INSERT INTO checkpoint (epoch, size, root, note) VALUES (%s, %s, %s, %s)",
            (epoch.number, size, found, note),
        )


def _newest(connection: Connection, key: DeviceKey) -> NewestCheckpoint | None:
    """Return the newest checkpoint; None without one of this key."""
    note = epochs.newest(connection)
    if not note:
        return None
    try:
        checkpoint = open_note(note, key.public)
    except NoNote:
        return None
    row = connection.execute(
        "SELECT epoch, unknown FROM epoch WHERE origin = %s", (checkpoint.origin,)
    ).fetchone()
    assert row is not None
    proven = connection.execute(
        "SELECT origin, size, signers, heard FROM proven JOIN epoch USING (epoch)"
        " ORDER BY epoch DESC, size DESC LIMIT 1"
    ).fetchone()
    return NewestCheckpoint(
        row[0], checkpoint, note, row[1], proven and (proven[0], proven[1], proven[2], proven[3])
    )


class KeeperThread(BackgroundThread):
    """Turns a keeper in the background. A database that is away is waited for, and so is a standby."""

    def __init__(self, keeper: Keeper, *, waits_s: float = WAITS_S) -> None:
        """`waits_s`: after so long in one turn the log and the pages say that it waits."""
        super().__init__("log", "The log waits", again_s=keeper.every_s, stops_s=STOPS_S)
        self._keeper, self._waits_s = keeper, waits_s
        self._may_be_shown = True
        """Whether the pages may say that it waits: an earlier process may have said so."""

    def turn(self) -> float:
        """Take the keeper's turn; return the seconds until the next. Raises DatabaseError, OSError."""
        with self._watched():
            wait_s = self._keeper.turn()
        if self._may_be_shown:
            self._keeper.waits(since=None)
        self._may_be_shown = False
        return wait_s

    @contextmanager
    def _watched(self) -> Iterator[None]:
        """Say so if a turn takes long: its commit waits for a standby, and cannot be called off."""
        began = time.time()
        timer = threading.Timer(self._waits_s, self._say, (began,))
        timer.daemon = True
        start(timer)
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _say(self, began: float) -> None:
        self._may_be_shown = True
        log.error(
            "A checkpoint waits for the second server. Rows are taken meanwhile; nothing new is proven."
        )
        try:
            self._keeper.waits(since=began)
        except DatabaseError as error:
            log.warning("The pages cannot say so: %s", error)
