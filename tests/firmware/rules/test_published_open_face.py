"""Published games without naturals, written as a house would, with worked hands."""

from __future__ import annotations

from pathlib import Path

import pytest

from firmware.rules import Profile, load_profile
from tests.firmware.rules.tables import play

PUBLISHED = Path(__file__).parent / "published"
PINEAPPLE = load_profile(PUBLISHED / "pineapple.toml")
PROGRESSIVE = load_profile(PUBLISHED / "progressive-pineapple.toml")

LOW = "8c 7d 5h / 2c 2h Js 9d 6c / 3c 3d 4h 4d Ts"
KINGS = "Ks Kh 2d / 8s 8d 8h 3h Tc / 9s 9h 9c Jd Jh"
QUEENS = "Qs Qh 2d / Kc Kd 3s 8h 9c / Ac Ad 4c 5c 7c"
TRIPS = "6s 6h 6d / 8s 8d 8h 3h Tc / 9s 9h 9c Jd Jh"
FOUL = "Ah 3h 3d / 2c 4d 6h 9d Jc / 5h 5s 7h 8s Tc"


@pytest.mark.parametrize(
    ("rows", "other", "points", "plain", "progressive"),
    [
        (KINGS, LOW, 3 + 3 + 8 + 2 + 6, 14, 15),  # three rows, the scoop, kings, trips, a full house
        (TRIPS, LOW.replace("6c", "Qd"), 3 + 3 + 14 + 2 + 6, 14, 17),
        (QUEENS, FOUL, 6 + 7, 14, 14),  # the penalty and the queens
        (LOW, KINGS, -(3 + 3 + 8 + 2 + 6), 0, 0),
    ],
)
def test_a_worked_hand(rows: str, other: str, points: int, plain: int, progressive: int) -> None:
    for profile, cards in ((PINEAPPLE, plain), (PROGRESSIVE, progressive)):
        settlement = play(profile, {1: rows, 2: other})
        assert settlement.points[1] == points
        assert settlement.hands[0].fantasyland_cards == cards


@pytest.mark.parametrize(("profile", "dealt", "cards"), [(PINEAPPLE, 14, 14), (PROGRESSIVE, 17, 14)])
def test_trips_in_front_keep_fantasy_land(profile: Profile, dealt: int, cards: int) -> None:
    settlement = play(profile, {1: TRIPS, 2: LOW.replace("6c", "Qd")}, fantasyland={1: dealt})
    assert settlement.hands[0].fantasyland_cards == cards
    assert not play(profile, {1: QUEENS, 2: FOUL}, fantasyland={1: dealt}).hands[0].fantasyland_next


KINGS_AND_WHEEL = "Ks Kh 2d / 7c 5d 4d 3h 2h / As Ad 9c 9d 4c"
QUEENS_AND_NINE = "Qs Qh 3d / 9h 8c 6s 5c 3c / Ac Ah 8d 8h 6d"


def test_with_a_lowball_middle_kings_or_the_best_low_earn_fantasy_land_and_queens_do_not() -> None:
    profile = load_profile(PUBLISHED / "deuce-pineapple.toml")
    settlement = play(profile, {1: KINGS_AND_WHEEL, 2: QUEENS_AND_NINE})
    assert settlement.points[1] == 3 + 3 + 8 + 8 - 7 - 1  # rows, scoop, kings, 7-5-4-3-2; queens, nine low
    assert {hand.seat: hand.fantasyland_cards for hand in settlement.hands} == {1: 14, 2: 0}
    wheel = KINGS_AND_WHEEL.replace("Ks Kh", "Js Th")
    assert play(profile, {1: wheel, 2: QUEENS_AND_NINE}, fantasyland={1: 14}).hands[0].fantasyland_cards == 14


def test_dutch_words_change_no_points() -> None:
    dutch = load_profile(PUBLISHED / "dutch-pineapple.toml")
    assert play(dutch, {1: KINGS, 2: LOW}).points == play(PINEAPPLE, {1: KINGS, 2: LOW}).points
    assert play(dutch, {1: QUEENS, 2: FOUL}).points[1] == 6 + 7


def test_four_two_scoring_with_the_low_in_the_middle() -> None:
    """A row each way and the lower middle: two rows to one, and the point for them. 5-4-3-2-A is ace low."""
    profile = load_profile(PUBLISHED / "low-in-the-middle.toml")
    rows = "Ac Kd 2h / 7c 6d 4s 3h 2s / Qh Qd 8c 8d 5s", "Kc Qs 3d / As 5h 4d 3c 2c / Ah Ad 9c 9d 6s"
    assert play(profile, dict(enumerate(rows, start=1))).points == {1: 2, 2: -2}
    pair = rows[1].replace("As 5h", "Qc 5d").replace("4d 3c", "4h 4c")
    assert not any(hand.fault for hand in play(profile, {1: rows[0], 2: pair}).hands)
