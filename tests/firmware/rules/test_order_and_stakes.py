"""Positions, the order of payment, table stakes, two hands each, the chips plan."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import Hand, HandError, Rows, SeatHand, Transfer, chips_plan, positions
from firmware.rules.payment import Till
from tests.firmware.rules.tables import PLAIN, play, rules

UNIT = "washington-1-unit"


@pytest.mark.parametrize(
    ("first", "direction", "button", "expected"),
    [
        ("button", "clockwise", 2, (2, 4, 5, 1)),
        ("button", "counterclockwise", 2, (2, 1, 5, 4)),
        ("left_of_button", "clockwise", 2, (4, 5, 1, 2)),
        ("left_of_button", "counterclockwise", 2, (4, 2, 1, 5)),
        ("right_of_button", "clockwise", 2, (1, 2, 4, 5)),
        ("right_of_button", "counterclockwise", 2, (1, 5, 4, 2)),
        # A button at a seat that does not play.
        ("button", "clockwise", 3, (4, 5, 1, 2)),
        ("button", "counterclockwise", 3, (4, 2, 1, 5)),
        ("left_of_button", "clockwise", 3, (4, 5, 1, 2)),
        ("right_of_button", "clockwise", 3, (2, 4, 5, 1)),
        # From the lowest seat number, wherever the puck is.
        ("lowest_seat", "clockwise", 4, (1, 2, 4, 5)),
        ("lowest_seat", "counterclockwise", 4, (1, 5, 4, 2)),
        # Around the end of the table.
        ("left_of_button", "clockwise", 5, (1, 2, 4, 5)),
        ("right_of_button", "clockwise", 1, (5, 1, 2, 4)),
        ("button", "clockwise", 5, (5, 1, 2, 4)),
    ],
)
def test_positions_run_from_the_first_settler(
    first: str, direction: str, button: int, expected: tuple[int, ...]
) -> None:
    profile = rules(UNIT, order__first=first, order__direction=direction)
    for seats in permutations((1, 2, 4, 5)):
        assert positions(seats, button, profile) == expected


def test_the_first_to_settle_left_of_a_button_beyond_every_seat_in_play_is_the_lowest() -> None:
    profile = rules(UNIT, order__first="left_of_button")
    for seats in permutations((1, 2, 4)):
        assert positions(seats, 5, profile) == (1, 2, 4)


def test_1_is_settled_against_2_3_4_then_2_against_3_4_then_3_against_4() -> None:
    settlement = play("california-face-up", PLAIN, button=3)
    assert settlement.order == (3, 4, 1, 2)
    assert [(pair.a, pair.b) for pair in settlement.pairs] == [(3, 4), (3, 1), (3, 2), (4, 1), (4, 2), (1, 2)]


DRAGON = "2c 3h 4h / 5d 6s 7h 8s 9h / Td Jc Qs Kh Ac"
OTHERS = {
    1: "9s 9d 5h / Qc Qd 3s 3d 4s / Kc Ks 8c 8d 4d",
    2: "Jh Th 2h / 6h 6d 7s 7d Ad / Kd Ah As 2s 2d",
    4: "Qh Js 5c / 3c 4c 6c 7c Tc / 5s Ts Jd 8h 9c",
}


def test_pairs_with_a_natural_are_paid_first_in_the_same_order_where_the_profile_says_so() -> None:
    rows = {**OTHERS, 3: DRAGON}
    base = rules(UNIT, order__first="button", naturals__declared="required")
    first = play(rules(base, order__naturals_first=True), rows, button=1, declares=[3])
    assert [(pair.a, pair.b) for pair in first.pairs] == [(1, 3), (2, 3), (3, 4), (1, 2), (1, 4), (2, 4)]
    later = play(base, rows, button=1, declares=[3])
    assert [(pair.a, pair.b) for pair in later.pairs] == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]
    undeclared = play(rules(base, order__naturals_first=True), rows, button=1)
    assert [(pair.a, pair.b) for pair in undeclared.pairs] == [(pair.a, pair.b) for pair in later.pairs]


SEVERAL = {
    1: "2s 5s 9s / 3h 6h 9h Jh Kh / 4d 7d Td Qd Ad",  # three flushes
    2: "8c 7c 4s / 2h 2d Jd 9c 6s / 3d 3s 4h 5d 5h",
    3: "2c 3c 4c / 5c 6d 7h 8s 9d / Tc Js Qh Ks As",  # a dragon, the higher natural
    4: "Ac Kc 8d / Qc Qs Th 6c 7s / Ah Kd Jc Ts 8h",
}


@pytest.mark.parametrize(
    ("several", "order", "paid"),
    [
        ("pairs", [(4, 1), (4, 3), (1, 2), (1, 3), (2, 3), (4, 2)], {1: 5, 3: 0}),
        ("turns", [(4, 1), (1, 2), (1, 3), (4, 3), (2, 3), (4, 2)], {1: 5, 3: 0}),
        ("highest", [(4, 3), (1, 3), (2, 3), (4, 1), (1, 2), (4, 2)], {1: 0, 3: 5}),
    ],
)
def test_of_several_naturals_each_reading_pays_another_one_first(
    several: str, order: list[tuple[int, int]], paid: dict[int, int]
) -> None:
    """With five chips at seat 4 it decides who is paid of them."""
    profile = rules("california-face-up", order__several_naturals=several)
    settlement = play(profile, SEVERAL, button=4, declares=[1, 3], stacks={4: 5})
    assert [(pair.a, pair.b) for pair in settlement.pairs] == order
    assert {pair.b: -pair.paid for pair in settlement.pairs if pair.a == 4 and pair.b in paid} == paid


# 7.3: table stakes. In seats 1, 2, 3 with the puck at 1: 1 loses to 2, wins from 3; 2 wins from 3.


def payments(cap: str, stacks: dict[str, int | None], debts: list[tuple[str, str, int]]) -> list[int]:
    till = Till(stacks, rules(UNIT, stakes__cap=cap))
    return [till.pay(*debt) for debt in debts]


def test_net_lets_a_player_pay_on_with_what_was_won() -> None:
    debts = [("p", "q", 80), ("p", "r", -150)]
    assert payments("net", {"p": 100, "q": 500, "r": 500}, debts) == [80, -150]
    assert payments("gross", {"p": 100, "q": 500, "r": 500}, debts) == [80, -100]
    assert payments("none", {"p": 100, "q": 500, "r": 500}, debts) == [80, -150]


def test_net_caps_what_is_won_at_the_winners_stack_after_what_was_lost() -> None:
    debts = [("p", "q", -60), ("p", "r", 200)]
    assert payments("net", {"p": 100, "q": 500, "r": 500}, debts) == [-60, 160]
    assert payments("gross", {"p": 100, "q": 500, "r": 500}, debts) == [-60, 100]
    assert payments("none", {"p": 100, "q": 500, "r": 500}, debts) == [-60, 200]


def test_net_stops_at_minus_the_stack() -> None:
    assert payments("net", {"p": 100, "q": None, "r": None}, [("p", "q", -70), ("p", "r", -70)]) == [-70, -30]


def test_the_shorter_of_the_two_stacks_decides() -> None:
    assert payments("net", {"p": 100, "q": 30}, [("p", "q", 80)]) == [30]
    assert payments("net", {"p": 30, "q": 100}, [("p", "q", 80)]) == [30]
    assert payments("gross", {"p": 30, "q": 100}, [("p", "q", -80)]) == [-30]


def test_a_stack_of_0_is_legal_and_wins_and_loses_nothing() -> None:
    for cap in ("net", "gross"):
        assert payments(cap, {"p": 0, "q": 100}, [("p", "q", 80), ("p", "q", -80)]) == [0, 0]


def test_a_player_without_a_stack_is_not_capped() -> None:
    for cap in ("net", "gross", "none"):
        assert payments(cap, {"p": None, "q": None}, [("p", "q", 10**12)]) == [10**12]


def test_what_is_cut_off_is_short_and_not_carried_over() -> None:
    settlement = play("california-face-up", PLAIN, unit=500, stacks=dict.fromkeys(PLAIN, 300), button=1)
    pair = settlement.pairs[0]
    assert (pair.a, pair.b, pair.points, pair.owed, pair.paid, pair.short) == (1, 2, 3, 1500, 300, 1200)
    assert sum(settlement.paid.values()) == 0
    assert settlement.stacks == {
        "1": 600,
        "2": 0,
        "3": 300 + settlement.paid[3],
        "4": 300 + settlement.paid[4],
    }


def test_a_seat_without_a_stack_has_none_afterwards() -> None:
    assert play(UNIT, PLAIN, stacks={1: 500}).stacks == {"1": 503}


# 8.2: two hands each.


def test_two_hands_of_a_player_are_not_settled_against_each_other() -> None:
    players = {1: "ann", 2: "ann", 3: "bob", 4: "bob"}
    settlement = play(UNIT, PLAIN, players=players, stacks=dict.fromkeys(PLAIN, 1000), button=4)
    assert [(pair.a, pair.b) for pair in settlement.pairs] == [(1, 3), (1, 4), (2, 3), (2, 4)]
    assert settlement.stacks == {
        "ann": 1000 + settlement.paid[1] + settlement.paid[2],
        "bob": 1000 + settlement.paid[3] + settlement.paid[4],
    }


def test_the_cap_runs_on_the_player() -> None:
    players = {1: "ann", 3: "ann", 2: "bob", 4: "bob"}
    settlement = play(UNIT, PLAIN, players=players, unit=100, stacks=dict.fromkeys(PLAIN, 250), button=4)
    assert [(pair.a, pair.b, pair.points, pair.paid) for pair in settlement.pairs] == [
        (1, 2, 3, 250),
        (1, 4, 1, 0),
        (2, 3, -3, 0),
        (3, 4, 1, 0),
    ]


def test_holding_the_button_counts_for_both_hands() -> None:
    rows = {
        1: "Ks Qs 2d / 7c 7d 9s Th Jd / Ac Ad 4s 4h 5c",
        2: "Jc 8s 3d / Td 9c 5h 6s 6d / Qc Qd 8h 5s 5d",
        3: "Kh Qh 2c / 8c 8d 9h Tc Jh / As Ah 3s 3h 2h",
    }
    profile = rules(UNIT, scoring__ties="button")
    both = play(profile, rows, players={1: "ann", 2: "ann", 3: "bob"}, button=2)
    tied = next(pair for pair in both.pairs if {pair.a, pair.b} == {1, 3}).lines[0]
    assert (tied.id, tied.winner.seat) == ("row_tied_button", 1)
    alone = play(profile, rows, players={1: "ann", 2: "eve", 3: "bob"}, button=2)
    assert next(pair for pair in alone.pairs if {pair.a, pair.b} == {1, 3}).lines[0].id == "row_tied"


# What no settlement could make sense of.


def seat(number: int, **how: object) -> SeatHand:
    return SeatHand(seat=number, rows=Rows.parse(PLAIN[1]), **how)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seats", "button", "key", "message"),
    [
        ([seat(1)], 1, "seats", "two to four hands are settled"),
        ([seat(number) for number in (1, 2, 3, 4, 5)], 1, "seats", "two to four hands are settled"),
        ([seat(1), seat(1)], 1, "seats[1].seat", "seat 1 is there twice"),
        ([seat(1), seat(6)], 1, "seats[1].seat", "there is no seat 6"),
        ([seat(1), seat(2)], 0, "button", "the puck is at seat 0"),
        ([seat(1), seat(2, stack=-1)], 1, "seats[1].stack", "a stack of -1"),
        ([seat(1), seat(2, declares=True, surrenders=True)], 1, "seats[1].surrenders", "only one can be"),
        ([seat(1), SeatHand(seat=2, rows=None)], 1, "seats[1]", "seat 2 has no rows"),
        ([seat(1, player="p"), seat(2, player="p")], 1, "seats", "against another player"),
        ([seat(number, player="p") for number in (1, 2, 3)] + [seat(4)], 1, "seats", "two at most"),
        (
            [seat(1, player="p", stack=5), seat(2, player="q"), seat(3, player="p", stack=6)],
            1,
            "seats[2].stack",
            "different stacks at two seats",
        ),
        (
            [seat(1, player="p", stack=5), seat(2, player="q"), seat(3, player="p")],
            1,
            "seats[2].stack",
            "different stacks at two seats",
        ),
        ([seat(1), seat(2, player="1"), seat(3)], 1, "seats[1].player", 'player "1" is also a seat'),
    ],
)
def test_a_malformed_hand_says_what_and_where(
    seats: list[SeatHand], button: int, key: str, message: str
) -> None:
    with pytest.raises(HandError, match=message) as caught:
        Hand(seats=tuple(seats), button=button)
    assert caught.value.key == key


def test_a_unit_of_nothing_is_malformed() -> None:
    with pytest.raises(HandError, match="1 cent or more"):
        Hand(seats=(seat(1), seat(2)), button=1, unit=0)


# The chips plan.


def test_the_plan_is_one_transfer_where_two_players_square_each_other() -> None:
    nets = {"p1": 5, "p2": -5, "p3": 3, "p4": -3}
    assert chips_plan(nets) == (Transfer("p2", "p1", 5), Transfer("p4", "p3", 3))


def test_nobody_moves_chips_where_all_are_even() -> None:
    assert chips_plan({"p1": 0, "p2": 0}) == ()


def fewest(nets: tuple[int, ...]) -> int:
    """Return the least number of transfers, by trying all payers and winners."""
    if not any(nets):
        return 0
    best = len(nets)
    payer = next(index for index, net in enumerate(nets) if net < 0)
    for winner, net in enumerate(nets):
        if net > 0:
            for amount in {net, -nets[payer], min(net, -nets[payer])}:
                left = list(nets)
                left[payer] += amount
                left[winner] -= amount
                if abs(left[payer]) + abs(left[winner]) < abs(nets[payer]) + abs(net):
                    best = min(best, 1 + fewest(tuple(left)))
    return best


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=4))
def test_the_plan_pays_everybody_with_the_fewest_transfers(nets: list[int]) -> None:
    nets.append(-sum(nets))
    players = {f"p{index}": net for index, net in enumerate(nets)}
    plan = chips_plan(players)
    left = dict(players)
    for payer, winner, amount in plan:
        assert amount > 0
        left[payer] += amount
        left[winner] -= amount
    assert not any(left.values())
    assert len(plan) == fewest(tuple(nets))
