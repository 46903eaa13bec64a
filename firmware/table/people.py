"""People, roles and sets of roles."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

from firmware import names
from firmware.table.errors import CommandRefused


class Role(StrEnum):
    """A person's role at the table. The values are stored in journals: never rename one."""

    DEALER = "dealer"
    FLOOR = "floor"
    TECHNICIAN = "technician"
    AUDITOR = "auditor"


@dataclass(frozen=True)
class Person:
    """A person on the house's list.

    `pin` is the id of the verifier in the PIN store ("" without a PIN), and reveals nothing about the PIN. `tried`
    counts the attempts since the last right PIN.
    """

    name: str
    role: Role
    pin: str = ""
    tried: int = 0


PINS_FOLDER: Final = "pins"
"""The folder of the PINs' verifiers, in the data folder."""
PIN_ROLES: Final = frozenset({Role.FLOOR, Role.TECHNICIAN, Role.AUDITOR})
"""Roles that need a PIN."""

AT_TABLE: Final = frozenset({Role.DEALER, Role.FLOOR})
FLOOR: Final = frozenset({Role.FLOOR})
HOUSE: Final = frozenset({Role.FLOOR, Role.TECHNICIAN})
TECHNICIAN: Final = frozenset({Role.TECHNICIAN})
ANYBODY: Final = frozenset(Role)

FREE_TRIES: Final = 3
"""Wrong PINs in a row before the first lock-out."""
FIRST_LOCK_S: Final = 30.0
LONGEST_LOCK_S: Final = 3600.0


def locked_for(tried: int) -> float:
    """Return the seconds that a person is locked out after so many wrong PINs in a row.

    >>> [locked_for(tried) for tried in (2, 3, 4, 5, 20)]
    [0.0, 30.0, 60.0, 120.0, 3600.0]
    """
    if tried < FREE_TRIES:
        return 0.0
    return min(LONGEST_LOCK_S, FIRST_LOCK_S * 2.0 ** min(tried - FREE_TRIES, 10))


def check_name(name: str, taken: Iterable[str] = (), most: int = names.LONGEST) -> str:
    """Return a new name in its stored form, or the taken name that it is. Raises CommandRefused (`names.new_name`)."""
    try:
        return names.new_name(name, taken, most)
    except names.NameRefused as error:
        raise CommandRefused(error.sentence) from error


def check_pin(pin: str) -> str:
    """Return the PIN. Raises CommandRefused for one that is too short or easily guessed."""
    if not (4 <= len(pin) <= 12 and pin.isascii() and pin.isdigit()):
        raise CommandRefused("A PIN has 4 to 12 digits.")
    steps = {int(after) - int(before) for before, after in pairwise(pin)}
    if len(steps) == 1 and steps <= {0, 1, -1}:
        raise CommandRefused(
            "That PIN is too easy to guess; choose one that does not count up or repeat one digit."
        )
    return pin
