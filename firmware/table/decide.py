"""Decides commands: returns the events that a command causes in a state, or raises the reason why it is refused.

Only the table process decides, never the page. README.md lists the commands.
"""

from collections.abc import Iterable

from firmware.rules import Profile
from firmware.table import events as ev
from firmware.table.command import Command, Context, Past
from firmware.table.errors import CommandRefused
from firmware.table.event import Event, fold
from firmware.table.house import House
from firmware.table.phase import Phase
from firmware.table.settling import naturals_to_find, settlement
from firmware.table.state import Ask, State


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
            phase=next((phase.label for phase in Phase if phase == command.phase), command.phase),
            now=state.phase.label,
        )
    return command.decide(Context(state, house, rules, past))


def consequences(state: State, rules: Profile) -> tuple[Event, ...]:
    """Return the events that follow automatically from a state.

    A hand in review without open questions settles, after its naturals are found. A keyed hand skips the reading. The
    irregularity of a card seen twice ends when the card is there only once. If the rules refuse the hand, nothing
    follows: the events before are kept, and the white push-button shows the reason.
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
        return () if state.questions else (ev.HandSettled(settlement(state, rules)),)
    except CommandRefused:
        return ()


def step(state: State, events: Iterable[Event], rules: Profile) -> tuple[State, tuple[Event, ...]]:
    """Return the state after the events and all automatic consequences, and the consequences.

    Write all of these events to the journal together. Raises CommandRefused; then nothing must be written.
    """
    state = fold(events, state)
    added: list[Event] = []
    while more := consequences(state, rules):
        state = fold(more, state)
        added += more
    return state, tuple(added)
