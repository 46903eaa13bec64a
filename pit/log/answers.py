"""What a table is told of the log: the newest checkpoint, that it extends the one it holds, and that its heads are in.

Mostly from memory: a table asks every ten seconds, and rows go first.
"""

import threading
from typing import Any, Final

from firmware.record.evidence.merkle import Subtree, consistency, inclusion
from firmware.record.evidence.notes import Checkpoint, NoNote, as_base64, epoch_of, parts, public_of
from firmware.uplink.wire import COSIGNS, WitnessHolding
from pit.log.cosignatures import HeldCheckpoint
from pit.log.keeper import Keeper, NewestCheckpoint
from pit.log.tree import Trees
from pit.store.database import Database

MAX_PROOFS: Final = 1_000
"""Proofs between two checkpoints that are kept for other tables that hold the same."""


class Answers:
    """Answers tables' questions about the log. For several threads."""

    def __init__(self, database: Database, keeper: Keeper) -> None:
        self._database, self._keeper = database, keeper
        self._lock = threading.Lock()
        self._trees = Trees()
        self._extends: dict[tuple[str, int, int], list[str]] = {}

    def to(self, table_id: int, record_id: int, holds: WitnessHolding) -> dict[str, Any] | None:
        """Return what the table lacks, None if it holds the newest checkpoint. Raises DatabaseError."""
        held = _checkpoint(holds.note)
        if held is not None and holds.witness:
            try:
                self._keeper.held(table_id, HeldCheckpoint(holds.note, public_of(holds.witness, COSIGNS)[1]))
            except NoNote:
                held = None
        newest = self._keeper.newest
        if newest is None:
            return None
        proven = {"proven": list(newest.proven)} if newest.proven else {}
        if held == newest.checkpoint or (held is not None and self._is_behind(newest, held)):
            return proven or None
        with self._lock:
            tree = self._trees.of(self._read, newest.epoch)
            return self._new(newest, tree, held, record_id, holds.head) | proven

    def _is_behind(self, newest: NewestCheckpoint, held: Checkpoint) -> bool:
        """Return whether a table holds what is later than the newest checkpoint here, as another process signed it.

        Where no process has signed that, the database was set back: the keeper begins an epoch, which is later again.
        """
        public = self._keeper.key.public
        places = [(epoch_of(one.origin, public), one.size) for one in (held, newest.checkpoint)]
        return places[0] > places[1]

    def _new(
        self, newest: NewestCheckpoint, tree: Subtree, held: Checkpoint | None, record_id: int, head: int
    ) -> dict[str, Any]:
        checkpoint = newest.checkpoint
        found: dict[str, Any] = {"checkpoint": newest.note, "key": self._keeper.key.public.hex()}
        if held is not None and held.origin == checkpoint.origin and held.size <= checkpoint.size:
            found["extends"] = self._extending(tree, checkpoint, held.size)
        elif newest.unknown:
            first = as_base64(inclusion(tree, 0, checkpoint.size))
            found["epoch"] = {"unknown": newest.unknown, "proof": first}
        places = [
            (seq, number)
            for seq, epoch, number in list(self._keeper.recent.get(record_id, ()))
            if seq > head and epoch == newest.epoch and number < checkpoint.size
        ]
        found["heads"] = [
            [seq, number, as_base64(inclusion(tree, number, checkpoint.size))]
            for seq, number in sorted(places)
        ]
        return found

    def _extending(self, tree: Subtree, checkpoint: Checkpoint, old: int) -> list[str]:
        key = checkpoint.origin, old, checkpoint.size
        if key not in self._extends:
            while len(self._extends) >= MAX_PROOFS:
                del self._extends[next(iter(self._extends))]
            self._extends[key] = as_base64(consistency(tree, old, checkpoint.size))
        return self._extends[key]

    def _read(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with self._database.transaction() as connection:
            return connection.execute(query.encode(), values).fetchall()


def _checkpoint(note: str) -> Checkpoint | None:
    try:
        return Checkpoint.parse(parts(note)[0]) if note else None
    except NoNote:
        return None
