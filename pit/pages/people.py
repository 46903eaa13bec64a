"""People at the pit: who they are, their sessions, and what they did; all in the pit's database.

A token is stored as its hash: anyone who reads the database cannot use a session. Passphrases are judged and limited as
in the review for other machines (`dealer_ui.web.log_in`).
"""

import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from flask import g, has_request_context

from dealer_ui.text.i18n import NP_
from dealer_ui.web.passphrases import (
    IDLE_S,
    LONGEST_PASSPHRASE,
    LONGEST_S,
    AccessError,
    check_name,
    check_passphrase,
    normalize,
)
from dealer_ui.web.sessions import Sessions
from firmware.access.pins import matches_verifier, verifier
from firmware.table.people import Person, Role
from pit.errors import DatabaseError
from pit.store.database import Connection, Database


class PitRole(StrEnum):
    """What a person may see at the pit. The values are stored."""

    FLOOR = "floor"
    AUDITOR = "auditor"
    TECHNICIAN = "technician"
    OWNER = "owner"


ROLE_NAMES: Final = {
    PitRole.FLOOR: NP_("role", "floor"),
    PitRole.AUDITOR: NP_("role", "auditor"),
    PitRole.TECHNICIAN: NP_("role", "technician"),
    PitRole.OWNER: NP_("role", "owner"),
}
EVERYONE: Final = frozenset(PitRole)
HANDS: Final = frozenset({PitRole.FLOOR, PitRole.AUDITOR, PitRole.OWNER})
"""Who may look at past hands: names and pictures of players are none of a technician's business."""
REPORTS: Final = frozenset({PitRole.FLOOR, PitRole.AUDITOR, PitRole.OWNER})
FLOOR: Final = frozenset({PitRole.FLOOR})
OPEN_SESSION: Final = (
    "person.person_id = session.person_id AND person.passphrase_id = session.passphrase_id"
    f" AND session.used_at > now() - {IDLE_S} * interval '1 second'"
    f" AND session.began_at > now() - {LONGEST_S} * interval '1 second'"
)
"""The condition under which a row of `session` is an open session of a row of `person`."""
LOOK_S: Final = 1.0
"""Seconds between two checks which sessions are open, for the streams."""


@dataclass(frozen=True)
class PitPerson:
    """The person of a session."""

    name: str
    role: PitRole


class PitPeople:
    """The people who may log in."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._one_at_a_time = threading.Lock()
        self._dummy_verifier: Final = verifier(secrets.token_hex(16))

    def add(self, name: str, role: PitRole, passphrase: str) -> str:
        """Let a person log in, or give them another role and passphrase; existing sessions end.

        Return the name as stored. Raises AccessError, DatabaseError.
        """
        name = check_name(name, (one.name for one in self.list_people()))
        passphrase = check_passphrase(passphrase, name)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT INTO person (name, role, passphrase_id, verifier) VALUES (%s, %s, %s, %s)"
                " ON CONFLICT (name) DO UPDATE SET role = excluded.role, verifier = excluded.verifier,"
                " passphrase_id = excluded.passphrase_id",
                (name, role.value, secrets.token_hex(8), json.dumps(verifier(passphrase))),
            )
        return name

    def remove(self, name: str) -> None:
        """Take a person's access away; existing sessions end. Raises AccessError, DatabaseError."""
        with self._database.transaction() as connection:
            if not connection.execute("DELETE FROM person WHERE name = %s", (name,)).rowcount:
                raise AccessError("%(name)s is not listed; see: feltwatch pit person list", name=name)

    def list_people(self) -> list[PitPerson]:
        """Return all people by name. Raises DatabaseError."""
        with self._database.transaction() as connection:
            rows = connection.execute("SELECT name, role FROM person ORDER BY name").fetchall()
        return [PitPerson(name, PitRole(role)) for name, role in rows]

    def identify(self, name: str, passphrase: str) -> str | None:
        """Return the passphrase's id if it is this person's; None for a wrong one, or a name that is not listed.

        A name that is not listed takes as long as a listed one. Checks run one at a time: each needs 32 MB.
        Raises DatabaseError.
        """
        name = " ".join(name.split())
        found = None
        if "\0" not in name:
            with self._database.transaction() as connection:
                found = connection.execute(
                    "SELECT passphrase_id, verifier FROM person WHERE name = %s", (name,)
                ).fetchone()
        with self._one_at_a_time:
            right = matches_verifier(
                json.loads(found[1]) if found else self._dummy_verifier,
                normalize(passphrase)[:LONGEST_PASSPHRASE],
            )
        return str(found[0]) if found and right else None


class PitSessions(Sessions):
    """Sessions in the database. Each ends when idle, too old, or without its passphrase."""

    cookie = "feltwatch_pit"

    def __init__(self, database: Database, *, secure: bool = False) -> None:
        """`secure`: the cookie travels over TLS only; browsers take one of such a name from no other host."""
        super().__init__()
        self._database = database
        self._looking = threading.Lock()
        self._clock = time.monotonic
        self._looked_at = float("-inf")
        self._tokens: frozenset[str] = frozenset()
        if secure:
            self.cookie = f"__Host-{self.cookie}"

    def open(self, name: str, passphrase_id: str) -> str:
        """Begin a session after a correct passphrase, and return its token."""
        token = secrets.token_urlsafe(32)
        with self._database.transaction() as connection:
            connection.execute(
                "DELETE FROM session WHERE began_at < now() - %s * interval '1 second'", (LONGEST_S,)
            )
            connection.execute(
                "INSERT INTO session (token_hash, person_id, passphrase_id)"
                " SELECT %s, person_id, %s FROM person WHERE name = %s",
                (_hash(token), passphrase_id, name),
            )
            connection.execute(
                "INSERT INTO act (person, role, what) SELECT name, role, 'log-in' FROM person WHERE name = %s",
                (name,),
            )
        return token

    def person(self, token: str | None) -> PitPerson | None:
        """Return the person of an open session, and extend it; looked up once in a request."""
        if not token:
            return None
        if has_request_context() and g.get("feltwatch_pit_token") == token:
            known: PitPerson | None = g.feltwatch_pit_person
            return known
        with self._database.transaction() as connection:
            row = connection.execute(
                f"UPDATE session SET used_at = now() FROM person WHERE token_hash = %s AND {OPEN_SESSION}"
                " RETURNING person.name, person.role",
                (_hash(token),),
            ).fetchone()
        person = PitPerson(row[0], PitRole(row[1])) if row else None
        if has_request_context():
            g.feltwatch_pit_token, g.feltwatch_pit_person = token, person
        return person

    def is_open(self, token: str | None) -> bool:
        """Return whether a session is open as of a second ago, without extending it: one query for all who ask.

        A database that is away closes none.
        """
        sought = _hash(token or "")
        with self._looking:
            if self._clock() - self._looked_at > LOOK_S or sought not in self._tokens:
                self._looked_at = self._clock()
                with suppress(DatabaseError), self._database.transaction() as connection:
                    self._tokens = frozenset(
                        row[0]
                        for row in connection.execute(
                            f"SELECT token_hash FROM session, person WHERE {OPEN_SESSION}"
                        )
                    )
            return sought in self._tokens

    def role(self, token: str | None, people: Iterable[Person] = ()) -> Role | None:
        """Return the role that the review's pages know: who may see hands reads as an auditor, and commands nothing."""
        person = self.person(token)
        if person is None:
            return None
        return Role.AUDITOR if person.role in HANDS else Role.TECHNICIAN

    def used(self, token: str, lasts_s: float | None = None) -> None:
        """Do nothing: reading a session extends it."""

    def left(self, token: str) -> tuple[str, float]:
        """Return a session's person and the seconds left; "" without one."""
        person = self.person(token)
        return (person.name, IDLE_S) if person else ("", 0.0)

    def end(self, token: str) -> None:
        """Forget a session."""
        with self._database.transaction() as connection:
            connection.execute("DELETE FROM session WHERE token_hash = %s", (_hash(token),))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def record_act(
    database: Database,
    person: PitPerson,
    what: str,
    record_id: int | None = None,
    hand: int | None = None,
    detail: str = "",
) -> None:
    """Record what a person did. Raises DatabaseError: then it is not done."""
    with database.transaction() as connection:
        add_act(connection, person, what, record_id, hand, detail)


def add_act(
    connection: Connection,
    person: PitPerson,
    what: str,
    record_id: int | None = None,
    hand: int | None = None,
    detail: str = "",
) -> int:
    """Record what a person does in this transaction, and return the act's number."""
    row = connection.execute(
        "INSERT INTO act (person, role, what, record_id, hand, detail) VALUES (%s, %s, %s, %s, %s, %s)"
        " RETURNING act_id",
        (person.name, person.role.value, what, record_id, hand, detail),
    ).fetchone()
    assert row is not None
    return int(row[0])
