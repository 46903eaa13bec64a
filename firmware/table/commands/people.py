"""The commands about people, and the common fields of commands that identify the sender."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from firmware.table import events as ev
from firmware.table.errors import CommandRefused
from firmware.table.events import Event
from firmware.table.people import PIN_ROLES, Role, check_name
from firmware.table.state import State


class SignedCommand(BaseModel):
    """The common fields of all commands.

    `hand`, `phase`: the state for which the command was meant; it is refused if the table is in another one by now.
    The sender is the person of the `session` from `unlock`, or `by` with that person's `pin`; without either, the
    dealer who is logged on. `id`: the sender's id for this command; a repeated id is not carried out again.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,40}$")] | None = None
    hand: int | None = None
    phase: str | None = None
    session: str | None = None
    by: str | None = None
    pin: SecretStr | None = None


class LogOn(SignedCommand):
    """Log a dealer on, which begins a down."""

    do: Literal["log_on"] = "log_on"
    person: str


class LogOff(SignedCommand):
    """Log the dealer off without a successor."""

    do: Literal["log_off"] = "log_off"


class Unlock(SignedCommand):
    """Open a session for `by`; the answer contains its token."""

    do: Literal["unlock"] = "unlock"


class Lock(SignedCommand):
    """End the `session`."""

    do: Literal["lock"] = "lock"


class Stay(SignedCommand):
    """Extend the `session`, because the person is still at the screen."""

    do: Literal["stay"] = "stay"


class ListPerson(SignedCommand):
    """List a person, or change a person's role; all roles except dealer need a PIN."""

    do: Literal["list_person"] = "list_person"
    person: str
    role: Role
    new_pin: SecretStr | None = None


class RemovePerson(SignedCommand):
    """Remove a person from the list."""

    do: Literal["remove_person"] = "remove_person"
    person: str


class SetPin(SignedCommand):
    """Change a PIN: a technician anybody's, other people their own."""

    do: Literal["set_pin"] = "set_pin"
    person: str
    new_pin: SecretStr


def decide_people(
    state: State,
    command: LogOn | LogOff | ListPerson | RemovePerson | SetPin,
    pin: str = "",
) -> tuple[Event, ...]:
    """Return the events of a command about people; `pin` is the id of the new PIN's verifier.

    Raises CommandRefused. The sender was authorized before (`firmware.access.control`).
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
