"""The worked examples of the source documents, by name."""

from __future__ import annotations

import pytest

from tests.firmware.rules.tables import PLAIN, duel, gains, play

A, B, C, D = 1, 2, 3, 4


@pytest.mark.parametrize("profile", ["clean-sweep-online", "poker-flush-eastern"])
def test_002_and_004_example_of_play_between_a_b_c_and_d(profile: str) -> None:
    settlement = play(profile, PLAIN)
    assert gains(settlement) == {(A, B): 3, (A, C): -1, (A, D): 1, (B, C): -3, (B, D): -1, (C, D): 1}
    assert settlement.points == {A: 3, B: -7, C: 5, D: -1}


def test_002_a_dragon_against_six_pairs_collects_13() -> None:
    dragon = "2c 3d 4h / 5c 6d 7h 8s 9c / Td Jh Qs Kc Ad"
    six_pairs = "2d 2h 3c / 3h 5d 5h 9d 9h / Jc Jd Kh Kd As"
    assert duel("clean-sweep-online", dragon, six_pairs, declares=(1, 2)) == 13
    assert duel("clean-sweep-online", six_pairs, dragon, declares=(1, 2)) == -13


# Row winners as the table of 003 has them.
WASHINGTON = {
    1: "Qc 7c 4c / Ad 8s 8d 6h 5c / Ks Kh Ts 4s 4h",
    2: "Jc 8h 7h / Ac 9c 7s 7d 3c / As Ah Kd 5s 5h",
    3: "Kc 8c 3d / Jd Th 9s 9d 6c / Js Jh 4d 2s 2h",
    4: "Tc 9h 2d / Qd Td 6s 6d 2c / Qs Qh 5d 3s 3h",
}


def test_003_table_of_row_winners() -> None:
    settlement = play("washington-1-unit", WASHINGTON)
    assert gains(settlement) == {(1, 2): 1, (1, 3): -1, (1, 4): 3, (2, 3): -1, (2, 4): 3, (3, 4): 1}
    assert settlement.points == {1: 3, 2: 1, 3: 3, 4: -7}


def test_003_one_unit_is_one_dollar() -> None:
    settlement = play("washington-1-unit", WASHINGTON, unit=100)
    assert settlement.paid == {1: 300, 2: 100, 3: 300, 4: -700}


def test_003_2_4_scoring_pays_2_for_two_hands_and_4_for_three() -> None:
    found = gains(play("washington-2-4", WASHINGTON))
    assert found == {(1, 2): 2, (1, 3): -2, (1, 4): 4, (2, 3): -2, (2, 4): 4, (3, 4): 2}


def test_003_1_6_scoring_pays_1_for_two_hands_and_6_for_three() -> None:
    found = gains(play("washington-1-6", WASHINGTON))
    assert found == {(1, 2): 1, (1, 3): -1, (1, 4): 6, (2, 3): -1, (2, 4): 6, (3, 4): 1}


def test_004_western_two_of_three_rows_is_plus_2() -> None:
    assert gains(play("poker-flush-western", PLAIN))[A, D] == 2


QUADS_IN_BACK = "Qc Th 5d / Ad Jd 8s 8d 5c / Ks Kh Kd Kc 5h"
BELOW_IT = "Tc 6c 2d / Qd Jc 7s 7d 6h / Js Jh Ts 2s 2h"


def test_004_eastern_three_rows_with_quads_in_back_is_6() -> None:
    assert duel("poker-flush-eastern", QUADS_IN_BACK, BELOW_IT) == 6


def test_004_eastern_kings_over_nines_in_back_pays_8() -> None:
    nines = "Tc 6c 2d / Qd Jc 7s 7d 6h / 9s 9h 9d 9c 3c"
    settlement = play("poker-flush-eastern", {1: QUADS_IN_BACK, 2: nines}, button=3)
    back = [line.points for line in settlement.pairs[0].lines if line.row == 2]
    assert sum(back) in (8, -8)
    assert settlement.points[1] == 1 + 1 + 8


def test_000_quads_in_back_earn_8_as_the_table_says_and_the_lost_segment_counts() -> None:
    """The document's example says 10 and 12 in all; its own table gives 8, and one segment is lost."""
    two_won_with_quads = "3c 4d 5h / Ad Jd 8s 8d 5c / Ks Kh Kd Kc 5s"
    assert duel("california-face-up", two_won_with_quads, BELOW_IT) == (2 - 1) + 8
