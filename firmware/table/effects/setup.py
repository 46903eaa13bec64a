"""Effects of the events of a table's set-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.table.errors import CommandRefused
from firmware.table.events import setup as ev
from firmware.table.events.base import Event
from firmware.table.state import State


def _step_settled(state: State, _: ev.StepSettled) -> State:
    """Leave the state unchanged: settled steps are only recorded."""
    return state


def _device_tried(state: State, _: ev.DeviceTried) -> State:
    return state


def _trial_begun(state: State, _: ev.TrialBegun) -> State:
    return replace(state, on_trial=True)


def _trial_ended(state: State, _: ev.TrialEnded) -> State:
    return replace(state, on_trial=False)


def _clock_set(state: State, _: ev.ClockSet) -> State:
    """Leave the state unchanged: the change of the clock is only recorded."""
    return state


def _disks_named(state: State, event: ev.DisksNamed) -> State:
    """Check the tags. The state has none: the table process sends them to the puck reader, as a tag can be copied."""
    for tag in event.dealer:
        if tag in event.action:
            raise CommandRefused(
                "The tag %(tag)s cannot be both disks: forget it first, or lay another one down.", tag=tag
            )
    return state


def _set_up_ended(state: State, _: ev.SetUpEnded) -> State:
    if state.set_up:
        raise CommandRefused("The first set-up of this table is over already.")
    return replace(state, set_up=True, on_trial=False)


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.StepSettled: _step_settled,
    ev.DeviceTried: _device_tried,
    ev.TrialBegun: _trial_begun,
    ev.TrialEnded: _trial_ended,
    ev.ClockSet: _clock_set,
    ev.DisksNamed: _disks_named,
    ev.SetUpEnded: _set_up_ended,
}
"""Permitted only between hands."""
