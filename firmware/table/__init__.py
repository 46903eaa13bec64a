"""The table's domain model: events, the state that they add up to, and the commands that cause them."""

from firmware.table.errors import (
    CaptureError,
    CommandRefused,
    JournalBusy,
    JournalError,
    TableError,
    UnknownEvent,
)
from firmware.table.events import apply, fold
from firmware.table.phase import Phase
from firmware.table.state import INITIAL, Ask, Card, Question, Seat, State

__all__ = [
    "INITIAL",
    "Ask",
    "CaptureError",
    "Card",
    "CommandRefused",
    "JournalBusy",
    "JournalError",
    "Phase",
    "Question",
    "Seat",
    "State",
    "TableError",
    "UnknownEvent",
    "apply",
    "fold",
]
