"""Sessions: one PIN entry covers several commands, until the session expires."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from firmware.table.errors import CommandNotAllowed
from firmware.table.people import PIN_ROLES, Person, Role
from firmware.table.state import State

SESSION_S: Final = 120.0
"""Seconds without a command after which a session expires: the person may have left the screen."""
FLOOR_SESSION_S: Final = 30.0
"""The same for a floor person, who leaves the screen to the dealer soon."""
EVIDENCE_SESSION_S: Final = 300.0
"""The same while a past hand's evidence is open on the screen: to look at pictures needs no touch."""


@dataclass
class _Session:
    person: Person
    used: float
    lasts: float


class Sessions:
    """The open sessions, by token. `clock` is monotonic, in seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._open: dict[str, _Session] = {}

    def begin(self, person: Person) -> str:
        """Open a session and return its token. Expired sessions are removed."""
        now = self._clock()
        self._open = {t: s for t, s in self._open.items() if now - s.used <= s.lasts}
        token = secrets.token_urlsafe(16)
        self._open[token] = _Session(person, now, session_s(person.role))
        return token

    def person(self, token: str, state: State, *, extend: bool) -> Person:
        """Return a session's person as listed now; `extend` restarts the session's time.

        Raises CommandNotAllowed if the session has expired, or if the person's role or PIN was changed.
        """
        session = self._open.get(token)
        now = self._clock()
        if session is None or now - session.used > session.lasts:
            self._open.pop(token, None)
            raise CommandNotAllowed("That session is over; enter the PIN again.", roles=PIN_ROLES)
        person = state.person(session.person.name)
        if person is None or (person.role, person.pin) != (session.person.role, session.person.pin):
            del self._open[token]
            raise CommandNotAllowed("That person's role or PIN was changed; enter the PIN again.")
        if extend:
            session.used, session.lasts = now, session_s(person.role)
        return person

    def stay(self, token: str, *, evidence: bool) -> float:
        """Extend an open session; return the seconds that it lasts from now on: longer while evidence is open."""
        session = self._open[token]
        session.used, session.lasts = self._clock(), session_s(session.person.role)
        if evidence:
            session.lasts = max(session.lasts, EVIDENCE_SESSION_S)
        return session.lasts

    def end(self, token: str) -> None:
        """End a session, if there is one."""
        self._open.pop(token, None)


def session_s(role: Role) -> float:
    """Return the seconds without a command after which a session of this role expires."""
    return FLOOR_SESSION_S if role is Role.FLOOR else SESSION_S
