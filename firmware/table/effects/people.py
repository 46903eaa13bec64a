"""Effects of the events about people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Final

from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.table.people import PIN_ROLES, Person, Role
from firmware.table.state import State

_PIN_FROM_THE_FIRST: Final = frozenset({Role.FLOOR, Role.TECHNICIAN})
"""Roles whose events must have a PIN. Not auditors: older releases recorded them without one; commands require it."""


def _need(state: State, name: str) -> Person:
    person = state.person(name)
    if person is None:
        raise CommandRefused("%(name)s is not listed at this table.", name=name)
    return person


def _with(state: State, person: Person) -> State:
    others = (p for p in state.people if p.name != person.name)
    return replace(state, people=tuple(sorted((*others, person), key=lambda p: p.name)))


def _need_another_technician(state: State, name: str) -> None:
    """Raise CommandRefused if no other technician is listed: without one, nobody could list a technician again."""
    technicians = [person.name for person in state.people if person.role is Role.TECHNICIAN]
    if technicians == [name]:
        raise CommandRefused("%(name)s is the only technician; list another one first.", name=name)


def _person_listed(state: State, event: ev.PersonListed) -> State:
    if event.role in _PIN_FROM_THE_FIRST and not event.pin:
        raise CommandRefused("A %(role)s needs a PIN.", role=event.role)
    if event.role is not Role.TECHNICIAN:
        _need_another_technician(state, event.person)
    return _with(state, Person(event.person, event.role, event.pin))


def _person_struck(state: State, event: ev.PersonStruck) -> State:
    _need(state, event.person)
    _need_another_technician(state, event.person)
    return replace(
        state,
        people=tuple(person for person in state.people if person.name != event.person),
        dealer="" if state.dealer == event.person else state.dealer,
    )


def _pin_set(state: State, event: ev.PinSet) -> State:
    person = _need(state, event.person)
    if person.role not in PIN_ROLES:
        raise CommandRefused("%(name)s is %(role)s and needs no PIN.", name=person.name, role=person.role)
    return _with(state, replace(person, pin=event.pin, tried=0))


def _pin_tried(state: State, event: ev.PinTried) -> State:
    person = _need(state, event.person)
    return _with(state, replace(person, tried=person.tried + 1))


def _pin_accepted(state: State, event: ev.PinAccepted) -> State:
    return _with(state, replace(_need(state, event.person), tried=0))


def _logged_on(state: State, event: ev.LoggedOn) -> State:
    if _need(state, event.person).role not in (Role.DEALER, Role.FLOOR):
        raise CommandRefused("%(person)s is not listed as a dealer.", person=event.person)
    if state.dealer == event.person:
        raise CommandRefused("%(person)s is logged on already.", person=event.person)
    return replace(state, dealer=event.person, down=event.down)


def _logged_off(state: State, _: ev.LoggedOff) -> State:
    if not state.dealer:
        raise CommandRefused("No dealer is logged on.")
    return replace(state, dealer="")


EFFECTS: Final[Mapping[type[ev.Event], Callable[[State, Any], State]]] = {
    ev.PersonListed: _person_listed,
    ev.PersonStruck: _person_struck,
    ev.PinSet: _pin_set,
    ev.PinTried: _pin_tried,
    ev.PinAccepted: _pin_accepted,
    ev.LoggedOn: _logged_on,
    ev.LoggedOff: _logged_off,
}
"""Permitted in every phase, because people come and go while a hand is open."""
