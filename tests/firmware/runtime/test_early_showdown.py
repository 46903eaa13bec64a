"""Showdown pressed too early: the table looks again by itself, and asks only about a felt that stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from firmware.runtime.reading.messages import HAND, ReadingLost, short_places
from firmware.runtime.reading.scheduler import SAME_FOR
from firmware.table import Phase
from firmware.table.state import Ask
from tests.firmware.running_table import HANDS, Table, reading_json
from tests.firmware.runtime.test_table_process import WHITE, to_setting

Read = Callable[..., dict[str, Any]]
NOTHING: dict[str, dict[str, str]] = {"A": {}, "B": {}}
FEW = {**HANDS, "B": {**HANDS["B"], "back": ""}}


def showdown(table: Table) -> None:
    to_setting(table)
    table.do(WHITE)
    table.until(lambda state: table.readings.jobs != [])


def looked_for(table: Table) -> tuple[str, ...]:
    """Return the places that the last look expects all cards at."""
    return table.readings.jobs[-1].full


def answer(table: Table, hands: dict[str, dict[str, str]]) -> None:
    """Let the felt be seen so, once the table looks."""
    looked = len(table.readings.jobs)
    table.readings.answer(reading_json(hands, frozenset()), table.readings.jobs[-1].number)
    table.until(lambda state: len(table.readings.jobs) > looked or state.phase is not Phase.READING)


def test_an_empty_felt_is_looked_at_again_until_the_cards_lie_there(table: Table, cards: Read) -> None:
    showdown(table)
    for _ in range(20):
        answer(table, NOTHING)
    state = table.state
    assert (state.phase, state.questions) == (Phase.READING, ())
    assert state.awaited is not None
    assert (state.awaited.seats, state.awaited.empty) == ((1, 2), (1, 2))
    assert table.types().count("cards_awaited") == 1, "told once, not at every look"
    answer(table, HANDS)
    assert table.until_phase(Phase.SETTLED).awaited is None


def test_a_seat_that_shows_too_few_cards_is_asked_once_the_felt_has_been_still(table: Table) -> None:
    showdown(table)
    began = table.clock()
    answer(table, FEW)
    assert looked_for(table) == ("A", "B"), "no image is kept of it"
    looks = 0
    while not table.state.questions:
        answer(table, FEW)
        looks += 1
    assert looks > 1
    assert table.clock() - began >= SAME_FOR
    assert looked_for(table) == (), "what is asked about has its pictures"
    assert [(q.what, q.seat) for q in table.state.questions] == [(Ask.COUNT, 2)]


def test_cards_that_still_come_are_not_asked_about(table: Table) -> None:
    showdown(table)
    for number in range(1, 6):
        row = " ".join(HANDS["B"]["back"].split()[:number])
        answer(table, {**HANDS, "B": {**HANDS["B"], "back": row}})
        table.let_pass(SAME_FOR / 2)
    assert table.until_phase(Phase.SETTLED).hand == 1


def test_a_table_that_moves_while_cards_are_missing_is_looked_at_again(table: Table) -> None:
    showdown(table)
    answer(table, FEW)
    looked = len(table.readings.jobs)
    table.process.put(
        ReadingLost(table.readings.jobs[-1].number, "The table did not lie still.", fault=False)
    )
    table.until(lambda state: len(table.readings.jobs) > looked)
    assert table.state.phase is Phase.READING


def test_the_showdown_is_taken_back_and_given_again(table: Table) -> None:
    showdown(table)
    answer(table, NOTHING)
    table.do('{"do":"back_to_setting"}', '{"do":"declare","seat":1}')
    state = table.state
    assert (state.phase, state.awaited, state.seats[0].declares) == (Phase.SETTING, None, True)
    table.do(WHITE)
    table.until_phase(Phase.READING)
    assert "setting_resumed" in table.types()


def test_a_place_is_short_of_cards_whatever_its_rows() -> None:
    zones = reading_json(FEW, frozenset())["zones"]
    assert short_places(zones, ("A", "B")) == ("B",)
    assert short_places(zones, ("A",)) == ()
    assert sum(len(zone["cards"]) for zone in zones if zone["place"] == "A") == HAND
