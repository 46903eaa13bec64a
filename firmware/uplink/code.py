"""The one-time code of an enrolment: the pit's addresses, part of the hash of its authority, and a secret.

It is shown at the pit as a QR code, and as 26 letters next to the pit's address. The letters contain 58 bits of
the SHA-256 of the authority's certificate, 58 bits of a secret, and 6 bits that detect a mistyped letter. The secret
is never sent: both sides prove with HMAC-SHA256 that they know it.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Final

from firmware.messages import Message
from firmware.uplink.errors import UplinkError
from firmware.uplink.settings import in_address, split_address

LETTERS: Final = 26
"""Letters A to Z of a code: 122 bits."""
PORT: Final = 8443
"""The pit's port where an address names none."""
BEGINS: Final = ("FELTWATCH", "PIT")
LONGEST: Final = 400
"""Characters of a code's whole text."""
MAX_ADDRESSES: Final = 4
_PART_BITS: Final = 58
_CHECK_BITS: Final = 6
_A: Final = ord("A")


@dataclass(frozen=True)
class Code:
    """A code: the pit's addresses with their ports, and two numbers below 2 to the 58th."""

    addresses: tuple[str, ...]
    authority: int
    secret: int

    @classmethod
    def make(cls, addresses: tuple[str, ...], authority: bytes) -> Code:
        """Make a code with a new secret; `authority` is the certificate, DER. Raises UplinkError for an address."""
        return cls(tuple(map(_with_port, addresses)), short_digest(authority), secrets.randbits(_PART_BITS))

    @property
    def letters(self) -> str:
        """The 26 letters."""
        number = ((self.authority << _PART_BITS) | self.secret) << _CHECK_BITS
        number |= _check(number >> _CHECK_BITS)
        text = ""
        for _ in range(LETTERS):
            number, letter = divmod(number, 26)
            text = chr(_A + letter) + text
        return text

    @property
    def text(self) -> str:
        """The text of the QR code. It fits the short alphanumeric mode if the addresses are IP addresses."""
        return " ".join((*BEGINS, self.letters, *self.addresses)).upper()

    @property
    def name(self) -> str:
        """The name by which the pit finds the code: 64 hex digits, from which the secret cannot be computed."""
        return self.key(b"name").hex()

    def key(self, purpose: bytes = b"key") -> bytes:
        """Return 32 bytes that only a program which has the code can compute."""
        secret = self.secret.to_bytes(8, "big")
        return hmac.digest(secret, b"feltwatch enrolment 1 " + purpose, "sha256")

    def is_of(self, authority: bytes) -> bool:
        """Return whether a certificate, DER, is that of the code's authority."""
        return short_digest(authority) == self.authority


def parse(text: str) -> Code:
    """Return the code in a QR code's text, or in 26 letters and an address as somebody typed them.

    Raises UplinkError with what is wrong with it.
    """
    words = text.upper().split()
    if len(text) > LONGEST:
        raise UplinkError(Message("That is no code of a pit."))
    letters = "".join(word for word in words if word.isascii() and word.isalpha() and word not in BEGINS)
    addresses = tuple(word.lower() for word in words if not (word.isascii() and word.isalpha()))
    if len(letters) != LETTERS:
        raise UplinkError(
            Message(
                "A code has %(letters)s letters; these are %(typed)s.", letters=LETTERS, typed=len(letters)
            )
        )
    if not 1 <= len(addresses) <= MAX_ADDRESSES:
        raise UplinkError(Message("The pit's address is missing, such as 192.168.1.10."))
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - _A
    parts, check = divmod(number, 1 << _CHECK_BITS)
    authority, secret = divmod(parts, 1 << _PART_BITS)
    if check != _check(parts) or authority >> _PART_BITS:
        raise UplinkError(
            Message("A letter of the code is wrong. Compare them with those that the pit shows.")
        )
    return Code(tuple(map(_with_port, addresses)), authority, secret)


def short_digest(certificate: bytes) -> int:
    """Return the first 58 bits of a certificate's SHA-256."""
    return int.from_bytes(hashlib.sha256(certificate).digest()[:8], "big") >> (64 - _PART_BITS)


def _check(parts: int) -> int:
    return hashlib.sha256(b"feltwatch code" + parts.to_bytes(16, "big")).digest()[0] & (
        (1 << _CHECK_BITS) - 1
    )


def _with_port(address: str) -> str:
    """Return an address with its port. Raises UplinkError."""
    host, port = split_address(address) or ("", None)
    if not host:
        raise UplinkError(Message("%(text)s is no address of a pit.", text=repr(address)))
    return in_address(host, port or PORT)
