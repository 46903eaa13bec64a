"""What table and pit say to one another while a table is brought in; both sides use these texts.

A table asks `GET /v1/authority` for the authority's certificate, compares it with its code, and believes no other from
then on. Then it sends the same `Request` to `POST /v1/enrolment` again and again, until the pit gives it a certificate
or refuses. Each answer names the pit's `Keys`. Request and answer carry an HMAC with the code's key in `HEADER`.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from dataclasses import asdict, dataclass
from typing import Final, Literal, get_args

from firmware.messages import Message
from firmware.record.evidence.signing import fingerprint
from firmware.table.errors import TableError
from firmware.uplink.wire import is_hash

HEADER: Final = "X-Enrolment"
AUTHORITY_PATH: Final = "/v1/authority"
PATH: Final = "/v1/enrolment"
MAX_BYTES: Final = 8192
"""Bytes of a request, and of an answer."""
LATE: Final = Message("The code is older than fifteen minutes. Have a new one made at the pit.")
USED: Final = Message("The code was used already: it is good once. Have a new one made at the pit.")
TWICE: Final = Message("A second table used the same code, so neither was enrolled. Make a new code.")
UNLIKE_TABLE: Final = Message("The technician at the table says that the words differ. Nothing was enrolled.")
UNLIKE_PIT: Final = Message("The technician at the pit says that the words differ. Nothing was enrolled.")
REPLACED: Final = Message("A newer code was made for this table. Use that one.")
GIVEN_UP: Final = Message("The code was given up at the pit.")
ANOTHER_TABLE: Final = Message(
    "This code is for %(name)s, and this table is number %(table)s. Nothing was enrolled."
)
NO_NUMBER: Final = Message("The table has no number yet. Key it in the set-up, then begin again.")
NO_KEY: Final = Message("The table does not have the key that it names. Nothing was enrolled.")
UNKNOWN: Final = Message(
    "The pit knows no such code. Compare the letters, or have a new one made at the pit."
)
STRUCK: Final = Message(
    "%(name)s was struck off after this code was made. If it is to send again, have a new code made at the pit."
)
KNOWN_WITNESS: Final = Message(
    "This box is enrolled already, as %(name)s. Renew that table, or strike it off first. Nothing was enrolled."
)
_SIGNATURE: Final = re.compile("[0-9a-f]{128}")
Says = Literal["", "same", "other"]
"""What a technician says of the five words on the table's side: nothing yet, that both sides show the same, or not."""


class EnrolmentError(TableError, ValueError):
    """A body that is not a request for an enrolment, or not an answer to one."""


@dataclass(frozen=True)
class Keys:
    """The public keys, 64 hex digits each, that a table pins: the house's, and that of the pit's log."""

    house: str
    log: str


def keys_in_answer(body: bytes) -> tuple[Keys, str]:
    """Return the pit's keys in an answer, and the table's certificate, PEM; "" while there is none.

    Raises EnrolmentError.
    """
    try:
        value = json.loads(body)
        keys, certificate = Keys(value["house"], value["log"]), value.get("certificate", "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        keys, certificate = Keys("", ""), None
    if not (is_hash(keys.house) and is_hash(keys.log) and isinstance(certificate, str)):
        raise EnrolmentError("The pit gave an answer that this release does not understand.")
    return keys, certificate


@dataclass(frozen=True)
class Request:
    """A table's request. Keys and the signature are hex; `certificate` is a PKCS #10 request, PEM.

    `code` is the code's name. `proof` is the device key's signature of `device_text`. `table` is the table's number,
    as the house wrote it, and `says` what the technician at the table says of the words.
    """

    code: str
    certificate: str
    device_key: str
    proof: str
    witness_key: str
    table: str
    says: Says = ""

    def to_bytes(self) -> bytes:
        """Return the body."""
        return json.dumps(asdict(self), sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, body: bytes) -> Request:
        """Return the request in a body. Raises EnrolmentError."""
        try:
            value = json.loads(body) if len(body) <= MAX_BYTES else None
            request = cls(**value) if isinstance(value, dict) else None
        except (ValueError, TypeError, RecursionError):
            request = None
        if request is None or not _is_whole(request):
            raise EnrolmentError("The body is no request for an enrolment.")
        return request


def _is_whole(one: Request) -> bool:
    texts = all(isinstance(text, str) and "\0" not in text for text in vars(one).values())
    return (
        texts
        and one.says in get_args(Says)
        and all(map(is_hash, (one.code, one.device_key, one.witness_key)))
        and _SIGNATURE.fullmatch(one.proof) is not None
        and len(one.table) <= 40
        and one.table.isprintable()
        and one.certificate.isascii()
    )


def words(authority: bytes, keys: Keys, request: Request) -> str:
    """Return the five words that both screens show: of the authority's certificate (DER), the keys that the table is to
    pin, and all that it asks for.
    """
    parts = (
        hashlib.sha256(authority).hexdigest(),
        keys.house,
        keys.log,
        *list(asdict(request).values())[:-1],
    )
    return fingerprint(b"feltwatch enrolment 1 words" + json.dumps(parts).encode())


def device_text(code: str) -> bytes:
    """Return what the device's key signs, given a code's name."""
    return b"feltwatch enrolment 1 device\n" + code.encode()


def of_table(key: bytes, body: bytes) -> str:
    """Return the HMAC of a request."""
    return hmac.digest(key, b"table\n" + body, "sha256").hex()


def of_pit(key: bytes, asked: bytes, body: bytes) -> str:
    """Return the HMAC of an answer to a request's body."""
    return hmac.digest(key, b"pit\n" + hashlib.sha256(asked).digest() + body, "sha256").hex()
