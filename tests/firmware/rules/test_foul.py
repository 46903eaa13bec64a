"""Fouls."""

from __future__ import annotations

import pytest

from firmware.rules import Fault, Rows, foul
from tests.firmware.rules.tables import PLAIN, rules

UNIT = "washington-1-unit"


def fault(rows: str, profile: str = UNIT, /, **options: object) -> Fault | None:
    return foul(Rows.parse(rows), rules(profile, **options))


@pytest.mark.parametrize("rows", PLAIN.values())
def test_rows_in_order_are_no_foul(rows: str) -> None:
    assert fault(rows) is None


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("As Ah Kd / Ac Ad Kh 3s 2s / 4c 4d 5c 5d 6h", None),
        ("As Ah Kd / Ac Ad Qh 3s 2s / 4c 4d 5c 5d 6h", Fault.FRONT_ABOVE_MIDDLE),
        ("Ks Kh Ad / Kc Kd 9s 5s 4s / 4c 4d 5c 5d 6h", Fault.FRONT_ABOVE_MIDDLE),
        ("2s 2h 2d / 3c 3d 4s 4h 5s / 6c 6d 6h 7s 8s", Fault.FRONT_ABOVE_MIDDLE),
        ("Ks Qs Js / 2c 2d 4s 5h 6s / 7c 7d 6h 8s 9s", None),
        ("2s 2h 3d / Ac Ad Kh 3s 4s / Kc Kd 5c 8d 6h", Fault.MIDDLE_ABOVE_BACK),
        ("2s 2h 3d / Ac Kd Qh 9s 4s / Kc Qd Jc 8d 6h", Fault.FRONT_ABOVE_MIDDLE),
    ],
)
def test_back_over_middle_over_front(rows: str, expected: Fault | None) -> None:
    assert fault(rows) is expected


EQUAL_PAIRS = "2s 3h 4d / Ac Ad Kh 7s 6s / As Ah Kd 7c 6c"
EQUAL_STRAIGHTS = "2s 3h 4d / 5c 6d 7h 8s {0} / 5s 6h 7d 8c {1}"


def test_a_middle_equal_to_the_back_is_a_foul_or_not() -> None:
    assert fault(EQUAL_PAIRS, foul__equal_rows="foul") is Fault.MIDDLE_EQUALS_BACK
    assert fault(EQUAL_PAIRS, foul__equal_rows="ok") is None


SUITS = ["s", "h", "c", "d"]


@pytest.mark.parametrize(
    ("middle", "back", "expected"),
    [
        ("9h", "9s", None),
        ("9s", "9h", Fault.MIDDLE_SUIT_ABOVE_BACK),
        ("9c", "9h", None),
        ("9d", "9c", None),
        ("9c", "9d", Fault.MIDDLE_SUIT_ABOVE_BACK),
    ],
)
@pytest.mark.parametrize("equal_rows", ["foul", "ok"])
def test_equal_straights_are_ordered_by_the_suit_of_their_high_card(
    middle: str, back: str, expected: Fault | None, equal_rows: str
) -> None:
    rows = EQUAL_STRAIGHTS.format(middle, back)
    assert fault(rows, foul__suit_tiebreak=SUITS, foul__equal_rows=equal_rows) is expected


@pytest.mark.parametrize("wheel", ["lowest", "second_highest"])
def test_a_wheels_high_card_is_its_five_whatever_the_wheel_is(wheel: str) -> None:
    # The aces and the fives point in opposite directions.
    options: dict[str, object] = {"foul__suit_tiebreak": SUITS, "hands__wheel": wheel}
    assert fault("7s 8h 9d / Ad 2s 3h 4c 5s / As 2h 3c 4d 5h", **options) is Fault.MIDDLE_SUIT_ABOVE_BACK
    assert fault("7s 8h 9d / As 2s 3h 4c 5h / Ad 2h 3c 4d 5s", **options) is None


def test_equal_wheels_that_are_no_straights_go_by_equal_rows() -> None:
    rows = "5d 3d 2d / As 2s 3h 4c 5h / Ad 2h 3c 4d 5s"
    options: dict[str, object] = {"foul__suit_tiebreak": SUITS, "hands__wheel": "not_a_straight"}
    assert fault(rows, **options, foul__equal_rows="foul") is Fault.MIDDLE_EQUALS_BACK
    assert fault(rows, **options, foul__equal_rows="ok") is None


def test_equal_flushes_are_ordered_by_suit() -> None:
    rows = "2d 3d 4h / Ks Js 9s 7s 5s / Kh Jh 9h 7h 5h"
    assert fault(rows, foul__suit_tiebreak=SUITS) is Fault.MIDDLE_SUIT_ABOVE_BACK
    assert fault(rows, foul__suit_tiebreak=["h", "s", "c", "d"]) is None
    assert fault(rows) is Fault.MIDDLE_EQUALS_BACK


def test_equal_royal_flushes_are_ordered_by_suit() -> None:
    rows = "2d 3d 4h / Ah Kh Qh Jh Th / As Ks Qs Js Ts"
    assert fault(rows, foul__suit_tiebreak=SUITS) is None
    assert fault(rows) is Fault.MIDDLE_EQUALS_BACK


def test_other_equal_rows_are_not_ordered_by_suit() -> None:
    assert fault(EQUAL_PAIRS, foul__suit_tiebreak=SUITS, foul__equal_rows="foul") is Fault.MIDDLE_EQUALS_BACK
    assert fault(EQUAL_PAIRS, foul__suit_tiebreak=SUITS, foul__equal_rows="ok") is None


def test_the_wheel_decides_between_middle_and_back() -> None:
    rows = "7s 8h 9d / Kd Qs Jh Tc 9s / Ad 2h 3c 4d 5s"
    assert fault(rows, hands__wheel="lowest") is Fault.MIDDLE_ABOVE_BACK
    assert fault(rows, hands__wheel="second_highest") is None
    assert fault(rows, hands__wheel="not_a_straight") is Fault.MIDDLE_ABOVE_BACK
