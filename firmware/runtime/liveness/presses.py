"""Which press of a push-button counts, and the command that it gives.

A press counts for what the push-button did when it went down, and only if the screen had painted that by then. If it
has changed since then, the press does nothing: nobody has seen yet what it would do now.
"""

import logging
from collections.abc import Mapping
from typing import Any, Final

from firmware.devices.panel.interface import ButtonName, Press
from firmware.messages import Message
from firmware.runtime.liveness.screen_watch import ScreenWatch
from firmware.table import CommandRefused, State
from firmware.table.command import Command
from firmware.table.offers import Offers
from firmware.table.topics.reading import LookAgain
from firmware.table.topics.settlement import Confirm, MarkPaid
from firmware.table.topics.white import Next

log = logging.getLogger(__name__)

SEEN_S: Final = 0.45
"""Seconds for which a view must have stood before a press or a touch counts for it; the page's `SETTLE_MS`."""
PAID_S: Final = 1.2
"""The same after a payment was marked, before the next one, or the end of the hand; the page's `PAID_MS`."""
TOO_SOON: Final = Message("That came so soon after a change that nobody had seen it. Look, then touch again.")
OLD_VIEW: Final = Message("That was for what the screen showed before. Look, then touch again.")
GUARDED: Final = frozenset({"next", "mark_paid", "confirm"})
"""The commands of push-buttons, which a touch gives by the same rule."""

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
        self._guard_s = SEEN_S
        self._stands_since = float("-inf")
        self._due = 0

    def changed(self, before: State, state: State, seq: int, began: float) -> None:
        """Take note of a change of the state up to row `seq`, written from `began` on (monotonic seconds)."""
        if _what_buttons_do(state) != _what_buttons_do(before):
            self._stands_since, self._due = began, seq
            self._guard_s = PAID_S if len(state.paid) > len(before.paid) else SEEN_S
            self._screen.show(seq)

    def check_touch(self, command: Command, now: float) -> None:
        """Raise CommandRefused for a touch that does a push-button's work and was not meant for what is there now.

        `seen` of the command is the last row of the view that was touched; a program, which sees nothing, sends none.
        """
        if command.seen is None or command.do not in GUARDED:
            return
        if isinstance(command, MarkPaid) and not command.paid:
            return  # taking a mark back harms nobody
        if command.seen < self._due:
            raise CommandRefused(OLD_VIEW)
        if now < self._stands_since + self._guard_s:
            raise CommandRefused(TOO_SOON)

    def command(self, press: Press, may: Offers) -> Command | None:
        """Return the command that a press gives now; None if it does not count.

        Raises CommandRefused, with the reason, for what the screen does not show.
        """
        if press.at < max(self._stands_since, self._screen.shown_at(press.at)) + self._guard_s:
            log.info("%s was pressed before what it would do now was there", press.button)
            return None
        return BUTTON_COMMANDS[press.button] if self._counts(press, may) else None

    def _counts(self, press: Press, may: Offers) -> bool:
        """Return whether a press counts for its button.

        A short press of green accepts a natural that the cards confirm; without that confirmation press and hold is
        needed. The hold applies to the natural shown when the push-button went down, never to the next one.
        """
        confirm = may.first("confirm") if press.button == "confirm" else None
        if confirm is None:
            return not press.held
        due = confirm.command["seat"]
        if press.held:
            return confirm.hold and self._green == (press.at, due)
        self._green = (press.at, due)
        return not confirm.hold


def _what_buttons_do(state: State) -> tuple[Any, ...]:
    """Return what determines a press's effect; a press that began under another value is ignored."""
    return state.hand, state.phase, state.questions, state.paid, state.paybacks
