"""The action of the white push-button in each state."""

from typing import Literal

from firmware.messages import Message, join_words
from firmware.rules import Profile
from firmware.table.command import Command, Context
from firmware.table.dealing import need_right_seats
from firmware.table.errors import CommandRefused
from firmware.table.event import Event
from firmware.table.house import House
from firmware.table.people import AT_TABLE
from firmware.table.phase import Phase
from firmware.table.readings import ROWS
from firmware.table.settling import settlement
from firmware.table.state import Ask, State
from firmware.table.topics.ending import HandArchived, PaybackMarked
from firmware.table.topics.playing import PhaseAdvanced
from firmware.table.topics.puck import ask_for_next, next_hand
from firmware.table.topics.reading import LookedAgain
from firmware.table.topics.settlement import HandSettled, PaymentMarked


class Next(Command, roles=AT_TABLE):
    """Open a hand or continue, with the white push-button."""

    do: Literal["next"] = "next"

    def decide(self, context: Context) -> tuple[Event, ...]:
        return white(context.state, context.house, context.rules)


def white(state: State, house: House, rules: Profile) -> tuple[Event, ...]:
    """Return the events of a press of the white push-button. Raises CommandRefused."""
    match state.phase:
        case Phase.IDLE | Phase.ARCHIVED | Phase.VOID:
            due = payback_due(state)
            return (PaybackMarked(due),) if due else ask_for_next(state, house)
        case Phase.DEALING:
            need_right_seats(state, house)
            opens = any(seat.open for seat in state.seats)
            return (PhaseAdvanced(Phase.PLACING if opens else Phase.SETTING),)
        case Phase.SETTING | Phase.PLACING:
            return (PhaseAdvanced(Phase.SHOWDOWN),)
        case Phase.SETTLED:
            if state.unpaid and not state.reopened:
                return (PaymentMarked(*state.unpaid[0]),)
            if state.reopened or payback_due(state) or isinstance(next_hand(state, house), Message):
                return (HandArchived(),)
            return ask_for_next(state, house)
        case Phase.SHOWDOWN | Phase.READING:
            raise CommandRefused("The cards are being read; wait for the reading.")
        case Phase.REVIEW:
            if _looks_again(state):
                return (LookedAgain(),)
            if not state.questions:
                # it did not settle by itself; this raises the reason
                return (HandSettled(settlement(state, rules)),)
            raise CommandRefused(_what_is_open(state))


def _looks_again(state: State) -> bool:
    """Return whether reading again is the likely next step of a review: rows are short, and no row has been keyed.

    Never without a camera, and never for a past hand, whose cards are no longer on the table.
    """
    first = state.questions[0] if state.phase is Phase.REVIEW and state.questions else None
    if (
        first is None
        or first.what is not Ask.COUNT
        or first.row is None
        or len(first.cards) >= ROWS[first.row]
    ):
        return False
    if state.keyed or state.reopened or "camera" in state.faults:
        return False
    cards = (card for seat in state.seats for row in seat.rows.values() for card in row)
    return not any(card.by == "dealer" for card in cards)


def payback_due(state: State) -> int | None:
    """Return the number of the payback that white marks: from a hand corrected since the last opening; else None.

    Older open paybacks do not block play; they are shown, and marked under "More".
    """
    carried = len(state.opened.paybacks) if state.opened else 0
    open_ones = (n for n, back in enumerate(state.paybacks, start=1) if n > carried and not back.paid)
    return next(open_ones, None)


def _what_is_open(state: State) -> Message:
    names = {
        Ask.IRREGULARITY: Message("an irregularity"),
        Ask.BUTTON: Message("the puck's seat"),
        Ask.COUNT: Message("a row with a wrong number of cards"),
        Ask.DUPLICATE: Message("a card that is on the table twice"),
        Ask.CARD: Message("an unsure card"),
        Ask.NATURAL: Message("a natural to confirm"),
    }
    kinds = dict.fromkeys(names[question.what] for question in state.questions)
    return Message(
        "Not yet: %(open)s. Answer what is open, look again, or void the hand.", open=join_words(kinds)
    )
