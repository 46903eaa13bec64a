"""Published sets of rules: each is read as a house's own file is, and its worked hands come to what they should."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dealer_ui.profiles.house_rules import house_rules
from firmware.rules import Profile, load_profile
from firmware.rules.profiles.document import DocumentTable
from tests.firmware.rules.tables import play

FOLDER = Path(__file__).parent / "published"
OPEN_FACE = {
    *("pineapple", "progressive-pineapple", "deuce-pineapple", "dutch-pineapple"),
    "low-in-the-middle",
}
"""Sets without naturals of their own; test_published_open_face works their hands."""
HANDS = tomllib.loads((FOLDER / "hands.toml").read_text(encoding="utf-8"))
SETS = sorted(path.stem for path in FOLDER.glob("*.toml") if path.stem not in {"hands", *OPEN_FACE})
WORKED = [pytest.param(name, hand, id=f"{name}: {hand['why']}") for name in HANDS for hand in HANDS[name]]


def load(name: str) -> Profile:
    return load_profile(FOLDER / f"{name}.toml")


@pytest.mark.parametrize(("name", "hand"), WORKED)
def test_a_worked_hand_comes_to_its_points(name: str, hand: dict[str, Any]) -> None:
    declares = hand.get("declares", [])
    settlement = play(
        load(name),
        {int(seat): rows for seat, rows in hand["rows"].items()},
        declares=declares,
        surrenders=hand.get("surrenders", []),
        acted={seat: place for place, seat in enumerate(declares, start=1)},
    )
    assert {str(seat): points for seat, points in settlement.points.items()} == hand["points"]


def test_every_set_has_hands_of_its_own_and_names_its_source() -> None:
    assert set(HANDS) == set(SETS)
    assert all(load(name).source != load_profile(load(name).based_on).source for name in SETS)


@pytest.mark.parametrize("name", SETS)
def test_the_page_of_a_published_set_lists_its_naturals_in_order(name: str) -> None:
    profile = load(name)
    tables = [block for block in house_rules(profile) if isinstance(block, DocumentTable)]
    (naturals,) = [table for table in tables if table.head[1] == "Natural"]
    assert [row[2] for row in naturals.rows] == [str(entry.value) for entry in profile.naturals.kinds]
    shown = [row[1] for row in naturals.rows]
    for entry, words in zip(profile.naturals.kinds, shown, strict=True):
        assert entry.name in words
        assert not entry.needs or str(entry.needs.words).lower() in words.lower()
