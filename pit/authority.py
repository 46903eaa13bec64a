"""The pit's certificate authority: it signs for the tables of this house, and for its own door.

Certificates last ten years, not days: a table has no clock battery, so it cannot know when to renew its certificate.
Nor does it look at the dates of the pit's certificate. The pit, a server with a clock, refuses an expired certificate
at both of its doors. A table is struck off by a row of the database, which is looked at in each request.
"""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from firmware.record.evidence.signing import DeviceKey, KeyUnusable
from firmware.record.journal.disk import write_private
from firmware.uplink import settings
from firmware.uplink.enrolment import Keys
from pit.errors import AuthorityError

CERTIFICATE: Final = "authority.crt"
KEY: Final = "authority.key"
DOOR_CERTIFICATE: Final = "door.crt"
DOOR_KEY: Final = "door.key"
ISSUED: Final = "issued.jsonl"
"""A line for each certificate that a table got: the table's name and the serial number. It replaces a database that was
lost."""
HOUSE_FOLDER: Final = "house"
"""The folder of the house's key."""
LOG_FOLDER: Final = "log"
"""The folder of the key of the pit's log. It is next to the authority's folder."""
LASTS: Final = timedelta(days=3653)


class Authority:
    """The authority in a folder, made there the first time. Raises AuthorityError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not (folder / CERTIFICATE).exists():
                self._make()
            key = load_pem_private_key((folder / KEY).read_bytes(), None)
            self._certificate = x509.load_pem_x509_certificate((folder / CERTIFICATE).read_bytes())
        except (OSError, ValueError, TypeError) as error:
            raise _cannot(folder, error) from error
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise AuthorityError("%(folder)s holds no authority of Feltwatch's.", folder=str(folder))
        self._key = key

    def _make(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("Feltwatch pit")
        made = _certificate(name, name, key.public_key(), is_authority=True, usage=None).sign(
            key, hashes.SHA256()
        )
        write_private(self.folder / KEY, _pem(key))
        write_private(self.folder / CERTIFICATE, made.public_bytes(Encoding.PEM))

    def door(self) -> None:
        """Make the door's own certificate, if there is none."""
        if not (self.folder / DOOR_CERTIFICATE).exists():
            self._issue(
                "Feltwatch pit door", self.folder / DOOR_CERTIFICATE, self.folder / DOOR_KEY, server=True
            )

    def enrol(self, name: str, folder: Path, pit: list[str]) -> int:
        """Write a table's enrolment into a folder: key, certificate, and the pit's addresses.

        Returns its certificate's serial number. Raises AuthorityError.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            serial = self._issue(name, folder / settings.CERTIFICATE, folder / settings.KEY, server=False)
            write_private(folder / settings.AUTHORITY, self.pem)
            keys = self.keys
            write_private(folder / settings.HOUSE, f"{keys.house}\n".encode())
            write_private(folder / settings.LOG, f"{keys.log}\n".encode())
            write_private(folder / settings.FILE, settings.text_of(pit).encode())
            self._note(name, serial)
        except OSError as error:
            raise _cannot(folder, error) from error
        return serial

    def sign(self, request: str, name: str) -> tuple[str, int]:
        """Return a certificate, PEM, and its serial number for a table's PKCS #10 request, PEM.

        Of the request only the key counts: the name is the pit's. Raises AuthorityError.
        """
        public = key_of_request(request)
        made = _certificate(
            _name(name),
            self._certificate.subject,
            public,
            is_authority=False,
            usage=ExtendedKeyUsageOID.CLIENT_AUTH,
        ).sign(self._key, hashes.SHA256())
        try:
            self._note(name, made.serial_number)
        except OSError as error:
            raise _cannot(self.folder, error) from error
        return made.public_bytes(Encoding.PEM).decode(), made.serial_number

    @property
    def pem(self) -> bytes:
        """The authority's own certificate."""
        return self._certificate.public_bytes(Encoding.PEM)

    @property
    def der(self) -> bytes:
        """The authority's own certificate in the encoding of which the fingerprint is taken."""
        return self._certificate.public_bytes(Encoding.DER)

    @property
    def house(self) -> DeviceKey:
        """The key that signs what tables may take: profiles, decks. Made the first time. Raises AuthorityError."""
        try:
            return DeviceKey.open(self.folder / HOUSE_FOLDER)
        except KeyUnusable as error:
            raise AuthorityError(error.sentence) from error

    @property
    def keys(self) -> Keys:
        """The keys that a table pins when it is enrolled. Raises AuthorityError."""
        try:
            log = DeviceKey.open(self.folder.parent / LOG_FOLDER)
        except KeyUnusable as error:
            raise AuthorityError(error.sentence) from error
        return Keys(self.house.public.hex(), log.public.hex())

    def _note(self, name: str, serial: int) -> None:
        with (self.folder / ISSUED).open("a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "serial": f"{serial:x}"}) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def issued(self) -> dict[str, str]:
        """Return the serial number of each table's newest certificate, by the table's name. Raises AuthorityError."""
        try:
            lines = (self.folder / ISSUED).read_text(encoding="utf-8").splitlines()
            return {line["name"]: line["serial"] for line in map(json.loads, lines)}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise _cannot(self.folder, error) from error

    def _issue(self, name: str, certificate: Path, key_file: Path, *, server: bool) -> int:
        key = ec.generate_private_key(ec.SECP256R1())
        usage = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        made = _certificate(
            _name(name), self._certificate.subject, key.public_key(), is_authority=False, usage=usage
        ).sign(self._key, hashes.SHA256())
        write_private(key_file, _pem(key))
        write_private(certificate, made.public_bytes(Encoding.PEM))
        return made.serial_number


def key_of_request(request: str) -> ec.EllipticCurvePublicKey:
    """Return the public key of a PKCS #10 request, PEM, once its signature fits. Raises AuthorityError."""
    try:
        parsed = x509.load_pem_x509_csr(request.encode())
        public = parsed.public_key()
        valid = parsed.is_signature_valid
    except (ValueError, TypeError, UnsupportedAlgorithm):
        valid = False
    if not valid or not isinstance(public, ec.EllipticCurvePublicKey) or public.curve.name != "secp256r1":
        raise AuthorityError("The table's request for a certificate cannot be used.")
    return public


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _certificate(
    who: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    *,
    is_authority: bool,
    usage: x509.ObjectIdentifier | None,
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + LASTS)
        .add_extension(
            x509.BasicConstraints(ca=is_authority, path_length=0 if is_authority else None), critical=True
        )
    )
    return builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False) if usage else builder


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _cannot(folder: Path, error: Exception) -> AuthorityError:
    return AuthorityError(
        "The certificates in %(folder)s cannot be made or read (%(why)s).",
        folder=str(folder),
        why=getattr(error, "strerror", None) or str(error),
    )
