"""The box's TLS certificate for the review on a network. It is made on the box, and its key never leaves it.

It is self-signed, because a box in a card room has no name that an authority could certify. A browser warns once;
compare its fingerprint with the one that the command prints. A house with its own authority stores its certificate and
key here under the same names.
"""

import ipaddress
import os
import socket
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from dealer_ui.web.errors import PageError
from firmware.record.journal.disk import write_private

CERTIFICATE: Final = "tls.crt"
KEY: Final = "tls.key"
NONE_YET: Final = "There is no certificate yet. Begin with: sudo feltwatch review add NAME"
LASTS: Final = timedelta(days=825)
"""The longest that browsers take of a certificate that a person has trusted by hand."""


def write_owner_only(path: Path, data: bytes, *, for_the_service: bool = True) -> None:
    """Write a file that only its owner may read, durably, in one step. Raises OSError.

    A file that root writes `for_the_service` belongs to the folder's owner, the service's user; else to root.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    owner = path.parent.stat() if for_the_service and os.geteuid() == 0 else None
    write_private(path, data, owner=owner and (owner.st_uid, owner.st_gid))


class TlsError(PageError, OSError):
    """The certificate or its key cannot be made, read or used."""


@dataclass(frozen=True)
class Certificate:
    """A summary of the certificate for people. `fingerprint` is SHA-256, as browsers show it."""

    names: tuple[str, ...]
    fingerprint: str
    ends: datetime

    def days_left(self, now: datetime | None = None) -> int:
        """Return the whole days until it expires; below 0 after that."""
        return (self.ends - (now or datetime.now(UTC))).days


def certificate(folder: Path, names: Iterable[str] = (), *, again: bool = False) -> Certificate:
    """Return the box's certificate; make it and its key if there is none, or `again`.

    `names`: further names and addresses of the box. Raises TlsError.
    """
    path = folder / CERTIFICATE
    if again or not path.exists():
        try:
            _make(folder, tuple(dict.fromkeys((*names, *own_names()))))
        except OSError as error:
            raise _cannot(path, error) from error
    return _read(path)


def read_certificate(folder: Path) -> Certificate:
    """Return the box's certificate. Raises TlsError if there is none, or if it cannot be read."""
    path = folder / CERTIFICATE
    if not path.exists():
        raise TlsError(NONE_YET)
    return _read(path)


def _read(path: Path) -> Certificate:
    try:
        found = x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError) as error:
        raise _cannot(path, error) from error
    return Certificate(
        _names_of(found), found.fingerprint(hashes.SHA256()).hex(":").upper(), found.not_valid_after_utc
    )


def _cannot(path: Path, error: OSError | ValueError) -> TlsError:
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return TlsError(f"The certificate {path} cannot be made or read: {why}. Run this as root.")


def need_usable(folder: Path) -> Certificate:
    """Return the certificate to serve with. Raises TlsError if there is none, or if it must not be used."""
    key = folder / KEY
    try:
        if stat.S_IMODE(key.stat().st_mode) & 0o077:
            raise TlsError(f"The key {key} can be read by others; do: chmod 600 {key}")
    except FileNotFoundError as error:
        raise TlsError(NONE_YET) from error
    shown = _read(folder / CERTIFICATE)
    if shown.days_left() < 0:
        raise TlsError(
            "The certificate is over. Make another: sudo feltwatch review certificate make --again"
        )
    return shown


def own_names() -> list[str]:
    """Return this machine's names: its own, the same in the local domain, and its network address."""
    name = socket.gethostname().partition(".")[0].lower() or "feltwatch"
    found = [name, f"{name}.local"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(("192.0.2.1", 9))  # nothing is sent: this only selects the source address
            found.append(line.getsockname()[0])
        except OSError:
            pass  # no network
    return found


def _make(folder: Path, names: tuple[str, ...]) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    now = datetime.now(UTC)
    who = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Feltwatch on {names[0]}"[:64])])
    made = (
        x509.CertificateBuilder()
        .subject_name(who)
        .issuer_name(who)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # a box without a battery clock may be behind
        .not_valid_after(now + LASTS)
        .add_extension(x509.SubjectAlternativeName([_general(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    # After a crash in between there is no certificate, and both are made again: they always match.
    (folder / CERTIFICATE).unlink(missing_ok=True)
    # nginx gets the key from the service manager: the page, which knows the people, does not need it.
    own = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    write_owner_only(folder / KEY, own, for_the_service=False)
    write_owner_only(folder / CERTIFICATE, made.public_bytes(Encoding.PEM))


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _names_of(found: x509.Certificate) -> tuple[str, ...]:
    try:
        answer = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    return (*answer.get_values_for_type(x509.DNSName), *map(str, answer.get_values_for_type(x509.IPAddress)))
