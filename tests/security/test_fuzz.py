"""A few damaged pieces of each kind; ten minutes of them: `make fuzz-all`."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from tests.campaigns.security import fuzz
from tests.waiting import DEADLINE

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kind", fuzz.KINDS, ids=lambda kind: kind.__name__)
def test_what_is_damaged_is_refused_in_a_sentence(kind: Callable[[Random, Path], Iterator[None]]) -> None:
    assert fuzz.send(kind, seed=7, seconds=20, most=150).pieces > 3


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


@pytest.mark.slow
def test_a_piece_that_never_comes_back_ends_the_run_with_the_line_on_which_it_hangs(tmp_path: Path) -> None:
    lines = (
        "from threading import Event; from tests.campaigns.security import fuzz; fuzz.LONGEST_S = 0.1\n"
        "def hangs(rng, folder):\n  yield\n  Event().wait()\n  yield\n"
        "fuzz.send(hangs, 1, 5, watch=fuzz._watched)"
    )
    done = subprocess.run(
        [sys.executable, "-c", lines], capture_output=True, text=True, check=False, timeout=DEADLINE
    )
    assert done.returncode == 1
    assert "in hangs" in done.stderr
