"""How a past hand ended last, from the record: what a dispute begins with."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from firmware.table.effects import fold
from firmware.table.errors import NotNow
from firmware.table.events import Event, HandArchived, HandMisdealt, HandReopened, HandVoided
from firmware.table.journal import Entry, JournalReader
from firmware.table.phase import Phase
from firmware.table.state import State

_ENDS = (HandArchived.type, HandVoided.type, HandMisdealt.type)


def end_of_hand(reader: JournalReader, hand: int) -> State:
    """Return the state in which a hand was when it was closed, or closed again after it was reopened.

    Raises NotNow for a hand that is not in the record or was not settled, JournalError.
    """
    entries = reader.of_hand(hand)
    if not entries:
        raise NotNow(f"Hand {hand} is not in the record.")
    again = [
        entry
        for entry in reader.of_type(HandReopened.type)
        if isinstance(entry.event, HandReopened) and entry.event.opened.hand == hand
    ]
    if again:
        since = reader.events_since(again[-1].seq - 1)
        return _until_its_end(since, State(phase=Phase.ARCHIVED, hand=hand))
    return _until_its_end(entries, State())


def _until_its_end(entries: Iterable[Entry], state: State) -> State:
    """Follow a hand up to the event that closed it, without that one."""
    entries = list(entries)
    own = list(takewhile(lambda entry: entry.type not in _ENDS, entries))
    if len(own) == len(entries) or entries[len(own)].type != HandArchived.type:
        raise NotNow(f"Hand {state.hand or entries[0].hand} was not settled; there is nothing to correct.")
    events: list[Event] = [entry.event for entry in own]
    return fold(events, state)
