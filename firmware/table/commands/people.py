"""The commands about people, and what every command may carry to say who gives it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.table.events import Event
from firmware.table.people import PIN_ROLES, Role, check_name
from firmware.table.state import State


class SignedCommand(BaseModel):
    """What every command may carry.

    `hand`, `phase`: refused if the table is at another by now, the command being meant for what stood there. Who
    gives it: the `session` that `unlock` opened, or `by` with that person's `pin`; without either, the dealer who is
    logged on. `id`: the sender's own name for this one command; sent again with the same, it is not done again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,40}$")] | None = None
    hand: int | None = None
    phase: str | None = None
    session: str | None = None
    by: str | None = None
    pin: SecretStr | None = None


class LogOn(SignedCommand):
    """A dealer begins a down."""

    do: Literal["log_on"] = "log_on"
    person: str


class LogOff(SignedCommand):
    """The dealer leaves and nobody takes over."""

    do: Literal["log_off"] = "log_off"


class Unlock(SignedCommand):
    """Open a session for `by`; the answer carries it."""

    do: Literal["unlock"] = "unlock"


class Lock(SignedCommand):
    """End the `session`."""

    do: Literal["lock"] = "lock"


class Stay(SignedCommand):
    """Somebody is still there: the `session` goes on."""

    do: Literal["stay"] = "stay"


class ListPerson(SignedCommand):
    """List somebody, or give somebody another role; all but dealers come with a PIN."""

    do: Literal["list_person"] = "list_person"
    person: str
    role: Role
    new_pin: SecretStr | None = None


class RemovePerson(SignedCommand):
    """Take somebody off the list."""

    do: Literal["remove_person"] = "remove_person"
    person: str


class SetPin(SignedCommand):
    """Give somebody another PIN: a technician anybody, a floor person himself."""

    do: Literal["set_pin"] = "set_pin"
    person: str
    new_pin: SecretStr


def decide_people(
    state: State,
    command: LogOn | LogOff | ListPerson | RemovePerson | SetPin,
    pin: str = "",
) -> tuple[Event, ...]:
    """Return the events that a command about people is; `pin` names the new PIN's verifier.

    Raises CommandRefused. Whether its sender may give it was judged before (`firmware.access.control`).
    """
    match command:
        case LogOn():
            return (ev.LoggedOn(command.person, state.down + 1),)
        case LogOff():
            return (ev.LoggedOff(),)
        case ListPerson():
            if command.role in PIN_ROLES and not pin:
                raise CommandRefused("A %(role)s needs a PIN; give one.", role=command.role)
            return (ev.PersonListed(check_name(command.person), command.role, pin),)
        case RemovePerson():
            return (ev.PersonStruck(command.person),)
        case SetPin():
            return (ev.PinSet(command.person, pin),)
