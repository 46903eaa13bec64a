"""The transition table, written down a second time by hand: what may happen when, and where it leads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from firmware.table import TRANSITIONS, NotNow, Phase, State, apply, fold
from firmware.table import events as ev
from firmware.table.effects import _EFFECTS

if TYPE_CHECKING:
    from tests.table.conftest import Deal

LETTERS = {
    "I": Phase.IDLE,
    "D": Phase.DEALING,
    "S": Phase.SETTING,
    "W": Phase.SHOWDOWN,
    "R": Phase.READING,
    "V": Phase.REVIEW,
    "T": Phase.SETTLED,
    "A": Phase.ARCHIVED,
    "X": Phase.VOID,
}
ORDER = "IDSWRVTAX"
# One column a phase, in this order; "." is refused, "=" stays, a letter leads there.
EXPECTED = {
    #                       IDSWRVTAX
    "table_started": "       =========",
    "device_fault": "        =========",
    "device_recovered": "    =========",
    "puck_seen": "           =========",
    "hand_opened": "         D......DD",
    "button_keyed": "        .=====V..",
    "phase_advanced": "      .SWR.....",
    "natural_declared": "    ..====...",
    "natural_withdrawn": "   ..====...",
    "surrendered": "         ..=......",
    "surrender_withdrawn": " ..=......",
    "reading_taken": "       ....V....",
    "reading_failed": "      ....V....",
    "looked_again": "        .....RR..",
    "card_resolved": "       .....=...",
    "card_corrected": "      .....VV..",
    "row_keyed": "           .....VV..",
    "natural_confirmed": "   .....=...",
    "natural_unconfirmed": " .....VV..",
    "settled": "             .....T...",
    "payment_marked": "      ......=..",
    "hand_archived": "       ......A..",
    "hand_voided": "         .XXXXXX..",
}
UNSURE: tuple[tuple[int, ev.Row, int], ...] = ((1, "middle", 2),)


def _after(phase: Phase, mark: str) -> Phase | None:
    return {".": None, "=": phase}.get(mark, LETTERS.get(mark))


CASES = [
    (phase, name, _after(phase, mark))
    for name, marks in EXPECTED.items()
    for phase, mark in zip((LETTERS[letter] for letter in ORDER), marks.strip(), strict=True)
]


def _ready(deal: Deal, phase: Phase, name: str) -> tuple[State, ev.Event]:
    """Return a state of this phase in which the event would be in order, if the phase allowed it, and the event."""
    state = deal.at(phase)
    declared, confirmed = ev.NaturalDeclared(1), ev.NaturalConfirmed(1, None)
    if name in ("natural_confirmed", "natural_withdrawn") and phase in (Phase.SETTING, *_LATER):
        before = [e for e in deal.until(phase) if not isinstance(e, (ev.Settled, ev.HandArchived))]
        state = fold([*before, declared])
    if name == "natural_unconfirmed" and phase in (Phase.REVIEW, Phase.SETTLED):
        state = deal.at(Phase.REVIEW, declared, confirmed)
        state = state if phase is Phase.REVIEW else apply(state, deal.settled())
    if name == "surrender_withdrawn" and phase is Phase.SETTING:
        state = apply(state, ev.Surrendered(2))
    if name == "card_resolved" and phase is Phase.REVIEW:
        state = fold(deal.until(Phase.REVIEW, UNSURE))
    to = {Phase.DEALING: Phase.SETTING, Phase.SETTING: Phase.SHOWDOWN}.get(phase, Phase.READING)
    examples: dict[str, ev.Event] = {
        "table_started": ev.TableStarted("1.0"),
        "device_fault": ev.DeviceFault("camera", "unplugged"),
        "device_recovered": ev.DeviceRecovered("camera"),
        "puck_seen": ev.PuckSeen("seat", 2),
        "hand_opened": deal.opened(hand=state.hand + 1),
        "button_keyed": ev.ButtonKeyed(2),
        "phase_advanced": ev.PhaseAdvanced(to),
        "natural_declared": ev.NaturalDeclared(2),
        "natural_withdrawn": ev.NaturalWithdrawn(1),
        "surrendered": ev.Surrendered(1),
        "surrender_withdrawn": ev.SurrenderWithdrawn(2),
        "reading_taken": deal.reading(),
        "reading_failed": ev.ReadingFailed("The felt's markers are hidden."),
        "looked_again": ev.LookedAgain(),
        "card_resolved": ev.CardResolved(1, "middle", 2, "5h"),
        "card_corrected": ev.CardCorrected(1, "middle", 2, "5s"),
        "row_keyed": ev.RowKeyed(1, "front", ("2c", "3c", "4c")),
        "natural_confirmed": confirmed,
        "natural_unconfirmed": ev.NaturalUnconfirmed(1),
        "settled": deal.settled(),
        "payment_marked": ev.PaymentMarked(2, 1),
        "hand_archived": ev.HandArchived(),
        "hand_voided": ev.HandVoided("misdeal"),
    }
    return state, examples[name]


_LATER = (Phase.SHOWDOWN, Phase.READING, Phase.REVIEW)


@pytest.mark.parametrize(("phase", "name", "leads_to"), CASES, ids=lambda value: str(value))
def test_each_event_in_each_phase_does_what_the_table_says(
    deal: Deal, phase: Phase, name: str, leads_to: Phase | None
) -> None:
    state, event = _ready(deal, phase, name)
    assert state.phase is phase
    if leads_to is None:
        with pytest.raises(NotNow, match=str(phase)):
            apply(state, event)
    else:
        assert apply(state, event).phase is leads_to


def test_the_table_names_every_event_once() -> None:
    assert set(TRANSITIONS) == set(ev.EVENTS) == set(_EFFECTS)
    assert set(EXPECTED) == set(ev.BY_TYPE)


def test_phases_are_entered_in_order_and_none_is_skipped(deal: Deal) -> None:
    for phase, to in (
        (Phase.DEALING, Phase.SHOWDOWN),
        (Phase.DEALING, Phase.READING),
        (Phase.SETTING, Phase.READING),
    ):
        with pytest.raises(NotNow):
            apply(deal.at(phase), ev.PhaseAdvanced(to))
