"""Beams in space against formulas that any book has."""

from __future__ import annotations

import math

import pytest

from hardware.make.statics import E_PA, G_PA, Section, Structure

PROFILE = Section(6.5e-4, 9.0e-8, 2.0e-8, 4.5e-6, 1.75)
FIXED = (1e12, 1e12, 1e12)


def cantilever(length: float) -> Structure:
    structure = Structure()
    structure.beam((0, 0, 0), (0, 0, length), PROFILE)
    structure.hold((0, 0, 0), FIXED, 1e12)
    return structure


def test_a_cantilever_bends_by_fl3_over_3ei_and_carries_fl_at_its_foot() -> None:
    post = cantilever(2.0)
    moved = post.bend({(0, 0, 2.0): (100.0, 0, 0)}, weight=False)
    assert moved[post.node(0, 0, 2.0)][0] == pytest.approx(100 * 8 / (3 * E_PA * 9e-8), rel=1e-4)
    assert post.moment(moved, (0, 0, 0)) == pytest.approx(200.0)


def test_a_cantilever_swings_at_its_book_frequency() -> None:
    by_hand = 3.516 / (2 * math.pi) * math.sqrt(E_PA * 9e-8 / (1.75 * 2.0**4))
    assert cantilever(2.0).frequencies(2)[0] == pytest.approx(by_hand, rel=0.02)


def test_a_mass_at_its_end_lowers_it_to_the_root_of_k_over_m() -> None:
    post = cantilever(1.0)
    post.load((0, 0, 1.0), 100.0)
    by_hand = math.sqrt(3 * E_PA * 9e-8 / (100.0 + 0.236 * 1.75)) / (2 * math.pi)
    assert post.frequencies(1)[0] == pytest.approx(by_hand, rel=0.005)


def test_a_beam_on_two_supports_sags_by_5wl4_over_384ei() -> None:
    beam = Structure()
    beam.beam((0, 0, 0), (2.0, 0, 0), PROFILE)
    for x in (0.0, 2.0):
        beam.hold((x, 0, 0), FIXED)
    beam.hold((0, 0, 0), (0, 0, 0), 1e-3)  # nothing turns about its own axis
    moved = beam.bend({})
    by_hand = 5 * 1.75 * 9.81 * 2.0**4 / (384 * E_PA * 9e-8)
    assert -moved[beam.node(1.0, 0, 0)][2] == pytest.approx(by_hand, rel=0.03)


def test_a_crank_twists_by_tl_over_gj() -> None:
    crank = Structure()
    crank.beam((0, 0, 0), (1.0, 0, 0), PROFILE)
    crank.beam((1.0, 0, 0), (1.0, 0.5, 0), PROFILE)
    crank.hold((0, 0, 0), FIXED, 1e12)
    moved = crank.bend({(1.0, 0.5, 0): (0, 0, -10.0)}, weight=False)
    assert abs(moved[crank.node(1.0, 0, 0)][3]) == pytest.approx(10 * 0.5 * 1.0 / (G_PA * 2e-8), rel=1e-3)


def test_the_cantilevered_crossbar_of_the_first_design_bent_too_far() -> None:
    """One post, an arm, a crossbar of 2 m behind it with a lamp arm of 0.9 m at each end: 19 N·m at its joint."""
    thin = Section(3.1e-4, 2.8e-8, 0.2e-8, 1.9e-6, 0.9)
    first = Structure()
    first.beam((0, 0, 0), (0, 0, 1.915), thin, via=((0, 0, 1.76),))
    first.hold((0, 0, 0), FIXED, 50e3)
    first.beam((-1.0, 0, 1.76), (1.0, 0, 1.76), thin, via=((0, 0, 1.76),))
    for x in (-1.0, 1.0):
        first.beam((x, 0, 1.76), (x, 0.9, 1.76), thin, via=((x, 0.585, 1.76),))
        first.load((x, 0.585, 1.76), 1.2)
    still = first.bend({})
    lamp = still[first.node(1.0, 0.585, 1.76)]
    assert lamp[2] < -0.010, "more than a centimetre"
    assert 10 < first.moment(still, (0, 0, 1.76)) < 30
    assert first.frequencies(1)[0] < 5
