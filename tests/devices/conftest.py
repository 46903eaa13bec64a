"""What the tests of the devices share."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

import pytest

from tests.patience import is_late

T = TypeVar("T")


class Sink(Generic[T]):
    """A `put` that remembers what it got and can be waited on."""

    def __init__(self) -> None:
        self.got: list[T] = []
        self._more = threading.Condition()

    def put(self, thing: T) -> None:
        with self._more:
            self.got.append(thing)
            self._more.notify_all()

    def wait(self, wanted: Callable[[T], bool], within: float) -> T:
        """The newest thing got, as soon as it is as wanted. Fails after `within` seconds."""
        began = time.monotonic()
        with self._more:
            while not (self.got and wanted(self.got[-1])):
                if is_late(began, within):
                    pytest.fail(f"not within {within} s; last: {self.got[-3:]}")
                self._more.wait(0.1)
            return self.got[-1]


@pytest.fixture
def sink() -> Sink[object]:
    """An empty sink."""
    return Sink()
