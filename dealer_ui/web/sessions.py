"""Who stands at the screen beyond the dealer: the sessions that the table process has opened.

The table judges every PIN and hands out the sessions (`firmware.access.control`); the page only remembers to whom, so
that what a role may read can be judged here, without asking. A session lies in a cookie that no script can read. It
ends here no later than at the table.
"""

from __future__ import annotations

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
    """The sessions of this process's lifetime, by their tokens."""

    cookie: str = COOKIE
    """The name of the cookie in which a browser keeps one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._open: dict[str, _Session] = {}

    def begin(self, answer: dict[str, Any]) -> str:
        """Remember a session from the table's answer to `unlock`, and return its token."""
        token, lasts = str(answer["session"]), float(answer["expires_s"])
        now = self._clock()
        with self._lock:
            self._open = {known: one for known, one in self._open.items() if one.ends > now}
            self._open[token] = _Session(str(answer["name"]), Role(answer["role"]), lasts, now + lasts)
        return token

    def role(self, token: str | None, people: Iterable[Person]) -> Role | None:
        """Return the role of a session that is still open; None where the person was struck or is another by now."""
        with self._lock:
            session = self._open.get(token or "")
        if session is None or self._clock() >= session.ends:
            return None
        known = any((person.name, person.role) == (session.name, session.role) for person in people)
        return session.role if known else None

    def used(self, token: str) -> None:
        """Let a session last on: the table has just taken a command of it."""
        with self._lock:
            one = self._open.get(token)
            if one is not None:
                self._open[token] = _Session(one.name, one.role, one.lasts_s, self._clock() + one.lasts_s)

    def left(self, token: str) -> tuple[str, float]:
        """Return whose session it is and the seconds that it still lasts; nobody's has none."""
        with self._lock:
            one = self._open.get(token)
        return (one.name, max(0.0, one.ends - self._clock())) if one else ("", 0.0)

    def end(self, token: str) -> None:
        """Forget a session."""
        with self._lock:
            self._open.pop(token, None)
