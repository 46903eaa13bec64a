"""Tables that catch up wait for one another; tables in play do not wait for them."""

from __future__ import annotations

import threading
from contextlib import ExitStack

import pytest

from pit.door.turns import LONG_BYTES, PLACES, Turns
from pit.errors import ServerBusy
from tests.waiting import until


def test_long_requests_are_worked_on_one_by_one_and_short_ones_at_once() -> None:
    turns = Turns()
    order: list[str] = []

    def second() -> None:
        with turns.of(LONG_BYTES):
            order.append("second long")

    with turns.of(LONG_BYTES):
        waiting = threading.Thread(target=second)
        waiting.start()
        with turns.of(LONG_BYTES - 1):
            order.append("short")
        order.append("first long")
    waiting.join()
    assert order == ["short", "first long", "second long"]


def test_whoever_finds_no_place_is_told_to_come_later_and_places_are_given_back() -> None:
    turns = Turns()
    with ExitStack() as held:
        held.enter_context(turns.of(LONG_BYTES))
        others = [
            threading.Thread(target=lambda: turns.of(LONG_BYTES).__enter__()) for _ in range(PLACES - 1)
        ]
        for one in others:
            one.daemon = True
            one.start()
        until(lambda: turns._places._value == 0)
        with pytest.raises(ServerBusy), turns.of(LONG_BYTES):
            pass
        with turns.of(0):
            pass
    with pytest.raises(RuntimeError), turns.of(0):
        raise RuntimeError


def test_a_request_that_fails_gives_its_turn_back() -> None:
    turns = Turns()
    for _ in range(PLACES + 1):
        with pytest.raises(RuntimeError), turns.of(LONG_BYTES):
            raise RuntimeError
