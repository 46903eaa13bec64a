"""The puck where the next hand needs it."""

from __future__ import annotations

from firmware.table import State
from firmware.table import events as ev
from firmware.table.dealing import button_due
from firmware.table.house import House


def puck_moved(state: State, house: House) -> tuple[ev.Event, ...]:
    """Return the reading of a puck that was moved to where the next hand needs it; nothing if it lies there."""
    due = button_due(state, house)
    return (ev.PuckSeen("seat", due),) if due is not None else ()
