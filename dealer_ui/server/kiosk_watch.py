"""Whether the screen at the table still shows what is true: judged by when its page last acknowledged what it
painted."""

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from typing import Any, Final, Self
from urllib.parse import urlsplit

SILENT_S: Final = 3.0
"""Seconds without an acknowledgement after which the page on the screen is stale."""
LEAVING_S: Final = 15.0
"""The same while the browser loads another page."""
START_S: Final = 60.0
"""Seconds that a browser has, from its start, to paint the first time."""
PATIENCE_S: Final = 2.0
"""Seconds that a page's server may take to answer."""
LONGEST: Final = 4096


@dataclass(frozen=True)
class Report:
    """What a page's server says of the screen.

    `painted_s`: seconds since the page acknowledged something, None if it has not since the server began; `leaving`:
    the browser loads another page; `up_s`: seconds since the server began.
    """

    painted_s: float | None
    leaving: bool
    up_s: float

    @classmethod
    def from_json(cls, said: Any) -> Self:
        """Return the report that a server sent. Raises ValueError, LookupError, TypeError for anything else."""
        painted = said["painted_s"]
        return cls(None if painted is None else float(painted), bool(said["leaving"]), float(said["up_s"]))


def ask(origin: str) -> Report | None:
    """Ask the server at an origin such as http://127.0.0.1:8013; None where it does not answer in time and in full."""
    connection = HTTPConnection(urlsplit(origin).netloc, timeout=PATIENCE_S)
    try:
        connection.request("GET", "/screen", headers={"Accept": "application/json"})
        answer = connection.getresponse()
        body = answer.read(LONGEST)
        return Report.from_json(json.loads(body)) if answer.status == 200 else None
    except (OSError, HTTPException, ValueError, LookupError, TypeError):
        return None
    finally:
        connection.close()


class Watch:
    """Follows one browser from its start to its end. Times are monotonic seconds.

    A server that does not answer says nothing of the browser: until it answers again, the screen counts as fresh, and
    the page says itself that it is not live.
    """

    def __init__(self, began: float, start_s: float = START_S) -> None:
        """`began`: when the browser was started; `start_s`: seconds that it has to paint the first time."""
        self._began = began
        self._start_s = start_s
        self._last: float | None = None
        self._answered: float | None = None
        self._answering_since: float | None = None
        self._outage_s = 0.0
        """For how long the server did not answer before `_answering_since`."""

    @property
    def has_painted(self) -> bool:
        """Whether this browser has painted at all."""
        return self._last is not None

    def stale_s(self, now: float, table: Report | None, training: Report | None = None) -> float | None:
        """Return for how many seconds the screen has shown nothing new; None as long as that is in order.

        `table` and `training`: what the servers of those pages say, None for one that does not answer. The screen shows
        one page or the other.
        """
        if table is None:
            self._answering_since = None
            return None
        if self._answering_since is None:
            self._answering_since = now
            self._outage_s = 0.0 if self._answered is None else now - self._answered
        self._answered = now
        limits = [self._after_return(now - table.up_s)]
        for report in (table, training):
            if report is not None and report.painted_s is not None:
                painted = now - report.painted_s
                if painted > self._began:  # not an earlier browser's
                    self._last = max(painted, self._last or painted)
                    missed = self._outage_s if painted < self._answering_since else 0.0
                    limits.append(painted + (LEAVING_S if report.leaving else SILENT_S) + missed)
        if now <= max(limits):
            return None
        return now - (self._began if self._last is None else self._last)

    def _after_return(self, server_began: float) -> float:
        """Return until when the page may be silent because it starts, or because its server was started again."""
        assert self._answering_since is not None
        if self._last is None:
            return max(self._began, self._answering_since, server_began) + self._start_s
        return server_began + LEAVING_S
