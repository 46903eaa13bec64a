"""The pit's log in C2SP's formats: signed notes, checkpoints, cosignatures and proofs, made and checked.

Origin of the formats: c2sp.org/signed-note, /tlog-checkpoint, /tlog-cosignature (Ed25519), /tlog-proof, version 1 each.
`dispute_verifier`, which travels with dispute files, checks them without any package.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Self

from firmware.record.evidence.dispute_verifier import (
    COSIGNATURE,
    ED25519,
    PROOF,
    CannotCheck,
    Signature,
    cosigned_message,
    head_entry,
    key_id,
    read_key,
    read_note,
)
from firmware.record.evidence.signing import DeviceKey, signed_by
from firmware.table.errors import TableError

__all__ = ("Checkpoint", "NoNote", "Proof", "Signature", "head_entry")

MAX_NOTE: Final = 1 << 20
"""Characters of a note that is read: some thousand cosignatures."""
MAX_TREE_SIZE: Final = 2**63 - 1
"""Entries of a log that a checkpoint may name."""
_SIZE: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_EPOCH_ENTRY: Final = b"feltwatch-epoch/v1\n"
_DOMAIN: Final = "feltwatch.local"
"""Names of keys look like addresses, as the formats recommend; nothing is reached there."""


class NoNote(TableError, ValueError):
    """A text that is not a signed note or checkpoint, or not signed by the right key."""


@dataclass(frozen=True)
class Checkpoint:
    """The head of a log: its origin, its size, its root (32 bytes)."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the checkpoint in a note's text; whatever follows its three lines is ignored. Raises NoNote."""
        lines = text.split("\n")
        root = in_base64(lines[2]) if len(lines) > 3 else b""
        if len(root) != 32 or not lines[0] or not _SIZE.fullmatch(lines[1]) or int(lines[1]) > MAX_TREE_SIZE:
            raise NoNote("That is no checkpoint: it has an origin, a size and a root, a line each.")
        return cls(lines[0], int(lines[1]), root)


def in_base64(text: str) -> bytes:
    """Return the bytes of a text in base64, nothing for any other text: the same bytes have one spelling."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        return b""
    return data if base64.b64encode(data).decode() == text else b""


def verifier_key(name: str, public: bytes, kind: int = ED25519) -> str:
    """Return a public key as signed notes write it, for other programs: `NAME+ID+KEY`."""
    packed = base64.b64encode(bytes([kind]) + public).decode()
    return f"{name}+{key_id(name, kind, public).hex()}+{packed}"


def public_of(text: str, kind: int = ED25519) -> tuple[str, bytes]:
    """Return the name and the public key (32 bytes) in a verifier key. Raises NoNote."""
    try:
        name, found, public = read_key(text)
    except CannotCheck as error:
        raise NoNote("That is no key of a signed note.") from error
    if found != kind:
        raise NoNote("That is no key of a signed note.")
    return name, public


def parts(note: str) -> tuple[str, tuple[Signature, ...]]:
    """Return a note's text and its signatures, unchecked. Raises NoNote."""
    if len(note) > MAX_NOTE:
        raise NoNote("That is no signed note: it is too long.")
    try:
        return read_note(note)
    except CannotCheck as error:
        raise NoNote("That is no signed note.") from error


def sign(key: DeviceKey, checkpoint: Checkpoint) -> str:
    """Return a checkpoint signed by its log, whose key has the name of its origin."""
    text = checkpoint.text
    signed = key_id(checkpoint.origin, ED25519, key.public) + key.sign(text.encode())
    return f"{text}\n{_line(checkpoint.origin, signed)}"


def open_note(note: str, public: bytes) -> Checkpoint:
    """Return the checkpoint in a note that its log has signed with this key. Raises NoNote."""
    text, signatures = parts(note)
    checkpoint = Checkpoint.parse(text)
    own = key_id(checkpoint.origin, ED25519, public)
    for one in signatures:
        if (one.name, one.key_id) == (checkpoint.origin, own) and signed_by(
            public, one.signature, text.encode()
        ):
            return checkpoint
    raise NoNote("The checkpoint was not signed by the log's key.")


def without_cosignatures(note: str) -> str:
    """Return a note with its log's signatures only. Raises NoNote."""
    text, signatures = parts(note)
    origin = text.partition("\n")[0]
    return f"{text}\n" + "".join(one.line for one in signatures if one.name == origin)


def witness_name(public: bytes) -> str:
    """Return the name under which a table's uplink cosigns: it follows from the key.

    >>> witness_name(bytes(32))
    'feltwatch.local/witness/66687aad'
    """
    return f"{_DOMAIN}/witness/{hashlib.sha256(public).hexdigest()[:8]}"


def log_name(public: bytes) -> str:
    """Return the name of the log of a pit's key, without its epoch.

    >>> log_name(bytes(32))
    'feltwatch.local/pit/66687aad'
    """
    return f"{_DOMAIN}/pit/{hashlib.sha256(public).hexdigest()[:8]}"


def origin_of(public: bytes, epoch: int) -> str:
    """Return the origin of an epoch's checkpoints."""
    return f"{log_name(public)}/{epoch}"


def epoch_of(origin: str, public: bytes) -> int:
    """Return which epoch of this key's log an origin names; 0 for another log's."""
    name, _, epoch = origin.rpartition("/")
    return int(epoch) if name == log_name(public) and _SIZE.fullmatch(epoch) else 0


def cosign(key: DeviceKey, note: str, at_s: int) -> str:
    """Return the line that says: at this time this was the newest checkpoint, consistent with all seen before.

    `at_s`: seconds since 1970. Raises NoNote.
    """
    text, _ = parts(note)
    name = witness_name(key.public)
    signed = key.sign(cosigned_message(text, at_s))
    return _line(name, key_id(name, COSIGNATURE, key.public) + at_s.to_bytes(8, "big") + signed)


def cosignature_of(note: str, public: bytes) -> Signature | None:
    """Return a witness's signature of a note, None if there is none that holds. Raises NoNote."""
    text, signatures = parts(note)
    name = witness_name(public)
    own = key_id(name, COSIGNATURE, public)
    for one in signatures:
        if (one.name, one.key_id) == (name, own) and len(one.signature) == 72:
            at_s = int.from_bytes(one.signature[:8], "big")
            if signed_by(public, one.signature[8:], cosigned_message(text, at_s)):
                return one
    return None


def _line(name: str, signature: bytes) -> str:
    return f"— {name} {base64.b64encode(signature).decode()}\n"


def epoch_entry(unknown: str) -> bytes:
    """Return the first entry of an epoch: the checkpoint that the database did not know."""
    return _EPOCH_ENTRY + unknown.encode()


@dataclass(frozen=True)
class Proof:
    """That entry `number`, counted from 0, is in a log: the hashes up to the root, and the signed checkpoint."""

    number: int
    hashes: tuple[bytes, ...]
    note: str

    @property
    def text(self) -> str:
        """The proof as c2sp.org/tlog-proof writes it."""
        return f"{PROOF}\nindex {self.number}\n{in_lines(self.hashes)}\n{self.note}"


def in_lines(hashes: Iterable[bytes]) -> str:
    """Return hashes in base64, a line each."""
    return "".join(f"{base64.b64encode(one).decode()}\n" for one in hashes)


def hashes_in(lines: object, most: int) -> tuple[bytes, ...]:
    """Return the hashes in a JSON list of base64. Raises NoNote."""
    found = (
        [in_base64(one) if isinstance(one, str) else b"" for one in lines[: most + 1]]
        if isinstance(lines, list)
        else [b""]
    )
    if len(found) > most or any(len(one) != 32 for one in found):
        raise NoNote("That is no list of hashes.")
    return tuple(found)


def as_base64(hashes: Sequence[bytes]) -> list[str]:
    """Return hashes for JSON."""
    return [base64.b64encode(one).decode() for one in hashes]
