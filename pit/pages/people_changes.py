"""The changes that owners make to people, each in one transaction with its act, under one lock of the database.

The person who changes something must still be an owner at that moment, and cannot change their own role: so an owner is
always left, even if two owners change something at once. At the console (`pit/cli/people.py`) root can add an owner
without being one.
"""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from dealer_ui.web.passphrases import AccessError, check_name, check_passphrase
from firmware.access.pins import verifier
from firmware.record.evidence.signing import fingerprint
from pit.pages.people import PitPerson, PitRole, add_act
from pit.store.database import Connection, Database

LARGEST: Final = 1 << 62
"""A number from an address has to be smaller: PostgreSQL takes no integer beyond 64 bits."""


class NoOwner(AccessError):
    """The person who asks for a change is no longer an owner."""


class PersonNotListed(AccessError):
    """Nobody has this number."""


def make_passphrase() -> str:
    """Return a random passphrase, for a person to write down."""
    return fingerprint(secrets.token_bytes(32))


def add(database: Database, by: PitPerson, name: str, role: PitRole, passphrase: str) -> int:
    """Add a person, who may then log in; return the act's number. Raises AccessError, DatabaseError."""
    name = check_name(name, ())
    stored = json.dumps(verifier(check_passphrase(passphrase, name)))
    with _lock_people(database, by) as connection:
        listed = connection.execute("SELECT name FROM person ORDER BY name").fetchall()
        name = check_name(name, (one for (one,) in listed))
        if not connection.execute(
            "INSERT INTO person (name, role, passphrase_id, verifier) VALUES (%s, %s, %s, %s)"
            " ON CONFLICT (name) DO NOTHING",
            (name, role.value, secrets.token_hex(8), stored),
        ).rowcount:
            raise AccessError("%(name)s is listed already. Choose the name in the list.", name=name)
        return add_act(connection, by, "people.add", detail=f"{name}: {role.value}")


def change_role(database: Database, by: PitPerson, person_id: int, role: PitRole) -> int:
    """Change another person's role; return the act's number. Raises AccessError, DatabaseError."""
    with _lock_people(database, by) as connection:
        name = _name_of_other(connection, by, person_id)
        connection.execute("UPDATE person SET role = %s WHERE person_id = %s", (role.value, person_id))
        return add_act(connection, by, "people.role", detail=f"{name}: {role.value}")


def change_passphrase(database: Database, by: PitPerson, person_id: int, passphrase: str) -> int:
    """Change a person's passphrase, which ends their sessions; return the act's number.

    Raises AccessError, DatabaseError.
    """
    with database.transaction() as connection:
        passphrase = check_passphrase(passphrase, name_of(connection, person_id))
    stored = json.dumps(verifier(passphrase))
    with _lock_people(database, by) as connection:
        name = name_of(connection, person_id)
        connection.execute(
            "UPDATE person SET passphrase_id = %s, verifier = %s WHERE person_id = %s",
            (secrets.token_hex(8), stored, person_id),
        )
        return add_act(connection, by, "people.passphrase", detail=name)


def remove(database: Database, by: PitPerson, person_id: int) -> int:
    """Remove another person, which ends their sessions; return the act's number.

    Raises AccessError, DatabaseError.
    """
    with _lock_people(database, by) as connection:
        name = _name_of_other(connection, by, person_id)
        connection.execute("DELETE FROM person WHERE person_id = %s", (person_id,))
        return add_act(connection, by, "people.remove", detail=name)


def name_of(connection: Connection, person_id: int) -> str:
    """Return a person's name. Raises PersonNotListed."""
    row = None
    if person_id < LARGEST:
        row = connection.execute("SELECT name FROM person WHERE person_id = %s", (person_id,)).fetchone()
    if row is None:
        raise PersonNotListed("This person is not listed any more.")
    return str(row[0])


@contextmanager
def _lock_people(database: Database, by: PitPerson) -> Iterator[Connection]:
    """Yield a transaction in which nobody else changes people, and `by` is an owner. Raises NoOwner."""
    with database.transaction() as connection:
        connection.execute("LOCK TABLE person IN SHARE ROW EXCLUSIVE MODE")
        owner = connection.execute(
            "SELECT FROM person WHERE name = %s AND role = %s", (by.name, PitRole.OWNER.value)
        ).fetchone()
        if owner is None:
            raise NoOwner("This page is not for your role.")
        yield connection


def _name_of_other(connection: Connection, by: PitPerson, person_id: int) -> str:
    name = name_of(connection, person_id)
    if name == by.name:
        raise AccessError(
            "You cannot take away your own role or access. Another owner can, so that one owner is always left."
        )
    return name
