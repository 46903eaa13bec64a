"""The duration of a dealer's down, and when each player joined it, from the journal's timestamps.

The state has no clock; the log-on's time is in the row of its event. Within one boot the monotonic clock gives the time
since. Across a restart only the wall clock can, and it may be wrong.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from firmware.record.journal.clocks import Timestamp, now
from firmware.record.journal.journal import Entry, JournalReader
from firmware.table.errors import RowChanged
from firmware.table.events import HandOpened, PlayerLeft, PlayerRenamed, PlayerSeated

log = logging.getLogger(__name__)

MINUTE_NS: Final = 60 * 1_000_000_000
MINUTE_MS: Final = 60_000
_OF_PLAYERS: Final = frozenset({HandOpened.type, PlayerSeated.type, PlayerRenamed.type, PlayerLeft.type})
MANY: Final = 1_000
"""Rows read at once."""


@dataclass(frozen=True)
class DownTime:
    """The duration of a down in whole minutes, and the minute at which each player joined it."""

    minutes: int
    joined: Mapping[str, int] = field(default_factory=dict)


class DownClock:
    """Computes the times of the current down; reads only the journal's new rows."""

    def __init__(self, reader: JournalReader, clock: Callable[[], Timestamp] = now) -> None:
        self._reader = reader
        self._clock = clock
        self._began: Entry | None = None
        self._joined: dict[str, int] = {}
        self._seen = 0

    def at(self, seq: int) -> DownTime | None:
        """Return the time of the down up to row `seq`; None if no dealer ever logged on, or a row of it was changed.

        Raises JournalError.
        """
        if seq < self._seen:  # another journal
            self._began, self._seen = None, 0
        if seq > self._seen:
            try:
                self._catch_up(seq)
            except RowChanged as error:
                log.warning("the time of the down is unknown: %s", error)
                self._began, self._seen = None, seq
        if self._began is None:
            return None
        moment = self._clock()
        return DownTime(_minutes(self._began, moment), dict(self._joined))

    def _catch_up(self, seq: int) -> None:
        began = self._reader.last_log_on()
        if began is not None and (self._began is None or began.seq != self._began.seq):
            self._began = began
            self._joined = dict.fromkeys(self._players_at(began), 0)
            self._seen = began.seq
        while self._began is not None and self._seen < seq:
            rows = self._reader.events_since(self._seen, MANY)
            if not rows:
                break
            for row in rows:
                self._follow(self._began, row)
            self._seen = rows[-1].seq
        self._seen = max(self._seen, seq)

    def _follow(self, began: Entry, row: Entry) -> None:
        """Record who joined in this row, by name; a player who leaves and comes back joins again."""
        match row.event if row.type in _OF_PLAYERS else None:
            case HandOpened():
                for player in _stacks(row):
                    self._joined.setdefault(player, _minutes_between(began, row))
            case PlayerSeated(player=player):
                self._joined.setdefault(player, _minutes_between(began, row))
            case PlayerRenamed(player=player, name=name) if player in self._joined:
                self._joined[name] = self._joined.pop(player)
            case PlayerLeft(player=player):
                self._joined.pop(player, None)

    def _players_at(self, began: Entry) -> frozenset[str]:
        """Return who had chips on the table when the down began: they have been there from its start."""
        rows = self._reader.of_hand(began.hand) if began.hand else []
        return _stacks(rows[0]) if rows and rows[0].type == HandOpened.type else frozenset()


def _stacks(row: Entry) -> frozenset[str]:
    event = row.event
    assert isinstance(event, HandOpened)
    return frozenset(event.stacks) | {seat.player for seat in event.seats}


def _minutes(began: Entry, moment: Timestamp) -> int:
    if began.boot == moment.boot:
        return max(0, (moment.monotonic_ns - began.monotonic_ns) // MINUTE_NS)
    return max(0, (moment.wall_ms - began.wall_ms) // MINUTE_MS)


def _minutes_between(began: Entry, row: Entry) -> int:
    return _minutes(began, Timestamp(row.boot, row.monotonic_ns, row.wall_ms, "unknown"))
