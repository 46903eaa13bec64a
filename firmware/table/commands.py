"""What a button or a command of the page does now: command and state give events, or a sentence why not.

The table process judges with this, never the page. README.md lists the commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from firmware.rules import Profile
from firmware.table import events as ev
from firmware.table.effects import apply, fold
from firmware.table.errors import NotNow
from firmware.table.events import Event, Row
from firmware.table.phase import BETWEEN_HANDS, Phase
from firmware.table.settling import natural_verdict, pending_natural, settlement
from firmware.table.state import Ask, State


@dataclass(frozen=True)
class House:
    """What the next hand opens with: the configured seats and rules; names as in `HandOpened`.

    `rules` is the profile with the options in it.
    """

    rules: Profile
    profile: str
    profile_hash: str
    unit: int
    seats: tuple[ev.SeatOpened, ...]
    options: Mapping[str, JsonValue] = field(default_factory=dict)
    layout_hash: str = ""
    model_hash: str = ""
    software: str = ""


class _Command(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)
    hand: int | None = None
    actor: str = Field(default="dealer", min_length=1, max_length=40)


class Next(_Command):
    """White."""

    do: Literal["next"] = "next"


class Confirm(_Command):
    """Green. A `seat` that is not the one due is refused: the page may be a moment behind."""

    do: Literal["confirm"] = "confirm"
    seat: int | None = None


class LookAgain(_Command):
    """Red."""

    do: Literal["look_again"] = "look_again"


class Void(_Command):
    """The hand settles nothing."""

    do: Literal["void"] = "void"
    reason: str = Field(min_length=1, max_length=200)


class KeyButton(_Command):
    """The button's seat."""

    do: Literal["key_button"] = "key_button"
    seat: int


class OfSeat(_Command):
    """What a player says, or takes back."""

    do: Literal["declare", "withdraw", "surrender", "withdraw_surrender", "undo_confirm"]
    seat: int


class SetCard(_Command):
    """What a card is: the answer to an unsure one, or a correction."""

    do: Literal["set_card"] = "set_card"
    seat: int
    row: Row
    index: int
    card: str


class KeyRow(_Command):
    """A whole row, left to right."""

    do: Literal["key_row"] = "key_row"
    seat: int
    row: Row
    cards: str


class MarkPaid(_Command):
    """A payment was made, or its mark is taken back."""

    do: Literal["mark_paid"] = "mark_paid"
    a: int
    b: int
    paid: bool = True


Command = Annotated[
    Next | Confirm | LookAgain | Void | KeyButton | OfSeat | SetCard | KeyRow | MarkPaid,
    Field(discriminator="do"),
]
_COMMANDS: Final[TypeAdapter[Command]] = TypeAdapter(Command)


def parse_command(line: str | bytes) -> Command:
    """Return the command in one line of JSON. Raises NotNow for what is none."""
    try:
        return _COMMANDS.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])
        if first["type"].startswith("union_tag"):
            raise NotNow("That is no command this table knows.") from error
        if not where:
            raise NotNow('A command is one line of JSON, an object with a "do".') from error
        raise NotNow(f"The command cannot be used: {where}: {first['msg']}.") from error


def decide(state: State, command: Command, house: House, rules: Profile) -> tuple[Event, ...]:
    """Return the events that the command is, now; `rules` are those of the hand on the table.

    Raises NotNow with a sentence where it is not possible.
    """
    if command.hand is not None and command.hand != state.hand:
        raise NotNow(f"That was meant for hand {command.hand}; the table is at hand {state.hand}.")
    match command:
        case Next():
            return _next(state, house, rules)
        case Confirm():
            return (_confirmation(state, command.seat, rules),)
        case LookAgain():
            return (ev.LookedAgain(pending_natural(state, rules)),)
        case Void():
            return (ev.HandVoided(command.reason),)
        case KeyButton():
            return (ev.ButtonKeyed(command.seat),)
        case OfSeat():
            return (_of_seat(command, rules),)
        case SetCard():
            return (_card(state, command),)
        case KeyRow():
            return (ev.RowKeyed(command.seat, command.row, tuple(_code(c) for c in command.cards.split())),)
        case MarkPaid():
            return (ev.PaymentMarked(command.a, command.b, command.paid),)


def consequences(state: State, rules: Profile) -> tuple[Event, ...]:
    """Return what follows by itself: a hand in review with nothing open settles.

    Where the rules refuse the hand, nothing follows: no event is lost over it, and white says why.
    """
    if state.phase is not Phase.REVIEW or state.questions:
        return ()
    try:
        return (ev.Settled(settlement(state, rules)),)
    except NotNow:
        return ()


def step(state: State, events: Iterable[Event], rules: Profile) -> tuple[State, tuple[Event, ...]]:
    """Return the state after the events and all that follows by itself, and what it is that follows.

    All of them belong into the journal together. Raises NotNow; then nothing happened.
    """
    state = fold(events, state)
    followed: list[Event] = []
    while more := consequences(state, rules):
        state = fold(more, state)
        followed += more
    return state, tuple(followed)


def _next(state: State, house: House, rules: Profile) -> tuple[Event, ...]:
    match state.phase:
        case Phase.IDLE | Phase.ARCHIVED | Phase.VOID:
            return (_opened(state, house),)
        case Phase.DEALING:
            return (ev.PhaseAdvanced(Phase.SETTING),)
        case Phase.SETTING:
            return (ev.PhaseAdvanced(Phase.SHOWDOWN),)
        case Phase.SETTLED:
            archived = ev.HandArchived()
            return (archived, _opened(apply(state, archived), house))
        case Phase.SHOWDOWN | Phase.READING:
            raise NotNow("The cards are being read; wait for the reading.")
        case Phase.REVIEW:
            if not state.questions:
                settlement(state, rules)  # it did not settle by itself: the rules say why
            raise NotNow(_what_is_open(state))


def _what_is_open(state: State) -> str:
    words = {
        Ask.BUTTON: "the button's seat",
        Ask.COUNT: "a row with a wrong number of cards",
        Ask.DUPLICATE: "a card that is on the table twice",
        Ask.CARD: "an unsure card",
        Ask.NATURAL: "a natural to confirm",
    }
    kinds = dict.fromkeys(words[question.what] for question in state.questions)
    return f"Not yet: {', '.join(kinds)}. Answer what is open, look again, or void the hand."


def _opened(state: State, house: House) -> ev.HandOpened:
    """Stacks go on from the last hand; a player who is new at the table brings the configured one."""
    assert state.phase in BETWEEN_HANDS
    seats = tuple(
        ev.SeatOpened(s.seat, s.player, s.place, state.stacks.get(s.player, s.stack)) for s in house.seats
    )
    return ev.HandOpened(
        hand=state.hand + 1,
        profile=house.profile,
        profile_hash=house.profile_hash,
        unit=house.unit,
        seats=seats,
        button=state.puck.seat,
        puck=state.puck,
        faults=dict(state.faults),
        options=dict(house.options),
        layout_hash=house.layout_hash,
        model_hash=house.model_hash,
        software=house.software,
    )


def _of_seat(command: OfSeat, rules: Profile) -> Event:
    if command.do == "declare" and not rules.naturals.kinds:
        raise NotNow(f"{rules.title} has no naturals.")
    if command.do == "surrender" and not rules.surrender.points:
        raise NotNow(f"{rules.title} offers no surrender.")
    event: Event = _OF_SEAT[command.do](seat=command.seat)
    return event


def _confirmation(state: State, seat: int | None, rules: Profile) -> ev.NaturalConfirmed:
    due = pending_natural(state, rules)
    if due is None:
        raise NotNow("No natural waits to be confirmed.")
    if seat is not None and seat != due:
        raise NotNow(f"The verdict that is due is seat {due}'s, not seat {seat}'s.")
    verdict = natural_verdict(state, due, rules)
    return ev.NaturalConfirmed(due, *(verdict or (None, 0)))


def _card(state: State, command: SetCard) -> Event:
    seat = state.seat(command.seat)
    cards = seat.row(command.row) if seat else ()
    lies = cards[command.index] if 0 <= command.index < len(cards) else None
    code = _code(command.card)
    if lies is not None and lies.sure:
        return ev.CardCorrected(command.seat, command.row, command.index, code, lies.card)
    return ev.CardResolved(command.seat, command.row, command.index, code)


def _code(text: str) -> str:
    """Read 10h as Th, as the settlement JSON does; what is no card, `apply` refuses."""
    return "T" + text[2:] if text.startswith("10") else text


_OF_SEAT: Final[Mapping[str, Any]] = {
    "declare": ev.NaturalDeclared,
    "withdraw": ev.NaturalWithdrawn,
    "surrender": ev.Surrendered,
    "withdraw_surrender": ev.SurrenderWithdrawn,
    "undo_confirm": ev.NaturalUnconfirmed,
}
