"""A settled table is looked at again; what is seen is an event, and what is not seen is said to be not compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from firmware.record.journal.captures import CaptureStore
from firmware.runtime.reading.change_detector import shows_change
from firmware.runtime.reading.messages import KnownCard, NothingNew
from firmware.runtime.table_process import TICK
from firmware.table import Phase
from firmware.table import events as ev
from tests.firmware.running_table import HANDS, Table
from tests.waiting import until

Cards = Callable[..., dict[str, Any]]
OTHER = {**HANDS, "A": HANDS["A"] | {"back": "Ah Kh 8h 6h 3s"}}
"""Another card at seat 1."""


@pytest.fixture
def settled(table: Table, cards: Cards) -> Table:
    table.readings.ready = [cards()]
    table.puck_at(1)
    table.do('{"do":"next"}', '{"do":"next"}', '{"do":"next"}')
    table.until_phase(Phase.SETTLED)
    return table


def pay(table: Table) -> None:
    for a, b in table.state.unpaid:
        table.do(json.dumps({"do": "mark_paid", "a": a, "b": b}))
    table.until(lambda _: bool(table.readings.later))


def compared(table: Table) -> list[ev.CardsCompared]:
    return [e.event for e in table.reader.events_since(0) if isinstance(e.event, ev.CardsCompared)]


def test_a_table_that_was_just_read_is_not_looked_at_again_before_a_payment(settled: Table) -> None:
    settled.let_pass(2.0)
    assert settled.readings.later == []


def test_after_the_last_payment_the_cards_are_compared(settled: Table, cards: Cards) -> None:
    pay(settled)
    settled.readings.answer(cards(), settled.readings.later[-1].number)
    settled.until(lambda state: state.compared)
    (said,) = compared(settled)
    assert (said.last, said.same, said.changed, said.not_compared) == (True, 6, (), ())
    settled.let_pass(2.0)
    assert len(settled.readings.later) == 1, "once"


def test_a_card_that_was_changed_is_an_event_with_its_pictures_and_settles_nothing_otherwise(
    settled: Table, cards: Cards
) -> None:
    pay(settled)
    before = settled.state.settlement
    seen = cards(hands=OTHER)
    picture = CaptureStore(settled.config.data).save("hand-000001/later-frame.jpg", b"picture")
    seen["frame"] = vars(picture)
    settled.readings.answer(seen, settled.readings.later[-1].number)
    state = settled.until(lambda state: state.compared)
    assert [(row.seat, row.row, row.was, row.now) for row in state.changed] == [(1, "back", ("3h",), ("3s",))]
    assert compared(settled)[-1].frame == picture
    assert state.settlement == before
    assert state.phase is Phase.SETTLED
    assert not state.questions


def test_a_table_that_does_not_come_to_rest_is_not_compared(settled: Table) -> None:
    pay(settled)
    for looks in (1, 2, 3):
        until(lambda: len(settled.readings.later) == looks, lambda _: settled.let_pass(TICK))  # noqa: B023
        settled.readings.put(NothingNew(settled.readings.later[-1].number, "something moves over the table"))
    settled.until(lambda state: state.compared)
    (said,) = compared(settled)
    assert (said.last, said.same) == (True, 0)
    assert str(said.reason) == "something moves over the table."


def test_the_dealer_is_not_held_up_and_the_record_says_that_nothing_was_compared(settled: Table) -> None:
    pay(settled)
    settled.do('{"do":"archive"}')
    (said,) = compared(settled)
    assert str(said.reason) == "The hand was closed before the camera had looked again."
    assert settled.types().index("cards_compared") < settled.types().index("hand_archived")


def test_a_hand_that_is_closed_unpaid_was_not_compared(settled: Table) -> None:
    settled.do('{"do":"archive"}')
    assert [str(said.reason) for said in compared(settled)] == [
        "The hand was closed before its payments were marked."
    ]


def test_a_look_that_comes_after_the_hand_was_closed_tells_nothing(settled: Table, cards: Cards) -> None:
    pay(settled)
    settled.do('{"do":"archive"}')
    settled.readings.answer(cards(hands=OTHER), settled.readings.later[-1].number)
    settled.turn()
    assert len(compared(settled)) == 1


def test_a_second_reading_with_another_card_is_told_beside_the_first(settled: Table, cards: Cards) -> None:
    settled.readings.ready = [cards(hands=OTHER)]
    settled.do('{"do":"look_again"}')
    state = settled.until(lambda state: state.settlements == 2)
    assert [(row.was, row.now) for row in state.changed] == [(("3h",), ("3s",))]


def test_an_unread_card_is_no_news_and_a_certain_other_one_is() -> None:
    known = (KnownCard("As", True),)
    assert not shows_change([{"card": "Ks", "sure": False}], known)
    assert not shows_change([], known)
    assert shows_change([{"card": "Ks", "sure": True}], known)
