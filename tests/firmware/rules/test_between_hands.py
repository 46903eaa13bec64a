"""Seating, the puck, Fantasy Land, chips and collection."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import ProfileError, load_profile
from firmware.rules.chips import add_on, buy_in, take_off, verify_unit
from firmware.rules.collection import fee_due, rates
from firmware.rules.errors import SeatingError, StakesError
from firmware.rules.fantasyland import offers_fantasyland
from firmware.rules.profiles.options import Rate
from firmware.rules.seating import (
    Absence,
    Sitter,
    can_play_two_hands,
    next_button,
    opening_button,
    seating,
)
from tests.firmware.rules.tables import play, rules

FACE_UP = load_profile("california-face-up")
UNIT = load_profile("washington-1-unit")
FIVE = [Sitter(seat=seat) for seat in (1, 2, 3, 4, 5)]


def test_of_five_the_buttons_seat_and_the_next_three_clockwise_play() -> None:
    found = seating(FIVE, 4, 500, FACE_UP)
    assert found.playing == (4, 5, 1, 2)
    assert found.absent == {3: Absence.FIFTH}


@pytest.mark.parametrize(
    ("passes", "playing"), [(4, (5, 1, 2, 3)), (5, (4, 1, 2, 3)), (2, (4, 5, 1, 3)), (3, (4, 5, 1, 2))]
)
def test_the_fifth_comes_in_where_one_of_the_four_passes(passes: int, playing: tuple[int, ...]) -> None:
    sitters = [Sitter(seat=seat, passes=seat == passes) for seat in (1, 2, 3, 4, 5)]
    found = seating(sitters, 4, 500, FACE_UP)
    assert found.playing == playing
    assert found.absent == {passes: Absence.PASSES}


def test_who_sits_out_or_has_too_few_chips_is_not_dealt_in() -> None:
    sitters = [
        Sitter(seat=1, stack=4500),
        Sitter(seat=2, stack=4499),
        Sitter(seat=3, sits_out=True, stack=9000),
        Sitter(seat=5),
    ]
    found = seating(sitters, 1, 500, FACE_UP)
    assert found.playing == (1, 5)
    assert found.absent == {2: Absence.TOO_FEW_CHIPS, 3: Absence.SITS_OUT}
    assert found.is_enough
    assert seating(sitters, 1, 500, UNIT).playing == (1, 2, 5)


def test_one_player_is_not_enough() -> None:
    assert not seating(FIVE[:1], 1, 500, FACE_UP).is_enough


def test_two_players_at_one_seat_cannot_be() -> None:
    with pytest.raises(SeatingError, match="same seat"):
        seating([Sitter(seat=1), Sitter(seat=1)], 1, 500, FACE_UP)


def test_the_button_moves_one_seat_clockwise_to_the_next_player() -> None:
    sitters = [Sitter(seat=1), Sitter(seat=3, passes=True), Sitter(seat=4, sits_out=True), Sitter(seat=5)]
    assert [next_button(button, sitters) for button in (1, 2, 3, 4, 5)] == [3, 3, 5, 5, 1]


@given(st.sets(st.integers(1, 5), min_size=2), st.integers(1, 5))
def test_the_button_comes_to_everybody(seats: set[int], button: int) -> None:
    sitters = [Sitter(seat=seat) for seat in seats]
    visited = []
    for _ in seats:
        button = next_button(button, sitters)
        visited.append(button)
    assert sorted(visited) == sorted(seats)


def test_nobody_in_the_game_can_have_the_button() -> None:
    with pytest.raises(SeatingError, match="nobody is in the game"):
        next_button(1, [Sitter(seat=1, sits_out=True)])


def test_at_the_opening_the_button_goes_to_the_left_of_the_house_dealer() -> None:
    sitters = [Sitter(seat=1, sits_out=True), Sitter(seat=4), Sitter(seat=2)]
    assert opening_button(sitters, FACE_UP) == 2


def test_at_the_opening_the_house_may_choose() -> None:
    assert opening_button(FIVE, UNIT, chosen=3) == 3
    for chosen in (None, 6):
        with pytest.raises(SeatingError, match="choose one of"):
            opening_button(FIVE, UNIT, chosen=chosen)


def test_two_hands_each_are_for_two_players() -> None:
    assert can_play_two_hands(FIVE[:2], UNIT)
    assert can_play_two_hands([*FIVE[:2], Sitter(seat=5, sits_out=True)], UNIT)
    assert not can_play_two_hands(FIVE[:3], UNIT)
    assert not can_play_two_hands(FIVE[:1], UNIT)
    assert not can_play_two_hands(FIVE[:2], rules(UNIT, limits__players=3))


# Fantasy Land.

OTHER = "8c 7d 5h / 2c 2h Js 9d 6c / 3c 3d 4h 4d Ts"


def earns(rows: str, *, inside: bool = False) -> bool:
    settlement = play(FACE_UP, {1: rows, 2: OTHER}, fantasyland=[1] * inside)
    return settlement.hands[0].fantasyland_next


@pytest.mark.parametrize(
    ("front", "expected"),
    [("Qs Qh 2d", True), ("Jc Jh Ad", False), ("As Ah 2d", True), ("2s 5s 5d", False), ("7s 7h 7c", True)],
)
def test_queens_or_better_in_front_earn_fantasy_land(front: str, expected: bool) -> None:
    assert earns(f"{front} / 8s 8d 8h 3h Tc / Kc Kd Ks Kh 9c") is expected


def test_a_foul_earns_no_fantasy_land() -> None:
    assert not earns("Qs Qh 2d / Jc Jd 8d 3h Tc / Kc Kd Ks Kh 9c")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("3s 5s 9h / 8s 8d 7s Kc Ac / 5c 6s 7c 8h 9c", False),
        ("3s 5s 9h / 8s 8d 7s Kc Ac / 5d 6d 7h 8h 9c", False),
        ("3s 5s 9h / 8s 8d 7s Kc Ac / Th Jh Qh Kh Ah", True),
        ("3s 5s 9h / 8s 8d 7s Kc Ac / Jh Jd Jc 9s 9c", False),
        ("3s 5s 9h / 8s 8d 7s Kc Ac / Qh Qd Qc Qs Ah", True),
        ("3s 5s 9h / 8s 8d 8h Kc Kd / Ah Ad Ac Qs Qh", True),
        ("3s 5s 9h / 8s 8d 8h Kc Qd / Ah Ad Ac 7s 7h", False),
        ("3s 3h 2d / 8s 8d 8h Kc Qd / Ah Ad Ac 7s 7h", False),
        ("5s 5d 5c / 8s 8d 8h Kc Qd / Ah Ad Ac 7s 7h", True),
        ("Qs Qh 2d / 8s 8d 8h Kc Jd / Ah Ad Ac 7s 7h", False),
    ],
)
def test_it_is_kept_with_quads_in_back_a_full_house_in_the_middle_or_trips_in_front(
    rows: str, expected: bool
) -> None:
    assert earns(rows, inside=True) is expected


def test_it_is_judged_on_the_rows_as_set_natural_or_not() -> None:
    six_pairs = "Qs Qh 2d / 8s 8d 9s 9h 5c / Kc Kd As Ah 5s"
    settlement = play(FACE_UP, {1: six_pairs, 2: OTHER}, declares=[1])
    assert settlement.hands[0].natural is not None
    assert settlement.hands[0].fantasyland_next


def test_other_games_have_no_fantasy_land() -> None:
    assert offers_fantasyland(FACE_UP)
    assert not offers_fantasyland(UNIT)
    queens = "Qs Qh 2d / 8s 8d 8h 3h Tc / Kc Kd Ks Kh 9c"
    assert not play(UNIT, {1: queens, 2: OTHER}).hands[0].fantasyland_next


# Chips.


def test_a_buy_in_is_at_least_30_times_the_limit() -> None:
    assert buy_in(15000, 500, FACE_UP) == 15000
    with pytest.raises(StakesError, match=r"bring at least \$150"):
        buy_in(14999, 500, FACE_UP)
    assert buy_in(1, 500, UNIT) == 1


def test_an_add_on_goes_up_to_the_houses_most() -> None:
    house = rules(FACE_UP, limits__max_stack=100)
    assert add_on(40000, 10000, 500, house) == 50000
    with pytest.raises(StakesError, match=r"add at most \$100"):
        add_on(40000, 10001, 500, house)
    with pytest.raises(StakesError, match=r"add at most \$0"):
        add_on(60000, 1, 500, house)
    assert add_on(40000, 10**9, 500, FACE_UP) == 40000 + 10**9
    with pytest.raises(StakesError, match="adds nothing"):
        add_on(100, 0, 500, FACE_UP)
    with pytest.raises(StakesError, match="more than the table's"):
        buy_in(50001, 500, house)


def test_nothing_is_taken_off_the_table_but_by_who_leaves() -> None:
    assert take_off(5000, 5000, FACE_UP, leaves=True) == 0
    with pytest.raises(StakesError, match="chips stay on the table"):
        take_off(5000, 1000, FACE_UP)
    with pytest.raises(StakesError, match="chips stay on the table"):
        take_off(5000, 1000, FACE_UP, leaves=True)
    with pytest.raises(StakesError, match="cannot be taken off"):
        take_off(5000, 5001, FACE_UP, leaves=True)
    assert take_off(5000, 1000, rules(FACE_UP, stakes__cap="none")) == 4000


def test_washington_plays_for_at_most_10_dollars_a_unit() -> None:
    verify_unit(1000, UNIT)
    with pytest.raises(StakesError, match=r"\$10.01; washington-1-unit allows at most \$10"):
        verify_unit(1001, UNIT)
    verify_unit(10**6, FACE_UP)
    with pytest.raises(StakesError, match="1 or more"):
        verify_unit(0, UNIT)


# Collection.


def test_the_fees_by_table_limit() -> None:
    fees = {rate.limit // 100: rate.fee // 100 for rate in FACE_UP.collection.schedule}
    assert fees == {1: 10, 5: 10, 10: 12, 20: 12, 30: 15, 40: 15, 50: 18, 100: 18}
    assert rates(2000, FACE_UP) == (Rate(option=4, limit=2000, fee=1200),)
    assert rates(2500, FACE_UP) == ()


@pytest.mark.parametrize(("joined", "fee"), [(0, 1500), (1199, 1500), (1200, 750), (2399, 750), (2400, 0)])
def test_who_joins_at_the_20_minute_mark_or_later_pays_half(joined: int, fee: int) -> None:
    rate = rates(3000, FACE_UP)[0]
    assert fee_due(rate, joined, FACE_UP) == fee


def test_without_a_mark_everybody_pays_all_of_it() -> None:
    profile = rules(FACE_UP, collection__half_from_minute=0)
    assert fee_due(rates(3000, profile)[0], 2399, profile) == 1500


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ([{"option": i, "limit": 500, "fee": 100 * i} for i in range(1, 7)], "at most 5 rates"),
        ([{"option": 1, "limit": 500, "fee": 100}] * 2, "listed twice"),
        ([{"option": 1, "limit": 500, "fee": 101}], "even fees"),
        ([{"option": 1, "limit": 500}], "an array such as"),
        ("none", "an array such as"),
    ],
)
def test_a_schedule_that_no_room_may_use(schedule: object, message: str) -> None:
    with pytest.raises(ProfileError, match=message):
        rules(FACE_UP, collection__schedule=schedule)
