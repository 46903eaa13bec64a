"""Access control: authenticates who gives a command and checks the role, with sessions, PINs and waits.

The page never decides this. Wrong PINs are counted in the journal, for the place where they are entered: the place
waits, not the person. The wait runs on the monotonic clock. The time waited before a restart is unknown, because the
wall clock may be wrong. So the wait starts again after a restart: it can be longer, never shorter.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

from firmware.access.pins import PinStore
from firmware.access.sessions import Sessions, session_s
from firmware.messages import Message, one_of
from firmware.table import events as ev
from firmware.table.command import COMMAND_ROLES, Command
from firmware.table.errors import CommandNotAllowed
from firmware.table.events import Event
from firmware.table.people import (
    BADGE,
    FREE_TRIES,
    MIN_DIGITS,
    PIN_ROLES,
    SCREEN,
    Person,
    Place,
    Role,
    check_pin,
    person_meant,
    place_name,
    wait_after,
)
from firmware.table.state import State
from firmware.table.topics.people import EndWait, ListPerson, Lock, LogOn, RemovePerson, SetPin, Stay, Unlock

AccessCommand = Unlock | Lock | Stay | EndWait | ListPerson | RemovePerson | SetPin
"""The commands that are handled here: they need sessions, PINs or the sender's identity."""
TABLE: Final = "table"
SET_UP: Final = "set-up"
"""The actor of a fresh box's set-up, before the first technician is listed: any user at the box."""
_FRESH: Final = frozenset({"set_house", "settle_step", "end_set_up"})
"""The commands of the set-up that a fresh box accepts from any user, until its first technician is listed."""
_CAMERA: Final = frozenset({"look", "job", "calibrate_felt", "use_calibration"})
"""The commands that it accepts if the set-up was left out: who may list the first technician may also lay the felt."""
POLLING_COMMANDS: Final = frozenset({"try_device", "look", "job"})
"""Commands that a page repeats by itself; they do not extend a session."""


class Record(Protocol):
    """The table process, as far as access control reads and writes it."""

    @property
    def state(self) -> State:
        """The state, as the journal has it."""

    def write(self, events: Sequence[Event], actor: str) -> int:
        """Apply events and record them durably; return the last row's number. Raises CommandRefused, JournalError."""


@dataclass(frozen=True)
class Sender:
    """The sender of a command; `actor` is their name in the journal, such as "floor:Moreno".

    `notices`: further keys of the answer to a right PIN: wrong PINs in that name before, a PIN that is too short.
    """

    actor: str
    role: Role
    name: str = ""
    notices: dict[str, Any] = field(default_factory=dict)


class AccessControl:
    """Checks roles, PINs, sessions and waits.

    >>> gate.authorize(command, record)  # doctest: +SKIP
    Sender(actor='floor:Moreno', role=<Role.FLOOR: 'floor'>, name='Moreno')
    """

    def __init__(
        self,
        pins: PinStore,
        clock: Callable[[], float] = time.monotonic,
        valid_tags: Callable[[], frozenset[str]] = frozenset,
    ) -> None:
        """`valid_tags`: the tags of the badges that lie on the table now, each valid for a limited time."""
        self._pins = pins
        self._clock = clock
        self._valid_tags = valid_tags
        self._started = clock()
        self._open_at: dict[str, float] = {}
        """The end of the wait of each place. A place without one has not been tried since the start."""
        self._sessions = Sessions(clock)

    def tidy(self, state: State) -> None:
        """Remove verifiers that were replaced, and those that an interrupted change left without an event."""
        self._pins.forget(self._pins.known() - {person.pin for person in state.people})

    def authorize(self, command: Command, record: Record) -> Sender:
        """Return the command's sender.

        Raises CommandNotAllowed; CommandRefused if the name of a fresh box's first technician is not a valid name;
        JournalError if a PIN attempt cannot be recorded.
        """
        roles = COMMAND_ROLES.get(command.do, frozenset())
        sender = self._admit_to_fresh_box(command, record.state) or self._sender_of(command, roles, record)
        if sender.role in roles:
            _need_own_word(command, sender, record.state)
            return sender
        raise CommandNotAllowed(_who_may(roles, record.state), roles=roles)

    def handle(self, command: AccessCommand, record: Record, sender: Sender) -> dict[str, Any]:
        """Carry out a command from an authorized sender, and return the answer.

        Raises CommandRefused, PinError, JournalError; then nothing was changed.
        """
        match command:
            case Unlock():
                return self._unlock(record.state, sender)
            case Lock():
                self._sessions.end(command.session or "")
                return {"ok": True}
            case Stay():
                return {"ok": True, "expires_s": self._extend(command, sender)}
            case EndWait():
                self._open_at.pop(SCREEN, None)
                events: tuple[Event, ...] = (ev.WaitEnded(),)
            case ListPerson():
                _need_right_over(sender, command.role)
                name = command.name(record.state)
                person = record.state.person(name)
                if person is not None:
                    _need_right_over(sender, person.role)
                new = command.new_pin.get_secret_value() if command.new_pin else ""
                pin = self._pins.keep(check_pin(new)) if command.role in PIN_ROLES and new else ""
                events = command.events(name, pin)
            case RemovePerson():
                person = record.state.person(command.person)
                if person is not None:
                    _need_right_over(sender, person.role)
                events = (ev.PersonStruck(command.person),)
            case SetPin():
                if sender.role is not Role.TECHNICIAN and sender.name != command.person:
                    raise CommandNotAllowed(
                        "Only a technician may set somebody else's PIN.", roles=frozenset({Role.TECHNICIAN})
                    )
                new = command.new_pin.get_secret_value()
                events = (ev.PinSet(command.person, self._pins.keep(check_pin(new))),)
        try:
            return {"ok": True, "seq": record.write(events, sender.actor)}
        finally:
            self.tidy(record.state)

    def _extend(self, command: Stay, sender: Sender) -> float:
        if command.session is None:
            return session_s(sender.role)  # a PIN with every command: there is no session
        return self._sessions.stay(command.session, evidence=command.evidence)

    def refusal(self, error: CommandNotAllowed, state: State, at: Place = SCREEN) -> dict[str, Any]:
        """Return the answer to a command that was not allowed.

        `ask`: the roles whose PIN would be accepted, never who has one. `wait_s`: the rest of the place's wait in
        seconds. `badge`: a badge lies on the table, so that a PIN without a name is enough.
        """
        owner = self._owner(state)
        place = place_name(at if owner is None else BADGE, owner.name if owner else "")
        wait = error.wait_s or self.wait(place, state)
        ask = sorted(str(role) for role in PIN_ROLES & error.roles if _has(role, state))
        badge = {"badge": True} if owner else {}
        return {**error.sentence.refusal(), "ask": ask, "wait_s": math.ceil(wait), **badge}

    def wait(self, place: str, state: State) -> float:
        """Return the rest of a place's wait in seconds; 0 if there is none."""
        wrong = state.wrong_pins.get(place, 0)
        until = self._open_at.get(place, self._started + wait_after(wrong))
        return max(0.0, until - self._clock()) if wrong else 0.0

    # ---- the sender ----

    def _sender_of(self, command: Command, roles: frozenset[Role], record: Record) -> Sender:
        if command.session is not None:
            return self._person_of_session(command, command.session, record.state)
        named = command.person if isinstance(command, LogOn) else ""
        if command.by is not None or command.pin is not None:
            return self._prove(command.by or named, command, roles, record)
        if isinstance(command, LogOn) and not _is_dealer(named, record.state):
            return self._prove(named, command, roles, record)
        name = named or record.state.dealer
        return Sender(f"dealer:{name}" if name else "dealer", Role.DEALER, name)

    def _admit_to_fresh_box(self, command: Command, state: State) -> Sender | None:
        """Return the sender if a box without a technician accepts the command from any user; None otherwise.

        Any user may list the first technician; this is recorded. Before that, any user may do the steps in `_FRESH`.
        """
        if _has(Role.TECHNICIAN, state):
            return None
        if command.do in (_CAMERA if state.set_up else _FRESH | _CAMERA):
            return Sender(SET_UP, Role.TECHNICIAN)
        if not isinstance(command, ListPerson) or command.role is not Role.TECHNICIAN:
            return None
        name = command.name(state)
        return Sender(f"{Role.TECHNICIAN}:{name}", Role.TECHNICIAN, name)

    def _person_of_session(self, command: Command, token: str, state: State) -> Sender:
        person = self._sessions.person(token, state, extend=command.do not in POLLING_COMMANDS)
        return _as_sender(person)

    def _prove(self, typed: str, command: Command, roles: frozenset[Role], record: Record) -> Sender:
        """Return the person of this name if the command's PIN is right. Every attempt is recorded before the check.

        A dealer has no PIN: the name is enough while they are logged on, or to log on. A name that nobody has is
        refused and counted like a wrong PIN, and as slowly, so that no refusal tells who has a PIN.
        """
        state, asked = record.state, roles & PIN_ROLES
        person = person_meant(typed, state.people) if typed else self._owner(state)
        if person is not None and person.role not in PIN_ROLES:
            if _stands_for_themselves(person.name, command, state):
                return _as_sender(person)
            raise CommandNotAllowed("%(name)s is not the dealer who is logged on.", name=person.name)
        at: Place = BADGE if person is not None and self._lies(person) else command.at
        place = place_name(at, person.name if person else "")
        if wait := self.wait(place, state):
            raise CommandNotAllowed(_waiting(wait), roles=asked, wait_s=wait)
        if command.pin is None:
            raise CommandNotAllowed("Enter your name and your PIN.", roles=asked)
        if not typed and person is None:
            raise CommandNotAllowed("Key your name, or lay your badge at a seat; then the PIN.", roles=asked)
        pin = command.pin.get_secret_value()
        if not self._is_right(person, pin, at, record):
            wrong = record.state.wrong_pins[place]
            wait = wait_after(wrong)
            self._open_at[place] = self._clock() + wait
            left = Message("Tries left before this place has to wait: %(left)s.", left=FREE_TRIES - wrong)
            raise CommandNotAllowed(
                "That name and that PIN do not belong together. %(next)s",
                next=_waiting(wait) if wait else left,
                roles=asked,
                wait_s=wait,
            )
        assert person is not None
        is_short = len(pin) < MIN_DIGITS
        record.write([ev.PinAccepted(person.name, at, is_short)], TABLE)
        self._open_at.pop(place, None)
        notices: dict[str, Any] = {"wrong_pins": person.tried} if person.tried else {}
        return replace(_as_sender(person), notices=notices | ({"short_pin": True} if is_short else {}))

    def _is_right(self, person: Person | None, pin: str, at: Place, record: Record) -> bool:
        if person is None or not person.pin:
            record.write([ev.NameTried(at)], TABLE)
            return self._pins.matches_nobody(pin)
        record.write([ev.PinTried(person.name, at)], TABLE)
        return self._pins.matches(person.pin, pin)

    def _owner(self, state: State) -> Person | None:
        """Return the owner of the badge that lies on the table; None without one, or with several."""
        owners = [person for person in state.people if self._lies(person)]
        return owners[0] if len(owners) == 1 else None

    def _lies(self, person: Person) -> bool:
        return bool(person.badge) and person.badge in self._valid_tags()

    def _unlock(self, state: State, sender: Sender) -> dict[str, Any]:
        person = state.person(sender.name)
        if person is None or sender.role is Role.DEALER:
            raise CommandNotAllowed("Say who you are; a dealer needs no session.", roles=PIN_ROLES)
        token = self._sessions.begin(person)
        lasts = session_s(sender.role)
        return {
            "ok": True,
            "session": token,
            "role": str(sender.role),
            "name": sender.name,
            "expires_s": lasts,
        }


def with_sender(command: Command, sender: Sender) -> Command:
    """Return the command with its sender's name where it stands for a name that is not given."""
    if isinstance(command, LogOn) and not command.person:
        return command.model_copy(update={"person": sender.name})
    return command


def _as_sender(person: Person) -> Sender:
    return Sender(f"{person.role}:{person.name}", person.role, person.name)


def _need_right_over(sender: Sender, role: Role) -> None:
    """Raise NotAllowed unless the sender may list this role: roles with a PIN need a technician."""
    if role in PIN_ROLES and sender.role is not Role.TECHNICIAN:
        raise CommandNotAllowed(
            "Only a technician may change who is %(role)s.", role=role, roles=frozenset({Role.TECHNICIAN})
        )


def _need_own_word(command: Command, sender: Sender, state: State) -> None:
    """Raise NotAllowed if the sender logs on another person who has a role with a PIN."""
    if (
        isinstance(command, LogOn)
        and command.person != sender.name
        and _asks_for_a_pin(command.person, state)
    ):
        raise CommandNotAllowed("Enter your name and your PIN.", roles=PIN_ROLES)


def _stands_for_themselves(name: str, command: Command, state: State) -> bool:
    """Return whether a dealer's name is enough without a PIN: they are logged on, or log on now."""
    return name == state.dealer or (isinstance(command, LogOn) and name == command.person)


def _is_dealer(name: str, state: State) -> bool:
    person = state.person(name)
    return person is not None and person.role not in PIN_ROLES


def _asks_for_a_pin(name: str, state: State) -> bool:
    person = state.person(name)
    return person is not None and person.role in PIN_ROLES


def _has(role: Role, state: State) -> bool:
    return any(person.role is role for person in state.people)


def _who_may(roles: frozenset[Role], state: State) -> Message:
    if not roles:
        return Message("Nobody may give that command.")
    role_list = one_of(sorted(roles))
    if roles <= PIN_ROLES and not any(_has(role, state) for role in roles):
        first = Role.TECHNICIAN if not _has(Role.TECHNICIAN, state) else min(roles)
        return Message(
            "That asks for a PIN (%(roles)s), and nobody who has one is listed yet. "
            "On the page: Records and set-up, People and PINs; or do: %(command)s",
            roles=role_list,
            command=f"feltwatch people add NAME --role {first}",
        )
    return Message("That asks for a PIN: %(roles)s.", roles=role_list)


def _waiting(wait: float) -> Message:
    return Message(
        "After wrong PINs this place takes the next one in %(seconds)s s.", seconds=math.ceil(wait)
    )
