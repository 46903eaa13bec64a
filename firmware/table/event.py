"""What every event is: a registry of the events, their canonical JSON, and the fold of events to a state.

A type name is stored with each event and never changes. `payload(event)` writes the canonical JSON form, `parse(type,
payload)` reads it. Unknown fields are ignored and missing fields take their default, so that releases can read each
other's journals. A card is a rank of `23456789TJQKA` and a suit of `cdhs`; the rows are "front", "middle", "back".
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Final, dataclass_transform

from pydantic import JsonValue, TypeAdapter, ValidationError

from firmware.messages import Message
from firmware.table.errors import CommandRefused, UnknownEvent
from firmware.table.phase import Phase
from firmware.table.state import INITIAL, State

Leads = Mapping[Phase, frozenset[Phase]]


def stays(phases: Iterable[Phase]) -> dict[Phase, frozenset[Phase]]:
    """Return `leads` for an event that may happen in these phases and changes none of them."""
    return {phase: frozenset({phase}) for phase in phases}


def leads_to(phases: Iterable[Phase], *to: Phase) -> dict[Phase, frozenset[Phase]]:
    """Return `leads` for an event that leads from each of these phases to one of the phases `to`."""
    return dict.fromkeys(phases, frozenset(to))


EVERY_PHASE: Final = stays(Phase)
"""`leads` for an event that may happen in every phase and changes none."""


@dataclass_transform(frozen_default=True)
@dataclass(frozen=True)
class Event:
    """Something that happened. Its journal row holds the actor and the time.

    A subclass becomes a frozen dataclass without a decorator, and `parse` knows it from then on. Its fields are the
    payload. Add it, with its command, to the file of its topic in `firmware.table.topics`.

    - `type`: the stored name. `title`: the name in refusals.
    - `leads`: the phases in which it may happen, each with those to which it may lead. Everything else is refused.
    - `in_doubt`: whether it is permitted while there is a record fault that no floor person has read yet.

    >>> class ButtonKept(Event, leads=stays(BETWEEN_HANDS)):  # doctest: +SKIP
    ...     type = "button_kept"
    ...     title = Message("Puck kept")
    ...     seat: int
    """

    type: ClassVar[str]
    title: ClassVar[Message]
    leads: ClassVar[Leads]
    in_doubt: ClassVar[bool]

    def __init_subclass__(cls, *, leads: Leads, in_doubt: bool = False) -> None:
        dataclass(frozen=True)(cls)
        cls.leads, cls.in_doubt = leads, in_doubt
        BY_TYPE[cls.type] = cls

    def apply(self, state: State) -> State:
        """Return the state after this event; by default it is only recorded. Pure.

        Raises CommandRefused, with a message, if the state does not allow it. Call `firmware.table.apply` instead:
        it also checks the phases.
        """
        return state


BY_TYPE: Final[dict[str, type[Event]]] = {}
"""Every event class by its stored name."""


def apply(state: State, event: Event) -> State:
    """Return the state after the event. Pure.

    Raises CommandRefused, with a message, for an event that the state does not allow.
    """
    if state.record_fault is not None and not event.in_doubt:
        raise CommandRefused(state.record_fault.sentence)
    leads = event.leads.get(state.phase)
    if leads is None:
        raise CommandRefused(
            "%(event)s is not possible while the hand is in %(phase)s.",
            event=event.title,
            phase=state.phase.label,
        )
    after = event.apply(state)
    if after.phase not in leads:
        raise CommandRefused(
            "%(event)s does not lead from %(phase)s to %(to)s.",
            event=event.title,
            phase=state.phase.label,
            to=after.phase.label,
        )
    return after


def fold(events: Iterable[Event], state: State = INITIAL) -> State:
    """Return the state after all the events."""
    for event in events:
        state = apply(state, event)
    return state


_FORM: Final[dict[str, Any]] = {
    "sort_keys": True,
    "separators": (",", ":"),
    "ensure_ascii": False,
    "allow_nan": False,
}
_VALUE: Final = json.JSONEncoder(**_FORM)
_FIELDS: Final = json.JSONEncoder(**_FORM, default=vars)


def canonical(value: JsonValue | dict[str, Any] | list[Any]) -> str:
    """Return the canonical JSON of a value: sorted keys, no spaces, no escapes for non-ASCII characters, no NaN."""
    return _VALUE.encode(value)


def payload(event: Event) -> str:
    """Return the event's fields as canonical JSON."""
    return _FIELDS.encode(event)


@cache
def _adapter(kind: Any) -> TypeAdapter[Event]:
    return TypeAdapter(kind)


def parse(type_name: str, text: str) -> Event:
    """Return the event that `payload` wrote.

    Raises UnknownEvent for a type of a later release or a payload that does not fit its type.
    """
    kind: Any = BY_TYPE.get(type_name)
    if kind is None:
        raise UnknownEvent(
            "This release does not know the event %(type)s; read the journal with a later one.",
            type=repr(type_name),
        )
    try:
        return _adapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise UnknownEvent(
            "A %(type)s event in the journal cannot be read (%(where)s: %(why)s).",
            type=type_name,
            where=where,
            why=error.errors()[0]["msg"],
        ) from error
