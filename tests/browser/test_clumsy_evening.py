"""A clumsy finger at the page: the game goes on, the page always says something, and the stacks are right."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.campaigns.browser.clumsy_evening import play, report

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

HANDS = 4


def test_a_few_hands_under_a_clumsy_finger_meet_no_dead_end_and_lose_no_chip(
    chromium: Browser, tmp_path: Path
) -> None:
    evening = play(chromium, tmp_path / "evening", "washington-1-unit", HANDS, seed=1, players=2)
    assert evening.problems == []
    assert evening.hands == HANDS
    assert evening.ends["hand_archived"] > 0, "something was settled and paid"
    assert f"| washington-1-unit | {evening.hands} |" in report([evening], seed=1)
