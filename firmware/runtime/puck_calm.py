"""Prevents an unstable puck reader from filling the record.

A tag between two antennas appears at one and then the other, several times a second. This counts as one fault, and as
an undecided position (so that the dealer is asked where the puck lies), until it is stable.
"""

from collections import deque
from dataclasses import replace
from typing import Final

from firmware.devices.puck.reading import PuckReading, PuckState
from firmware.messages import Message, Text

CHANGES: Final = 8
"""More changes than this within `WITHIN_S` seconds are unstable: to move the disk is one lift and one placement."""
WITHIN_S: Final = 6.0
CALM_S: Final = 10.0
"""Seconds without a change after which the reader counts as stable again."""
RESTLESS: Final = Message(
    "The dealer disk is seen now here, now there: lay it flat in the middle of its circle. "
    "Until it keeps still its seat is asked."
)
LOOSE: Final = Message(
    "The puck reader comes and goes: look at its plug and at its cable. Until it stays, the puck's seat is asked."
)
_SILENT: Final = frozenset({PuckState.UNKNOWN, PuckState.FAULT})
"""The states of a reader that says nothing about the disk."""


class CalmPuck:
    """A stable view of the puck reader, for the record."""

    def __init__(self) -> None:
        self._last: PuckReading | None = None
        self._changed: deque[tuple[float, PuckReading]] = deque(maxlen=CHANGES)
        self._unstable: Text = ""

    def take(self, reading: PuckReading, now: float) -> None:
        """Take a reading."""
        if self._last is not None and _key(reading) != _key(self._last):
            self._changed.append((now, reading))
        self._last = reading
        if len(self._changed) == CHANGES and now - self._changed[0][0] <= WITHIN_S:
            heard = {_key(one) for _, one in self._changed if one.state not in _SILENT}
            self._unstable = RESTLESS if len(heard) > 1 else LOOSE

    def fault(self, now: float) -> Text:
        """Return the reader's fault; "" while it is stable."""
        if self._unstable and now - self._changed[-1][0] >= CALM_S:
            self._unstable = ""
            self._changed.clear()
        return self._unstable

    def reading(self, now: float) -> PuckReading | None:
        """Return the reading to use; None before the first one."""
        if self._last is None or not (fault := self.fault(now)):
            return self._last
        return replace(self._last, state=PuckState.AMBIGUOUS, seat=None, detail=fault)


def _key(reading: PuckReading) -> tuple[PuckState, int | None, Text]:
    return reading.state, reading.seat, reading.detail
