"""Two published games, written as a house would: Pineapple open-face and Progressive Pineapple, with worked hands."""

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
