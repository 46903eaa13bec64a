"""All defects of an arrangement."""

from __future__ import annotations

from enum import IntFlag

from firmware.rules.cards import UNREAD
from firmware.rules.foul import Fault, middle_fault
from firmware.rules.profiles.profile import Profile
from firmware.rules.rows import Rows


class Status(IntFlag):
    """The defects of an arrangement. The first eight are irregularities, the others make a foul."""

    VALID = 0
    FRONT_TOO_FEW = 1
    FRONT_TOO_MANY = 2
    MIDDLE_TOO_FEW = 4
    MIDDLE_TOO_MANY = 8
    BACK_TOO_FEW = 16
    BACK_TOO_MANY = 32
    CARD_TWICE = 64
    UNREAD_CARD = 128
    FRONT_ABOVE_MIDDLE = 256
    FRONT_ABOVE_BACK = 512
    MIDDLE_ABOVE_BACK = 1024
    MIDDLE_EQUALS_BACK = 2048
    MIDDLE_SUIT_ABOVE_BACK = 4096


IRREGULAR = Status(255)
"""The defects that stop a settlement."""

_COUNTS = (
    (Status.FRONT_TOO_FEW, Status.FRONT_TOO_MANY),
    (Status.MIDDLE_TOO_FEW, Status.MIDDLE_TOO_MANY),
    (Status.BACK_TOO_FEW, Status.BACK_TOO_MANY),
)
_MIDDLE_FAULTS = {
    Fault.MIDDLE_ABOVE_BACK: Status.MIDDLE_ABOVE_BACK,
    Fault.MIDDLE_EQUALS_BACK: Status.MIDDLE_EQUALS_BACK,
    Fault.MIDDLE_SUIT_ABOVE_BACK: Status.MIDDLE_SUIT_ABOVE_BACK,
}


def status(rows: Rows, profile: Profile) -> Status:
    """Return every defect of an arrangement; complete, read rows are compared even if others are not.

    >>> from firmware.rules import load_profile
    >>> status(Rows.parse("As Ah Kd / 2c 3d / 7c 7d 7h 7s As"), load_profile("washington-1-unit"))
    <Status.MIDDLE_TOO_FEW|CARD_TWICE: 68>
    """
    found = Status.VALID
    strengths = [0, 0, 0]
    for index, ((_, cards, size), (too_few, too_many)) in enumerate(zip(rows.named(), _COUNTS, strict=True)):
        if len(cards) < size:
            found |= too_few
        elif len(cards) > size:
            found |= too_many
        if UNREAD in cards:
            found |= Status.UNREAD_CARD
        elif len(set(cards)) == len(cards) == size:
            strengths[index] = profile.scale.strength(cards)
    known = [card for card in rows.cards if card is not UNREAD]
    if len(set(known)) < len(known):
        found |= Status.CARD_TWICE
    front, middle, back = strengths
    if middle and front > middle:
        found |= Status.FRONT_ABOVE_MIDDLE
    if back and front > back:
        found |= Status.FRONT_ABOVE_BACK
    if middle and back and (fault := middle_fault(middle, back, rows, profile)):
        found |= _MIDDLE_FAULTS[fault]
    return found
