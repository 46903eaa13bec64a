"""The events of setting the camera up: felt and lens calibrated, a deck enrolled, a deck checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from firmware.table.events.base import Event
from firmware.table.seen import Capture

Calibrates = Literal["felt", "lens", "deck"]
"""What can be calibrated: where the felt lies, how the lens bends, how the house's own deck looks."""


@dataclass(frozen=True)
class Calibration:
    """What the camera reads by: the SHA-256 of a text in the journal's content table.

    `name` is the deck's. `stands_on` are hashes without which it means nothing: a felt's of its "layout" and "lens"
    ("": none), a deck's of its "model". `figures` are for people to compare.
    """

    hash: str
    name: str = ""
    stands_on: dict[str, str] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Calibrated(Event):
    """The felt or the lens was calibrated, or an earlier calibration is used again; `frame` is a picture of it.

    `moved` is what a felt moved by since the calibration before: `vision.felt.calibration.Movement`.
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
    """The camera reads without this from now on."""

    type: ClassVar[str] = "calibration_dropped"
    what: Calibrates


@dataclass(frozen=True)
class DeckChecked(Event):
    """A deck was counted card by card.

    `seen` of the 52 are there; `missing` are not; `twice` lay there twice or in two rounds; `unsure` cards could not be
    named; `jokers` and cards face down (`backs`) lay among them. `frames` are the rounds' pictures.
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
        """Whether it is 52 cards, each once, and nothing else."""
        return self.seen == 52 and not (self.twice or self.unsure or self.jokers or self.backs)
