"""Beams and posts against formulas that any book has, and against a computation with finite elements."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest

from hardware.make import strength
from hardware.make.rules import broken, judge
from tests.hardware.cases import HARDWARE, NOW, frame, wrong

EI = 6300.0
PORTAL = strength.portal(NOW.frame)
HUNG = strength.portal(NOW.frame, hung=True)
BARE = strength.Portal(EI, 520.0, 0.0, 2.0, 2.0, 0.5, 0.5, 0.0, 0.0, math.inf)
"""A frame without weight."""
OLD: dict[str, Any] = {
    "profile": {
        "area_mm2": 310.0,
        "bending_cm4": 2.8,
        "twisting_cm4": 0.6,
        "modulus_cm3": 1.9,
        "kg_per_m": 0.9,
    },
    "strength": {"bracket_nm": 12.0, "brackets": 2},  # cast, 28 x 28 mm
    "frame": {"ties_mm": [[417.5, -200.0, "x"]], "profile_mm": 30.0},
}


def test_a_cantilever_bends_by_fl3_over_3ei_and_more_on_a_soft_foot() -> None:
    assert strength.swinging(EI, 2.0, math.inf) == pytest.approx(8 / 3 / EI)
    assert strength.swinging(EI, 2.0, 50e3) == pytest.approx(8 / 3 / EI + 4 / 50e3)
    assert strength.swinging(EI, 2.0, math.inf, 1.0) == pytest.approx(5 / 6 / EI), "Fa²(3l - a)/6EI"


def test_a_beam_turns_by_ml_over_4ei_and_by_ml_over_3ei_where_its_far_end_is_hinged() -> None:
    assert strength.turning(EI, 2.0, math.inf) == pytest.approx(4 * EI / 2)
    assert strength.turning(EI, 2.0, 0.0) == pytest.approx(3 * EI / 2)


@pytest.mark.parametrize(
    ("of", "held", "by_hand"),
    [
        ({"mass": 1.75, "overhang": 0.0}, 0.0, 5 * 1.75 * 9.81 * 2.0**4 / 384 / EI),
        ({"mass": 1.75, "overhang": 0.0}, math.inf, 1.75 * 9.81 * 2.0**4 / 384 / EI),
        ({"eye_kg": 10.0}, 0.0, 98.1 * 2.0**3 / 48 / EI),
        ({"eye_kg": 10.0}, math.inf, 98.1 * 2.0**3 / 192 / EI),
    ],
)
def test_a_beam_on_two_posts_sags_as_in_the_book(of: dict[str, Any], held: float, by_hand: float) -> None:
    _, _, middle = dataclasses.replace(BARE, **of).bends(held)
    assert middle == pytest.approx(by_hand)


def test_an_overhang_sags_by_fa2_times_l_plus_a_over_3ei_on_hinges_and_less_on_stiff_posts() -> None:
    """Loaded at both ends the span bends as by two equal moments: Fa²/6EI · (2a + 3l)."""
    lamps = dataclasses.replace(BARE, lamp_kg=10.0)
    assert lamps.bends(0.0)[1] == pytest.approx(98.1 * 0.25 / 6 / EI * (2 * 0.5 + 3 * 2.0))
    assert lamps.bends(math.inf)[1] == pytest.approx(98.1 * 0.5**3 / 3 / EI)
    assert lamps.bends(0.0)[0] == lamps.bends(0.0)[1], "they hang at the ends"


def test_masses_on_posts_swing_at_the_root_of_k_over_m() -> None:
    short = dataclasses.replace(BARE, overhang=0.05, lamp_out=0.05, lamp_kg=100.0)
    assert short.hertz == pytest.approx(math.sqrt(3 * EI / 8 / 100) / 2 / math.pi, rel=0.02)


@pytest.mark.parametrize(
    ("changed", "hung", "sag_mm", "hertz"),
    [
        ({}, False, 0.474, 15.5),
        ({}, True, 0.309, 11.6),
        ({"frame": {"ties_mm": []}}, False, 0.474, 2.2),
        ({"frame": {"ceiling_mm": 3500.0}}, True, 0.408, 3.95),
        ({"strength": {"lamp_kg": 6.0}}, False, 0.845, 12.2),
        ({"strength": {"eye_kg": 6.0}}, False, 0.347, 14.6),
        ({"strength": {"foot_nm_per_rad": 10e3}}, True, 0.319, 7.95),
        ({"profile": OLD["profile"]}, False, 1.479, 9.03),
        ({"frame": {"beam_long_mm": 2600.0, "lamp_y_mm": 1200.0}}, False, 1.246, 11.2),
    ],
)
def test_the_formulas_give_what_finite_elements_give(
    changed: dict[str, Any], hung: bool, sag_mm: float, hertz: float
) -> None:
    """Euler-Bernoulli beams in pieces of a sixth, lumped masses; this was how it was first computed."""
    it = strength.portal(frame(**changed), hung=hung)
    assert 1000 * it.sag_m == pytest.approx(sag_mm, rel=0.02)
    assert it.hertz == pytest.approx(hertz, rel=0.03)


def test_a_knock_moves_the_camera_as_finite_elements_say() -> None:
    free = strength.portal(NOW.frame, tied=False)
    assert 1000 * PORTAL.knocked_m(50.0) == pytest.approx(0.074, rel=0.05)
    assert 1000 * free.knocked_m(50.0) == pytest.approx(2.957, rel=0.01)


def test_the_accidents_moment_at_a_joint_is_force_times_overhang_and_the_weight_there() -> None:
    (moment,) = (one for one in strength.judge(NOW.frame, PORTAL) if "moment" in one.rule)
    by_hand = 200 * 0.475 + 9.81 * (3.5 * 0.45 + 1.75 * 0.475**2 / 2)
    assert moment.figure == f"{by_hand:.0f} N·m"


def test_a_thin_frame_on_small_brackets_with_one_tie_is_found() -> None:
    assert wrong(strength.judge(NOW.frame, PORTAL)) == ""
    old = frame(**OLD)
    found = wrong(strength.judge(old, strength.portal(old)))
    assert all(rule in found for rule in ("sag", "first natural frequency", "moment at a joint", "ties"))


@pytest.mark.parametrize(
    "other",
    [
        {"profile": {"bending_cm4": 90.0, "modulus_cm3": 45.0}},  # more than a solid bar
        {"profile": {"modulus_cm3": 9.0}},
        {"profile": {"kg_per_m": 0.9}},
        {"frame": {"profile_mm": 30.0}},
        {"strength": {"brackets": 4}},
        {"strength": {"bracket_nm": 220.0}},
    ],
)
def test_figures_of_another_profile_or_of_brackets_that_nobody_buys_are_found(other: dict[str, Any]) -> None:
    for it, ok in ((NOW.frame, True), (frame(**other), False)):
        assert (strength.profile_agrees(it).ok and strength.brackets_bought(it, NOW.bom).ok) == ok


def test_a_beam_that_hangs_from_the_ceiling_claims_no_ties() -> None:
    assert "ties" not in " ".join(one.rule for one in strength.judge(NOW.frame, HUNG, "Hung"))
    high = strength.portal(frame(frame={"ceiling_mm": 3500.0}), hung=True)
    assert "first natural frequency" in wrong(strength.judge(NOW.frame, high, "Hung"))


def test_without_ties_the_frame_swings_at_the_rate_that_was_worked_out_by_hand() -> None:
    """√(k/m)/2π of a post on its foot: 3EI/L³ and 50 kN·m/rad give 1.8 N/mm, 9 kg on it 2.2 Hz."""
    free = strength.portal(NOW.frame, tied=False)
    told = f"{free.hertz:.1f} Hz", f"{strength.tips_n(NOW.frame):.0f} N"
    texts = [(HARDWARE / name).read_text() for name in ("assembly.toml", "bom.toml")]
    assert all(figure in text for text in texts for figure in told), told
    assert f"tips at {told[1]}" in (HARDWARE.parent / "docs/technician/safety.md").read_text()
    found = wrong(strength.judge(NOW.frame, free))
    assert "first natural frequency" in found
    assert "the camera moves" in found


def test_two_ties_are_not_enough_because_the_other_post_still_swings() -> None:
    two = frame(frame={"ties_mm": [[417.5, -200.0, "x"], [417.5, -200.0, "y"]]})
    assert strength.portal(two).hertz < 3
    assert "ties" in wrong(strength.judge(two, strength.portal(two)))


def test_posts_that_ties_do_not_hold_are_told_in_a_sentence() -> None:
    """A post was moved, its ties were not."""
    moved = dataclasses.replace(NOW, frame=frame(frame={"post_mm": [417.5, -190.0]}))
    assert any("tie at 417.5, -200" in rule for rule in broken(judge(moved)))
