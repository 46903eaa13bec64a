"""Keeps a puck reader that says something else every moment from filling the record.

A tag between two antennas is seen now here, now there, several times a second. That is one fault, and one answer ("it
lies nowhere for certain", so that the button is asked), until it has kept still.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final

from firmware.devices.puck.reading import PuckReading, PuckState

CHANGES: Final = 8
"""Changes within `WITHIN_S` seconds that no hand makes: who moves the disk lifts it once and lays it down once."""
WITHIN_S: Final = 6.0
CALM_S: Final = 10.0
"""Seconds without a change after which the reader is believed again."""
RESTLESS: Final = (
    "The dealer disk is seen now here, now there: lay it flat in the middle of its spot. "
    "Until it keeps still the button is asked."
)


class CalmPuck:
    """What the puck reader says, for anyone who writes it down."""

    def __init__(self) -> None:
        self._last: PuckReading | None = None
        self._changed: deque[float] = deque(maxlen=CHANGES)
        self._is_restless = False

    def take(self, reading: PuckReading, now: float) -> None:
        """Take what the reader says now."""
        if self._last is not None and _key(reading) != _key(self._last):
            self._changed.append(now)
        self._last = reading
        if len(self._changed) == CHANGES and now - self._changed[0] <= WITHIN_S:
            self._is_restless = True

    def fault(self, now: float) -> str:
        """Return what is wrong with it; "" where it keeps still."""
        if self._is_restless and now - self._changed[-1] >= CALM_S:
            self._is_restless = False
            self._changed.clear()
        return RESTLESS if self._is_restless else ""

    def reading(self, now: float) -> PuckReading | None:
        """Return what is to be believed of it; None where it said nothing yet."""
        if self._last is None or not self.fault(now):
            return self._last
        return replace(self._last, state=PuckState.AMBIGUOUS, seat=None, detail=RESTLESS)


def _key(reading: PuckReading) -> tuple[PuckState, int | None, str]:
    return reading.state, reading.seat, reading.detail
