"""The last end of a past hand, from the record. A dispute starts from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile

from firmware.record.journal.journal import Entry, JournalReader
from firmware.table.errors import CommandRefused
from firmware.table.event import fold
from firmware.table.events import (
    Event,
    HandArchived,
    HandMisdealt,
    HandReopened,
    HandVoided,
    HandWithdrawn,
    PlayerLeft,
    PlayerRenamed,
)
from firmware.table.phase import Phase
from firmware.table.state import State

_ENDS = (HandArchived.type, HandVoided.type, HandMisdealt.type, HandWithdrawn.type)


def end_of_hand(reader: JournalReader, hand: int) -> State:
    """Return a hand's state when it was last closed: at its own end, or at the end of its last reopening.

    A void hand has no settlement; `names` are the players' current names. Raises CommandRefused for a hand that is not
    in the record or not over, JournalError.
    """
    entries = reader.of_hand(hand)
    if not entries:
        raise CommandRefused("Hand %(hand)s is not in the record.", hand=hand)
    again = [entry for entry in reader.about(hand) if entry.type == HandReopened.type]
    if again:
        since = reader.events_since(again[-1].seq - 1)
        end = _until_its_end(since, State(phase=Phase.ARCHIVED, hand=hand))
    else:
        end = _until_its_end(entries, State())
    return replace(end, names=_names_since(reader, entries[0].seq, end))


def _until_its_end(entries: Iterable[Entry], state: State) -> State:
    """Return a hand's state just before the event that closed it."""
    entries = list(entries)
    own = list(takewhile(lambda entry: entry.type not in _ENDS, entries))
    if len(own) == len(entries):
        raise CommandRefused("Hand %(hand)s is not over yet.", hand=state.hand or entries[0].hand or 0)
    ended = entries[len(own)].type
    events: list[Event] = [entry.event for entry in own]
    end = fold(events, state)
    if ended == HandArchived.type:
        return end
    return replace(
        end, phase=Phase.VOID, settlement=None, paid=frozenset(), misdealt=ended != HandVoided.type
    )


def _names_since(reader: JournalReader, seq: int, end: State) -> dict[str, str]:
    """Return the hand's players that were renamed since: old name → current name. Who left keeps the last name."""
    now = {seat.player: seat.player for seat in end.seats}
    gone: set[str] = set()
    entries = [*reader.of_type(PlayerRenamed.type), *reader.of_type(PlayerLeft.type)]
    for entry in sorted(entries, key=lambda entry: entry.seq):
        if entry.seq < seq:
            continue
        event = entry.event
        for was, name in now.items():
            if was in gone:
                continue
            if isinstance(event, PlayerRenamed) and event.player == name:
                now[was] = event.name
            if isinstance(event, PlayerLeft) and event.player == name:
                gone.add(was)
    return {was: name for was, name in now.items() if was != name}
