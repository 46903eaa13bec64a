"""Which press of a push-button counts, and the command that it gives.

A press counts for what the push-button did when it went down, and only if the screen had painted that by then. If it
has changed meanwhile, the press does nothing: nobody has seen yet what it would do now.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from firmware.devices.panel.interface import ButtonName, Press
from firmware.rules import Profile
from firmware.runtime.liveness.screen_watch import ScreenWatch
from firmware.table import State
from firmware.table.command import Command
from firmware.table.settling import natural_verdict, pending_natural
from firmware.table.topics.reading import LookAgain
from firmware.table.topics.settlement import Confirm
from firmware.table.topics.white import Next

log = logging.getLogger(__name__)

UNSEEN: Final = 0.45
"""Seconds in which a press is ignored after the camera has changed what it does; the page's `SETTLE_MS`."""

BUTTON_COMMANDS: Final[Mapping[ButtonName, Command]] = {
    "next": Next(),
    "confirm": Confirm(),
    "reject": LookAgain(),
}


class Presses:
    """Decides about presses, by the state that they met. Used on the table's own thread."""

    def __init__(self, screen: ScreenWatch) -> None:
        """`screen`: what the screen at the table has painted."""
        self._screen = screen
        self._green: tuple[float, int] | None = None
        self._stands_since = float("-inf")

    def changed(self, before: State, state: State, seq: int, began: float, *, by_camera: bool) -> None:
        """Take note of a change of the state up to row `seq`, written from `began` on (monotonic seconds)."""
        if _what_buttons_do(state) != _what_buttons_do(before):
            by_itself = by_camera and state.phase is not before.phase
            self._stands_since = began + (UNSEEN if by_itself else 0.0)
            self._screen.show(seq)

    def command(self, press: Press, state: State, rules: Profile) -> Command | None:
        """Return the command that a press gives now; None if it does not count.

        Raises CommandRefused, with the reason, for what the screen does not show.
        """
        if press.at < max(self._stands_since, self._screen.shown_at(press.at) + UNSEEN):
            log.info("%s was pressed before what it would do now was there", press.button)
            return None
        return BUTTON_COMMANDS[press.button] if self._counts(press, state, rules) else None

    def _counts(self, press: Press, state: State, rules: Profile) -> bool:
        """Return whether a press counts for its button.

        A short press of green accepts a natural that the cards confirm; without that confirmation press and hold is
        needed. The hold applies to the natural shown when the push-button went down, never to the next one.
        """
        due = pending_natural(state, rules) if press.button == "confirm" else None
        if due is None:
            return not press.held
        verified = natural_verdict(state, due, rules).kind is not None
        if press.held:
            return not verified and self._green == (press.at, due)
        self._green = (press.at, due)
        return verified


def _what_buttons_do(state: State) -> tuple[Any, ...]:
    """Return what determines a press's effect; a press that began under another value is ignored."""
    return state.hand, state.phase, state.questions, state.paid, state.paybacks
