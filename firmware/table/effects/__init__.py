"""The effects of events on the state: the table of permitted transitions, and the effect function of each event."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from firmware.table import events as ev
from firmware.table.effects import between as effects_between
from firmware.table.effects import camera as effects_camera
from firmware.table.effects import evidence as effects_evidence
from firmware.table.effects import house as effects_house
from firmware.table.effects import opening as effects_opening
from firmware.table.effects import people as people_effects
from firmware.table.effects import placing as effects_placing
from firmware.table.effects import review as effects_review
from firmware.table.effects import setup as effects_setup
from firmware.table.errors import CommandRefused
from firmware.table.events import Event
from firmware.table.phase import (
    BETWEEN_HANDS,
    DECLARING,
    MISDEALING,
    OPEN,
    SURRENDERING,
    WATCHING,
    Phase,
)
from firmware.table.state import INITIAL, State


def _stays(phases: Iterable[Phase]) -> dict[Phase, frozenset[Phase]]:
    return {phase: frozenset({phase}) for phase in phases}


def _leads(phases: Iterable[Phase], *to: Phase) -> dict[Phase, frozenset[Phase]]:
    return {phase: frozenset(to) for phase in phases}


_UNDONE: Final = _leads((Phase.REVIEW, Phase.SETTLED), Phase.REVIEW)
_ANSWERED: Final = {**_stays((Phase.PLACING,)), **_UNDONE}

TRANSITIONS: Final[Mapping[type[Event], Mapping[Phase, frozenset[Phase]]]] = {
    ev.TableStarted: _stays(Phase),
    ev.DeviceFault: _stays(Phase),
    ev.DeviceRecovered: _stays(Phase),
    ev.PuckSeen: _stays(Phase),
    ev.HandOpened: _leads(BETWEEN_HANDS, Phase.DEALING),
    ev.ButtonKeyed: {**_stays(OPEN), Phase.SETTLED: frozenset({Phase.REVIEW})},
    ev.PhaseAdvanced: {
        Phase.DEALING: frozenset({Phase.SETTING, Phase.PLACING}),
        Phase.SETTING: frozenset({Phase.SHOWDOWN}),
        Phase.PLACING: frozenset({Phase.SHOWDOWN}),
        Phase.SHOWDOWN: frozenset({Phase.READING, Phase.REVIEW}),
    },
    ev.NaturalDeclared: _stays(DECLARING),
    ev.NaturalWithdrawn: _stays(DECLARING),
    ev.Surrendered: _stays(SURRENDERING),
    ev.SurrenderWithdrawn: _stays(SURRENDERING),
    ev.CardsAwaited: _stays((Phase.READING,)),
    ev.SettingResumed: _leads((Phase.SHOWDOWN, Phase.READING, Phase.REVIEW), Phase.SETTING, Phase.PLACING),
    ev.ReadingTaken: _leads((Phase.READING,), Phase.REVIEW),
    ev.ReadingFailed: _leads((Phase.READING,), Phase.REVIEW),
    ev.CardPlaced: _stays(WATCHING),
    ev.CardReread: _stays(WATCHING),
    ev.IrregularitySeen: _stays(WATCHING),
    ev.IrregularityEnded: _stays((*WATCHING, Phase.REVIEW)),
    ev.KeyingBegun: {
        **_stays((Phase.SETTING, Phase.PLACING)),
        **_leads((Phase.SHOWDOWN, Phase.READING), Phase.REVIEW),
    },
    ev.LookedAgain: _leads((Phase.REVIEW, Phase.SETTLED), Phase.READING),
    ev.CardResolved: _stays((Phase.PLACING, Phase.REVIEW)),
    ev.CardCorrected: _ANSWERED,
    ev.RowKeyed: _ANSWERED,
    ev.NaturalFound: _stays((Phase.REVIEW,)),
    ev.NaturalConfirmed: _stays((Phase.REVIEW,)),
    ev.NaturalUnconfirmed: _UNDONE,
    ev.Settled: _leads((Phase.REVIEW,), Phase.SETTLED),
    ev.PaymentMarked: _stays((Phase.SETTLED,)),
    ev.HandArchived: _leads((Phase.SETTLED,), Phase.ARCHIVED, Phase.VOID),
    ev.HandVoided: _leads(OPEN, Phase.VOID, Phase.ARCHIVED),
    ev.HandMisdealt: _leads(MISDEALING, Phase.VOID),
    ev.HandWithdrawn: _leads((Phase.DEALING,), Phase.VOID),
    ev.HandReopened: _leads((Phase.ARCHIVED, Phase.VOID), Phase.SETTLED, Phase.REVIEW),
    ev.PaybackMarked: _stays(BETWEEN_HANDS),
    ev.ButtonKept: _stays(BETWEEN_HANDS),
    **{event: _stays(BETWEEN_HANDS) for event in effects_house.EFFECTS},
    **{event: _stays(BETWEEN_HANDS) for event in effects_camera.EFFECTS},
    **{event: _stays(BETWEEN_HANDS) for event in effects_setup.EFFECTS},
    ev.TrialEnded: _stays(Phase),
    ev.ClockSet: _stays(BETWEEN_HANDS),
    ev.SetUpEnded: _stays((Phase.IDLE,)),
    **{event: _stays(Phase) for event in people_effects.EFFECTS},
    **{event: _stays(Phase) for event in effects_evidence.EFFECTS},
    ev.ProfileKept: _stays(Phase),
    ev.TrainingBegun: _stays((Phase.IDLE,)),
}
"""For each event, the phases in which it may happen and the phases to which it may lead. All else is refused."""


def apply(state: State, event: Event) -> State:
    """Return the state after the event. Pure.

    Raises CommandRefused, with a message, for an event that the state does not allow.
    """
    effects_evidence.need_record_read(state, event)
    leads = TRANSITIONS[type(event)].get(state.phase)
    if leads is None:
        raise CommandRefused(
            "%(event)s is not possible while the hand is in %(phase)s.",
            event=_words(event),
            phase=state.phase,
        )
    after = _EFFECTS[type(event)](state, event)
    if after.phase not in leads:
        raise CommandRefused(
            "%(event)s does not lead from %(phase)s to %(to)s.",
            event=_words(event),
            phase=state.phase,
            to=after.phase,
        )
    return after


def fold(events: Iterable[Event], state: State = INITIAL) -> State:
    """Return the state after all the events."""
    for event in events:
        state = apply(state, event)
    return state


def _words(event: Event) -> str:
    return event.type.replace("_", " ").capitalize()


def _nothing(state: State, _: Event) -> State:
    """Leave the state unchanged: the event is only recorded."""
    return state


_EFFECTS: Final[Mapping[type[Event], Callable[[State, Any], State]]] = {
    **effects_opening.EFFECTS,
    **effects_placing.EFFECTS,
    **effects_review.EFFECTS,
    **effects_between.EFFECTS,
    **effects_house.EFFECTS,
    **effects_camera.EFFECTS,
    **effects_setup.EFFECTS,
    **people_effects.EFFECTS,
    **effects_evidence.EFFECTS,
    ev.ProfileKept: _nothing,
    ev.TrainingBegun: _nothing,
}
