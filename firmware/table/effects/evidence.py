"""Effects of the events about past hands and about the record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.messages import Message
from firmware.table import events as ev
from firmware.table.checks import need_reason
from firmware.table.effects import people as people_effects
from firmware.table.effects import setup as effects_setup
from firmware.table.errors import CommandRefused
from firmware.table.events import Event
from firmware.table.phase import OPEN
from firmware.table.state import State


def last_hand(state: State) -> int:
    """Return the number of the hand opened last, also while a past hand is reopened."""
    return (state.suspended_state or state).hand


def _need_played(state: State, hand: int) -> None:
    if not 1 <= hand <= last_hand(state):
        raise CommandRefused("Hand %(hand)s is not in the record.", hand=hand)


def _need_over(state: State, hand: int) -> None:
    _need_played(state, hand)
    if state.phase in OPEN and hand == state.hand:
        raise CommandRefused("Hand %(hand)s is still open.", hand=hand)


def _hand_disputed(state: State, event: ev.HandDisputed) -> State:
    _need_played(state, event.hand)
    need_reason(event.reason, Message("Say why the hand is disputed."))
    if event.hand in state.disputed:
        raise CommandRefused("Hand %(hand)s is under dispute already.", hand=event.hand)
    return replace(state, disputed=state.disputed | {event.hand})


def _dispute_closed(state: State, event: ev.DisputeClosed) -> State:
    need_reason(event.reason, Message("Say why the dispute is closed."))
    if event.hand not in state.disputed:
        raise CommandRefused("Hand %(hand)s is not under dispute.", hand=event.hand)
    return replace(state, disputed=state.disputed - {event.hand})


def _hand_reviewed(state: State, event: ev.HandReviewed) -> State:
    _need_over(state, event.hand)
    return state


def _images_dropped(state: State, event: ev.ImagesDropped) -> State:
    _need_over(state, event.hand)
    need_reason(event.reason, Message("Say why the images go."))
    if event.hand in state.disputed:
        raise CommandRefused("Hand %(hand)s is under dispute; its images stay.", hand=event.hand)
    return state


def what_is_wrong(fault: ev.RecordFault) -> Message:
    """Return the message that describes a record fault."""
    match fault.what:
        case "short":
            return Message(
                "The record ends at row %(seq)s, but row %(seen)s had been written: %(lost)s rows are missing.",
                seq=fault.seq,
                seen=fault.seen,
                lost=fault.seen - fault.seq,
            )
        case "rewritten":
            return Message("Row %(seen)s of the record is not the one that was written.", seen=fault.seen)
        case "witness":
            return Message(
                "The file that says how far the record went is missing or damaged: rows after %(seq)s may be missing.",
                seq=fault.seq,
            )
        case "captures":
            return Message(
                "There are images of later hands than the record tells of: rows after %(seq)s are missing.",
                seq=fault.seq,
            )
        case "damaged":
            return Message("The record is damaged. %(detail)s", detail=fault.detail)


def record_fault_sentence(fault: ev.RecordFault) -> Message:
    """Return the message that describes a record fault and its consequence."""
    return Message(
        "%(said)s Nothing is played until a floor person has read this; nothing is deleted.",
        said=what_is_wrong(fault),
    )


def need_record_read(state: State, event: Event) -> None:
    """Raise CommandRefused for an event that is not permitted during a record fault: play, or removal of images."""
    if state.record_fault is not None and type(event) not in WHILE_IN_DOUBT:
        raise CommandRefused(record_fault_sentence(state.record_fault))


def _record_fault(state: State, event: ev.RecordFault) -> State:
    return replace(state, record_fault=event)


def _record_fault_read(state: State, _: ev.RecordFaultRead) -> State:
    if state.record_fault is None:
        raise CommandRefused("Nothing is wrong with the record that would have to be read.")
    return replace(state, record_fault=None)


def _as_it_is(state: State, _: Event) -> State:
    return state


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.HandDisputed: _hand_disputed,
    ev.DisputeClosed: _dispute_closed,
    ev.HandReviewed: _hand_reviewed,
    ev.ImagesDropped: _images_dropped,
    ev.KeyAnnounced: _as_it_is,
    ev.HeadSigned: _as_it_is,
    ev.RecordRestored: _as_it_is,
    ev.RecordFault: _record_fault,
    ev.RecordFaultRead: _record_fault_read,
}
"""Permitted in every phase, because they are about past hands or about the record itself."""

WHILE_IN_DOUBT: Final = (
    frozenset(EFFECTS) | frozenset(people_effects.EFFECTS) | frozenset(effects_setup.EFFECTS)
) - {ev.ImagesDropped} | {ev.TableStarted, ev.DeviceFault, ev.DeviceRecovered, ev.PuckSeen, ev.TrainingBegun}
"""Events permitted during an unread record fault, including the log-on of the person who reads it."""
