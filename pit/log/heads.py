"""Signed heads in the rows that came: which of them become leaves, and what is wrong with the others.

A head counts if the row before it is the one that it signs, and if the key that the house has accepted for this table
signed it. Another key counts for nothing until a person has compared its words (`keys.py`).
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from firmware.record.evidence.anchors import Anchor
from firmware.record.evidence.notes import head_entry
from firmware.table.events import HeadSigned, KeyAnnounced
from pit.store.database import Connection

SIGNED: Final = HeadSigned.type
ANNOUNCED: Final = KeyAnnounced.type
MAX_NEW_HEADS: Final = 2_000
"""Rows that are looked at in one transaction."""
_NEW: Final = f"""
SELECT e.record_id, e.seq, e.type, e.payload, e.previous, r.genesis, t.device_key
FROM head h JOIN record r USING (record_id) JOIN gaming_table t USING (table_id)
LEFT JOIN log_mark m USING (record_id)
CROSS JOIN LATERAL (
    SELECT * FROM entry e WHERE e.record_id = h.record_id AND e.seq > coalesce(m.seq, 0) AND e.seq <= h.seq
    AND e.type IN ('{SIGNED}', '{ANNOUNCED}') ORDER BY e.seq LIMIT {MAX_NEW_HEADS}
) e
WHERE h.seq > coalesce(m.seq, 0) LIMIT {MAX_NEW_HEADS}
"""
_FIELDS: Final = ("table", "seq", "hands", "wall_ms", "hash", "key", "signature")


@dataclass(frozen=True)
class SignedHead:
    """A head that counts: row `seq` of a record, and the log's entry for it."""

    record_id: int
    seq: int
    entry: bytes


@dataclass
class Mark:
    """How far a record was looked at: up to row `seq`.

    `announced`: the last key that it names and that is not yet accepted; `bad`: the first row whose signature does not
    hold, and why.
    """

    seq: int = 0
    announced: bytes | None = None
    bad: tuple[int, str] | None = None


@dataclass
class HeadCheck:
    """The heads that count in new rows, the marks by record, and how many rows were looked at."""

    heads: list[SignedHead] = field(default_factory=list)
    marks: dict[int, Mark] = field(default_factory=dict)
    rows: int = 0


def new_heads(connection: Connection) -> HeadCheck:
    """Look at the rows after each record's stored mark. The new marks are not stored yet: `store_marks`."""
    return look_at(connection.execute(_NEW).fetchall())


def look_at(rows: Iterable[tuple[Any, ...]]) -> HeadCheck:
    """Look at rows: record, number, type, payload, hash before, first row's hash, accepted key; in order by record."""
    found = HeadCheck()
    for record_id, seq, kind, payload, previous, genesis, accepted in rows:
        found.rows += 1
        mark = found.marks.setdefault(record_id, Mark())
        mark.seq = seq
        if kind == ANNOUNCED:
            mark.announced = key_of_row(payload)
            continue
        anchor = anchor_in(payload)
        if anchor is not None and (accepted is None or anchor.key != bytes(accepted).hex()):
            mark.announced = bytes.fromhex(anchor.key)  # it counts for nothing until somebody accepts it
            continue
        why = why_bad(anchor, seq, previous)
        if anchor is None or why:
            mark.bad = mark.bad or (seq, why)
        else:
            found.heads.append(SignedHead(record_id, anchor.seq, head_entry(genesis, anchor.text)))
    return found


def why_bad(anchor: Anchor | None, seq: int, previous: str) -> str:
    """Return why a signed head does not hold, "" if it does."""
    if anchor is None:
        return "The row with the signature cannot be read."
    if (anchor.seq, anchor.hash) != (seq - 1, previous):
        return "The signature is not of the row before it."
    return "" if anchor.is_signed() else "The signature was not made with the key that it names."


def anchor_in(payload: str) -> Anchor | None:
    """Return the anchor in a row's payload, its signature unchecked; None if the payload holds no anchor."""
    try:
        value = json.loads(payload)
        anchor = Anchor(*(value[name] for name in _FIELDS))
        return anchor if anchor.is_well_formed() else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def key_of_row(payload: str) -> bytes | None:
    """Return the key that a row announces; None if what it holds cannot be a key."""
    try:
        key = bytes.fromhex(json.loads(payload)["key"])
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return key if len(key) == 32 else None


def store_marks(connection: Connection, marks: dict[int, Mark]) -> None:
    """Store how far each record was looked at. The first bad signature of a record stays."""
    connection.cursor().executemany(
        "INSERT INTO log_mark (record_id, seq, announced, bad_seq, bad_why) VALUES (%s, %s, %s, %s, %s)"
        " ON CONFLICT (record_id) DO UPDATE SET seq = excluded.seq,"
        " announced = coalesce(excluded.announced, log_mark.announced),"
        " bad_seq = coalesce(log_mark.bad_seq, excluded.bad_seq),"
        " bad_why = coalesce(log_mark.bad_why, excluded.bad_why)",
        [(one, mark.seq, mark.announced, *(mark.bad or (None, None))) for one, mark in marks.items()],
    )
