"""Checks stretches of the chain independently and fast, so that all cores can share a long record.

SQLite builds the text that a row's hash covers, in C. Only rows that name images or other content are parsed. A row
that fails this fast check is checked again by the record's own rule (`Entry.sealed`), whose result is the only one that
counts.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firmware.messages import Message
from firmware.record.journal.captures import CaptureStore, images_in
from firmware.table.entry import COLUMNS, Entry

STRETCH: Final = 50_000
"""Rows in a stretch."""
_MAPPED: Final = 1 << 40
"""Bytes of the file that SQLite may map: more than any record has."""
_PLAIN: Final = (
    "puck_seen",
    "phase_advanced",
    "settled",
    "hand_archived",
    "hand_voided",
    "payment_marked",
    "natural_declared",
    "natural_found",
    "natural_confirmed",
    "surrendered",
    "card_resolved",
    "card_corrected",
    "device_fault",
    "device_recovered",
    "pin_tried",
    "pin_accepted",
    "logged_on",
)
"""Types of frequent rows that name no content. All other rows are inspected, whatever their type."""
_TEXT: Final = (
    "json_array(previous, seq, hand, boot, monotonic_ns, wall_ms, clock, actor, command, type) || char(10)"
    " || CASE typeof(payload) || typeof(hash) WHEN 'texttext' THEN payload ELSE '' END"
)
"""The text that `Entry.sealed` hashes. json_array refuses blobs; the CASE excludes them from the other two columns."""
_PREVIOUS: Final = slice(2, 66)
"""The position of the previous row's hash in that text."""
_KIND: Final = (
    "CASE type WHEN 'hand_opened' THEN 1 WHEN 'head_signed' THEN 2 WHEN 'images_dropped' THEN 2 "
    "WHEN 'key_announced' THEN 2 WHEN 'reading_taken' THEN 4 WHEN 'card_placed' THEN 4 WHEN 'card_reread' THEN 4 "
    "ELSE 3 * ({rare}) END"
)
_RARE: Final = f"type NOT IN ({', '.join(repr(name) for name in _PLAIN)})"
_ROWS: Final = (
    f"SELECT {_TEXT}, hash, {_KIND.format(rare=_RARE)} FROM journal WHERE seq >= ? AND seq <= ? ORDER BY seq"
)
"""Each row's text, its hash, and why it is inspected: 1 content hashes, 2 a row about the record itself, 3 a rare type,
4 images; 0 for no reason."""
_ONE: Final = f"SELECT {COLUMNS} FROM journal WHERE seq = ?"
_CONTENT: Final = re.compile(rb'hash":"([0-9a-f]{64})"')
_SHORT: Final = 2000
_LONG: Final = 32_000
_DEEP: Final = 900
"""Limits on a row's bytes and brackets: below them any JSON parser succeeds; above them the row is parsed as a test."""
_DIGITS: Final = 2000
"""Bytes between two samples for digits. Python parses no number of more than 4300 digits; it would be sampled twice."""
_IMAGE: Final = b'"sha256":"'
"""How an image is named in a payload."""


@dataclass
class Stretch:
    """The result of checking the rows from `first` to `last`.

    `previous` is the previous hash in the first row, `hash` the last row's hash. `problems` are row numbers with
    messages. `content` maps each hash that a hand was opened with to a row that names it. `images` are those that are
    not as stored: row, name, SHA-256 and the state from `CaptureStore`. `told` are the rows about the record itself:
    number, previous hash, type, payload.
    """

    first: int
    last: int
    rows: int = 0
    hands: int = 0
    checked: int = 0
    previous: str = ""
    hash: str = ""
    problems: list[tuple[int, Message]] = field(default_factory=list)
    content: dict[str, int] = field(default_factory=dict)
    images: list[tuple[int, str, str, str]] = field(default_factory=list)
    told: list[tuple[int, str, str, dict[str, Any]]] = field(default_factory=list)


def check_stretch(uri: str, data: Path, first: int, last: int, images: bool) -> Stretch:
    """Check the rows from `first` to `last`; `images`: also the images that they name. Errors become problems."""
    found = Stretch(first, last)
    try:
        with closing(sqlite3.connect(uri, uri=True)) as db:
            db.text_factory = bytes  # a changed value may not be valid text
            db.execute(f"PRAGMA mmap_size = {_MAPPED}")
            _Follower(db, found, images).follow()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        found.problems.append(
            (
                first + found.rows,
                Message("The journal's file is damaged from this row on: %(error)s.", error=error),
            )
        )
    _check_images(CaptureStore(data), found)
    return found


class _Follower:
    def __init__(self, db: sqlite3.Connection, found: Stretch, images: bool) -> None:
        self._db, self._found, self._images = db, found, images
        self._next = found.first
        self._before = b""

    def follow(self) -> None:
        """Check the stretch. A row that SQLite cannot put into JSON was changed; the check continues after it."""
        while True:
            try:
                self._run()
            except sqlite3.OperationalError:
                seq = self._at()
                if seq is None:
                    raise
                self._before = self._look_closely(seq)
                self._next = seq + 1
                self._found.rows += 1
            else:
                break
        self._found.hash = self._before.decode(errors="replace")

    def _run(self) -> None:
        sha256, found = hashlib.sha256, self._found
        before, rows, following = self._before, found.rows, self._next
        try:
            for text, digest, kind in self._db.execute(_ROWS, (following, found.last)):
                if sha256(text).hexdigest().encode() != digest or text[_PREVIOUS] != before:
                    self._before, self._next, found.rows = before, following, rows
                    following = self._at() or following
                    self._look_closely(following)
                if kind or len(text) > _SHORT:
                    self._look_into(following, text, kind)
                before = digest
                following += 1
                rows += 1
        finally:
            self._before, self._next, found.rows = before, following, rows

    def _at(self) -> int | None:
        """Return the number of the next row that exists."""
        text = "SELECT min(seq) FROM journal WHERE seq >= ? AND seq <= ?"
        seq: int | None = self._db.execute(text, (self._next, self._found.last)).fetchone()[0]
        return seq

    def _look_closely(self, seq: int) -> bytes:
        """Check one row by `Entry.sealed` and add its problems; return the hash stored in the row."""
        found, entry = self._found, self._entry(seq)
        try:
            sealed = entry.sealed()
        except (TypeError, ValueError):  # a blob, or bytes that are not text
            sealed = ""
        if seq != self._next:
            found.problems.append((seq, Message("Rows before this one are missing.")))
        if not found.rows:
            found.previous = str(entry.previous)
        if (found.rows or seq == 1) and entry.previous != self._before.decode(errors="replace"):
            found.problems.append((seq, Message("The row does not follow the one before it.")))
        if entry.hash != sealed:
            found.problems.append((seq, Message("The row was changed.")))
        return str(entry.hash).encode(errors="replace")

    def _entry(self, seq: int) -> Entry:
        """Return a row unchanged: invalid text as surrogates, a blob as bytes."""
        self._db.text_factory = lambda stored: stored.decode(errors="surrogateescape")
        try:
            return Entry(*self._db.execute(_ONE, (seq,)).fetchone())
        finally:
            self._db.text_factory = bytes

    def _look_into(self, seq: int, text: bytes, kind: int) -> None:
        found = self._found
        if kind == 1:
            found.hands += 1
            for named in _CONTENT.finditer(text):
                if (
                    text[named.start() - 6 : named.start()] != b"model_"
                ):  # only the hash of the model is stored
                    found.content.setdefault(named[1].decode(), seq)
        names = self._images and kind >= 3 and _IMAGE in text
        if kind not in (2, 3) and not names and not _is_odd(text, _SHORT if kind == 1 else _LONG):
            return
        head, _, stored = text.partition(b"\n")
        try:
            columns, payload = json.loads(head), json.loads(stored)
        except (ValueError, RecursionError):
            payload = None
        if not isinstance(payload, dict):
            if (
                not found.problems or found.problems[-1][0] != seq
            ):  # otherwise the row was changed and is reported already
                found.problems.append((seq, Message("No release can read the row.")))
        elif kind == 2:
            found.told.append((seq, columns[0], columns[-1], payload))
        elif names:
            found.images += [(seq, image.name, image.sha256, "") for image in images_in(payload)]


def _is_odd(text: bytes, long: int) -> bool:
    """Say whether a row is so long or so deeply nested that a JSON parser may fail."""
    if len(text) <= _SHORT:
        return False
    if len(text) > long or text.count(b"[") + text.count(b"{") > _DEEP:
        return True
    return any(text[at : at + 64].isdigit() for at in range(_DIGITS, len(text), _DIGITS))


def _check_images(store: CaptureStore, found: Stretch) -> None:
    named = {(name, digest): seq for seq, name, digest, _ in reversed(found.images)}
    found.images = []
    for (name, digest), seq in named.items():
        found.checked += 1
        state = store.check_named(name, digest)
        if state != "ok":
            found.images.append((seq, name, digest, state))
