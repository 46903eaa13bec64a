from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from firmware.devices.panel.interface import LampName, Light
from firmware.runtime.liveness.presses import BUTTON_COMMANDS
from firmware.runtime.panel_state import beeps, lights
from firmware.table import INITIAL, CommandRefused, Phase, State
from firmware.table import events as ev
from firmware.table.decide import decide, step
from firmware.table.events import Payback
from firmware.table.offers import NO_OFFERS, offers
from tests.dealer_ui.conftest import felt, lay
from tests.dealer_ui.felt import Felt

__all__ = ["felt", "lay"]
if TYPE_CHECKING:
    from tests.firmware.running_table import Table


def lit(felt: Felt, state: State | None = None, *, trouble: bool = False) -> dict[LampName, Light]:
    state = state or felt.state
    return lights(state, offers(state, felt.house, felt.rules), trouble)


def test_white_is_dark_while_the_payback_that_it_would_mark_is_refused(felt: Felt) -> None:
    back = Payback(hand=1, payer="Lin", winner="Tran", amount=500)
    owes = replace(felt.state, phase=Phase.ARCHIVED, paybacks=(back,), stacks={"Lin": 400, "Tran": 0})
    assert "next" not in lit(felt, owes)
    assert "next" in lit(felt, replace(owes, stacks={"Lin": 500, "Tran": 0}))


def test_green_blinks_while_a_natural_waits_and_nothing_else_is_open(felt: Felt) -> None:
    felt.to_natural()
    assert lit(felt)["confirm"] is Light.BLINK
    assert lit(felt)["reject"] is Light.ON
    seat, *others = felt.state.seats
    for changed in (replace(seat, front=()), replace(seat, confirmed=True), replace(seat, declares=False)):
        assert "confirm" not in lit(felt, replace(felt.state, seats=(changed, *others)))
    assert "confirm" not in lit(felt, replace(felt.state, button=None))


def test_trouble_is_red_and_takes_the_ready_lamp_away() -> None:
    assert lights(INITIAL, NO_OFFERS, trouble=True).get("fault") is Light.ON
    assert "ready" not in lights(INITIAL, NO_OFFERS, trouble=True)
    assert "fault" not in lights(INITIAL, NO_OFFERS, trouble=False)


def test_a_lamp_is_lit_exactly_where_a_press_would_do_something(
    table: Table, cards: Callable[..., dict[str, Any]]
) -> None:
    seen: list[Phase] = []

    def agree() -> None:
        process, state = table.process, table.state
        seen.append(state.phase)
        shown = lights(state, offers(state, process.house, process._record.rules), trouble=False)
        for button, command in BUTTON_COMMANDS.items():
            try:
                step(
                    state, decide(state, command, process.house, process._record.rules), process._record.rules
                )
            except CommandRefused:
                assert button not in shown, f"{button} is lit in {state.phase} and does nothing"
            else:
                assert button in shown, f"{button} is dark in {state.phase} and does something"

    agree()
    table.puck_at(1)
    table.until(lambda state: state.puck.seat == 1)
    for phase in (Phase.DEALING, Phase.SETTING):
        table.do('{"do":"next"}')
        assert table.state.phase is phase
        agree()
    table.do('{"do":"declare","seat":1}', '{"do":"next"}')
    table.until_phase(Phase.READING)
    agree()
    table.until(lambda _: table.readings.jobs != [])
    table.readings.answer(cards("Kd"), table.readings.jobs[-1].number)
    table.until_phase(Phase.REVIEW)
    agree()  # a card is asked for, and a natural waits
    table.do('{"do":"set_card","seat":2,"row":"back","index":4,"card":"Kd"}')
    agree()
    table.do('{"do":"confirm"}')
    assert table.until_phase(Phase.SETTLED).paid == frozenset()
    agree()
    pair = table.state.settlement["pairs"][0]  # type: ignore[index]
    table.do(f'{{"do":"mark_paid","a":{pair["a"]},"b":{pair["b"]}}}')
    agree()
    assert {Phase.IDLE, Phase.DEALING, Phase.SETTING, Phase.READING, Phase.REVIEW, Phase.SETTLED} <= set(seen)


def test_white_is_dark_while_the_buttons_seat_is_asked(tmp_path: Path) -> None:
    """Five play, and the puck was moved to where another of them would sit out."""
    felt = Felt(tmp_path, seats=dict(zip(range(1, 6), "ABCDA", strict=True)))
    felt.deal(button=2)
    assert "next" in lit(felt)
    felt.say(ev.PuckSeen("seat", 1))
    assert "next" not in lit(felt)
    with pytest.raises(CommandRefused, match="must be dealt in"):
        felt.do("next")
    felt.journal.close()


@pytest.mark.parametrize(
    ("before", "now", "times"),
    [
        ((False, False), (False, True), 1),
        ((False, False), (True, False), 2),
        ((False, False), (True, True), 2),
        ((True, False), (True, True), 1),
        ((False, True), (True, True), 2),
        ((True, True), (True, True), 0),
        ((True, True), (False, True), 0),
        ((False, True), (False, False), 0),
    ],
)
def test_the_buzzer_calls_for_what_is_new_and_bad(
    before: tuple[bool, bool], now: tuple[bool, bool], times: int
) -> None:
    assert beeps(before, now) == times
