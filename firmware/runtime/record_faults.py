"""Watches the conditions of the record: free disk space, the clock, the last hand's images."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from firmware.messages import Message, Text, in_turn
from firmware.record.evidence.verify import find_torn_images
from firmware.record.journal.disk import MB, RESERVE, RESERVE_FILES, free_bytes, free_files
from firmware.record.journal.journal import Journal, JournalReader

CHECK_EVERY_S: Final = 1.0
ENOUGH: Final = RESERVE + 16 * MB
"""Free bytes from which hands open again: above the reserve, so that the lamp does not flicker at the limit."""

DISK: Final = Message(
    "The disk has less than %(least)s MB left: no new hand is opened. Make room; nothing is "
    "deleted by itself.",
    least=RESERVE // MB,
)
FILES: Final = Message(
    "The disk has room for fewer than %(least)s more files: no new hand is opened. "
    "Remove small files; nothing is deleted by itself.",
    least=RESERVE_FILES,
)
CLOCK: Final = Message(
    "The clock stepped back: it shows a time that the record has passed already. Set it; "
    "hands go on in their order."
)
AHEAD: Final = Message(
    "The clock jumped ahead, though the network keeps it: no picture is deleted by its age. Look at the time; if it is "
    "right, start the box again."
)


class RecordWatch:
    """Faults of the record, by the name that is shown. Used on the table's own thread."""

    def __init__(self, data: Path, journal: Journal, clock: Callable[[], float] = time.monotonic) -> None:
        """Check the last hand's images; a damaged one is reported until the next hand. Raises JournalError."""
        self._data = data
        self._journal = journal
        self._clock = clock
        self._next = float("-inf")
        self._full = False
        self._faults: dict[str, Text] = {}
        entries = JournalReader(data, training=journal.training).since_last_opened()
        self._hand = entries[-1].hand if entries else 0
        self._torn = in_turn(find_torn_images(data, entries))

    def faults(self, hand: int) -> dict[str, Text]:
        """Return the current faults, while this hand is on the table."""
        if self._clock() >= self._next:
            self._next = self._clock() + CHECK_EVERY_S
            self._faults = self._look()
        return self._faults | ({"images": self._torn} if self._torn and hand == self._hand else {})

    def _look(self) -> dict[str, Text]:
        found: dict[str, Text] = {}
        if self._journal.clock_is_behind():
            found["clock"] = CLOCK
        if self._journal.clock_is_ahead():
            found["clock"] = AHEAD
        try:
            self._full = free_bytes(self._data) < (ENOUGH if self._full else RESERVE)
        except OSError as error:
            found["disk"] = Message(
                "The data folder cannot be looked at (%(error)s); check the disk.", error=error
            )
            return found
        if self._full:
            found["disk"] = DISK
        elif free_files(self._data) < RESERVE_FILES:
            found["disk"] = FILES
        return found
