"""Effects of the events of the camera's set-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.table.errors import CommandRefused
from firmware.table.events import camera as ev
from firmware.table.events.base import Event
from firmware.table.state import State


def _calibrated(state: State, event: ev.Calibrated) -> State:
    made = event.calibration
    if event.what == "felt" and made.stands_on.get("lens", "") != _hash(state, "lens"):
        raise CommandRefused("That felt was calibrated through another lens; calibrate the felt again.")
    return _with(state, event.what, made)


def _deck_enrolled(state: State, event: ev.DeckEnrolled) -> State:
    return _with(state, "deck", event.calibration)


def _calibration_dropped(state: State, event: ev.CalibrationDropped) -> State:
    if event.what not in state.calibrations:
        raise CommandRefused("There is nothing of that kind in use.")
    return _with(state, event.what, None)


def _deck_checked(state: State, _: ev.DeckChecked) -> State:
    """Leave the state unchanged: the count is only recorded."""
    return state


def _with(state: State, what: ev.Calibrates, made: ev.Calibration | None) -> State:
    """Put a calibration in force, or remove it; a felt's calibration is dropped with the lens that it depends on."""
    now = {name: one for name, one in state.calibrations.items() if name != what}
    if made is not None:
        now[what] = made
    felt = now.get("felt")
    lens = now["lens"].hash if "lens" in now else ""
    if felt is not None and felt.stands_on.get("lens", "") != lens:
        del now["felt"]
    return replace(state, calibrations=now)


def _hash(state: State, what: ev.Calibrates) -> str:
    made = state.calibrations.get(what)
    return made.hash if made else ""


EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    ev.Calibrated: _calibrated,
    ev.DeckEnrolled: _deck_enrolled,
    ev.CalibrationDropped: _calibration_dropped,
    ev.DeckChecked: _deck_checked,
}
"""Permitted only between hands: a hand is read with the calibrations in force when it opened."""
