"""People and roles, and the table of the roles that may give each command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import Final

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

_TABLE: Final = frozenset({Role.DEALER, Role.FLOOR})
_SETTING_UP: Final = frozenset({Role.TECHNICIAN})
_FLOOR: Final = frozenset({Role.FLOOR})
_HOUSE: Final = frozenset({Role.FLOOR, Role.TECHNICIAN})
_TECHNICIAN: Final = frozenset({Role.TECHNICIAN})
_LISTING: Final = frozenset({Role.FLOOR, Role.TECHNICIAN})

COMMAND_ROLES: Final[Mapping[str, frozenset[Role]]] = {
    "next": _TABLE,
    "confirm": _TABLE,
    "look_again": _TABLE,
    "key_button": _TABLE,
    "declare": _TABLE,
    "withdraw": _TABLE,
    "surrender": _TABLE,
    "withdraw_surrender": _TABLE,
    "undo_confirm": _TABLE,
    "set_card": _TABLE,
    "key_row": _TABLE,
    "mark_paid": _TABLE,
    "void": _TABLE,
    "misdeal": _TABLE,
    "resolve": _TABLE,
    "key_hand": _TABLE,
    "place_card": _TABLE,
    "archive": _TABLE,
    "undo_close": _TABLE,
    "open_hand": _TABLE,
    "back_to_setting": _TABLE,
    "keep_button": _TABLE,
    "reopen": _FLOOR,
    "mark_paid_back": _TABLE,
    "count_stack": _TABLE,
    "sit_out": _TABLE,
    "pass_round": _TABLE,
    "two_hands": _TABLE,
    "seat_player": _TABLE,
    "leave_seat": _TABLE,
    "rename_player": _TABLE,
    "buy_in": _TABLE,
    "add_on": _TABLE,
    "set_house": _HOUSE,
    "keep_profile": _FLOOR,
    "dispute": _FLOOR,
    "close_dispute": _FLOOR,
    "mark_reviewed": _FLOOR,
    "read_record_fault": _HOUSE,
    "sign_head": frozenset({*_TABLE, Role.TECHNICIAN}),
    "export_hand": frozenset({Role.FLOOR, Role.TECHNICIAN, Role.AUDITOR}),
    "drop_images": frozenset({Role.TECHNICIAN}),
    "log_on": _TABLE,
    "log_off": _TABLE,
    "unlock": frozenset(Role),
    "lock": frozenset(Role),
    "stay": PIN_ROLES,
    "list_person": _LISTING,
    "remove_person": _LISTING,
    "set_pin": _LISTING,
    "settle_step": _TECHNICIAN,
    "end_set_up": _TECHNICIAN,
    "try_device": _TECHNICIAN,
    "end_trial": _TECHNICIAN,
    "set_clock": _TECHNICIAN,
    "name_disk": _TECHNICIAN,
    "health": frozenset(Role),
    "look": _SETTING_UP,
    "calibrate_felt": _SETTING_UP,
    "calibrate_lens": _SETTING_UP,
    "enrol_deck": _SETTING_UP,
    "use_calibration": _SETTING_UP,
    "check_deck": _TABLE | _SETTING_UP,
    "job": _TABLE | _SETTING_UP,
}
"""The roles that may give each command. A command that is not listed is refused for every role."""

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


def check_name(name: str) -> str:
    """Return a name in its stored form. Raises CommandRefused for an invalid name."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= 40 or not name.isprintable():
        raise CommandRefused("A name has 1 to 40 letters.")
    return name


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
