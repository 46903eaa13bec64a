"""The phases of a hand."""

from enum import StrEnum
from typing import Final, Self

from firmware.messages import Message


class Phase(StrEnum):
    """The phase of a hand, and its label, a word for people. The values are stored in journals: never rename one."""

    label: Message

    def __new__(cls, value: str, label: Message) -> Self:
        """Make a member from its stored value and its label."""
        phase = str.__new__(cls, value)
        phase._value_ = value
        phase.label = label
        return phase

    IDLE = "idle", Message("idle")
    DEALING = "dealing", Message("dealing")
    SETTING = "setting", Message("setting")
    PLACING = "placing", Message("placing")
    SHOWDOWN = "showdown", Message("showdown")
    READING = "reading", Message("reading")
    REVIEW = "review", Message("review")
    SETTLED = "settled", Message("settled")
    ARCHIVED = "archived", Message("archived")
    VOID = "void", Message("void")


BETWEEN_HANDS: Final = frozenset({Phase.IDLE, Phase.ARCHIVED, Phase.VOID})
"""No hand is open, so the next one can be opened."""

OPEN: Final = frozenset(Phase) - BETWEEN_HANDS
"""A hand is open, so it can be voided."""

BUTTON_FOLLOWS_PUCK: Final = frozenset({Phase.DEALING})
"""What the puck reader says counts only until the cards are dealt."""

BEFORE_CARDS: Final = frozenset({Phase.DEALING, Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN, Phase.READING})
"""A hand is open, and no card of it may have been seen yet."""

DECLARING: Final = frozenset({Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN, Phase.READING, Phase.REVIEW})
"""A natural may be declared until rows are compared (a profile's `naturals`)."""

SURRENDERING: Final = frozenset({Phase.SETTING, Phase.PLACING})
"""Surrender is offered before the showdown only (a profile's `surrender`)."""

MISDEALING: Final = frozenset({Phase.DEALING, Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN})
"""A misdeal is called before the rows are read."""

WATCHING: Final = frozenset({Phase.PLACING, Phase.READING})
"""The camera's readings of open seats are recorded."""
