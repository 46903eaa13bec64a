"""The phases of a hand."""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """The phase of a hand. The values are stored in journals: never rename one."""

    IDLE = "idle"
    DEALING = "dealing"
    SETTING = "setting"
    PLACING = "placing"
    SHOWDOWN = "showdown"
    READING = "reading"
    REVIEW = "review"
    SETTLED = "settled"
    ARCHIVED = "archived"
    VOID = "void"


BETWEEN_HANDS: Final = frozenset({Phase.IDLE, Phase.ARCHIVED, Phase.VOID})
"""No hand is open, so the next one can be opened."""

OPEN: Final = frozenset(Phase) - BETWEEN_HANDS
"""A hand is open, so it can be voided."""

BUTTON_FOLLOWS_PUCK: Final = frozenset({Phase.DEALING})
"""The puck moves the button only until the cards are dealt."""

DECLARING: Final = frozenset({Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN, Phase.READING, Phase.REVIEW})
"""A natural may be declared until rows are compared (RULES.md 5.3)."""

SURRENDERING: Final = frozenset({Phase.SETTING, Phase.PLACING})
"""Surrender is offered before the showdown only (RULES.md 6)."""

MISDEALING: Final = frozenset({Phase.DEALING, Phase.SETTING, Phase.PLACING, Phase.SHOWDOWN})
"""A misdeal is called before the rows are read."""

WATCHING: Final = frozenset({Phase.PLACING, Phase.READING})
"""The camera's readings of open seats are recorded."""
