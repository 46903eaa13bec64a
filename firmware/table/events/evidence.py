"""The events about past hands and about the record itself; `firmware.table.events` lists them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from firmware.table.events.base import Event
from firmware.table.seen import Capture


@dataclass(frozen=True)
class HandDisputed(Event):
    """A hand is under dispute: its images are kept until the dispute is closed, whatever the house's rule says."""

    type: ClassVar[str] = "hand_disputed"
    hand: int
    reason: str


@dataclass(frozen=True)
class DisputeClosed(Event):
    """A hand's dispute is over; `reason` says how it was decided."""

    type: ClassVar[str] = "dispute_closed"
    hand: int
    reason: str


@dataclass(frozen=True)
class HandReviewed(Event):
    """A floor person looked at a hand and says so; the row names who."""

    type: ClassVar[str] = "hand_reviewed"
    hand: int
    note: str = ""


@dataclass(frozen=True)
class ImagesDropped(Event):
    """The tombstone of a hand's images: their bytes are removed after this row, their hashes stay in the record."""

    type: ClassVar[str] = "images_dropped"
    hand: int
    images: tuple[Capture, ...]
    reason: str


@dataclass(frozen=True)
class KeyAnnounced(Event):
    """The key with which this box signs from here on: its public half, 32 bytes of Ed25519 in hex."""

    type: ClassVar[str] = "key_announced"
    key: str


@dataclass(frozen=True)
class HeadSigned(Event):
    """The chain's head, the row right before this one, signed: an anchor to be kept on paper.

    `hands` is how many had been opened, `wall_ms` when it was signed, `key` the public key and `signature` both in
    hex. What is signed is the anchor's text (`firmware.record.evidence.anchors`).
    """

    type: ClassVar[str] = "head_signed"
    seq: int
    hash: str
    hands: int
    wall_ms: int
    table: str
    key: str
    signature: str


@dataclass(frozen=True)
class RecordRestored(Event):
    """The record was put back from a backup, whose last row was `seq`; what came after it is not in here."""

    type: ClassVar[str] = "record_restored"
    seq: int
    hash: str


@dataclass(frozen=True)
class RecordFault(Event):
    """The record is not what it was, or nobody can say so: nothing is played until a floor person has read it.

    `what`: "short": the record ends at row `seq`, and row `seen` had been written; "rewritten": row `seen` is another
    than was written; "witness": the file that says how far the record went is missing or damaged; "captures": images
    of hands that no row tells of; "damaged": `detail` says what `verify` found. `seen_hash`: the hash of row `seen`.
    `captures`: images that no row names, as far as they are known.
    """

    type: ClassVar[str] = "record_fault"
    what: Literal["short", "rewritten", "witness", "captures", "damaged"]
    seq: int
    seen: int = 0
    seen_hash: str = ""
    captures: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True)
class RecordFaultRead(Event):
    """A floor person has read what is wrong with the record; play goes on. The row names who."""

    type: ClassVar[str] = "record_fault_read"
    note: str = ""
