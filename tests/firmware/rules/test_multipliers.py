"""Scoops that multiply, suits that decide, rows of different worth: what 十三張 and Pusoy are played with."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import CARDS, Rows, contradictions
from firmware.rules.foul import leading_suit
from firmware.rules.strength import Category, scale
from tests.firmware.rules.tables import play, rules
from tests.firmware.rules.test_options import ABOVE_LOW, LOW, SCOOPED, TIED_LOST_WON, two

PLAIN_ROWS = rules("washington-1-unit", bonus__pays="none", scoring__scoop_times=2)


def test_a_scoop_is_paid_twice_and_says_so() -> None:
    pair = play(PLAIN_ROWS, two(ABOVE_LOW, LOW)).pairs[0]
    assert (pair.a, abs(pair.points), sum(line.points for line in pair.lines)) == (2, 6, pair.points)
    last = pair.lines[-1]
    assert (last.id, last.clause, abs(last.points), last.winner.seat) == (
        "scoop_times", "scoring.scoop_times", 3, 1,
    )  # fmt: skip
    assert last.why == "seat 1 wins all three rows, which multiplies its points"


def test_two_rows_of_three_multiply_nothing() -> None:
    rows = two("As Kd Qh / 2c 2d Js 9d 6c / 7h 7s 8h 8s Th", "8c 7d 5c / 5s 5h Jh 9h 6d / 3c 3d 4c 4d 6s")
    assert dict(play(PLAIN_ROWS, rows).points) == {1: 1, 2: -1}


def test_who_scoops_everybody_is_paid_again_by_each_and_a_foul_counts_as_three_rows_lost() -> None:
    taiwan = rules(PLAIN_ROWS, scoring__beat_all_times=2)
    settlement = play(taiwan, SCOOPED)
    gained = {
        pair.b if pair.a == 1 else pair.a: abs(pair.points) for pair in settlement.pairs if 1 in pair[:2]
    }
    assert gained == {2: 3 * 2 * 2, 3: 3 * 2 * 2, 4: 3 * 2}
    others = [pair for pair in settlement.pairs if 1 not in pair[:2]]
    assert all(line.id != "beat_all_times" for pair in others for line in pair.lines)
    assert sum(settlement.points.values()) == 0


def test_three_players_have_nobody_who_scoops_three_opponents() -> None:
    three = {seat: rows for seat, rows in SCOOPED.items() if seat != 2}
    taiwan = rules(PLAIN_ROWS, scoring__beat_all_times=2)
    assert dict(play(taiwan, three).points) == dict(play(PLAIN_ROWS, three).points)


def test_a_scoop_that_the_losers_bonuses_outweigh_multiplies_nothing() -> None:
    profile = rules(
        "washington-1-unit", bonus__pays="each", bonus__front={"one_pair": 9}, scoring__scoop_times=3
    )
    rows = two("Ac Ad Jh / Js Jd 9c 9d 6c / Ts Th Tc Qd Qh", "8c 8d Kc / 2c 2d 4s 4h 6d / 3c 3d 5d 5h 7s")
    even = rules(profile, bonus__front={"88": 20})
    assert play(even, rows).points[1] == 3 - 20
    assert play(profile, rows).points[1] == 3 * 3


@pytest.mark.parametrize(("suits", "winner"), [("shcd", 1), ("dchs", 2)])
def test_equal_rows_are_decided_by_suit(suits: str, winner: int) -> None:
    pusoy = rules("washington-1-unit", scoring__suits=list(suits))
    rows = two("Ks Qs 2d / 7c 7d 9s Th Jd / Ac Ad 4s 4h 5c", "Kd Qh 2c / 8c 8d 9h Tc Jc / As Ah 3s 3h 5d")
    lines = [line for line in play(pusoy, rows).pairs[0].lines if line.id == "row_tied_suit"]
    assert [(line.row, line.winner.seat) for line in lines] == [(0, winner)]
    assert lines[0].why == f"front: both have king high, queen, two, and seat {winner} wins by suit"


def test_a_wheel_is_led_by_its_five_and_a_pair_by_its_higher_suit() -> None:
    order = "shcd"
    wheel = Rows.parse("2c 3d 4h / As 2h 3c 4d 5h / Kc Qd Jh Ts 9h").middle
    assert order[leading_suit(wheel, Category.STRAIGHT, order)] == "h"
    assert order[leading_suit(wheel, Category.HIGH_CARD, order)] == "s"  # where the wheel is not a straight
    pair = Rows.parse("Qd Qh As / As 2h 3c 4d 5h / Kc Qd Jh Ts 9h").front
    assert order[leading_suit(pair, Category.ONE_PAIR, order)] == "h"


@given(st.permutations(range(52)), st.sampled_from((3, 5)))
def test_suits_leave_no_row_equal(deck: list[int], count: int) -> None:
    """The same ranks in other suits: of different cards, two leading cards are never the same."""
    one = tuple(CARDS[number] for number in deck[:count])
    rest = [CARDS[number] for number in deck[count:]]
    other = []
    for card in one:
        twin = next((found for found in rest if found.rank == card.rank), None)
        if twin is None:
            return
        rest.remove(twin)
        other.append(twin)
    strength = scale().strength(one)
    if strength == scale().strength(tuple(other)):
        category = scale().kind(strength).category
        assert leading_suit(one, category, "shdc") != leading_suit(tuple(other), category, "shdc")


def test_rows_may_be_worth_different_points() -> None:
    profile = rules("washington-1-unit", scoring__row=0, scoring__rows={"front": 1, "middle": 2, "back": 3})
    assert [abs(line.points) for line in play(profile, two(ABOVE_LOW, LOW)).pairs[0].lines[:3]] == [1, 2, 3]
    assert contradictions(profile) == ()


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"scoring.rows": {"front": 1, "middle": 2, "back": 3}}, "scoring.row"),
        ({"scoring.suits": list("shdc"), "scoring.ties": "button"}, "scoring.ties"),
        ({"scoring.scoop_times": 1}, "scoring.scoop_times"),
        ({"scoring.beat_all_times": 1}, "scoring.beat_all_times"),
    ],
)
def test_what_contradicts_another_option_is_found(options: dict[str, object], path: str) -> None:
    found = contradictions(rules("washington-1-unit").with_options(options))
    assert [one.path for one in found] == [path]


def test_the_puck_wins_no_row_that_suits_decide() -> None:
    both = rules("washington-1-unit", scoring__suits=list("shdc"), scoring__ties="button")
    names = {line.id for line in play(both, two(*TIED_LOST_WON)).pairs[0].lines}
    assert "row_tied_suit" in names
    assert "row_tied_button" not in names
