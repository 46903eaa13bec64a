"""A thread of the service next to the door's: it repeats its work until it is stopped."""

import logging
import threading

log = logging.getLogger(__name__)


class BackgroundThread(threading.Thread):
    """Takes one turn after another until `stop`. A database that is away is waited for."""

    def __init__(self, name: str, waits: str, *, again_s: float, stops_s: float | None = None) -> None:
        """`waits`: what the service's log says where a turn fails; `again_s`: seconds until the next one then.

        `stops_s`: seconds for which `stop` waits for the turn in work; None: until it is over.
        """
        super().__init__(name=name, daemon=True)
        self._waits, self._again_s, self._stops_s = waits, again_s, stops_s
        self._end = threading.Event()

    def turn(self) -> float:
        """Do what is due; return the seconds until the next turn. Raises DatabaseError, OSError."""
        raise NotImplementedError

    def run(self) -> None:
        """Take turns until `stop`."""
        wait_s = 0.0
        while not self._end.wait(wait_s):
            try:
                wait_s = self.turn()
            except OSError as error:
                log.warning("%s: %s", self._waits, error)
                wait_s = self._again_s
            except Exception:
                log.exception("%s: this is an error of Feltwatch", self._waits)
                wait_s = self._again_s

    def stop(self) -> None:
        """End after the turn in work."""
        self._end.set()
        self.join(self._stops_s)
