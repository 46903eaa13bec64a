"""The last exchange of points: what the hand before this one was settled to, for as long as this one is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from firmware.table.events import Settled
from firmware.table.journal import JournalReader
from firmware.table.state import State


@dataclass(frozen=True)
class Exchange:
    """A hand's number and its settlement."""

    hand: int
    settlement: Mapping[str, Any]


class LastExchange:
    """Remembers the last settlement that was seen; looks it up once where it has seen none, as after a restart."""

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        self._last: Exchange | None = None
        self._sought = 0

    def look(self, state: State) -> Exchange | None:
        """Return the last exchange before or of this state; None where there was none. Raises JournalError."""
        if state.settlement is not None:
            self._last = Exchange(state.hand, state.settlement)
        elif state.hand < self._sought:  # another journal
            self._last = None
        if self._last is None and state.hand > 1 and self._sought != state.hand:
            self._last = self._seek(state.hand - 1)
        self._sought = state.hand
        return self._last

    def _seek(self, hand: int) -> Exchange | None:
        rows = [row for row in self._reader.of_hand(hand) if row.type == Settled.type]
        if not rows:
            return None
        event = rows[-1].event
        assert isinstance(event, Settled)
        return Exchange(hand, event.settlement)
