"""Whether proof is there at all: the ends of hands that no signed head follows.

Heads that are there are checked by `verify`. A record from which they were left out has nothing to check, and is not
signed: that is what this module finds. The rule itself travels with dispute files (`dispute_verifier.unsigned_ends`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from firmware.record.evidence.dispute_verifier import BREAKS, ENDS, SIGNED, STARTED, unsigned_ends
from firmware.table.events import KeyAnnounced

TYPES: Final = frozenset({*ENDS, *BREAKS, SIGNED, STARTED, KeyAnnounced.type})
"""Types of the rows that are looked at."""
_ROWS: Final = (
    f"SELECT seq, type FROM journal WHERE seq > ? AND type IN ({', '.join('?' * len(TYPES))}) ORDER BY seq"
)


@dataclass(frozen=True)
class Presence:
    """How far hands are signed, from some row on.

    `ended`: hands that ended, also again after a correction. `signed`: signed heads. `missing`: ends without a signed
    head, each with the row before which it was due.
    """

    ended: int
    signed: int
    missing: tuple[tuple[int, int], ...]
    is_key_announced: bool

    @property
    def is_none(self) -> bool:
        """Whether hands ended and nothing is signed; the first may be about to be, once the box has its key."""
        return not self.signed and self.ended > int(self.is_key_announced)

    @property
    def unsigned(self) -> int:
        """How many ends are not signed."""
        return self.ended if self.is_none else len(self.missing)


def presence_of(rows: Iterable[tuple[int, str]]) -> Presence:
    """Look at rows of these `TYPES`: number and type, in order."""
    rows = list(rows)
    kinds = [kind for _, kind in rows]
    ended = sum(kind in ENDS for kind in kinds)
    return Presence(ended, kinds.count(SIGNED), tuple(unsigned_ends(rows)), KeyAnnounced.type in kinds)


def presence(db: sqlite3.Connection, since: int = 0) -> Presence:
    """Look at the rows of a journal after number `since`. Raises sqlite3.Error."""
    return presence_of((int(seq), str(kind)) for seq, kind in db.execute(_ROWS, (since, *sorted(TYPES))))
