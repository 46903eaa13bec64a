"""What was so before is not taken for what is so now: the house's rules for a past hand's, old cards for new ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firmware.devices.panel.interface import Press
from firmware.runtime.liveness.presses import PAID_S, SEEN_S
from firmware.runtime.reading.messages import ReadingDone
from firmware.runtime.reading.translate import lie_as_before, reading_taken
from firmware.table import Phase, State
from firmware.table.state import Seat
from tests.firmware.runtime.test_table_process import to_setting
from tests.waiting import until

if TYPE_CHECKING:
    from tests.firmware.running_table import Table

SCRIPT = Path(__file__).parents[3] / "dealer_ui" / "static" / "feltwatch.js"
WHITE = '{"do":"next"}'
CONFIRM = '{"do":"confirm"}'
Cards = Callable[..., dict[str, Any]]


def test_a_void_hand_that_is_reopened_settles_by_its_own_rules_not_by_those_of_now(
    table: Table, cards: Cards
) -> None:
    table.readings.ready = [cards()]
    to_setting(table)
    table.do(WHITE)
    first = table.until_phase(Phase.SETTLED).settlement
    table.do(
        '{"do":"void","reason":"a fight"}',
        '{"do":"list_person","person":"Ada","role":"technician","new_pin":"482915"}',
        '{"do":"set_house","reason":"another game","options":{"scoring.row":5},"by":"Ada","pin":"482915"}',
        '{"do":"list_person","person":"Moreno","role":"floor","new_pin":"736104","by":"Ada","pin":"482915"}',
        '{"do":"reopen","past":1,"reason":"it was a hand","by":"Moreno","pin":"736104"}',
    )
    assert table.state.phase is Phase.SETTLED
    assert table.state.settlement == first


def test_cards_that_still_lie_there_after_a_void_hand_are_no_new_hand(table: Table, cards: Cards) -> None:
    table.readings.ready = [cards(), cards(), cards()]
    to_setting(table)
    table.do(WHITE)
    table.until_phase(Phase.SETTLED)
    keep = '{"do":"keep_button","seat":2}'
    table.do(WHITE, keep, WHITE, WHITE, WHITE)  # pressed on and on: nobody has collected, nobody has dealt
    table.until(lambda state: state.hand == 2 and state.phase is Phase.REVIEW)
    table.do('{"do":"void","reason":"pressed by mistake"}', keep)
    table.do(WHITE, WHITE, WHITE)
    state = table.until(lambda state: state.hand == 3 and state.phase in (Phase.REVIEW, Phase.SETTLED))
    assert (state.phase, str(state.reading_failure)[:26]) == (Phase.REVIEW, "The last hand's cards stil")


def test_cards_that_still_lie_at_the_one_open_seat_of_two_are_the_last_hands(cards: Cards) -> None:
    state = State(seats=(Seat(1, "Ann", "A"), Seat(2, "Bao", "B")))
    before = reading_taken(ReadingDone(1, cards()), state).rows
    open_seat = [row for row in before if row.place == "A"]
    assert lie_as_before(open_seat, before)
    assert not lie_as_before([replace(row, cards=()) for row in open_seat], before)


def test_a_press_that_went_down_before_the_settlement_was_there_marks_no_payment(
    table: Table, cards: Cards
) -> None:
    """A press is told a tenth of a second after the push-button went down: meanwhile the cards may have been read."""
    table.readings.ready = [cards()]
    to_setting(table)
    impatient = table.clock()
    table.clock.let_pass(0.05)
    table.do(WHITE)
    table.until_phase(Phase.SETTLED)
    table.process.put(Press("next", impatient))
    table.ask(CONFIRM)  # what is asked after it is answered after it
    assert (table.state.phase, len(table.state.unpaid)) == (Phase.SETTLED, 1)
    table.press("next")
    table.until(lambda state: not state.unpaid)
    assert table.state.hand == 1


def test_a_press_that_goes_down_as_the_settlement_comes_marks_no_payment(table: Table, cards: Cards) -> None:
    """Nobody has seen it yet: the press was meant for what stood there."""
    table.readings.ready = [cards()]
    to_setting(table)
    table.do(WHITE)

    def settled() -> bool:
        table.turn()  # no time of the table's passes
        return table.state.phase is Phase.SETTLED

    until(settled)
    unpaid = []
    for seconds in (0.0, SEEN_S - 0.01, 0.02):
        table.clock.let_pass(seconds)
        table.process.put(Press("next", table.clock()))
        table.turn()
        unpaid.append(len(table.state.unpaid))
    assert unpaid == [1, 1, 0]
    assert table.state.hand == 1


def test_what_is_new_takes_touches_and_presses_after_the_same_time() -> None:
    [settle_ms] = re.findall(r"SETTLE_MS = (\d+)", SCRIPT.read_text(encoding="utf-8"))
    assert int(settle_ms) == round(1000 * SEEN_S)
    [paid_ms] = re.findall(r"PAID_MS = (\d+)", SCRIPT.read_text(encoding="utf-8"))
    assert int(paid_ms) == round(1000 * PAID_S)
