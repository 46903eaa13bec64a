"""The pit's clock, as far as its answers tell. A request carries its time, so the pit sees if it was held up."""

from collections import deque
from typing import Final

KEPT: Final = 30
"""Answers that count: the clocks of two machines drift by seconds in a day."""


class PitClock:
    """Knows the pit's time from its answers.

    `looked` and `heard`: when a request was made and when its answer came, in monotonic seconds of this machine.
    """

    def __init__(self) -> None:
        self._ahead: deque[float] = deque(maxlen=KEPT)
        """By how many milliseconds the pit's clock is ahead of the monotonic one, at most: the answer may have been
        given later than the request was made."""

    def hear(self, now_ms: int, looked: float, heard: float) -> None:
        """Take the pit's time from an answer; 0 where it says none."""
        if not now_ms:
            return
        if self._ahead and now_ms - 1000 * heard > min(self._ahead):  # its clock was set forward
            self._ahead.clear()
        self._ahead.append(now_ms - 1000 * looked)

    def at_ms(self, looked: float) -> int:
        """Return the pit's time when a request is made, UTC milliseconds; 0 while it is not known."""
        return max(0, round(min(self._ahead) + 1000 * looked)) if self._ahead else 0
