"""The last end of a past hand, from the record. A dispute starts from it."""

from dataclasses import replace

from firmware.record.hand_history import chapter
from firmware.record.journal.journal import JournalReader
from firmware.table.errors import CommandRefused
from firmware.table.events import HandReopened, HandVoided, PlayerLeft, PlayerRenamed
from firmware.table.phase import Phase
from firmware.table.state import State


def end_of_hand(reader: JournalReader, hand: int) -> State:
    """Return a hand's state when it was last closed: at its own end, or at the end of its last reopening.

    A void hand has no settlement; `names` are the players' current names. Raises CommandRefused for a hand that is not
    in the record or not over, JournalError.
    """
    entries = reader.of_hand(hand)
    if not entries:
        raise CommandRefused("Hand %(hand)s is not in the record.", hand=hand)
    start, state = entries, State()
    if again := [entry for entry in reader.about(hand) if entry.type == HandReopened.type]:
        start, state = reader.events_since(again[-1].seq - 1), State(phase=Phase.ARCHIVED, hand=hand)
    played = chapter(start, state)
    if not played.is_over:
        raise CommandRefused("Hand %(hand)s is not over yet.", hand=hand)
    end = played.end
    if played.is_void:
        misdealt = played.steps[-1].entry.type != HandVoided.type
        end = replace(end, phase=Phase.VOID, settlement=None, paid=frozenset(), misdealt=misdealt)
    return replace(end, names=_names_since(reader, entries[0].seq, end))


def _names_since(reader: JournalReader, seq: int, end: State) -> dict[str, str]:
    """Return the hand's players that were renamed since: old name → current name.

    A player who left keeps the last name.
    """
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
