"""Human errors and habits at a table, as shares of the occasions."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Habits:
    """Each share is of the occasions on which this could be done, 0 to 1; nothing is done wrong by default."""

    puck_forgotten: float = 0.0
    puck_mislaid: float = 0.0
    voided: float = 0.0
    """The share of the turns in which the dealer voids the hand."""
    answered_wrongly: float = 0.0
    noticed: float = 0.0
    """The share of wrong cards in a settlement that someone notices before the hand is archived."""
    corrected_wrongly: float = 0.0
    looked_again: float = 0.0
    unconfirmed: float = 0.0
    paid: float = 1.0
    """The share of the turns in which the dealer begins to mark the payments."""
    pressed_twice: float = 0.0
    pressed_unlit: float = 0.0
    touched_stale: float = 0.0
    """The share of the page's commands that are also sent for the hand before."""
    misdeclared: float = 0.0
    closed: float = 0.0
    """The share of hands after which the dealer closes the hand without opening the next."""
    sits_out: float = 0.0
    counted: float = 0.0
    """Shares of the times between hands at which a player sits out or comes back, and at which chips are counted."""
    mischief: float = 0.0
    """The share of streets at which a card is moved, picked up, turned over or added by mistake."""
    keyed: float = 0.0
    waits: int = 0
    """Turns without progress after which the dealer keys a row, or records a surrender that was forgotten. 0: never."""


CLUMSY: Final = Habits(
    puck_forgotten=0.04,
    puck_mislaid=0.02,
    voided=0.004,
    answered_wrongly=0.03,
    noticed=0.9,
    corrected_wrongly=0.01,
    looked_again=0.03,
    unconfirmed=0.1,
    paid=0.1,
    pressed_twice=0.03,
    pressed_unlit=0.02,
    touched_stale=0.02,
    misdeclared=0.01,
    closed=0.1,
    sits_out=0.4,
    counted=0.2,
    mischief=0.015,
    keyed=0.2,
    waits=12,
)
"""The people of a simulated evening: assumed shares."""
