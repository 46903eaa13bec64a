"""Options that cannot be meant together."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.rules import ProfileError, contradictions, load_profile, profile_names
from tests.firmware.rules.tables import rules

CALIFORNIA = "california-face-up"
WESTERN = "poker-flush-western"


@pytest.mark.parametrize("name", profile_names())
def test_no_packaged_profile_contradicts_itself(name: str) -> None:
    assert contradictions(load_profile(name)) == ()


@pytest.mark.parametrize(
    ("base", "options", "path", "why"),
    [
        (
            CALIFORNIA,
            {"limits.buy_in": 100, "limits.max_stack": 10},
            "limits.max_stack",
            "nobody could sit down",
        ),
        (CALIFORNIA, {"limits.min_points": 31}, "limits.buy_in", "30 times the table limit"),
        (CALIFORNIA, {"limits.max_stack": 30, "limits.min_points": 31}, "limits.max_stack", "dealt in"),
        (CALIFORNIA, {"limits.max_unit": 1000}, "limits.max_unit", "table limit of $20"),
        ("traditional", {"bonus.pays": "none"}, "bonus.pays", "bonus.front names bonuses"),
        (
            "traditional",
            {"hands.wheel": "not_a_straight", "bonus.back": {"straight:5": 1, "straight": 2}},
            "bonus.back",
            "5-4-3-2-A is no straight",
        ),
        ("traditional", {"bonus.pays": "none"}, "foul.pays_bonus", "says that there are none"),
        (WESTERN, {"bonus.pays": "each"}, "bonus.pays", "no hand of any row has one"),
        ("traditional", {"bonus.doubles_same_category": True}, "bonus.doubles_same_category", "replaces"),
        ("washington-2-4", {"bonus.pays": "replaces"}, "scoring.outcome", "cannot take a row's point"),
        ("traditional", {"order.naturals_first": True}, "order.naturals_first", "names none"),
        (WESTERN, {"surrender.points": 0}, "naturals.excused_by_surrender", "none is offered"),
        (
            WESTERN,
            {"naturals.false_declaration": "regular"},
            "naturals.excused_by_surrender",
            "nothing to excuse",
        ),
        (
            WESTERN,
            {"order.several_naturals": "turns"},
            "order.several_naturals",
            "by order.naturals_first none collects",
        ),
        (CALIFORNIA, {"fantasyland.entry": {}}, "fantasyland.entry", "no hand earns it"),
        (CALIFORNIA, {"deal.kind": "closed"}, "fantasyland.entry", "everybody is dealt"),
        (CALIFORNIA, {"collection.down_minutes": 0}, "collection.down_minutes", "no minutes"),
        (CALIFORNIA, {"collection.half_from_minute": 41}, "collection.half_from_minute", "minute 41"),
        (
            CALIFORNIA,
            {"naturals.kinds": [{"kind": "dragon", "value": 13}, {"kind": "super_dragon", "value": 26}]},
            "naturals.kinds",
            "super_dragon could never count",
        ),
    ],
)
def test_a_contradiction_is_found_and_says_why(
    base: str, options: dict[str, object], path: str, why: str
) -> None:
    found = contradictions(load_profile(base).with_options(options))
    assert any(one.path == path and why in str(one.sentence) for one in found), found


def test_points_for_the_rows_won_and_a_majority_exclude_one_another() -> None:
    with pytest.raises(ProfileError, match="must be 0"):
        rules("washington-2-4", scoring__majority=1)


def test_check_refuses_a_contradiction_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    limits = "[limits]\nbuy_in = 100\nmax_stack = 10\n"
    path.write_text(f'[profile]\nname = "house"\nextends = "{CALIFORNIA}"\n{limits}', encoding="utf-8")
    result = CliRunner().invoke(main, ["profiles", "check", str(path)])
    assert result.exit_code == 2
    assert "house.toml cannot be used" in result.stderr
    assert "limits.max_stack: A player must buy in for at least 100 times the table limit" in result.stderr
