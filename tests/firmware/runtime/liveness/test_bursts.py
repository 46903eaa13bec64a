"""Bursts of presses and touches: one payment each, and never from a payment into the next hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from firmware.devices.panel.interface import Press
from firmware.runtime.liveness.presses import PAID_S, SEEN_S
from firmware.table import Phase
from tests.firmware.running_table import Table

pytestmark = pytest.mark.slow

Cards = Callable[..., dict[str, Any]]


@pytest.fixture
def settled(table: Table, cards: Cards) -> Table:
    """A hand with one payment to make, settled this moment."""
    table.readings.ready = [cards()]
    table.puck_at(1)
    table.do('{"do": "next"}', '{"do": "next"}', '{"do": "next"}')
    table.until_phase(Phase.SETTLED)
    return table


def press(table: Table, after: float) -> None:
    table.clock.let_pass(after)
    table.process.put(Press("next", table.clock()))
    table.turn()


def touch(table: Table, after: float, do: str = "next", **more: Any) -> dict[str, Any]:
    table.clock.let_pass(after)
    return table.ask(json.dumps({"do": do, "seen": table.journal.seq, **more}))


def test_four_presses_in_a_second_mark_one_payment_and_open_no_hand(settled: Table) -> None:
    press(settled, SEEN_S)
    for _ in range(3):
        press(settled, 0.25)
    assert (settled.state.hand, settled.state.phase) == (1, Phase.SETTLED)
    assert settled.state.unpaid == ()
    settled.puck_at(2)
    press(settled, PAID_S)
    assert settled.state.hand == 2


def test_two_touches_follow_the_same_rule_as_two_presses(settled: Table) -> None:
    assert touch(settled, SEEN_S)["ok"]
    refused = touch(settled, 0.2)
    assert not refused["ok"]
    assert "so soon" in refused["error"]
    assert settled.state.hand == 1
    settled.puck_at(2)
    assert touch(settled, PAID_S)["ok"]
    assert settled.state.hand == 2


def test_a_touch_after_a_press_and_a_press_after_a_touch_follow_it_too(settled: Table) -> None:
    press(settled, SEEN_S)
    assert not touch(settled, PAID_S - 0.1)["ok"]
    settled.puck_at(2)
    assert touch(settled, 0.2)["ok"]
    hand = settled.state.hand
    press(settled, SEEN_S - 0.1)
    assert (settled.state.hand, settled.state.phase) == (hand, Phase.DEALING)


def test_a_touch_on_an_older_view_does_nothing(settled: Table) -> None:
    before = settled.journal.seq
    press(settled, SEEN_S)
    settled.clock.let_pass(PAID_S)
    refused = settled.ask(f'{{"do": "next", "seen": {before}}}')
    assert not refused["ok"]
    assert "before" in refused["error"]
    assert settled.state.hand == 1


def test_a_mark_is_taken_back_at_once_and_a_program_that_sees_nothing_is_not_held_up(settled: Table) -> None:
    [(a, b)] = settled.state.unpaid
    press(settled, SEEN_S)
    assert touch(settled, 0.0, "mark_paid", a=a, b=b, paid=False)["ok"]
    assert settled.ask(f'{{"do": "mark_paid", "a": {a}, "b": {b}}}')["ok"]
