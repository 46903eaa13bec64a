"""The sessions that the table process has opened for people other than the dealer.

The table judges every PIN and issues the sessions (`firmware.access.control`). The page remembers each session's
person, so that it can check read access without asking the table. A session's token is in a cookie that no script can
read. A session ends here no later than at the table.
"""

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from firmware.table.people import Person, Role

COOKIE: Final = "feltwatch_session"


@dataclass(frozen=True)
class _Session:
    name: str
    role: Role
    lasts_s: float
    ends: float


class Sessions:
    """The sessions opened during this process's lifetime, by token."""

    cookie: str = COOKIE
    """The name of the cookie in which a browser keeps one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, _Session] = {}

    def begin(self, answer: dict[str, Any]) -> str:
        """Store a session from the table's answer to `unlock`, and return its token."""
        token, lasts = str(answer["session"]), float(answer["expires_s"])
        now = self._clock()
        with self._lock:
            self._open = {known: one for known, one in self._open.items() if one.ends > now}
            self._open[token] = _Session(str(answer["name"]), Role(answer["role"]), lasts, now + lasts)
        return token

    def role(self, token: str | None, people: Iterable[Person]) -> Role | None:
        """Return the role of an open session; None if its person is no longer listed with that role."""
        with self._lock:
            session = self._open.get(token or "")
        if session is None or self._clock() >= session.ends:
            return None
        known = any((person.name, person.role) == (session.name, session.role) for person in people)
        return session.role if known else None

    def extend(self, token: str, lasts_s: float | None = None) -> None:
        """Extend a session: the table has just accepted a command of it. `lasts_s`: how long, where the table says."""
        with self._lock:
            one = self._open.get(token)
            if one is not None:
                self._open[token] = _Session(
                    one.name, one.role, one.lasts_s, self._clock() + (lasts_s or one.lasts_s)
                )

    def person_and_seconds(self, token: str) -> tuple[str, float]:
        """Return a session's person and the seconds left; "" and 0 without a session."""
        with self._lock:
            one = self._open.get(token)
        return (one.name, max(0.0, one.ends - self._clock())) if one else ("", 0.0)

    def end(self, token: str) -> None:
        """Forget a session."""
        with self._lock:
            self._open.pop(token, None)
