"""The events of the camera's set-up: calibrations of felt and lens, decks enrolled and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from firmware.table.events.base import Event
from firmware.table.seen import Capture

Calibrates = Literal["felt", "lens", "deck"]
"""What can be calibrated: the felt's position, the lens distortion, the faces of the house's deck."""


@dataclass(frozen=True)
class Calibration:
    """A calibration: `hash` is the SHA-256 of its text in the journal's content table.

    `name` is the deck's. `stands_on` are the hashes on which it depends: for a felt those of its "layout" and "lens"
    ("": none), for a deck that of its "model". `figures` are measurements for people to compare.
    """

    hash: str
    name: str = ""
    stands_on: dict[str, str] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Calibrated(Event):
    """The felt or the lens was calibrated, or an earlier calibration is used again; `frame` is a picture of it.

    `moved` is a felt's movement since the previous calibration (`vision.felt.calibration.Movement`).
    """

    type: ClassVar[str] = "calibrated"
    what: Literal["felt", "lens"]
    calibration: Calibration
    frame: Capture | None = None
    moved: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class DeckEnrolled(Event):
    """The house's deck was learnt, or one learnt earlier is used again."""

    type: ClassVar[str] = "deck_enrolled"
    calibration: Calibration
    frame: Capture | None = None


@dataclass(frozen=True)
class CalibrationDropped(Event):
    """A calibration is no longer used."""

    type: ClassVar[str] = "calibration_dropped"
    what: Calibrates


@dataclass(frozen=True)
class DeckChecked(Event):
    """A deck was counted card by card.

    `seen` is how many of the 52 cards were found, `missing` are the others. `twice` are cards found twice, in one round
    or in two. `unsure` counts the cards that could not be named; `jokers` and `backs` (cards face down) are counted
    too. `frames` are the pictures of the rounds.
    """

    type: ClassVar[str] = "deck_checked"
    seen: int
    missing: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    unsure: int = 0
    jokers: int = 0
    backs: int = 0
    rounds: int = 1
    deck: str = ""
    frames: tuple[Capture, ...] = ()

    @property
    def whole(self) -> bool:
        """Whether it has all 52 cards, each once, and nothing else."""
        return self.seen == 52 and not (self.twice or self.unsure or self.jokers or self.backs)
