"""Tables are brought in by a code that is good once and for fifteen minutes.

A technician makes a code at the pit's page or with `feltwatch pit table add`. The table asks with it, both screens show
five words, and once both technicians have said that they are the same, the door gives the table its certificate. Every
other end is a sentence, which both screens show.
"""

import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Literal

import psycopg.errors
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding
from psycopg import sql
from psycopg.rows import TupleRow

from firmware.messages import Message, text_to_store
from firmware.names import normal_spelling
from firmware.record.evidence.signing import signed_by
from firmware.table.errors import TableError
from firmware.uplink import enrolment as wire
from firmware.uplink.code import Code
from firmware.uplink.enrolment import (
    ANOTHER_TABLE,
    GIVEN_UP,
    KNOWN_WITNESS,
    LATE,
    NO_KEY,
    NO_NUMBER,
    REPLACED,
    STRUCK,
    TWICE,
    UNKNOWN,
    UNLIKE_PIT,
    UNLIKE_TABLE,
    USED,
)
from pit.authority import Authority, key_of_request
from pit.errors import AuthorityError, EnrolmentRefused, PitError
from pit.status.tables import end_codes, keep_witness, known_name, new_table, serial_text
from pit.store.database import Connection, Database
from pit.store.facts import fact, set_fact

GOOD_FOR: Final = timedelta(minutes=15)
Stage = Literal["shown", "compare", "waits", "done", "dead"]


@dataclass(frozen=True)
class Enrolment:
    """A code and what came of it. `code` is its text while it lives; `why` says how it ended, None for well.

    `refused` says why it was used in vain last, at `refused_at`; it may live on.
    """

    number: int
    name: str
    code: str
    ends_at: datetime
    words: str
    pit_said: str
    table_said: str
    ended_at: datetime | None
    why: Message | None
    refused_at: datetime | None
    refused: Message | None

    @property
    def stage(self) -> Stage:
        """How far it is: shown, words to compare here, waits for the table's technician, or over."""
        if self.ended_at is not None:
            return "dead" if self.why else "done"
        if not self.words:
            return "shown"
        return "waits" if self.pit_said else "compare"


_SEEN: Final = (
    "enrolment_id, name, coalesce(code, ''), ends_at, words, pit_said, table_said, ended_at, why, refused_at,"
    " refused"
)


def remember(database: Database, authority: Authority) -> None:
    """Write the authority's certificate into the database, for pages that may not see its folder."""
    with database.transaction() as connection:
        set_fact(connection, "authority", authority.pem.decode())


def make_code(
    database: Database, name: str, addresses: tuple[str, ...], by: str, *, renews: bool = False
) -> int:
    """Make a code for a table; return its number. `addresses` are the pit's, for the table.

    `renews`: the table is known, and is to get new keys. Raises PitError.
    """
    name = (known_name if renews else new_table)(database, name)
    pem = fact(database, "authority")
    if not pem:
        raise PitError("The pit's service has not run yet: it makes the authority. Start feltwatch-pit.")
    try:
        der = x509.load_pem_x509_certificate(pem.encode()).public_bytes(Encoding.DER)
        code = Code.make(addresses, der)
    except TableError as error:
        raise PitError(error.sentence) from error
    if not code.addresses:
        raise PitError("The pit's address is missing, such as 192.168.1.10.")
    with database.transaction() as connection:
        set_fact(connection, "addresses", " ".join(code.addresses))
        end_codes(connection, sql.SQL("name = {}").format(name), REPLACED)
        row = connection.execute(
            "INSERT INTO enrolment (name, renews, code_name, code_key, code, made_by, ends_at)"
            " VALUES (%s, %s, %s, %s, %s, %s, now() + %s) RETURNING enrolment_id",
            (name, renews, code.name, code.key(), code.text, by, GOOD_FOR),
        ).fetchone()
    assert row is not None
    return int(row[0])


def look_at_code(database: Database, number: int) -> Enrolment | None:
    """Return a code and how far it is; one whose time is over ends by this look."""
    with database.transaction() as connection:
        end_codes(connection, sql.SQL("enrolment_id = {} AND ends_at < now()").format(number), LATE)
        row = connection.execute(
            f"SELECT {_SEEN} FROM enrolment WHERE enrolment_id = %s", (number,)
        ).fetchone()
    return None if row is None else _enrolment(row)


def compare(database: Database, number: int, by: str, *, same: bool) -> None:
    """Say at the pit whether the words are the same. Raises PitError if there is nothing to compare."""
    with database.transaction() as connection:
        found = connection.execute(
            "UPDATE enrolment SET pit_said = %s, pit_said_by = %s WHERE enrolment_id = %s AND ended_at IS NULL"
            " AND words <> '' AND pit_said = ''",
            ("same" if same else "other", by, number),
        )
        if not found.rowcount:
            raise PitError("There are no words to compare now.")
        if not same:
            end_codes(connection, sql.SQL("enrolment_id = {}").format(number), UNLIKE_PIT)


def give_up(database: Database, number: int) -> None:
    """End a code that is not to be used."""
    with database.transaction() as connection:
        end_codes(connection, sql.SQL("enrolment_id = {}").format(number), GIVEN_UP)


def answer(
    database: Database, authority: Authority, body: bytes, proof: str, log: Callable[[str], None]
) -> tuple[bytes, str]:
    """Answer a table's request; return the body and its HMAC. Raises EnrolmentRefused, AuthorityError.

    An end by this very request is stored although it is refused.
    """
    request = wire.Request.from_bytes(body)
    keys = authority.keys
    words = wire.words(authority.der, keys, request)
    refused: Message | None = None
    answer: dict[str, Any] = {}
    with database.transaction() as connection:
        row = connection.execute(
            f"SELECT {_SEEN}, code_key, renews, certificate, ends_at < now() FROM enrolment"
            " WHERE code_name = %s FOR UPDATE",
            (request.code,),
        ).fetchone()
        wanted = wire.of_table(bytes(row[11]), body) if row is not None else ""
        if row is None or not hmac.compare_digest(wanted.encode(), proof.encode()):
            raise EnrolmentRefused(UNKNOWN)
        one = _enrolment(row)
        key, renews, certificate, is_late = row[11:]
        refused = _judge(connection, words, one, request, is_late=bool(is_late))
        if refused is None and certificate is None:
            certificate = _proceed(connection, authority, words, one, request, renews=bool(renews))
            refused = UNLIKE_TABLE if request.says == "other" else None
        if refused is not None:
            connection.execute(
                "UPDATE enrolment SET refused_at = now(), refused = %s WHERE enrolment_id = %s",
                (text_to_store(refused), one.number),
            )
        elif certificate is not None:
            answer = {"certificate": certificate, "name": one.name}
    if refused is not None:
        log(f"an enrolment of {one.name!r} was refused: {refused}")
        raise EnrolmentRefused(refused)
    data = json.dumps(vars(keys) | answer).encode()
    return data, wire.of_pit(bytes(key), body, data)


def _judge(
    connection: Connection, words: str, one: Enrolment, request: wire.Request, *, is_late: bool
) -> Message | None:
    """Return why a request is refused, None if it is not; what ends the code is written.

    The words cover all that a table asks for. So a request with other words is another table's, also after both
    technicians have compared them.
    """
    where = sql.SQL("enrolment_id = {}").format(one.number)
    is_another = bool(one.words) and one.words != words
    if one.ended_at is not None:
        if one.why is None and not is_another:
            return None  # its answer was lost on the way
        return USED if one.why is None else one.why
    if is_late:
        end_codes(connection, where, LATE)
        return LATE
    if is_another:
        end_codes(connection, where, TWICE)
        return TWICE
    return _unfit(connection, one, request)


def _unfit(connection: Connection, one: Enrolment, request: wire.Request) -> Message | None:
    """Return why a request cannot be taken; the code lives on, for the right table."""
    if not request.table.strip():
        return NO_NUMBER
    if not is_called(one.name, request.table):
        return Message(ANOTHER_TABLE.message, name=one.name, table=request.table)
    if not signed_by(
        bytes.fromhex(request.device_key), bytes.fromhex(request.proof), wire.device_text(request.code)
    ):
        return NO_KEY
    try:
        key_of_request(request.certificate)
    except AuthorityError as error:
        return error.sentence
    if why := _with_its_witness(connection, one, request):
        return why
    struck = connection.execute(
        "SELECT FROM gaming_table t JOIN enrolment e USING (name) WHERE enrolment_id = %s AND renews"
        " AND struck_at > made_at",
        (one.number,),
    ).fetchone()
    return None if struck is None else Message(STRUCK.message, name=one.name)


def _with_its_witness(connection: Connection, one: Enrolment, request: wire.Request) -> Message | None:
    other = connection.execute(
        "SELECT name FROM gaming_table WHERE witness_key = %s AND struck_at IS NULL AND name <> %s",
        (bytes.fromhex(request.witness_key), one.name),
    ).fetchone()
    return None if other is None else Message(KNOWN_WITNESS.message, name=other[0])


def is_called(name: str, number: str) -> bool:
    """Return whether a table of this name may have this number.

    >>> is_called("Table 7", "7"), is_called("Table 7", "17"), is_called("VIP 2 north", "2")
    (True, False, True)
    """
    words, wanted = (normal_spelling(text).casefold().split() for text in (name, number))
    return bool(wanted) and any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def _proceed(
    connection: Connection,
    authority: Authority,
    words: str,
    one: Enrolment,
    request: wire.Request,
    *,
    renews: bool,
) -> str | None:
    """Store what a table asks and says; return its certificate once both technicians agree."""
    connection.execute(
        "UPDATE enrolment SET request = %s, device_key = %s, witness_key = %s, words = %s, table_said = %s"
        " WHERE enrolment_id = %s",
        (
            request.certificate,
            bytes.fromhex(request.device_key),
            bytes.fromhex(request.witness_key),
            words,
            request.says,
            one.number,
        ),
    )
    where = sql.SQL("enrolment_id = {}").format(one.number)
    if request.says == "other":
        end_codes(connection, where, UNLIKE_TABLE)
        return None
    if not (request.says == "same" and one.pit_said == "same"):
        return None
    certificate, serial = authority.sign(request.certificate, one.name)
    keys = (serial_text(serial), bytes.fromhex(request.device_key), bytes.fromhex(request.witness_key))
    try:
        with connection.transaction():
            if renews:
                keep_witness(connection, one.name)
                connection.execute(
                    "UPDATE gaming_table SET serial = %s, device_key = %s, witness_key = %s, struck_at = NULL"
                    " WHERE name = %s",
                    (*keys, one.name),
                )
            else:
                connection.execute(
                    "INSERT INTO gaming_table (serial, device_key, witness_key, name) VALUES (%s, %s, %s, %s)",
                    (*keys, one.name),
                )
    except psycopg.errors.UniqueViolation as error:
        raise EnrolmentRefused(
            _with_its_witness(connection, one, request)
            or Message("There is a table %(name)s already.", name=one.name)
        ) from error
    connection.execute(
        "UPDATE enrolment SET ended_at = now(), code = NULL, certificate = %s WHERE enrolment_id = %s",
        (certificate, one.number),
    )
    return certificate


def _enrolment(row: TupleRow) -> Enrolment:
    number, name, code, ends_at, words, pit, table, ended_at, why, refused_at, refused = row[:11]
    return Enrolment(
        *(number, name, code, ends_at, words, pit, table, ended_at),
        why=_message(why),
        refused_at=refused_at,
        refused=_message(refused),
    )


def _message(text: str) -> Message | None:
    return Message.from_json(json.loads(text)) if text else None
