"""Decides commands: returns the events that a command causes in a state, or raises the reason why it is refused.

Only the table process decides, never the page. README.md lists the commands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter, ValidationError

from firmware.rules import Profile
from firmware.table import events as ev
from firmware.table.commands.camera import CameraCommand
from firmware.table.commands.evidence import (
    CloseDispute,
    Dispute,
    EvidenceCommand,
    MarkReviewed,
    ReadRecordFault,
    decide_evidence,
)
from firmware.table.commands.house import (
    Chips,
    HouseCommand,
    LeaveSeat,
    RenamePlayer,
    SeatPlayer,
    SetHouse,
    decide_house,
)
from firmware.table.commands.people import (
    ListPerson,
    Lock,
    LogOff,
    LogOn,
    RemovePerson,
    SetPin,
    Stay,
    Unlock,
    decide_people,
)
from firmware.table.commands.people import SignedCommand as _Command
from firmware.table.commands.play import (
    BackToSetting,
    CloseHand,
    CountStack,
    KeepButton,
    KeyHand,
    MarkPaidBack,
    Misdeal,
    OpenHand,
    PlaceCard,
    PlayCommand,
    Reopen,
    Resolve,
    Sit,
    TwoHands,
    UndoClose,
)
from firmware.table.commands.setup import EndSetUp, SettleStep, SetupCommand, decide_setup
from firmware.table.effects import fold
from firmware.table.errors import CommandRefused
from firmware.table.events import Event, Row
from firmware.table.house import House as House
from firmware.table.house_profiles import KeepProfile, decide_keeping
from firmware.table.opening import Past, closing_undone, opened, opening_withdrawn, reopened
from firmware.table.phase import OPEN, Phase
from firmware.table.settling import natural_verdict, naturals_to_find, pending_natural, settlement
from firmware.table.state import Ask, State
from firmware.table.swaps import swap
from firmware.table.white import white


class Next(_Command):
    """The white button."""

    do: Literal["next"] = "next"


class Confirm(_Command):
    """The green button. Refused if `seat` is not the one due, because the page may be out of date."""

    do: Literal["confirm"] = "confirm"
    seat: int | None = None


class LookAgain(_Command):
    """The red button."""

    do: Literal["look_again"] = "look_again"


class Void(_Command):
    """Void the hand: it settles nothing."""

    do: Literal["void"] = "void"
    reason: str = Field(min_length=1, max_length=200)


class KeyButton(_Command):
    """Set the button's seat."""

    do: Literal["key_button"] = "key_button"
    seat: int


class OfSeat(_Command):
    """A player's declaration or surrender, or its withdrawal."""

    do: Literal["declare", "withdraw", "surrender", "withdraw_surrender", "undo_confirm"]
    seat: int


class SetCard(_Command):
    """Name an unsure card, or correct a card.

    `swap`: if the camera gave this name to another card and all 52 names are on the table, swap the two cards.
    """

    do: Literal["set_card"] = "set_card"
    seat: int
    row: Row
    index: int
    card: str
    swap: bool = False


class KeyRow(_Command):
    """Key a whole row, left to right."""

    do: Literal["key_row"] = "key_row"
    seat: int
    row: Row
    cards: str


class MarkPaid(_Command):
    """Mark a payment as made, or take the mark back."""

    do: Literal["mark_paid"] = "mark_paid"
    a: int
    b: int
    paid: bool = True


Command = Annotated[
    Next
    | Confirm
    | LookAgain
    | Void
    | KeyButton
    | OfSeat
    | SetCard
    | KeyRow
    | MarkPaid
    | PlayCommand
    | HouseCommand
    | CameraCommand
    | EvidenceCommand
    | KeepProfile
    | LogOn
    | LogOff
    | Unlock
    | Lock
    | Stay
    | SetupCommand
    | ListPerson
    | RemovePerson
    | SetPin,
    Field(discriminator="do"),
]
_COMMANDS: Final[TypeAdapter[Command]] = TypeAdapter(Command)


def parse_command(line: str | bytes) -> Command:
    """Return the command in one line of JSON. Raises CommandRefused for an invalid one.

    The validator's own error is not chained, because it quotes the input, which may contain a PIN.
    """
    try:
        return _COMMANDS.validate_json(line)
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


def no_past(hand: int) -> State:
    """The `Past` function for a record without past hands: always raises CommandRefused."""
    raise CommandRefused("There is no record of hand %(hand)s here.", hand=hand)


def decide(
    state: State, command: Command, house: House, rules: Profile, past: Past = no_past
) -> tuple[Event, ...]:
    """Return the events that the command causes now; `rules` are those of the open hand.

    Raises CommandRefused, with the reason, if the command is not possible.
    """
    if command.hand is not None and command.hand != state.hand:
        raise CommandRefused(
            "That was meant for hand %(hand)s; the table is at hand %(now)s.",
            hand=command.hand,
            now=state.hand,
        )
    if command.phase is not None and command.phase != state.phase:
        raise CommandRefused(
            "That was meant for %(phase)s; the hand is in %(now)s by now.",
            phase=command.phase,
            now=state.phase,
        )
    match command:
        case Next():
            return white(state, house, rules)
        case OpenHand():
            return (opened(state, house),)
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
            return _card(state, command)
        case KeyRow():
            return (ev.RowKeyed(command.seat, command.row, tuple(_code(c) for c in command.cards.split())),)
        case MarkPaid():
            return (ev.PaymentMarked(command.a, command.b, command.paid),)
        case PlaceCard():
            return (_place(state, command),)
        case Reopen():
            return (reopened(past(command.past), command.reason),)
        case CloseHand():
            return (ev.HandArchived(() if state.reopened else state.unpaid),)
        case BackToSetting():
            return (ev.SettingResumed(),)
        case KeepButton():
            return (ev.ButtonKept(command.seat),)
        case UndoClose():
            return opening_withdrawn(state, past) if state.phase in OPEN else (closing_undone(state),)
        case Resolve() | KeyHand() | Misdeal() | MarkPaidBack() | CountStack() | Sit() | TwoHands():
            return (_play(command, house),)
        case SetHouse() | SeatPlayer() | LeaveSeat() | RenamePlayer() | Chips():
            return decide_house(state, command, house)
        case KeepProfile():
            return (decide_keeping(command),)
        case SettleStep() | EndSetUp():
            return decide_setup(state, command)
        case Dispute() | CloseDispute() | MarkReviewed() | ReadRecordFault():
            return decide_evidence(command)
        case LogOn() | LogOff():
            return decide_people(state, command)
        case _:
            raise CommandRefused(
                "That is judged elsewhere (firmware.access.control, firmware.runtime.reading.setup_jobs), not here."
            )


def consequences(state: State, rules: Profile) -> tuple[Event, ...]:
    """Return the events that follow automatically from a state.

    A hand in review without open questions settles, after its naturals are found. A keyed hand skips the reading. The
    irregularity of a card seen twice ends when the card is there only once. If the rules refuse the hand, nothing
    follows: the events before are kept, and the white button shows the reason.
    """
    if state.phase is Phase.SHOWDOWN and state.keyed:
        return (ev.PhaseAdvanced(Phase.REVIEW),)
    twice = {question.cards[0] for question in state.questions if question.what is Ask.DUPLICATE}
    over = [i for i in state.irregularities if i.what == "card_twice" and i.card not in twice]
    if over and state.phase in (Phase.PLACING, Phase.REVIEW):
        return tuple(ev.IrregularityEnded(i.number, by="table") for i in over)
    if state.phase is not Phase.REVIEW:
        return ()
    try:
        if found := naturals_to_find(state, rules):
            return tuple(ev.NaturalFound(seat, kind) for seat, kind in sorted(found.items()))
        return () if state.questions else (ev.Settled(settlement(state, rules)),)
    except CommandRefused:
        return ()


def step(state: State, events: Iterable[Event], rules: Profile) -> tuple[State, tuple[Event, ...]]:
    """Return the state after the events and all automatic consequences, and the consequences.

    Write all of these events to the journal together. Raises CommandRefused; then nothing must be written.
    """
    state = fold(events, state)
    followed: list[Event] = []
    while more := consequences(state, rules):
        state = fold(more, state)
        followed += more
    return state, tuple(followed)


def _place(state: State, command: PlaceCard) -> ev.RowKeyed:
    seat = state.seat(command.seat)
    lie = seat.row(command.row) if seat else ()
    if any(not card.sure or card.card is None for card in lie):
        raise CommandRefused("Name the unsure card of that row first.")
    codes = (*(card.card for card in lie if card.card), _code(command.card))
    return ev.RowKeyed(command.seat, command.row, codes)


def _play(
    command: Resolve | KeyHand | Misdeal | MarkPaidBack | CountStack | Sit | TwoHands, house: House
) -> Event:
    match command:
        case Resolve():
            return ev.IrregularityEnded(command.number, command.stands, "dealer")
        case KeyHand():
            return ev.KeyingBegun(command.reason)
        case Misdeal():
            return ev.HandMisdealt(command.reason)
        case MarkPaidBack():
            return ev.PaybackMarked(command.number, command.paid)
        case CountStack():
            _need_player(command.player, house)
            return ev.StackCounted(command.player, command.stack, command.reason)
        case Sit():
            _need_player(command.player, house)
            what: Literal["sits_out", "passes"] = "sits_out" if command.do == "sit_out" else "passes"
            return ev.SeatingChanged(what, command.on, command.player)
        case TwoHands():
            return ev.SeatingChanged("two_hands", command.on)


def _need_player(player: str, house: House) -> None:
    if player not in {seat.player for seat in house.seats}:
        raise CommandRefused("%(player)s is no player of this table.", player=player)


def _of_seat(command: OfSeat, rules: Profile) -> Event:
    if command.do == "declare" and not rules.naturals.kinds:
        raise CommandRefused("%(title)s has no naturals.", title=rules.title)
    if command.do == "surrender" and not rules.surrender.points:
        raise CommandRefused("%(title)s offers no surrender.", title=rules.title)
    event: Event = _OF_SEAT[command.do](seat=command.seat)
    return event


def _confirmation(state: State, seat: int | None, rules: Profile) -> ev.NaturalConfirmed:
    due = pending_natural(state, rules)
    if due is None:
        raise CommandRefused("No natural waits to be confirmed.")
    if seat is not None and seat != due:
        raise CommandRefused(
            "The verdict that is due is seat %(due)s's, not seat %(seat)s's.", due=due, seat=seat
        )
    verdict = natural_verdict(state, due, rules)
    return ev.NaturalConfirmed(due, verdict.kind, verdict.value)


def _card(state: State, command: SetCard) -> tuple[Event, ...]:
    seat = state.seat(command.seat)
    cards = seat.row(command.row) if seat else ()
    lies = cards[command.index] if 0 <= command.index < len(cards) else None
    code = _code(command.card)
    pair = swap(state, command.seat, command.row, command.index, code) if command.swap else None
    if pair is not None:
        one, other = pair
        return (
            ev.CardCorrected(one.seat, one.row, one.index, other.card, one.card),
            ev.CardCorrected(other.seat, other.row, other.index, one.card, other.card),
        )
    if lies is not None and lies.sure:
        return (ev.CardCorrected(command.seat, command.row, command.index, code, lies.card),)
    return (ev.CardResolved(command.seat, command.row, command.index, code),)


def _code(text: str) -> str:
    """Convert 10h to Th, as for the settlement JSON. `apply` refuses invalid cards."""
    return "T" + text[2:] if text.startswith("10") else text


_OF_SEAT: Final[Mapping[str, Any]] = {
    "declare": ev.NaturalDeclared,
    "withdraw": ev.NaturalWithdrawn,
    "surrender": ev.Surrendered,
    "withdraw_surrender": ev.SurrenderWithdrawn,
    "undo_confirm": ev.NaturalUnconfirmed,
}
