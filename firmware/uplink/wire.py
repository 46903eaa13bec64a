"""What travels between a table and the pit: one JSON object, then rows of the journal, a line each, deflated.

A row is a JSON array in the order of `Entry`. Its payload travels as the text that was hashed, never parsed and written
again. The first line of a request is an `Offer` without its rows; of the pit's answer to a restore, an empty object.
"""

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from firmware.table.entry import Entry
from firmware.table.errors import TableError
from firmware.table.events import HandOpened, HouseSet, ProfileKept

MAX_ROWS: Final = 500
"""Maximum number of rows in one request."""
MAX_BYTES: Final = 1 << 20
"""Bytes of a body as it is sent. One row always fits: in JSON its payload is twice as long at most (`MAX_PAYLOAD`)."""
MAX_INFLATED: Final = 4 << 20
"""Bytes of a body once inflated: rows of `BATCH_BYTES`, in JSON twice as long at most, are less than half of it."""
MAX_FIRST_LINE: Final = 56 << 10
"""Bytes of a body's first line: health, what a table holds of the log, its missing texts and files at their longest."""
MAX_FILE_STATES: Final = 16_000
"""Bytes of what a table says of the files that it is asked to fetch: 20 with a reason each."""
MAX_LINE: Final = MAX_BYTES
"""Bytes of a row's line: one that cannot be deflated has to travel, too."""
BATCH_BYTES: Final = 768 << 10
"""Bytes of rows, before they are deflated, at which a batch is full; one longer row travels alone."""
_TEXTS: Final = (2, 5, 6, 7, 8, 9, 10, 11)
_NUMBERS: Final = (0, 1, 3, 4)
_TYPES: Final = tuple(int if i in _NUMBERS else str for i in range(len(Entry._fields)))
HIGHEST: Final = 2**63 - 1
"""The highest number of a row."""
LATEST_MS: Final = 253_402_300_799_999
"""The end of the year 9999, UTC milliseconds: a database takes no time much later."""
_HASH: Final = frozenset("0123456789abcdef")
_TEXTS_OF: Final = {
    HandOpened.type: {"profile_hash": "profile", "layout_hash": "layout"},
    HouseSet.type: {"profile_hash": "profile"},
    ProfileKept.type: {"hash": "profile"},
}
"""The fields that name a text by its hash, and what it is, by the type of the row."""

COSIGNS: Final = 4
"""The kind of a witness's key (c2sp.org/tlog-cosignature)."""
MAX_HEADS: Final = 8
"""Maximum number of heads, the newest, for which one answer proves that the pit's log has them."""
MAX_NOTE: Final = 4_000
"""Characters of a checkpoint that a table shows."""

NAMING_TEXTS: Final = frozenset(_TEXTS_OF)
"""Types of the rows that name a text."""


class WireError(TableError, ValueError):
    """A body that is not as described above."""


class Head(NamedTuple):
    """The last row of a record: its number and its hash; 0 and "" for a record without rows."""

    seq: int = 0
    hash: str = ""


@dataclass(frozen=True)
class WitnessHolding:
    """What a table holds of the pit's log: the newest checkpoint, cosigned by its witness; and the witness's key.

    `head`: the highest signed row of its record that is proven to be in the log. Without a note it holds nothing yet.
    """

    note: str = ""
    witness: str = ""
    head: int = 0


@dataclass(frozen=True)
class Offer:
    """What a table sends: which record, how far it goes, and rows. Without rows it is the heartbeat.

    `record` is the hash of the record's first row, its identity; "" while it has none. `health` is for people to read,
    `missing` the hashes of what the pit asked for and the table does not have any more. `files` says how far the files
    are that the pit asked the table to fetch (`firmware.uplink.inbox.requests`). With `holds` the pit's
    answer also says what is new in its log.
    """

    record: str
    head: Head
    release: str = ""
    health: dict[str, Any] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    rows: tuple[Entry, ...] = ()
    holds: WitnessHolding | None = None
    files: tuple[Any, ...] = ()
    at_ms: int = 0


def encode(offer: Offer) -> bytes:
    """Return the body of a request."""
    first: dict[str, Any] = {
        "record": offer.record,
        "head": list(offer.head),
        "release": offer.release,
        "health": offer.health,
        "missing": list(offer.missing),
    }
    if offer.holds is not None:
        first["holds"] = vars(offer.holds)
    if offer.files:
        first["files"] = list(offer.files)
    if offer.at_ms:
        first["at"] = offer.at_ms
    return encode_rows(first, offer.rows)


def encode_rows(first: dict[str, Any], rows: Iterable[Entry]) -> bytes:
    """Return a body: an object, then rows."""
    lines = (json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in (first, *rows))
    return zlib.compress("\n".join(lines).encode(), 6)


def decode(body: bytes) -> Offer:
    """Return the offer in a request's body. Raises WireError."""
    first, rows = decode_rows(body)
    record, head = first.get("record"), first.get("head")
    release, health, missing = first.get("release", ""), first.get("health", {}), first.get("missing", [])
    files = first.get("files", [])
    if not isinstance(record, str) or (record and not is_hash(record)):
        raise WireError("The body does not say which record it is of.")
    match head:
        case [seq, str(digest)] if _is_number(seq) and (is_hash(digest) if seq else not digest):
            if bool(seq) != bool(record):
                raise WireError("A record has rows and a name, or neither.")
        case _:
            raise WireError("The body does not say how far the record goes.")
    if (
        not (isinstance(release, str) and isinstance(health, dict) and isinstance(missing, list))
        or not (isinstance(files, list) and _storable(_json(files), MAX_FILE_STATES))
        or not _storable(release, 100)
        or not _storable(_json(health), 20_000)
        or not all(map(is_hash, missing))
    ):
        raise WireError("The body's first line is of no release of this product.")
    holds = _holds(first.get("holds"))
    at_ms: Any = first.get("at", 0)
    if not _is_number(at_ms) or at_ms > LATEST_MS:
        raise WireError("The body does not say when the table looked.")
    return Offer(record, Head(seq, digest), release, health, tuple(missing), rows, holds, tuple(files), at_ms)


def _holds(value: Any) -> WitnessHolding | None:
    match value:
        case None:
            return None
        case {"note": str(note), "witness": str(witness), "head": head} if _is_number(head):
            if _storable(note, MAX_NOTE) and _storable(witness, 500):
                return WitnessHolding(note, witness, head)
    raise WireError("The body does not say what the table holds of the log.")


def decode_rows(body: bytes) -> tuple[dict[str, Any], tuple[Entry, ...]]:
    """Return the object and the rows in a body. Hashes are not checked here. Raises WireError."""
    if len(body) > MAX_BYTES:
        raise WireError("The body is too long: %(most)s bytes at most.", most=MAX_BYTES)
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(body, MAX_INFLATED)
    except zlib.error as error:
        raise WireError("The body is not JSON, deflated.") from error
    if not inflater.eof or inflater.unconsumed_tail or inflater.unused_data:
        raise WireError("The body is cut off, or inflates to more than %(most)s bytes.", most=MAX_INFLATED)
    if data.count(b"\n") > MAX_ROWS:
        raise WireError("A body has %(most)s rows at most.", most=MAX_ROWS)
    top, *lines = data.split(b"\n")
    first = _parse(top, MAX_FIRST_LINE)
    if not isinstance(first, dict):
        raise WireError("The body's first line is no JSON object.")
    return first, tuple(_row(number, line) for number, line in enumerate(lines, start=1))


def length_once_inflated(body: bytes, most: int) -> int:
    """Return how long a body is once inflated, counted up to `most`; 0 for what `decode` refuses at its beginning."""
    try:
        return len(zlib.decompressobj().decompress(body, most))
    except zlib.error:
        return 0


def _parse(line: bytes, most: int) -> Any:
    """Return what a line says. A few bytes of JSON become fifty times as many in memory: a long line is not parsed."""
    if len(line) > most:
        raise WireError("A line of the body is too long: %(most)s bytes at most.", most=most)
    try:
        return json.loads(line.decode())
    except (ValueError, RecursionError) as error:
        raise WireError("The body is not JSON, deflated.") from error


def _row(number: int, text: bytes) -> Entry:
    line = _parse(text, MAX_LINE)
    # Without an escape no text has a NUL or half of a surrogate pair.
    if not _is_row(line) or (b"\\u" in text and not all(_storable(line[i]) for i in _TEXTS)):
        raise WireError("Line %(number)s of the body is no row of a journal.", number=number)
    return Entry._make(line)


def _is_row(line: Any) -> bool:
    if type(line) is not list or tuple(map(type, line)) != _TYPES:
        return False
    return all(-HIGHEST <= line[i] <= HIGHEST for i in _NUMBERS)


def _is_number(value: object) -> bool:
    """Return whether a value is a row's number, or 0; `True` is none."""
    return type(value) is int and 0 <= value <= HIGHEST


def is_hash(value: object) -> bool:
    """Return whether a value is a SHA-256 in hex."""
    return isinstance(value, str) and len(value) == 64 and _HASH.issuperset(value)


def _json(value: Any) -> str:
    """Return a value as JSON. Raises WireError for one that goes too deep."""
    try:
        return json.dumps(value)
    except RecursionError as error:
        raise WireError("The body's first line is of no release of this product.") from error


def _storable(text: str, most: int = MAX_INFLATED) -> bool:
    """Return whether the database can hold a text: it is UTF-8 without NUL, of so many bytes at most."""
    try:
        return "\0" not in text and len(text.encode()) <= most
    except UnicodeEncodeError:  # half of a surrogate pair
        return False


def texts_named(kind: str, payload: str) -> dict[str, str]:
    """Return the texts that a row names: what each is, by the hash under which it is stored."""
    fields = _TEXTS_OF.get(kind)
    if not fields:
        return {}
    value = json.loads(payload)
    return {value[name]: what for name, what in fields.items() if is_hash(value.get(name))}


def batch(rows: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return as many of the first rows as one request takes: at least one, if there is any."""
    taken: list[Entry] = []
    size = 0
    for row in rows:
        size += len(row.payload.encode()) + 400
        if taken and (size > BATCH_BYTES or len(taken) == MAX_ROWS):
            break
        taken.append(row)
    return tuple(taken)
