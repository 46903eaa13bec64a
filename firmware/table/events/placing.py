"""The events of face-up play and of keyed hands; `firmware.table.events` lists all events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from firmware.table.events.base import Event
from firmware.table.seen import Capture, CardReading, Row


@dataclass(frozen=True)
class CardPlaced(Event):
    """A reading of an open seat shows a new card; `capture` is its zone."""

    type: ClassVar[str] = "card_placed"
    seat: int
    row: Row
    card: CardReading
    capture: Capture | None = None


@dataclass(frozen=True)
class CardReread(Event):
    """A later reading names with certainty a placed card that was unsure. `index` counts from 0."""

    type: ClassVar[str] = "card_reread"
    seat: int
    row: Row
    index: int
    card: CardReading
    capture: Capture | None = None


Irregular = Literal[
    "card_moved", "card_missing", "card_changed", "card_twice", "extra_card", "face_down", "out_of_turn"
]
Stands = Literal["record", "table"]


@dataclass(frozen=True)
class IrregularitySeen(Event):
    """A reading of the open seats contradicts the record; README.md defines the values of `what`.

    `seat`, `row`, `index` and `card` are those in the record (for an extra card, where it lies). `to_seat` and `to_row`
    are where the card lies now, `seen` the card that the reading shows there, `detail` the object that lies on it.
    `number` counts from 1 in a hand.
    """

    type: ClassVar[str] = "irregularity_seen"
    number: int
    what: Irregular
    seat: int
    row: Row
    index: int | None = None
    card: str | None = None
    to_seat: int | None = None
    to_row: Row | None = None
    seen: CardReading | None = None
    detail: str = ""
    capture: Capture | None = None
    frame: Capture | None = None

    @property
    def finding(self) -> tuple[Any, ...]:
        """The key by which two irregularities are the same."""
        seen = self.seen.card if self.seen else None
        return (self.what, self.seat, self.row, self.index, self.card, self.to_seat, self.to_row, seen)


@dataclass(frozen=True)
class IrregularityEnded(Event):
    """An irregularity is resolved: the record is right (by a later reading or the dealer), or the table is."""

    type: ClassVar[str] = "irregularity_ended"
    number: int
    stands: Stands = "record"
    by: Literal["camera", "dealer", "table"] = "camera"


@dataclass(frozen=True)
class KeyingBegun(Event):
    """The dealer keys this hand; the camera does not read it."""

    type: ClassVar[str] = "keying_begun"
    reason: str
