"""Anchors: the chain's head, signed, as one line of text that fits a QR code on a slip of paper.

FW1:TABLE:SEQ:HANDS:WALL_MS:HASH:KEY:SIGNATURE, in the characters of a QR code's dense mode (A-Z, 0-9, and : - .).
HASH and KEY are hex, SIGNATURE is base32 without padding. Everything to the left of the last colon is signed. With the
slip, a record that was cut or rewritten later can be detected: its row SEQ must still have this hash.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import Final, Self

from firmware.record.evidence.signing import DeviceKey, fingerprint, signed_by
from firmware.table import events as ev
from firmware.table.errors import TableError

PREFIX: Final = "FW1"
_TEXT: Final = re.compile(
    rf"{PREFIX}:([A-Z0-9.-]*):(\d{{1,15}}):(\d{{1,15}}):(\d{{1,15}}):([0-9A-F]{{64}}):([0-9A-F]{{64}}):([A-Z2-7]{{103}})"
)


class NoAnchor(TableError, ValueError):
    """A text that is not an anchor, or whose signature is wrong."""


@dataclass(frozen=True)
class Anchor:
    """A signed head of the chain: row `seq` had the hash `hash`, and `hands` hands had been opened.

    `hash`, `key` and `signature` are hex.
    """

    table: str
    seq: int
    hands: int
    wall_ms: int
    hash: str
    key: str
    signature: str

    @classmethod
    def of(cls, event: ev.HeadSigned) -> Self:
        """Return the anchor in an event."""
        return cls(event.table, event.seq, event.hands, event.wall_ms, event.hash, event.key, event.signature)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the anchor in a printed text. Raises NoAnchor, also for a wrong signature."""
        found = _TEXT.fullmatch("".join(text.split()).upper())
        if found is None:
            raise NoAnchor("That is no anchor: it begins with FW1 and has eight parts, joined by colons.")
        table, seq, hands, wall_ms, digest, key, signature = found.groups()
        try:
            raw = base64.b32decode(signature + "=")
        except binascii.Error as error:
            raise NoAnchor("That anchor's signature was not copied right; scan it again.") from error
        anchor = cls(table, int(seq), int(hands), int(wall_ms), digest.lower(), key.lower(), raw.hex())
        if not anchor.is_signed():
            raise NoAnchor("That anchor was not signed by the key that it names; nothing follows from it.")
        return anchor

    @property
    def signed_text(self) -> str:
        """The part of the line that is signed."""
        parts = (self.table, self.seq, self.hands, self.wall_ms, self.hash.upper(), self.key.upper())
        return ":".join((PREFIX, *map(str, parts)))

    @property
    def text(self) -> str:
        """The whole line, for a QR code."""
        raw = base64.b32encode(bytes.fromhex(self.signature)).decode().rstrip("=")
        return f"{self.signed_text}:{raw}"

    @property
    def fingerprint(self) -> str:
        """The key's fingerprint in words."""
        return fingerprint(bytes.fromhex(self.key))

    def is_well_formed(self) -> bool:
        """Return whether each part has the form that an anchor's text needs. Raises ValueError for no hex."""
        return _TEXT.fullmatch(self.text) is not None

    def is_signed(self) -> bool:
        """Return whether the signature was made with the key."""
        try:
            key, signature = bytes.fromhex(self.key), bytes.fromhex(self.signature)
        except ValueError:
            return False
        return signed_by(key, signature, self.signed_text.encode())


def sign_head(
    key: DeviceKey, *, seq: int, digest: str, hands: int, wall_ms: int, table: str
) -> ev.HeadSigned:
    """Sign the chain's head, row `seq` with the hash `digest`. The event must be the next row."""
    name = re.sub(r"[^A-Z0-9.-]+", "-", table.upper())[:20]
    anchor = Anchor(name, seq, hands, wall_ms, digest, key.public.hex(), "")
    signature = key.sign(anchor.signed_text.encode()).hex()
    return ev.HeadSigned(seq, digest, hands, wall_ms, name, key.public.hex(), signature)
