"""The page's pulse: it goes through the server's loop, one of its threads, and the thread that follows the journal."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from dealer_ui.server.app import Settings, create_app
from dealer_ui.view import snapshot_follower
from dealer_ui.web.serve import Pulse
from dealer_ui.web.services import services
from tests.dealer_ui.felt import Felt
from tests.waiting import DEADLINE, until


class PulseCounter:
    """Counts the pulses that came through."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


class Loop:
    """Turns as the server's loop does; tasks wait until a thread takes them."""

    def __init__(self) -> None:
        self.now = 100.0
        self.tasks: list[Any] = []
        self.reached = PulseCounter()
        self.pulse = Pulse({}, self.tasks.append, self.reached, clock=lambda: self.now)

    def turn(self, seconds: float) -> None:
        for _ in range(int(seconds * 10)):
            assert self.pulse.readable() is False
            self.now += 0.1

    def threads_work(self) -> None:
        while self.tasks:
            self.tasks.pop().service()


@pytest.fixture
def loop() -> Iterator[Loop]:
    loop = Loop()
    yield loop
    loop.pulse.close()


def test_a_pulse_a_second_comes_through_however_often_the_loop_turns(loop: Loop) -> None:
    for _ in range(5):
        loop.turn(1)
        loop.threads_work()
    assert loop.reached.count == 5


def test_none_comes_through_where_every_thread_hangs_and_none_piles_up(loop: Loop) -> None:
    loop.turn(30)
    assert loop.reached.count == 0
    assert len(loop.tasks) == 1
    loop.threads_work()
    assert loop.reached.count == 1


def test_a_page_whose_journal_thread_hangs_is_not_following(
    felt: Felt, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot_follower, "STUCK_S", 0.5)
    felt.to_settled()
    live = services(create_app(Settings(felt.folder, felt.folder / "table.sock"))).live
    assert not live.is_following, "it was not started"
    hang, go_on = threading.Event(), threading.Event()
    refresh = live.refresh

    def hanging() -> None:
        if hang.is_set():
            go_on.wait(DEADLINE)
        refresh()

    monkeypatch.setattr(live, "refresh", hanging)
    live.start()
    try:
        until(lambda: live.is_following)
        hang.set()
        until(lambda: not live.is_following)
    finally:
        hang.clear()
        go_on.set()
    until(lambda: live.is_following)
    live.stop()
