"""The camera's results as parts of events: captures, cards, rows, and other things on the felt."""

from dataclasses import dataclass
from typing import Final, Literal

Row = Literal["front", "middle", "back"]
ROWS: Final[dict[Row, int]] = {"front": 3, "middle": 5, "back": 5}
"""The rows and how many cards each takes, from the table's centre to the player."""

NO_FACES: Final = frozenset({"back", "joker"})
"""Things that are cards without a playing face: in a row, they mean that a card is missing or extra."""


@dataclass(frozen=True)
class Capture:
    """A stored image: its name below the captures folder, the SHA-256 of its bytes, its size in bytes."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True)
class CardReading:
    """One card as vision saw it. `card` is the best guess; only a `sure` one is used without asking.

    `candidates` are the cards it may be, best first; `corners` four (x, y) in pixels of the full frame, empty
    where unknown.
    """

    card: str | None
    confidence: float
    sure: bool
    candidates: tuple[str, ...] = ()
    corners: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class RowReading:
    """The cards in one zone, left to right as its player sees them; `capture` is the zone, upright.

    `outline` are the zone's four corners (x, y) in pixels of the full frame, empty where unknown.
    """

    seat: int
    row: Row
    place: str
    cards: tuple[CardReading, ...]
    capture: Capture | None = None
    outline: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Thing:
    """Something in a zone other than a readable card. `what` is vision's class: back, joker, marker, hand, foreign.

    `corners` are four (x, y) in pixels of the full frame.
    """

    what: str
    seat: int
    row: Row
    corners: tuple[tuple[float, float], ...] = ()
