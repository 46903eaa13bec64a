"""A hand's life and its record: events, the state they add up to, the journal that holds them."""

from firmware.table.effects import TRANSITIONS, apply, fold
from firmware.table.errors import CaptureError, JournalBusy, JournalError, NotNow, TableError, UnknownEvent
from firmware.table.phase import Phase
from firmware.table.state import INITIAL, Ask, Card, Question, Seat, State

__all__ = [
    "INITIAL",
    "TRANSITIONS",
    "Ask",
    "CaptureError",
    "Card",
    "JournalBusy",
    "JournalError",
    "NotNow",
    "Phase",
    "Question",
    "Seat",
    "State",
    "TableError",
    "UnknownEvent",
    "apply",
    "fold",
]
