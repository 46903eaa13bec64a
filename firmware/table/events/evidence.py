"""The events about past hands and about the record itself; `firmware.table.events` lists them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from firmware.messages import Text
from firmware.table.events.base import Event
from firmware.table.seen import Capture


@dataclass(frozen=True)
class HandDisputed(Event):
    """A hand is under dispute: its images are kept until the dispute is closed, whatever the retention rule is."""

    type: ClassVar[str] = "hand_disputed"
    hand: int
    reason: str


@dataclass(frozen=True)
class DisputeClosed(Event):
    """A hand's dispute is closed; `reason` is the decision."""

    type: ClassVar[str] = "dispute_closed"
    hand: int
    reason: str


@dataclass(frozen=True)
class HandReviewed(Event):
    """A floor person has reviewed a hand; the row's actor names the person."""

    type: ClassVar[str] = "hand_reviewed"
    hand: int
    note: str = ""


@dataclass(frozen=True)
class ImagesDropped(Event):
    """The tombstone of a hand's images: after this row their files are removed; their hashes stay in the record."""

    type: ClassVar[str] = "images_dropped"
    hand: int
    images: tuple[Capture, ...]
    reason: Text


@dataclass(frozen=True)
class KeyAnnounced(Event):
    """The box signs with this key from now on; `key` is the Ed25519 public key, 32 bytes in hex."""

    type: ClassVar[str] = "key_announced"
    key: str


@dataclass(frozen=True)
class HeadSigned(Event):
    """A signed head of the chain, which is the row right before this one: an anchor to be printed.

    `hands` is how many hands had been opened, `wall_ms` the time of signing; the public `key` and the `signature` are
    hex. The signed text is the anchor's (`firmware.record.evidence.anchors`).
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
    """The record was restored from a backup whose last row was `seq`; later rows are not in it."""

    type: ClassVar[str] = "record_restored"
    seq: int
    hash: str


@dataclass(frozen=True)
class RecordFault(Event):
    """The record is damaged, or may be: nothing is played until a floor person has read this.

    `what`: "short": the record ends at row `seq`, but row `seen` had been written; "rewritten": row `seen` is not the
    one that was written; "witness": the witness file is missing or damaged; "captures": there are images of hands
    without rows; "damaged": `detail` is what `verify` found. `seen_hash`: the hash of row `seen`. `captures`: images
    that no row names, as far as known.
    """

    type: ClassVar[str] = "record_fault"
    what: Literal["short", "rewritten", "witness", "captures", "damaged"]
    seq: int
    seen: int = 0
    seen_hash: str = ""
    captures: tuple[str, ...] = ()
    detail: Text = ""


@dataclass(frozen=True)
class RecordFaultRead(Event):
    """A floor person has read a record fault, and play may continue. The row's actor names the person."""

    type: ClassVar[str] = "record_fault_read"
    note: str = ""
