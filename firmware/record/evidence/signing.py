"""The device's Ed25519 key: created once, stored outside the record that it signs."""

from __future__ import annotations

import fcntl
import os
import stat
from pathlib import Path
from typing import Final, Self

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from firmware.record.evidence.dispute_verifier import has_small_order, key_words
from firmware.record.journal.disk import write_private
from firmware.table.errors import TableError

FILE: Final = "device.key"


class KeyUnusable(TableError, OSError):
    """The device's key cannot be read, made or trusted."""


class DeviceKey:
    """The key with which this box signs. The private half never leaves this object and its file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = DeviceKey.open(Path(folder) / "key")
    ...     signed_by(key.public, key.sign(b"text"), b"text")
    True
    """

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public: Final = private.public_key().public_bytes_raw()
        """32 bytes."""

    def __repr__(self) -> str:
        return f"DeviceKey({self.words})"

    @property
    def words(self) -> str:
        """The fingerprint of the public half in words."""
        return fingerprint(self.public)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Read the key in a folder; create folder and key if there is none. Raises KeyUnusable."""
        path = folder / FILE
        try:
            if not path.exists():
                _make(path)
        except OSError as error:
            raise _unusable(path, error) from error
        found = cls.existing(folder)
        assert found is not None
        return found

    @classmethod
    def existing(cls, folder: Path) -> Self | None:
        """Read the key in a folder; None if there is none. Raises KeyUnusable."""
        path = folder / FILE
        try:
            return cls(_read(path)) if path.exists() else None
        except OSError as error:
            if isinstance(error, KeyUnusable):
                raise
            raise _unusable(path, error) from error

    def sign(self, text: bytes) -> bytes:
        """Return the signature, 64 bytes; the same text always gives the same signature."""
        return self._private.sign(text)


def _unusable(path: Path, error: OSError) -> KeyUnusable:
    return KeyUnusable(
        "The device's key %(path)s cannot be used: %(why)s. Run this as the table's user.",
        path=str(path),
        why=error,
    )


def _make(path: Path) -> None:
    pem = Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)  # two programs may ask for the key at once: both get the same one
        if not path.exists():
            write_private(path, pem)
    finally:
        os.close(folder)


def _read(path: Path) -> Ed25519PrivateKey:
    mode = path.stat().st_mode
    if stat.S_IMODE(mode) & 0o077:
        raise KeyUnusable(
            "The device's key %(path)s can be read by others; do: chmod 600 %(path)s", path=str(path)
        )
    try:
        private = load_pem_private_key(path.read_bytes(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        private = None
    if not isinstance(private, Ed25519PrivateKey):
        raise KeyUnusable(
            "%(path)s holds no Ed25519 key; move it away, and a new one is made.", path=str(path)
        )
    return private


def signed_by(public: bytes, signature: bytes, text: bytes) -> bool:
    """Return whether a text was signed with the private half of this public key; a key of small order has none."""
    if has_small_order(public):
        return False
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text)
    except (InvalidSignature, ValueError):
        return False
    return True


fingerprint: Final = key_words
"""Returns 80 bits of a public key's SHA-256 as five pronounceable words (proquints)."""
