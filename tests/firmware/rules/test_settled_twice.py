"""The short run of `python -m tests.campaigns.rules.settle_twice`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from firmware.rules import profile_names, settle_json
from tests.campaigns.rules.comparison import PLANTED, compare, found_after
from tests.campaigns.rules.second_rules import read_profile, refuse_uncovered
from tests.campaigns.rules.second_strength import NotCovered


@pytest.mark.parametrize("name", profile_names())
def test_a_second_implementation_settles_every_hand_alike(name: str) -> None:
    for stacked in (False, True):
        compared = compare(name, "short", 100, stacked=stacked)
        assert not compared.differences
        assert compared.seen["hands"] == 100 < compared.seen["pairs"]


def test_the_comparison_finds_a_cent_too_much() -> None:
    def generous(given: dict[str, Any]) -> Mapping[str, Any]:
        answer = settle_json(given)
        answer["pairs"][0]["paid"] += 1
        return answer

    differences = compare("traditional", "short", 2, stacked=False, settle=generous).differences
    assert differences == [f"traditional, seed short, hand {number}: pairs" for number in (0, 1)]


def test_the_comparison_finds_another_rule_in_the_rules_core() -> None:
    name, options = PLANTED[0]
    assert found_after(name, options, "short", most=30)
    assert found_after(name, {"foul.points": 9}, "short", most=30) is None, "that is the profile's own value"


def test_a_rule_that_is_not_written_twice_is_refused() -> None:
    profile = read_profile("traditional")
    refuse_uncovered(profile)
    with pytest.raises(NotCovered, match=r"^stakes\.cap = 'gross' is not written"):
        refuse_uncovered(profile | {"stakes": {"cap": "gross"}})
    with pytest.raises(NotCovered, match=r"^scoring\.versus = 'banker' is not written"):
        refuse_uncovered(profile | {"scoring": profile["scoring"] | {"versus": "banker"}})
