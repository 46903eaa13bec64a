"""Checks rows of the journal one after another: that none is missing, and that each has its hash and can be read.

A row's hash has one rule, `firmware.table.entry.seal`, which is also the rule by which it was written.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from firmware.messages import Message
from firmware.record.evidence.presence import TYPES as OF_PROOF
from firmware.record.journal.captures import captures_in_json
from firmware.table import events as ev
from firmware.table.entry import COLUMNS, seal
from firmware.table.readings import Capture

Row = tuple[Any, ...]
"""The columns of `firmware.table.entry.Entry`, whatever the file holds in them."""
EVERY: Final = 50_000
"""Rows that one statement reads; progress is reported after each."""
FREQUENT: Final = frozenset(
    event.type
    for event in (
        *(ev.PuckSeen, ev.PhaseAdvanced, ev.HandSettled, ev.HandArchived, ev.HandVoided, ev.PaymentMarked),
        *(ev.NaturalDeclared, ev.NaturalFound, ev.NaturalConfirmed, ev.PlayerSurrendered, ev.ReadingTaken),
        *(ev.CardPlaced, ev.CardReread, ev.CardResolved, ev.CardCorrected, ev.DeviceFault),
        *(ev.DeviceRecovered, ev.PinTried, ev.NameTried, ev.PinAccepted, ev.LoggedOn, ev.HandOpened),
    )
)
"""Types of frequent rows. Their JSON is parsed only if it names an image, or might make a parser fail."""
ABOUT_RECORD: Final = frozenset(
    event.type for event in (ev.HeadSigned, ev.ImagesDropped, ev.ImagesLost, ev.KeyAnnounced, ev.RecordFault)
)
_ROWS: Final = f"SELECT {COLUMNS} FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq"
_CONTENT: Final = re.compile(r'(?<!model_)hash":"([0-9a-f]{64})"')
"""Content that a hand's opening names; of the model only the hash is stored."""
_IMAGE: Final = '"sha256":"'
"""How an image is named in a payload."""
_SHORT: Final = 2000
"""Characters of a payload up to which any JSON parser succeeds."""
_LONG: Final = 32_000
_DEEP: Final = 900
"""Limits on a longer one's characters and brackets."""
_DIGITS: Final = 2000
"""Characters between two samples for digits. Python parses no number of more than 4300 digits; it is sampled twice."""


@dataclass
class Chain:
    """The result of checking rows.

    `hash` is the last row's. `problems` are row numbers with messages. `content` maps each hash that a hand was opened
    with to the first row that names it, `images` each image. `about` are the rows about the record itself: number,
    previous hash, type, payload. `proof` are number and type of the rows that `presence` looks at.
    """

    rows: int = 0
    hands: int = 0
    hash: str = ""
    problems: list[tuple[int, Message]] = field(default_factory=list)
    content: dict[str, int] = field(default_factory=dict)
    images: dict[Capture, int] = field(default_factory=dict)
    about: list[tuple[int, str, str, dict[str, Any]]] = field(default_factory=list)
    proof: list[tuple[int, str]] = field(default_factory=list)


def check_rows(
    db: sqlite3.Connection,
    first: int,
    last: int,
    on_progress: Callable[[int, int], None] = lambda rows, of: None,
) -> Chain:
    """Check the rows from `first` to `last`; errors of SQLite become problems.

    `on_progress` is called with the number of the row that was checked and with `last`.
    """
    chain = Chain()
    before, following = "", first
    try:
        for row in rows_between(db, first, last):
            seq, kind, payload, previous, digest = row[0], *row[8:]
            if seq != following:
                chain.problems.append((seq, Message("Rows before this one are missing.")))
            if previous != before and (chain.rows or seq == 1):
                chain.problems.append((seq, Message("The row does not follow the one before it.")))
            before, following = digest, seq + 1
            chain.rows += 1
            if kind in OF_PROOF:
                chain.proof.append((seq, kind))
            if not is_sealed(row):
                chain.problems.append((seq, Message("The row was changed.")))
            elif _IMAGE in payload or kind not in FREQUENT or (len(payload) > _SHORT and _is_odd(payload)):
                _look_into(chain, row)
            elif kind == ev.HandOpened.type:
                _open_hand(chain, row)
            if not seq % EVERY:
                on_progress(seq, last)
    except sqlite3.Error as error:
        what = Message("The journal's file is damaged from this row on: %(error)s.", error=error)
        chain.problems.append((following, what))
    else:
        if following <= last:
            chain.problems.append((following, Message("Rows from this one on are missing.")))
    chain.hash = str(before)
    on_progress(last, last)
    return chain


def rows_between(db: sqlite3.Connection, first: int, last: int) -> Iterator[Row]:
    """Yield the rows from `first` to `last`; bytes that are not text come as surrogates. Raises sqlite3.Error.

    No read transaction is longer than `EVERY` rows, so that the `-wal` of a running table stays short. A damaged page
    may give rows out of order, and the same ones again: each query begins further on than the one before.
    """
    after = first - 1
    while after < last:
        upto = min(after + EVERY, last)
        try:
            for row in db.execute(_ROWS, (after, upto)):
                yield row
                after = max(after, row[0])
            after = upto
            continue
        except sqlite3.OperationalError as error:
            if "decode" not in str(error):
                raise
        db.text_factory = lambda stored: stored.decode(errors="surrogateescape")
        row = db.execute(f"{_ROWS} LIMIT 1", (after, upto)).fetchone()
        db.text_factory = str
        if row is not None:
            yield row
        after = max(after + 1, row[0] if row else upto)


def is_sealed(row: Row) -> bool:
    """Return whether a row has the hash that belongs to it."""
    try:
        return type(row[9]) is str and bool(row[-1] == seal(row[:-1]))
    except (TypeError, ValueError):  # a blob, or bytes that are not text
        return False


def _open_hand(chain: Chain, row: Row) -> None:
    chain.hands += 1
    for content in _CONTENT.findall(row[9]):
        chain.content.setdefault(content, row[0])


def _look_into(chain: Chain, row: Row) -> None:
    try:
        fields = json.loads(row[9])
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        chain.problems.append((row[0], Message("No release can read the row.")))
        return
    if row[8] == ev.HandOpened.type:
        _open_hand(chain, row)
    if row[8] in ABOUT_RECORD:
        chain.about.append((row[0], row[10], row[8], fields))
    else:
        for image in captures_in_json(fields):
            chain.images.setdefault(image, row[0])


def _is_odd(payload: str) -> bool:
    """Return whether a payload that is not short is so long or so deeply nested that a JSON parser may fail."""
    if len(payload) > _LONG or payload.count("[") + payload.count("{") > _DEEP:
        return True
    return any(payload[at : at + 64].isdigit() for at in range(_DIGITS, len(payload), _DIGITS))
