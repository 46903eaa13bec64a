"""Layout on states drawn from play: a short run, and faults that are planted and must be found.

The whole run: `python -m tests.campaigns.browser.measure` (docs/layout-report.md).
"""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from firmware.rules import load_profile
from tests.browser.drawn import PROFILES, DrawnState, drawn
from tests.campaigns.browser.measure import evenings, measure

LANGUAGES = ("es", "zh_Hant")
"""The longest words, and other letters."""


def test_every_packaged_profile_is_played() -> None:
    packaged = {path.stem for path in Path("firmware/rules/profiles").glob("[a-z]*.toml")}
    assert set(PROFILES) == packaged


@pytest.mark.parametrize("profile", PROFILES)
def test_a_hand_of_every_profile_is_played_to_its_last_payment(tmp_path: Path, profile: str) -> None:
    states = list(drawn(tmp_path / "evening", profile, seed=2, hands=1))
    assert states[0].rules.title == load_profile(profile).title
    settled = [state.state for state in states if state.settled]
    assert settled[-1].settlement is not None
    assert not settled[-1].unpaid


def test_the_same_seed_draws_the_same_states(tmp_path: Path) -> None:
    def names(folder: str) -> list[str]:
        return [state.name for state in drawn(tmp_path / folder, "traditional", seed=4, hands=2)]

    assert names("one") == names("other")


@pytest.mark.browser
def test_states_drawn_from_play_fit_and_nothing_of_them_is_cut(chromium: Browser, tmp_path: Path) -> None:
    found = measure(chromium, evenings(tmp_path, settlements=2, seed=11), LANGUAGES)
    assert found.misfits == []
    assert sum(found.settlements.values()) >= 2
    assert found.looks == 4 * sum(found.states.values())


@pytest.fixture
def settled(tmp_path: Path) -> list[DrawnState]:
    return list(islice((state for state in evenings(tmp_path, 1) if state.settled), 1))


@pytest.mark.sampled
@pytest.mark.browser
@pytest.mark.parametrize(
    ("planted", "rings"),
    [
        (".place .player { max-height: .4rem }", "cut above or below"),
        (".says > b { max-width: 1.5rem; overflow: hidden }", "cut at its side"),
        (".strip { translate: 0 2rem }", "off the screen"),
        (".centre .reasons { translate: 0 -3rem }", "lies on"),
        pytest.param(".strip .go { translate: -9rem 0 }", "lies on", marks=pytest.mark.exhaustive),
        (".place .row { margin-left: -2rem }", "cut: "),
    ],
)
def test_a_planted_clip_or_overlap_rings(
    chromium: Browser, settled: list[DrawnState], planted: str, rings: str
) -> None:
    planted = planted.replace("max-height: .4rem", "height: .4rem; line-height: 1; overflow: hidden")
    found = measure(chromium, settled, ("en",), style=planted)
    assert [misfit for misfit in found.misfits if rings in misfit]
