"""The dealer's view: the record as the page reads it, row by row, folded into the state."""

from pathlib import Path

from firmware.record.journal.journal import JournalReader
from firmware.simulation.evening.auditor import Auditor
from firmware.table import CommandRefused, State, apply


class Page:
    """Follows the journal read-only; passes every row to the auditor."""

    def __init__(self, data: Path, auditor: Auditor) -> None:
        self.reader = JournalReader(data)
        self.state = State()
        self.seq = 0
        self._auditor = auditor

    def follow(self) -> State:
        """Read the new rows. Raises JournalError."""
        for entry in self.reader.events_since(self.seq):
            self.seq = entry.seq
            self._auditor.take(entry)
            try:
                self.state = apply(self.state, entry.event)
            except CommandRefused as error:
                self._auditor.problem("broken", f"Row {entry.seq} does not fit what the page shows: {error}")
        self._auditor.check_answers()
        return self.state
