"""Judges who gives a command and whether he may: sessions, PINs and lock-outs. The page never does.

A lock-out is counted in the journal and waited for by the monotonic clock. What was waited before a restart nobody
can tell (the wall clock may be wrong), so a restart begins the wait again: it may last longer, never shorter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from firmware.access.pins import PinStore
from firmware.access.sessions import Sessions, session_s
from firmware.messages import Message, one_of
from firmware.table import events as ev
from firmware.table.commands.people import (
    ListPerson,
    Lock,
    LogOn,
    RemovePerson,
    SetPin,
    SignedCommand,
    Stay,
    Unlock,
    decide_people,
)
from firmware.table.errors import NotAllowed
from firmware.table.events import Event
from firmware.table.people import COMMAND_ROLES, FREE_TRIES, PIN_ROLES, Person, Role, check_pin, locked_for
from firmware.table.state import State

AccessCommand = Unlock | Lock | Stay | ListPerson | RemovePerson | SetPin
"""What is done here: it needs sessions, PINs or a look at who asks."""
TABLE: Final = "table"
SET_UP: Final = "set-up"
"""The actor before the first technician is listed: anyone who stands before a fresh box."""
_FRESH: Final = frozenset({"set_house", "settle_step", "end_set_up"})
"""What a fresh box takes from anyone who stands before it, until its first technician is listed."""
POLLING_COMMANDS: Final = frozenset({"try_device", "look", "job"})
"""Commands that a page repeats by itself: no sign that anybody is there."""


class Record(Protocol):
    """What the gate writes to and reads from: the table process."""

    state: State

    def write(self, events: Sequence[Event], actor: str) -> int:
        """Make events happen, durably, and return the last one's number. Raises CommandRefused, JournalError."""


@dataclass(frozen=True)
class Who:
    """Who gives a command; `actor` is how the journal names him, such as "floor:Moreno"."""

    actor: str
    role: Role
    name: str = ""


class AccessControl:
    """The one judge of role, PIN and lock-out.

    >>> gate.authorize(command, record)  # doctest: +SKIP
    Who(actor='floor:Moreno', role=<Role.FLOOR: 'floor'>, name='Moreno')
    """

    def __init__(self, pins: PinStore, clock: Callable[[], float] = time.monotonic) -> None:
        self._pins = pins
        self._clock = clock
        self._started = clock()
        self._open_at: dict[str, float] = {}
        self._sessions = Sessions(clock)

    def tidy(self, state: State) -> None:
        """Remove verifiers that a stop between file and event left, and those that were replaced."""
        self._pins.forget(self._pins.known() - {person.pin for person in state.people})

    def authorize(self, command: SignedCommand, record: Record) -> Who:
        """Return who gives the command. Raises NotAllowed, or JournalError where a try cannot be counted."""
        roles = COMMAND_ROLES.get(str(getattr(command, "do", "")), frozenset())
        who = self._of_fresh_box(command, record.state) or self._who(command, record)
        if who.role in roles:
            _need_own_word(command, who, record.state)
            return who
        raise NotAllowed(_who_may(roles, record.state), roles=roles)

    def handle(self, command: AccessCommand, record: Record, who: Who) -> dict[str, Any]:
        """Do what only the gate can do, for somebody admitted, and return the answer.

        Raises CommandRefused, PinError, JournalError; then nothing happened.
        """
        match command:
            case Unlock():
                return self._unlock(record.state, who)
            case Lock():
                self._sessions.end(command.session or "")
                return {"ok": True}
            case Stay():
                return {"ok": True, "expires_s": session_s(who.role)}
            case ListPerson():
                _need_right_over(who, command.role)
                person = record.state.person(command.person)
                if person is not None:
                    _need_right_over(who, person.role)
                new = command.new_pin.get_secret_value() if command.new_pin else ""
                pin = self._pins.keep(check_pin(new)) if command.role in PIN_ROLES and new else ""
                events = decide_people(record.state, command, pin)
            case RemovePerson():
                person = record.state.person(command.person)
                if person is not None:
                    _need_right_over(who, person.role)
                events = decide_people(record.state, command)
            case SetPin():
                if who.role is not Role.TECHNICIAN and who.name != command.person:
                    raise NotAllowed(
                        "Only a technician may set somebody else's PIN.", roles=frozenset({Role.TECHNICIAN})
                    )
                new = command.new_pin.get_secret_value()
                events = decide_people(record.state, command, self._pins.keep(check_pin(new)))
        try:
            return {"ok": True, "seq": record.write(events, who.actor)}
        finally:
            self.tidy(record.state)

    # ---- who ----

    def _who(self, command: SignedCommand, record: Record) -> Who:
        if command.session is not None:
            return self._of_session(command, command.session, record.state)
        if command.by is not None:
            person = self._proven(command.by, command, record)
            return Who(f"{person.role}:{person.name}", person.role, person.name)
        name = record.state.dealer
        if isinstance(command, LogOn):
            name = command.person
            if _asks_for_a_pin(name, record.state):
                person = self._proven(name, command, record)
                return Who(f"{person.role}:{person.name}", person.role, person.name)
        return Who(f"dealer:{name}" if name else "dealer", Role.DEALER, name)

    def _of_fresh_box(self, command: SignedCommand, state: State) -> Who | None:
        """A box that has no technician takes its first one from anyone who stands before it; once, and recorded.

        So it does with what comes before that in its set-up, and with leaving the set-up out.
        """
        if _has(Role.TECHNICIAN, state):
            return None
        if not state.set_up and getattr(command, "do", "") in _FRESH:
            return Who(SET_UP, Role.TECHNICIAN)
        if not isinstance(command, ListPerson) or command.role is not Role.TECHNICIAN:
            return None
        return Who(f"{Role.TECHNICIAN}:{command.person}", Role.TECHNICIAN, command.person)

    def _of_session(self, command: SignedCommand, token: str, state: State) -> Who:
        person = self._sessions.person(
            token, state, extend=getattr(command, "do", "") not in POLLING_COMMANDS
        )
        return Who(f"{person.role}:{person.name}", person.role, person.name)

    def _proven(self, name: str, command: SignedCommand, record: Record) -> Person:
        """Return the person of this name once the PIN is right. Every try is in the journal before it counts.

        A dealer has no PIN: his name stands for him while he is logged on, and for nobody else.
        """
        person = record.state.person(name)
        if person is None:
            raise NotAllowed("%(name)s is not listed at this table.", name=name)
        if person.role not in PIN_ROLES:
            if _stands_for_himself(name, command, record.state):
                return person
            raise NotAllowed("%(name)s is not the dealer who is logged on.", name=name)
        if not person.pin:
            raise NotAllowed("%(name)s has no PIN yet; a technician sets one.", name=name)
        wait = self.locked(person)
        if wait > 0:
            raise NotAllowed(_locked(name, wait), roles=frozenset({person.role}), wait_s=wait)
        if command.pin is None:
            raise NotAllowed("Enter %(name)s's PIN.", name=name, roles=frozenset({person.role}))
        record.write([ev.PinTried(name)], TABLE)
        if not self._pins.matches(person.pin, command.pin.get_secret_value()):
            tried = person.tried + 1
            wait = locked_for(tried)
            self._open_at[name] = self._clock() + wait
            left = FREE_TRIES - tried
            text = (
                _locked(name, wait)
                if wait
                else Message("Before %(name)s is locked out: %(left)s more.", name=name, left=left)
            )
            raise NotAllowed(
                "That is not %(name)s's PIN. %(next)s",
                name=name,
                next=text,
                roles=frozenset({person.role}),
                wait_s=wait,
            )
        record.write([ev.PinAccepted(name)], TABLE)
        self._open_at.pop(name, None)
        return person

    def locked(self, person: Person) -> float:
        """Return the seconds until this person's PIN is looked at again; 0 if at once."""
        until = self._open_at.get(person.name, self._started + locked_for(person.tried))
        return max(0.0, until - self._clock()) if person.tried else 0.0

    def _unlock(self, state: State, who: Who) -> dict[str, Any]:
        person = state.person(who.name)
        if person is None or who.role is Role.DEALER:
            raise NotAllowed("Say who you are; a dealer needs no session.", roles=PIN_ROLES)
        token = self._sessions.begin(person)
        lasts = session_s(who.role)
        return {"ok": True, "session": token, "role": str(who.role), "name": who.name, "expires_s": lasts}


def refusal(error: NotAllowed, state: State) -> dict[str, Any]:
    """Return the answer to a command that was not allowed.

    `ask`: the people whose PIN would do, for a page to offer; `wait_s`: the rest of a lock-out in seconds.
    """
    people = [person.name for person in state.people if person.role in error.roles & PIN_ROLES]
    return {**error.sentence.refusal(), "ask": people, "wait_s": math.ceil(error.wait_s)}


def _need_right_over(who: Who, role: Role) -> None:
    """Floor people list dealers; anyone who has a PIN is a technician's to list."""
    if role in PIN_ROLES and who.role is not Role.TECHNICIAN:
        raise NotAllowed(
            "Only a technician may change who is %(role)s.", role=role, roles=frozenset({Role.TECHNICIAN})
        )


def _need_own_word(command: SignedCommand, who: Who, state: State) -> None:
    """Raise NotAllowed where somebody logs another one on whose name asks for a PIN."""
    if isinstance(command, LogOn) and command.person != who.name and _asks_for_a_pin(command.person, state):
        raise NotAllowed("Enter %(name)s's PIN.", name=command.person)


def _stands_for_himself(name: str, command: SignedCommand, state: State) -> bool:
    """Say whether a dealer's name is good without a proof: he is logged on, or logs himself on."""
    return name == state.dealer or (isinstance(command, LogOn) and name == command.person)


def _asks_for_a_pin(name: str, state: State) -> bool:
    person = state.person(name)
    return person is not None and person.role in PIN_ROLES


def _has(role: Role, state: State) -> bool:
    return any(person.role is role for person in state.people)


def _who_may(roles: frozenset[Role], state: State) -> Message:
    if not roles:
        return Message("Nobody may give that command.")
    words = one_of(sorted(roles))
    if roles <= PIN_ROLES and not any(_has(role, state) for role in roles):
        first = Role.TECHNICIAN if not _has(Role.TECHNICIAN, state) else min(roles)
        return Message(
            "That asks for a PIN (%(roles)s), and nobody who has one is listed yet. "
            "On the page: Records and set-up, People and PINs; or do: %(command)s",
            roles=words,
            command=f"feltwatch people add NAME --role {first}",
        )
    return Message("That asks for a PIN: %(roles)s.", roles=words)


def _locked(name: str, wait: float) -> Message:
    return Message("%(name)s is locked out for %(seconds)s s.", name=name, seconds=math.ceil(wait))
