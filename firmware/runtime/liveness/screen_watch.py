"""Whether the screen at the table is alive, and what it has painted.

The kiosk's page acknowledges what it has painted, at least twice a second. A push-button counts only for a view that
the screen has painted: nobody may confirm a payment that was not seen. A table without a screen of its own says so in
its configuration (`[screen] kiosk = false`); then nothing is acknowledged and nothing is refused.
"""

import time
from collections.abc import Callable
from typing import Any, Final

from firmware.messages import Message, Text
from firmware.runtime.config import ScreenConfig
from firmware.table.errors import CommandRefused
from firmware.table.topics.screen import AcknowledgePaint

NOTICE_S: Final = 30.0
"""Seconds for which the page says why a press did nothing, from when the screen shows the table again."""
NEVER: Final = Message("The touchscreen has shown nothing since the table process started.")
COVERED: Final = Message(
    "A push-button did nothing: the screen did not show the table. Look, then press again."
)


class ScreenWatch:
    """Follows the acknowledgements of the screen. Used on the table's own thread."""

    def __init__(
        self, config: ScreenConfig, clock: Callable[[], float], wall: Callable[[], float] = time.time
    ) -> None:
        """`config`: whether there is a screen, and its limits; `clock`: monotonic seconds; `wall`: since the epoch."""
        self._config = config
        self._clock = clock
        self._wall = wall
        self._painted_ms = 0
        self._began = clock()
        self._heard_at: float | None = None
        self._leaving = False
        self._due = 0
        self._shown_at: float | None = None
        self._notice: tuple[int, Message] | None = None
        self._notice_from: float | None = None
        """Since when the screen can show the notice; None while it shows nothing."""

    @property
    def is_expected(self) -> bool:
        """Whether this table has a screen of its own."""
        return self._config.kiosk

    def show(self, seq: int) -> None:
        """Take note that what push-buttons do has changed with row `seq`: the screen has to paint that first."""
        self._due, self._shown_at = seq, None

    def take(self, paint: AcknowledgePaint) -> None:
        """Take an acknowledgement, unless it was held up on its way: it says nothing of now."""
        if self._is_old(paint.at_ms):
            return
        self._painted_ms = paint.at_ms
        self._heard_at, self._leaving = self._clock(), paint.leaving
        if self._notice_from is None and paint.seq is not None:
            self._notice_from = self._heard_at
        if paint.leaving or paint.seq is None or paint.seq < self._due:
            self._shown_at = None
        elif self._shown_at is None:
            self._shown_at = self._heard_at

    def _is_old(self, at_ms: int) -> bool:
        """Return whether an acknowledgement waited while this process or the page's server hung, or was overtaken.

        A wall clock that is set costs the acknowledgements that are on their way then.
        """
        limit_ms = 1000 * self._config.silent_s
        return abs(1000 * self._wall() - at_ms) > limit_ms or 0 < self._painted_ms - at_ms <= limit_ms

    def shown_at(self, press_at: float) -> float:
        """Return since when the screen has shown what a press at this time does; monotonic seconds.

        Without a screen of its own: for ever. Raises CommandRefused, with the reason, if the screen does not show it.
        """
        if not self.is_expected:
            return float("-inf")
        if self._heard_at is None:
            raise CommandRefused(NEVER)
        if press_at - self._heard_at > self._config.silent_s:
            silent = f"{press_at - self._heard_at:.0f}"
            raise CommandRefused(
                "A push-button did nothing: the screen had shown nothing for %(seconds)s s. Look, then press again.",
                seconds=silent,
            )
        if self._shown_at is None:
            raise CommandRefused(COVERED)
        return self._shown_at

    @property
    def is_known(self) -> bool:
        """Whether anything is known of the screen: it has answered, is overdue, or there is none."""
        return not self.is_expected or self._heard_at is not None or bool(self.fault)

    @property
    def fault(self) -> Text:
        """What is wrong with the screen now; "" if nothing is known to be."""
        if not self.is_expected:
            return ""
        now = self._clock()
        if self._heard_at is None:
            return NEVER if now - self._began > self._config.start_s else ""
        limit = self._config.leaving_s if self._leaving else self._config.silent_s
        if now - self._heard_at > limit:
            return Message("The touchscreen does not answer; push-buttons do nothing until it does.")
        return ""

    def refuse(self, why: Message) -> None:
        """Keep why a press did nothing, for the page to say."""
        number = self._notice[0] + 1 if self._notice else 1
        self._notice, self._notice_from = (number, why), None

    def to_json(self) -> dict[str, Any]:
        """Return what a heartbeat's answer says of the screen.

        `expected`; `silent_s`: seconds since it answered, None if it never has; `leaving`: it loads another page;
        `fault`: whether it is overdue; `notice`: why the last press did
        nothing, with its `number` and age in seconds, for as long as the page says it.
        """
        now = self._clock()
        status: dict[str, Any] = {
            "expected": self.is_expected,
            "silent_s": None if self._heard_at is None else round(now - self._heard_at, 1),
            "leaving": self._leaving,
            "fault": bool(self.fault),
        }
        if self._notice is not None:
            number, why = self._notice
            if self._notice_from is None or now - self._notice_from <= NOTICE_S:
                status["notice"] = {"number": number, "why": why.to_json()}
        return status
