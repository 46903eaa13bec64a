"""Beams and posts against formulas that any book has, and against a computation with finite elements."""

from __future__ import annotations

import dataclasses
import itertools
import math
from typing import Any

import numpy as np
import pytest

from hardware.make import strength
from tests.hardware.cases import HARDWARE, NOW, frame

EI = 6300.0
PORTAL = strength.portal(NOW.frame)
HUNG = strength.portal(NOW.frame, hung=True)
EI_NOW = PORTAL.ei
BARE = strength.Portal(EI, 520.0, 0.0, 2.0, 2.0, 0.5, 0.5, 0.0, 0.0, math.inf)
"""A frame without weight."""
THIN = {"area_mm2": 310.0, "bending_cm4": 2.8, "twisting_cm4": 0.6, "modulus_cm3": 1.9, "kg_per_m": 0.9}


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
        ({"profile": THIN}, False, 1.479, 9.03),
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


def _pieces(it: strength.Portal, each: int = 8) -> tuple[Any, Any, Any, list[int]]:
    """Return stiffness, masses and weights of the beam in pieces, and which node of it is which post's."""
    spots = [0.0, it.overhang - it.lamp_out, it.overhang, it.overhang + it.span / 2]
    spots += [2 * it.overhang + it.span - at for at in spots[2::-1]]
    at = np.unique(np.concatenate([np.linspace(*ends, each + 1) for ends in itertools.pairwise(spots)]))
    stiff, mass = np.zeros((2 * len(at), 2 * len(at))), np.zeros(len(at))
    for i, long in enumerate(np.diff(at)):
        six = 6 * long
        piece = [[12, six, -12, six], [six, 4 * long**2, -six, 2 * long**2]]
        piece += [[-value for value in piece[0]], [six, 2 * long**2, -six, 4 * long**2]]
        stiff[2 * i : 2 * i + 4, 2 * i : 2 * i + 4] += it.ei / long**3 * np.array(piece)
        mass[i : i + 2] += it.mass * long / 2
    nodes = [int(np.argmin(abs(at - spot))) for spot in spots]
    for node, kg in zip(nodes, (0, it.lamp_kg, 0, it.eye_kg, 0, it.lamp_kg, 0), strict=True):
        mass[node] += kg
    return stiff, mass, nodes, [nodes[2], nodes[4]]


@pytest.mark.parametrize("hung", [False, True])
@pytest.mark.parametrize("joint", [strength.HINGED, 5000.0, strength.RIGID])
def test_hinged_and_rigid_beams_bend_and_swing_as_finite_elements_do(joint: float, hung: bool) -> None:
    it = dataclasses.replace(HUNG if hung else PORTAL, joint=joint)
    across, mass, _, posts = _pieces(it)
    down = across.copy()
    for post in posts:
        down[2 * post, 2 * post] += 1e12
        down[2 * post + 1, 2 * post + 1] += it.through(strength.turning(EI_NOW, it.post, it.foot))
        across[2 * post, 2 * post] += 1 / strength.swinging(EI_NOW, it.post, it.foot) + min(it.across)
        across[2 * post + 1, 2 * post + 1] += it.through(it.gj / it.post)
    weight = np.zeros(2 * len(mass))
    weight[::2] = strength.GRAVITY * mass
    assert it.sag_m == pytest.approx(abs(np.linalg.solve(down, weight)[::2]).max(), rel=0.01)
    mass[posts] += strength.POST_SHARE * it.mass * it.post
    turning, moving = across[1::2, 1::2], across[::2, 1::2]
    shift = across[::2, ::2] - moving @ np.linalg.solve(turning, moving.T)
    slowest = math.sqrt(np.linalg.eigvals(shift / mass[:, None]).real.min()) / 2 / math.pi
    assert it.hertz == pytest.approx(slowest, rel=0.04)


def test_a_knock_moves_the_camera_as_finite_elements_say() -> None:
    free = strength.portal(NOW.frame, tied=False)
    assert 1000 * PORTAL.knocked_m(50.0) == pytest.approx(0.074, rel=0.05)
    assert 1000 * free.knocked_m(50.0) == pytest.approx(2.957, rel=0.01)


def test_the_accidents_moment_at_a_joint_is_force_times_overhang_and_the_weight_there() -> None:
    (moment,) = (one for one in strength.judge(NOW.frame, PORTAL) if "moment" in one.rule)
    by_hand = 200 * 0.475 + 9.81 * (3.5 * 0.45 + 1.75 * 0.475**2 / 2)
    assert moment.figure == f"{by_hand:.0f} N·m"


def test_a_beam_that_hangs_from_the_ceiling_claims_no_ties() -> None:
    assert "ties" not in " ".join(one.rule for one in strength.judge(NOW.frame, HUNG, "Hung"))


def test_without_ties_the_frame_swings_at_the_rate_that_was_worked_out_by_hand() -> None:
    """√(k/m)/2π of a post on its foot: 3EI/L³ and 50 kN·m/rad give 1.8 N/mm, 9 kg on it 2.2 Hz."""
    free = strength.portal(NOW.frame, tied=False)
    told = f"{free.hertz:.1f} Hz", f"{strength.tips_n(NOW.frame):.0f} N"
    texts = [(HARDWARE / name).read_text() for name in ("assembly.toml", "bom.toml")]
    assert all(figure in text for text in texts for figure in told), told
    assert f"tips at {told[1]}" in (HARDWARE.parent / "docs/technician/safety.md").read_text()
