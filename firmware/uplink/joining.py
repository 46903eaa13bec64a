"""Brings this table in at a pit, by a one-time code: the program behind the table's page.

It compares the pit's authority with the code before it says anything, asks for a certificate, shows five words, and
writes the enrolment once the technicians on both sides have compared them. Keys are made here and never leave the box.
"""

import http.client
import json
import os
import ssl
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

from firmware.messages import Message
from firmware.record.evidence.signing import DeviceKey
from firmware.record.journal.disk import write_whole
from firmware.uplink import enrolment, settings
from firmware.uplink.code import Code, parse
from firmware.uplink.enrolment import EnrolmentError, Keys, Request, Says
from firmware.uplink.errors import PitRefusal, PitUnreachable, UplinkError
from firmware.uplink.join_request import JoinProgress, JoinRequest

LOOK_EVERY_S: Final = 1.0
"""Seconds between two requests while a technician compares the words."""
WITHIN_S: Final = 15 * 60.0
"""Seconds after which the table gives up; the code is dead by then."""
ANSWER_WITHIN_S: Final = 10.0
MAX_TRIES: Final = 20
"""Requests in a row that a pit may leave unanswered, once it has answered."""
ANOTHER_PIT: Final = Message(
    "The pit at %(address)s is not the one that made this code. Nothing was sent. Tell the house's technician."
)


class _Pit:
    """The pit's two routes for a table that has no certificate yet."""

    def __init__(self, address: str, code: Code) -> None:
        """Compare the authority's certificate with the code. Raises PitUnreachable, PitRefusal."""
        self.address = address
        self._code = code
        host, port = settings.split_address(address) or ("", None)
        self._at = (host, port or 0)
        bare = settings.bare_context()
        bare.verify_mode = ssl.CERT_NONE
        pem = self._ask(bare, "GET", enrolment.AUTHORITY_PATH, b"", {})[0]
        try:
            self.authority = x509.load_pem_x509_certificate(pem).public_bytes(Encoding.DER)
        except ValueError as error:
            raise PitUnreachable("What answers at %(address)s is no pit.", address=address) from error
        if not code.is_of(self.authority):
            raise PitRefusal(Message(ANOTHER_PIT.message, address=address))
        self.pem = ssl.DER_cert_to_PEM_cert(self.authority).encode()
        self._context = settings.bare_context()
        self._context.load_verify_locations(cadata=self.pem.decode())

    def ask(self, request: Request) -> tuple[Keys, str]:
        """Send a request; return the pit's keys, and this table's certificate or "".

        Raises PitUnreachable, PitRefusal.
        """
        body, key = request.to_bytes(), self._code.key()
        sent = {enrolment.HEADER: enrolment.of_table(key, body), "Content-Type": "application/json"}
        data, proof = self._ask(self._context, "POST", enrolment.PATH, body, sent)
        if proof != enrolment.of_pit(key, body, data):
            raise PitRefusal(Message(ANOTHER_PIT.message, address=self.address))
        try:
            return enrolment.keys_in_answer(data)
        except EnrolmentError as error:
            raise PitRefusal(error.sentence) from error

    def _ask(
        self, context: ssl.SSLContext, method: str, path: str, body: bytes, headers: dict[str, str]
    ) -> tuple[bytes, str]:
        connection = http.client.HTTPSConnection(*self._at, timeout=ANSWER_WITHIN_S, context=context)
        try:
            with closing(connection):
                connection.request(method, path, body or None, headers)
                answer = connection.getresponse()
                data = answer.read(enrolment.MAX_BYTES + 1)
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise PitUnreachable(
                "The pit at %(address)s cannot be reached (%(why)s). Look at the address and the network cable.",
                address=self.address,
                why=getattr(error, "strerror", None) or str(error) or type(error).__name__,
            ) from error
        if answer.status == http.HTTPStatus.OK and len(data) <= enrolment.MAX_BYTES:
            return data, answer.headers.get(enrolment.HEADER, "")
        if answer.status >= http.HTTPStatus.INTERNAL_SERVER_ERROR or answer.status == 429:
            raise PitUnreachable(_reason(data))
        raise PitRefusal(_reason(data))


def join(
    order: JoinRequest,
    folder: Path,
    witness: Path,
    show: Callable[[JoinProgress], None],
    says: Callable[[], Says],
    wait: Callable[[float], object] = time.sleep,
) -> None:
    """Bring the table in, and write its enrolment into `folder`, complete or not at all.

    `order`: what the page asks this program to do. `witness`: the folder of the uplink's own key, which cosigns what
    the pit shows; made if there is none. `show` gets each progress; `says` returns whether the technician at this table
    found the same words. Raises UplinkError: then nothing was enrolled, and the pit's screen says why, too.
    """
    code = parse(order.code)
    progress = JoinProgress(order.id, "reaching")
    show(progress)
    pit = _first_that_answers(code)
    key = ec.generate_private_key(ec.SECP256R1())
    request = Request(
        code.name,
        _certificate_request(key, order.table),
        order.device_key,
        order.proof,
        DeviceKey.open(witness).public.hex(),
        order.table,
    )
    keys, certificate = pit.ask(request)
    words = enrolment.words(pit.authority, keys, request)
    progress = replace(progress, step="compare", words=words, pit=pit.address)
    ends = time.monotonic() + WITHIN_S
    tries = 0
    while not certificate:
        if time.monotonic() > ends:
            raise PitRefusal(Message("Nobody compared the words in time. Begin again with a new code."))
        if request.says:
            progress = replace(progress, step="waiting")
        show(progress)
        wait(LOOK_EVERY_S)
        request = replace(request, says=request.says or says())
        try:
            keys_now, certificate = pit.ask(request)
            tries = 0
        except PitUnreachable:
            tries += 1
            if tries > MAX_TRIES:
                raise
            continue
        if keys_now != keys:  # the words that people compare are those of the earlier keys
            raise PitRefusal(Message(ANOTHER_PIT.message, address=pit.address))
    own = [pit.address, *(one for one in code.addresses if one != pit.address)]
    files = {
        settings.AUTHORITY: pit.pem,
        settings.CERTIFICATE: certificate.encode(),
        settings.KEY: key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        settings.HOUSE: f"{keys.house}\n".encode(),
        settings.LOG: f"{keys.log}\n".encode(),
        # written last: once it is there, the enrolment is complete
        settings.FILE: settings.text_of(own).encode(),
    }
    _write(folder, files)


def _first_that_answers(code: Code) -> _Pit:
    """Return the pit at the first of the code's addresses that answers. Raises PitUnreachable, PitRefusal."""
    first_error: PitUnreachable | None = None
    for address in code.addresses:
        try:
            return _Pit(address, code)
        except PitUnreachable as error:
            first_error = first_error or error
    assert first_error is not None
    raise first_error


def _certificate_request(key: ec.EllipticCurvePrivateKey, table: str) -> str:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, (table or "table")[:64])])
    request = x509.CertificateSigningRequestBuilder().subject_name(name).sign(key, hashes.SHA256())
    return request.public_bytes(Encoding.PEM).decode()


def _write(folder: Path, files: dict[str, bytes]) -> None:
    before = os.umask(0o077)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (folder / settings.FILE).unlink(missing_ok=True)
        for name, data in files.items():
            write_whole(folder / name, data)
    except OSError as error:
        raise UplinkError(
            "The enrolment cannot be written to %(folder)s (%(why)s).", folder=str(folder), why=error
        ) from error
    finally:
        os.umask(before)


def _reason(data: bytes) -> Message:
    """Return the sentence of a refusal."""
    try:
        value = json.loads(data)
        return Message.from_json({"message": value["message"], "args": value["args"]})
    except (ValueError, LookupError, TypeError, RecursionError):
        return Message("The pit refuses, without a reason that this release understands.")
