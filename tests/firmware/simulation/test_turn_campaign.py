"""Hands played in haste end with the stacks of a sum of its own."""

from __future__ import annotations

from pathlib import Path

from tests.firmware.simulation.turn_campaign import campaign


def test_hands_played_in_haste_with_corrections_beside_them_end_with_the_right_stacks(tmp_path: Path) -> None:
    done = campaign(tmp_path, 25, 5, "washington-1-unit")
    assert done["hand_opened"] >= 25
    assert done["puck_awaited"] > 0
    assert any(what.startswith("corrected beside") for what in done)
