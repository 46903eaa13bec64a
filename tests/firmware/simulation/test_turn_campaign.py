"""Hands played in haste end with the stacks of a sum of its own; no payment is marked that was not on the screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.runtime.liveness import presses
from tests.campaigns.simulation.turn_campaign import campaign


def test_hands_played_in_haste_with_corrections_beside_them_end_with_the_right_stacks(tmp_path: Path) -> None:
    done = campaign(tmp_path, 25, 5, "washington-1-unit")
    assert done["hand_opened"] >= 25
    assert done["puck_awaited"] > 0
    assert done["payments compared with what was painted"] > 50
    assert any(what.startswith("corrected beside") for what in done)


def test_without_the_rule_for_presses_a_payment_is_marked_that_was_not_painted_long_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(presses, "PAID_S", 0.0)
    with pytest.raises(AssertionError, match="Tap"):
        campaign(tmp_path, 5, 5, "washington-1-unit")
