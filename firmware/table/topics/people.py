"""The people of the house, their PINs, and the dealers' shifts."""

from dataclasses import replace
from typing import Final, Literal, get_args

from pydantic import SecretStr

from firmware.messages import Message
from firmware.names import is_blank
from firmware.table.command import Command, Context
from firmware.table.errors import CommandRefused
from firmware.table.event import EVERY_PHASE, Event
from firmware.table.people import (
    ANYBODY,
    AT_TABLE,
    HOUSE,
    PIN_ROLES,
    SCREEN,
    TECHNICIAN,
    Person,
    Place,
    Role,
    check_name,
    place_name,
    wrong_after,
)
from firmware.table.state import State

_PIN_IN_EVENT: Final = frozenset({Role.FLOOR, Role.TECHNICIAN})
"""Roles whose `PersonListed` must have a PIN. An auditor's may lack it, since older releases recorded none."""


class PersonListed(Event, leads=EVERY_PHASE, in_doubt=True):
    """A person was listed or given another role. `pin` is the id of a verifier in the PIN store, never the PIN."""

    type = "person_listed"
    title = Message("Person listed")
    person: str
    role: Role
    pin: str = ""

    def apply(self, state: State) -> State:
        if self.role in _PIN_IN_EVENT and not self.pin:
            raise CommandRefused("A %(role)s needs a PIN.", role=self.role)
        if self.role is not Role.TECHNICIAN:
            _require_another_technician(state, self.person)
        before = state.person(self.person)
        badge = before.badge if before is not None and self.role in PIN_ROLES else ""
        return _with_person(state, Person(self.person, self.role, self.pin, badge=badge))


class PersonStruck(Event, leads=EVERY_PHASE, in_doubt=True):
    """A person was removed from the list."""

    type = "person_struck"
    title = Message("Person struck")
    person: str

    def apply(self, state: State) -> State:
        _listed(state, self.person)
        _require_another_technician(state, self.person)
        return replace(
            _forget_wrong_pins(state, *_places_of(self.person)),
            people=tuple(person for person in state.people if person.name != self.person),
            dealer="" if state.dealer == self.person else state.dealer,
        )


class PinSet(Event, leads=EVERY_PHASE, in_doubt=True):
    """A person's PIN was changed; `pin` is the id of its verifier."""

    type = "pin_set"
    title = Message("Pin set")
    person: str
    pin: str

    def apply(self, state: State) -> State:
        person = _listed(state, self.person)
        if person.role not in PIN_ROLES:
            raise CommandRefused("%(name)s is %(role)s and needs no PIN.", name=person.name, role=person.role)
        person = replace(person, pin=self.pin, tried=0, short=False)
        return _with_person(_forget_wrong_pins(state, *_places_of(self.person)), person)


class PinTried(Event, leads=EVERY_PHASE, in_doubt=True):
    """A PIN was entered. The event is recorded before the PIN is checked, so that a power cut gives no free attempt."""

    type = "pin_tried"
    title = Message("Pin tried")
    person: str
    at: Place = "screen"

    def apply(self, state: State) -> State:
        person = _listed(state, self.person)
        wrong = wrong_after(state.wrong_pins, self.at, person)
        return _with_person(replace(state, wrong_pins=wrong), replace(person, tried=person.tried + 1))


class NameTried(Event, leads=EVERY_PHASE, in_doubt=True):
    """A PIN was entered for a name that is not listed. It counts as a wrong PIN; what was typed is not recorded."""

    type = "name_tried"
    title = Message("Name tried")
    at: Place = "screen"

    def apply(self, state: State) -> State:
        return replace(state, wrong_pins=wrong_after(state.wrong_pins, self.at, None))


class PinAccepted(Event, leads=EVERY_PHASE, in_doubt=True):
    """The last PIN that was tried was right. A `PinTried` without this event was a wrong PIN.

    `short`: the PIN has fewer digits than a new one must have.
    """

    type = "pin_accepted"
    title = Message("Pin accepted")
    person: str
    at: Place = "screen"
    short: bool = False

    def apply(self, state: State) -> State:
        person = replace(_listed(state, self.person), tried=0, short=self.short)
        return _with_person(_forget_wrong_pins(state, place_name(self.at, self.person)), person)


class WaitEnded(Event, leads=EVERY_PHASE, in_doubt=True):
    """A floor person or technician ended the screen's wait after wrong PINs, from the console."""

    type = "wait_ended"
    title = Message("Wait ended")

    def apply(self, state: State) -> State:
        return _forget_wrong_pins(state, SCREEN)


class BadgeListed(Event, leads=EVERY_PHASE, in_doubt=True):
    """A person's badge was listed by the id of its `tag`, or taken off the list (`tag` is empty)."""

    type = "badge_listed"
    title = Message("Badge listed")
    person: str
    tag: str = ""

    def apply(self, state: State) -> State:
        person = _listed(state, self.person)
        if person.role not in PIN_ROLES:
            raise CommandRefused("%(name)s is %(role)s and needs no PIN.", name=person.name, role=person.role)
        if self.tag and any(other.badge == self.tag for other in state.people if other != person):
            raise CommandRefused("That badge is listed for somebody else.")
        return _with_person(state, replace(person, badge=self.tag))


class LoggedOn(Event, leads=EVERY_PHASE, in_doubt=True):
    """A dealer began a down at the time of this row; `down` is its number at this table."""

    type = "logged_on"
    title = Message("Logged on")
    person: str
    down: int

    def apply(self, state: State) -> State:
        if _listed(state, self.person).role not in (Role.DEALER, Role.FLOOR):
            raise CommandRefused("%(person)s is not listed as a dealer.", person=self.person)
        if state.dealer == self.person:
            raise CommandRefused("%(person)s is logged on already.", person=self.person)
        return replace(state, dealer=self.person, down=self.down)


class LoggedOff(Event, leads=EVERY_PHASE, in_doubt=True):
    """The dealer left and nobody took over."""

    type = "logged_off"
    title = Message("Logged off")

    def apply(self, state: State) -> State:
        if not state.dealer:
            raise CommandRefused("No dealer is logged on.")
        return replace(state, dealer="")


class LogOn(Command, roles=AT_TABLE):
    """Log a dealer on, which begins a down. An empty `person` means the sender (`access.control.with_sender`)."""

    do: Literal["log_on"] = "log_on"
    person: str = ""

    def decide(self, context: Context) -> tuple[Event, ...]:
        if is_blank(self.person):
            raise CommandRefused(
                "That name shows as nothing. A technician removes it and lists the person under a name to read."
            )
        return (LoggedOn(self.person, context.state.down + 1),)


class LogOff(Command, roles=AT_TABLE, causes=LoggedOff):
    """Log the dealer off without a successor."""

    do: Literal["log_off"] = "log_off"


class Unlock(Command, roles=ANYBODY):
    """Open a session for the sender; the answer contains its token."""

    do: Literal["unlock"] = "unlock"


class Lock(Command, roles=ANYBODY):
    """End the `session`."""

    do: Literal["lock"] = "lock"


class Stay(Command, roles=PIN_ROLES):
    """Extend the `session` of a person who is still at the screen. `evidence`: they look at a past hand."""

    do: Literal["stay"] = "stay"
    evidence: bool = False


class EndWait(Command, roles=HOUSE):
    """End the screen's wait after wrong PINs. Sent with a PIN from the console, which counts its own wrong PINs."""

    do: Literal["end_wait"] = "end_wait"


class ListBadge(Command, roles=TECHNICIAN):
    """List the badge on the puck reader as this person's. `off`: take the person's badge off the list."""

    do: Literal["list_badge"] = "list_badge"
    person: str
    off: bool = False


class ListPerson(Command, roles=HOUSE):
    """List a person, or change a person's role. All roles except dealer need a PIN."""

    do: Literal["list_person"] = "list_person"
    person: str
    role: Role
    new_pin: SecretStr | None = None

    def name(self, state: State) -> str:
        """Return the person's name as it is or will be listed. Raises CommandRefused."""
        return check_name(self.person, (person.name for person in state.people))

    def events(self, name: str, pin: str = "") -> tuple[Event, ...]:
        """Return the events for the `name` that `self.name` returned; `pin`: a verifier's id. Raises CommandRefused."""
        if self.role in PIN_ROLES and not pin:
            raise CommandRefused("A %(role)s needs a PIN; give one.", role=self.role)
        return (PersonListed(name, self.role, pin),)


class RemovePerson(Command, roles=HOUSE):
    """Remove a person from the list."""

    do: Literal["remove_person"] = "remove_person"
    person: str


class SetPin(Command, roles=HOUSE):
    """Change a PIN. A technician may change anybody's, a floor person only their own."""

    do: Literal["set_pin"] = "set_pin"
    person: str
    new_pin: SecretStr


def _listed(state: State, name: str) -> Person:
    """Return the person of this name. Raises CommandRefused."""
    person = state.person(name)
    if person is None:
        raise CommandRefused("%(name)s is not listed at this table.", name=name)
    return person


def _places_of(name: str) -> tuple[str, ...]:
    """Return the places that count wrong PINs for this person alone."""
    return tuple(place_name(at, name) for at in get_args(Place) if at != SCREEN)


def _forget_wrong_pins(state: State, *places: str) -> State:
    return replace(state, wrong_pins={name: n for name, n in state.wrong_pins.items() if name not in places})


def _with_person(state: State, person: Person) -> State:
    """Return the state with this person added, or replaced if the name is listed."""
    others = (p for p in state.people if p.name != person.name)
    return replace(state, people=tuple(sorted((*others, person), key=lambda p: p.name)))


def _require_another_technician(state: State, name: str) -> None:
    """Raise CommandRefused if this is the only technician: without one, nobody could list a technician again."""
    technicians = [person.name for person in state.people if person.role is Role.TECHNICIAN]
    if technicians == [name]:
        raise CommandRefused("%(name)s is the only technician; list another one first.", name=name)
