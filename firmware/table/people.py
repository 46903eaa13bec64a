"""People, roles and sets of roles."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final, Literal

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
    counts the attempts since the last right PIN. `short`: the last right PIN has fewer digits than a new one must have.
    `badge` is the id of the tag in the person's badge ("" without one).
    """

    name: str
    role: Role
    pin: str = ""
    tried: int = 0
    short: bool = False
    badge: str = ""


PINS_FOLDER: Final = "pins"
"""The folder of the PINs' verifiers, in the data folder."""
PIN_ROLES: Final = frozenset({Role.FLOOR, Role.TECHNICIAN, Role.AUDITOR})
"""Roles that need a PIN."""

AT_TABLE: Final = frozenset({Role.DEALER, Role.FLOOR})
FLOOR: Final = frozenset({Role.FLOOR})
HOUSE: Final = frozenset({Role.FLOOR, Role.TECHNICIAN})
TECHNICIAN: Final = frozenset({Role.TECHNICIAN})
ANYBODY: Final = frozenset(Role)

Place = Literal["screen", "console", "badge"]
"""Where a PIN is entered; stored in journals. "badge": at the screen, with the person's own badge on the table."""
SCREEN: Final = "screen"
BADGE: Final = "badge"

FREE_TRIES: Final = 3
"""Wrong PINs in a row at one place before it waits for the first time."""
FIRST_WAIT_S: Final = 30.0
LONGEST_WAIT_S: Final = 60.0
"""The longest wait of a place: no stranger keeps a floor person out of a dispute for longer."""
ALARM_TRIES: Final = 5
"""Wrong PINs in a row, at one place or for one person, after which the table raises an alarm."""
MIN_DIGITS: Final = 6
"""Minimum number of digits of a new PIN. An older, shorter one stays valid; its owner is asked to change it."""
MAX_DIGITS: Final = 12


def wait_after(wrong: int) -> float:
    """Return the seconds that a place waits after so many wrong PINs in a row.

    >>> [wait_after(wrong) for wrong in (2, 3, 4, 5, 20)]
    [0.0, 30.0, 60.0, 60.0, 60.0]
    """
    if wrong < FREE_TRIES:
        return 0.0
    return FIRST_WAIT_S if wrong == FREE_TRIES else LONGEST_WAIT_S


def place_name(at: Place, person: str) -> str:
    """Return the name under which a place counts its wrong PINs: only the screen counts those of all people together.

    A stranger reaches neither console nor badge. So each person's tries are counted separately there.
    """
    return at if at == SCREEN else f"{at} {person}"


def wrong_after(wrong_pins: Mapping[str, int], at: Place, person: Person | None) -> dict[str, int]:
    """Return the places' wrong PINs after one more at this place, for this person (None: for an unlisted name).

    If PINs were tried often for this person, the screen waits at once. Otherwise somebody could try any number of PINs
    for another person, by entering their own right PIN now and then: that sets the screen's count back.
    """
    place = place_name(at, person.name if person else "")
    before = wrong_pins.get(place, 0)
    if person is not None and at == SCREEN:
        before = max(before, person.tried)
    return {**wrong_pins, place: before + 1}


def is_alarming(wrong_pins: Mapping[str, int], people: Iterable[Person]) -> bool:
    """Return whether so many wrong PINs were tried that a person has to look who tries them."""
    return max((*wrong_pins.values(), *(person.tried for person in people)), default=0) >= ALARM_TRIES


def person_meant(typed: str, people: Iterable[Person]) -> Person | None:
    """Return the person whom a typed name means: a whole name, or the first letters of one person who has a PIN.

    >>> person_meant("mor", [Person("Moreno", Role.FLOOR, "pin"), Person("Ng", Role.FLOOR, "pin")]).name
    'Moreno'
    """
    people, typed = tuple(people), " ".join(typed.split())
    for person in people:
        if person.name == typed:
            return person
    begun = [p for p in people if typed and p.pin and p.name.casefold().startswith(typed.casefold())]
    whole = [person for person in begun if person.name.casefold() == typed.casefold()]
    return (whole or begun)[0] if len(whole or begun) == 1 else None


def check_name(name: str, taken: Iterable[str] = (), most: int = names.LONGEST) -> str:
    """Return a new name in its stored form, or the taken name that it is. Raises CommandRefused (`names.new_name`)."""
    try:
        return names.new_name(name, taken, most)
    except names.NameRefused as error:
        raise CommandRefused(error.sentence) from error


def check_pin(pin: str) -> str:
    """Return the PIN. Raises CommandRefused for one that is too short or easily guessed."""
    if not (MIN_DIGITS <= len(pin) <= MAX_DIGITS and pin.isascii() and pin.isdigit()):
        raise CommandRefused("A PIN has %(least)s to %(most)s digits.", least=MIN_DIGITS, most=MAX_DIGITS)
    steps = {int(after) - int(before) for before, after in pairwise(pin)}
    counts = len(steps) == 1 and steps <= {0, 1, -1}
    repeats = any(pin == (pin[:size] * len(pin))[: len(pin)] for size in range(1, len(pin) // 2 + 1))
    if counts or repeats:
        raise CommandRefused(
            "That PIN is too easy to guess; choose one that does not count up or repeat its digits."
        )
    return pin
