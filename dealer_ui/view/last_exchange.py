"""The last exchange of points: the previous hand's settlement, until the current hand is settled."""

import logging
from dataclasses import dataclass
from typing import Final

from firmware.record.hand_history import load_hand
from firmware.record.journal.journal import JournalReader
from firmware.rules.recorded_settlement import RecordedSettlement, read_settlement
from firmware.table.errors import TableError
from firmware.table.state import State

log = logging.getLogger(__name__)

FARTHEST: Final = 10
"""How many hands back it looks for one that settled something."""


@dataclass(frozen=True)
class Exchange:
    """A hand's number and its settlement."""

    hand: int
    settlement: RecordedSettlement


class LastExchange:
    """The last exchange in the record, looked up when a hand begins or loses its settlement.

    Hands that were taken back, voided or corrected since are not remembered: only the current record counts.
    """

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        self._sought: tuple[int, str] | None = None
        self._last: Exchange | None = None
        self._own: tuple[State, Exchange] | None = None

    def of(self, state: State) -> Exchange | None:
        """Return the state's own exchange, else the last one before its hand; None if there was none."""
        if state.settlement is not None:
            self._sought = None
            if self._own is None or self._own[0] is not state:
                self._own = state, Exchange(state.hand, read_settlement(state.settlement))
            return self._own[1]
        if self._sought != (state.hand, state.reopened):
            self._sought = (state.hand, state.reopened)
            self._last = self._before(state.hand)
        return self._last

    def _before(self, hand: int) -> Exchange | None:
        for past in range(hand - 1, max(0, hand - 1 - FARTHEST), -1):
            try:
                settlement = load_hand(self._reader, past).settlement
            except TableError as error:  # the current hand is shown without it
                log.warning("the last exchange: %s", error)
                return None
            if settlement:
                return Exchange(past, read_settlement(settlement))
        return None
