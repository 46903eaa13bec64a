"""What the tests of the devices share."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

import pytest

from firmware.devices.panel.debounce import SETTLE
from firmware.devices.panel.gpio import GpioButtons
from firmware.devices.panel.interface import ButtonName
from tests.waiting import DEADLINE, until

T = TypeVar("T")


class Clock:
    """Monotonic seconds that pass where the test lets them pass, however long the machine takes."""

    def __init__(self) -> None:
        self._now = 1000.0

    def __call__(self) -> float:
        return self._now

    def let_pass(self, seconds: float) -> None:
        self._now += seconds


class Buttons(GpioButtons):
    """The buttons; they say when they have begun: what is down before that was down all along."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._begun = threading.Event()

    def wait_until_begun(self) -> None:
        assert self._begun.wait(DEADLINE)

    def catch_up(self) -> None:
        """Wait until the thread has taken every edge so far, and has looked at the clock."""
        if self._thread is None or not self._thread.is_alive():
            return
        for _ in range(2):  # once the second is taken, the first is done with
            self._edges.put(("next", super()._down()["next"], self._clock()))
        until(self._edges.empty)

    def let_pass(self, seconds: float) -> None:
        """Let the clock go on as a finger does: what is longer than a bounce is heeded at its time."""
        assert isinstance(self._clock, Clock)
        if seconds < SETTLE:
            self._clock.let_pass(seconds)
            return
        self.catch_up()
        self._clock.let_pass(seconds)
        self.catch_up()

    def _down(self) -> dict[ButtonName, bool]:
        down = super()._down()
        self._begun.set()
        return down


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


class Sink(Generic[T]):
    """A `put` that remembers what it got and can be waited on."""

    def __init__(self) -> None:
        self.got: list[T] = []
        self._more = threading.Condition()

    def put(self, thing: T) -> None:
        with self._more:
            self.got.append(thing)
            self._more.notify_all()

    def wait(self, wanted: Callable[[T], bool]) -> T:
        """The newest thing got, as soon as it is as wanted."""
        with self._more:
            if not self._more.wait_for(lambda: self.got and wanted(self.got[-1]), DEADLINE):
                pytest.fail(f"It never came so; last: {self.got[-3:]}")
            return self.got[-1]


@pytest.fixture
def sink() -> Sink[object]:
    """An empty sink."""
    return Sink()
