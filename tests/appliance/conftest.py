"""Runs the `feltwatch` command as a user does."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tools import PHOTOGRAPHS, SHARED, need
from tests.waiting import DEADLINE

Command = list[str]


@pytest.fixture
def feltwatch() -> Command:
    """The command, in a process of its own."""
    return [sys.executable, "-m", "firmware.cli"]


@pytest.fixture
def demo(feltwatch: Command) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `feltwatch demo` with these arguments to its end."""

    def run(*args: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*feltwatch, "demo", *map(str, args)],
            capture_output=True,
            text=True,
            timeout=10 * DEADLINE,
            check=False,
        )

    return run


@pytest.fixture
def photographs() -> Path:
    """The shared photographs of real cards; the test is skipped where they are absent."""
    need(PHOTOGRAPHS)
    return SHARED / "data"


def wrong_without_asking(report: dict[str, Any]) -> list[str]:
    """Return the cards that a hand was settled on though others lay there and nobody was asked."""
    wrong = []
    for hand in report["settlement"]["hands"]:
        for row, settled in hand["rows"].items():
            lay = report["truth"][str(hand["seat"])].get(row, "").split()
            taken = settled["cards"].split()
            assert len(taken) == len(lay)
            wrong += [card for card in lay if card not in taken and card not in report["asked"]]
    return wrong


@pytest.fixture
def check() -> Callable[[dict[str, Any]], None]:
    """Asserts what holds of every hand that the demo reports."""

    def look(report: dict[str, Any]) -> None:
        assert list(report) == ["hand", "profile", "truth", "reading", "asked", "settlement"]
        assert wrong_without_asking(report) == []
        settlement = report["settlement"]
        assert sum(settlement["paid"].values()) == 0
        assert settlement["irregularities"] == []
        assert json.loads(json.dumps(report)) == report

    return look
