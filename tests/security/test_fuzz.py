"""A few damaged pieces of each kind; ten minutes of them: `make fuzz-all`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.security import fuzz


@pytest.mark.parametrize("kind", fuzz.KINDS, ids=lambda kind: kind.__name__)
def test_what_is_damaged_is_refused_in_a_sentence(kind: Callable[[Random, Path], Iterator[None]]) -> None:
    count, _ = fuzz.send(kind, seed=7, seconds=2, most=150)
    assert count > 3


def test_what_raises_or_hangs_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(_rng: Random, _folder: Path) -> Iterator[None]:
        yield
        raise ZeroDivisionError

    def hangs(_rng: Random, _folder: Path) -> Iterator[None]:
        while True:
            time.sleep(0.02)
            yield

    monkeypatch.setattr(fuzz, "LONGEST_S", 0.01)
    with pytest.raises(ZeroDivisionError):
        fuzz.send(raises, 1, 5)
    with pytest.raises(AssertionError, match="took"):
        fuzz.send(hangs, 1, 5)
