"""When a box on battery shuts itself down: between hands if it can wait that long, otherwise before it is empty.

The table only requests it: the service manager sees the file, stops the table cleanly and switches the box off
(systemd/units/feltwatch-poweroff.path). All events are on disk by then.
"""

import logging
import time
from collections.abc import Callable

from firmware.runtime.config import PowerConfig
from firmware.table.phase import BETWEEN_HANDS, Phase

log = logging.getLogger(__name__)


class PowerOff:
    """Counts the seconds on battery. `update` is called at every turn of the table."""

    def __init__(self, config: PowerConfig, clock: Callable[[], float] = time.monotonic) -> None:
        self._config = config
        self._clock = clock
        self._gone_at: float | None = None
        self._is_requested = False

    def update(self, mains_gone: bool, phase: Phase) -> None:
        """Take note of the mains and the hand's phase; request the shutdown once, when it is due."""
        if not mains_gone:
            if self._gone_at is not None:
                log.info("the mains is back")
            self._gone_at, self._is_requested = None, False
            return
        now = self._clock()
        if self._gone_at is None:
            self._gone_at = now
            log.warning("the mains is gone")
        away = now - self._gone_at
        between = phase in BETWEEN_HANDS
        if not self._is_requested and away >= (
            self._config.between_hands_s if between else self._config.at_latest_s
        ):
            self._is_requested = True
            self._request_shutdown(away)

    def _request_shutdown(self, away: float) -> None:
        log.warning("on the battery for %.0f s: the box is shut down", away)
        try:
            self._config.request.touch()
        except OSError as error:
            log.error(
                "The box cannot be asked to shut down (%s: %s); switch it off by hand.",
                self._config.request,
                error.strerror,
            )
