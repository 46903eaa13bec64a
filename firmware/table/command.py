"""What every command is: its common fields, a registry of the commands and their roles, and the parser."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, Union, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, TypeAdapter, ValidationError

from firmware.rules import Profile
from firmware.table.errors import CommandRefused
from firmware.table.event import Event
from firmware.table.house import House
from firmware.table.people import Role
from firmware.table.state import State

Reason = Annotated[str, Field(min_length=1, max_length=200)]
Player = Annotated[str, Field(min_length=1, max_length=40)]
Past = Callable[[int], State]
"""Returns the last end state of a hand by its number. Raises CommandRefused for a hand that is not in the record."""


@dataclass(frozen=True)
class Context:
    """What a command is decided on: the state, the settings of the next hand, and the rules of the open hand."""

    state: State
    house: House
    rules: Profile
    past: Past


class Command(BaseModel):
    """The common fields of all commands.

    A subclass says its names (`do: Literal[…] = …`) and the `roles` that may give it; from then on
    `parse_command` knows it. Without roles nobody may give it. `causes`: the event that it causes, where that is all.

    `hand`, `phase`: the state for which the command was meant; it is refused if the table is in another one by now.
    `seen`: the last row of the view on which it was touched; some commands are refused on an older one, or too soon.
    The sender is the person of the `session` from `unlock`, or `by` with that person's `pin`; without either, the
    dealer who is logged on. `by` may be the first letters of a name that has a PIN; a `pin` without a name is that of
    the badge that lies on the table. `at`: where the PIN is entered. `id`: the sender's id for this command; a repeated
    id is not carried out again.
    """

    # deferred: most programs parse no command, and all of them would wait for it at their start
    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, hide_input_in_errors=True, defer_build=True
    )
    roles: ClassVar[frozenset[Role]]
    causes: ClassVar[type[Event] | None]
    do: str
    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,40}$")] | None = None
    hand: int | None = None
    phase: str | None = None
    seen: int | None = None
    session: str | None = None
    by: str | None = None
    pin: SecretStr | None = None
    at: Literal["screen", "console"] = "screen"

    def __init_subclass__(
        cls, *, roles: frozenset[Role] = frozenset(), causes: type[Event] | None = None
    ) -> None:
        cls.roles, cls.causes = roles, causes

    @classmethod
    def __pydantic_init_subclass__(cls, **_: Any) -> None:
        for do in get_args(cls.model_fields["do"].annotation):
            COMMANDS[do] = cls
            COMMAND_ROLES[do] = cls.roles

    def decide(self, context: Context) -> tuple[Event, ...]:
        """Return the events that the command causes now; by default `causes`, with fields of the same names. Pure.

        Raises CommandRefused, with the reason, if it is not possible, or if it is carried out elsewhere. Call
        `firmware.table.decide.decide` instead, which also checks `hand` and `phase`.
        """
        if self.causes is not None:
            return (self.causes(**{field.name: getattr(self, field.name) for field in fields(self.causes)}),)
        raise CommandRefused(
            "That is judged elsewhere (firmware.access.control, firmware.runtime.reading.setup_jobs), not here."
        )


COMMANDS: Final[dict[str, type[Command]]] = {}
"""Every command class by the names of its commands."""
COMMAND_ROLES: Final[dict[str, frozenset[Role]]] = {}
"""The roles that may give each command. A command that is not listed is refused for every role."""


@cache
def _adapter(kinds: tuple[type[Command], ...]) -> TypeAdapter[Command]:
    union: Any = Union[kinds]  # noqa: UP007
    return TypeAdapter(Annotated[union, Field(discriminator="do")])


def command_adapter() -> TypeAdapter[Command]:
    """Return pydantic's adapter for any command."""
    return _adapter(tuple(dict.fromkeys(COMMANDS.values())))


def parse_command(line: str | bytes) -> Command:
    """Return the command in one line of JSON. Raises CommandRefused for an invalid one.

    The validator's own error is not chained, because it quotes the input, which may contain a PIN.
    """
    try:
        return command_adapter().validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        if first["type"].startswith("union_tag"):
            raise CommandRefused("That is no command this table knows.") from None
        if not where:
            raise CommandRefused('A command is one line of JSON, an object with a "do".') from None
        raise CommandRefused(
            "The command cannot be used: %(where)s: %(why)s.", where=where, why=first["msg"]
        ) from None
