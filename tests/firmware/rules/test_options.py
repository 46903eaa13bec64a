"""For every value of every option there is a hand, or a table, that comes out differently under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from firmware.rules import OPTIONS, HandError, Profile, Settlement
from firmware.rules.profiles.options import Choice, Flag
from tests.firmware.rules.tables import PLAIN, play, rules

UNIT = "washington-1-unit"
REQUIRED = rules(UNIT, naturals__declared="required")
CALIFORNIA = "california-face-up"
EASTERN = "poker-flush-eastern"
ONLINE = "clean-sweep-online"

LOW = "8c 7d 5c / 2c 2d Js 9d 6c / 3c 3d 4c 4d 6s"
LOW_TOO = "8c 7d 5c / 2c 2d Js 9d 6h / 3c 3d 4c 4s Qs"
ABOVE_LOW = "Ac Kh Qh / 5s 5h Jh 9h 6d / 7h 7s 8h 8s Th"
FOUL = "As Ah Kd / Qc Qd Jh 9s 6d / 5h 5s 7h 7s Th"
SIXES_AND_QUADS = "6h 6s 2h / 8c 8h 8d 7c 2s / 4c 4h 4d 4s Kc"
TWO_FULL_HOUSES = "2d 2s 4d / 8c 8s 8d 3c 3d / Js Jh Jd Td Ts"
ROYAL = "2c 3d 4h / 9c 9d 6s 6d Jh / Ac Kc Qc Jc Tc"
STRAIGHT_FLUSH = "2d 3h 4s / 8c 8d 7c 7s Js / 5h 6h 7h 8h 9h"
DRAGON = "2h 3h 4h / 5d 6h 7c 8h 9h / Tc Jc Qh Kc Ac"
WRONGLY_SET_DRAGON = "2h 3h 4h / Tc Jc Qh Kc Ac / 5d 6h 7c 8h 9h"
SIX_PAIRS = "7d 7s 8s / 8d 9s 9c Jd Jh / Kh Ks Ad As 5s"
SIX_PAIRS_TOO = "3c 3d 4c / 4d 5c 5h 6c 6s / Qc Qd 2c 2d Ah"
THREE_STRAIGHTS = "2s 3d 4s / 3s 4d 5c 6d 7c / 8c 9d Td Js Qs"
UNSET_STRAIGHTS = "2s 3d 7c / 3s 4d 4s 5c 6d / 8c 9d Td Js Qs"
EQUAL_MIDDLE = "2s 3h 4d / Ac Ad Kh 7s 6s / As Ah Kd 7c 6c"
EQUAL_STRAIGHTS = "2s 3h 4d / 5c 6d 7h 8s 9s / 5s 6h 7d 8c 9h"
WHEEL_IN_BACK = "7s 8h 9d / Kh Kd Ac 3s 4h / As 2h 3c 4d 5h"
KING_HIGH_STRAIGHT = "6s 5c 8d / Qh Qd Jc 3d 4s / Kc Qs Js Th 9c"
TIED_LOST_WON = "Ks Qs 2d / 7c 7d 9s Th Jd / Ac Ad 4s 4h 5c", "Kh Qh 2c / 8c 8d 9h Tc Jc / As Ah 3s 3h 5d"
FULL_HOUSE = "4s 5h 2d / 8c 8d 8s 9h 9d / Ts Th Td 7h 7c"
QUADS = "4c 5d 2c / 6c 6d 6s 6h Jc / Qs Qh Qd Qc 3d"
KINGS = "2c 3d 4h / Ac Ad 6s Ks Kh / Tc Td Th Ts 5c"
NINES = "2d 3h 4s / Qc Qd 6h Js Jh / 9c 9d 9h 9s 5d"
QUEENS_IN_FRONT = "Qs Qh 2d / Kc Kd 3s 8h 9c / Ac Ad 4c 5c 7c"
FULL_HOUSE_IN_MIDDLE = "2d 3h 7s / 8c 8d 8s 9h 9d / Ts Th Tc 4d 4h"
THREE_FLUSHES = "2s 5s 9s / 3h 6h 9h Jh Kh / 4d 7d Td Qd Ad"
DRAGON_OF_FOUR = "2c 3c 4c / 5c 6d 7h 8s 9d / Tc Js Qh Ks As"
LOW_OF_FOUR = "8c 7c 4s / 2h 2d Jd 9c 6s / 3d 3s 4h 5d 5h"
LOWER_OF_FOUR = "Ac Kc 8d / Qc Qs Th 6c 7s / Ah Kd Jc Ts 8h"


@dataclass(frozen=True)
class Case:
    """A base and seats whose settlement depends on an option, and the values that must all differ."""

    base: str | Profile
    rows: Mapping[int, str]
    values: tuple[object, ...]
    options: Mapping[str, object] = field(default_factory=dict)
    how: Mapping[str, Any] = field(default_factory=dict)


def two(first: str, second: str) -> Mapping[int, str]:
    return {1: first, 2: second}


SHORT = {"stacks": {1: 2, 2: 2, 3: 2}, "button": 3}
THREE = {1: LOW, 2: ABOVE_LOW, 3: "Ah Kd Qs / 9c 9s Jd Jc 2h / Ad As Kc Ks 3h"}

QUEENS_AGAINST_LOW = two(QUEENS_IN_FRONT, "8c 7d 5h / 2c 2h Js 9d 6c / 3c 3d 4h 4d Ts")
SCOOPED = {
    1: "Ac Kd Jh / Js Jd 9c 9d 6c / Ts Th Tc Qd Qh",
    2: "8c 7d 5c / 2c 2d 4s 9h 6d / 3c 3d 4c 4d 6s",
    3: "Kh Qc 4h / 5s 5h Jc 9s 6h / 7h 7s 8h 8s 3s",
    4: "Kc Ks 2h / Ad Ah Qs Td 2s / 7c 8d 3h 5d As",
}
"""Seat 1 wins all three rows from everybody; seat 4's hand is a foul."""

CASES: dict[str, Case] = {
    "hands.wheel": Case(
        UNIT, two(WHEEL_IN_BACK, KING_HIGH_STRAIGHT), ("lowest", "second_highest", "not_a_straight")
    ),
    "hands.middle": Case(
        UNIT,
        two("Ks Qs 9d / As 5h 4d 3c 2c / Jh Jd 6c 6h 4h", "7h 4s 2h / 8c 7d 5s 3h 2d / Ac Ad Ts Th 3d"),
        ("high", "deuce_to_seven", "ace_to_five"),
    ),
    "foul.low_middle": Case(
        rules(UNIT, hands__middle="deuce_to_seven"),
        {
            1: "As 3d 2h / Tc 7d 5h 4s 3c / Kc Kd 6c 6h Kh",
            2: "Ah Qd 2d / 9c 7s 5d 4h 3s / Qc Qs 6s 6d Th",
            3: "Ad Qh 2s / Jc 7c 5c 4c 3h / Jh Js 9s 9d Ks",
            4: "Ac Jd 8s / 8h 7h 5s 4d 2c / Ts Td 8c 8d 9h",
        },
        ("any", "T", "9", "8"),
    ),
    "foul.equal_rows": Case(UNIT, two(EQUAL_MIDDLE, LOW_TOO), ("foul", "ok")),
    "foul.suit_tiebreak": Case(
        "traditional",
        two(EQUAL_STRAIGHTS, "Ac Kd Jh / 2c 2d Js 9d 6c / 3c 3d 4c 4s Ts"),
        ([], ["s", "h", "c", "d"]),
    ),
    "foul.points": Case(UNIT, two(FOUL, LOW), (3, 4, 0)),
    "foul.pays_bonus": Case(CALIFORNIA, two(FOUL, SIXES_AND_QUADS), (True, False)),
    "foul.versus_natural": Case(CALIFORNIA, two(FOUL, DRAGON), ("natural", "both"), how={"declares": [2]}),
    "scoring.row": Case(UNIT, two(ABOVE_LOW, LOW), (1, 2, 0)),
    "scoring.majority": Case(UNIT, two(ABOVE_LOW, LOW), (0, 1, 2)),
    "scoring.scoop": Case(UNIT, two(ABOVE_LOW, LOW), (0, 3)),
    "scoring.outcome": Case(UNIT, two(ABOVE_LOW, LOW), ({}, {"two": 2, "three": 4}, {"two": 1, "three": 6})),
    "scoring.rows": Case(UNIT, two(ABOVE_LOW, LOW), ({}, {"front": 1, "middle": 2, "back": 3})),
    "scoring.suits": Case(UNIT, two(*TIED_LOST_WON), ([], ["s", "h", "d", "c"], ["c", "h", "d", "s"])),
    "scoring.scoop_times": Case(UNIT, two(ABOVE_LOW, LOW), (0, 2, 3)),
    "scoring.beat_all_times": Case(UNIT, SCOOPED, (0, 2, 3)),
    "scoring.versus": Case(UNIT, PLAIN, ("all", "banker")),
    "scoring.ties": Case(UNIT, two(*TIED_LOST_WON), ("push", "button")),
    "bonus.pays": Case("traditional", two(FULL_HOUSE, QUADS), ("each", "stronger", "replaces", "none")),
    "bonus.doubles_same_category": Case(EASTERN, two(KINGS, NINES), (True, False)),
    "bonus.royal_doubles": Case(EASTERN, two(ROYAL, STRAIGHT_FLUSH), (True, False)),
    "bonus.front": Case(
        CALIFORNIA,
        two(SIXES_AND_QUADS, "Qc 7d 5c / 2c 2d Js 9d 6c / 3c 3d Ac Ad Ts"),
        ({}, {"66": 1}, {"one_pair": 5}),
    ),
    "bonus.middle": Case(
        UNIT,
        two(FULL_HOUSE, QUADS),
        ({}, {"full_house": 1, "full_house:8": 2}, {"full_house": 1}, {"6666": 3}),
    ),
    "bonus.back": Case(
        UNIT,
        two(FULL_HOUSE, QUADS),
        ({}, {"QQQQ": 1}, {"full_house:T": 2}, {"QQQQ": 5, "full_house": 2}),
    ),
    "naturals.by": Case(
        UNIT,
        two(UNSET_STRAIGHTS, "Ac Kh Qh / 5s 5h Jh 9h 6c / 7h 7s 8h 8s Th"),
        ("cards", "rows"),
        how={"declares": [1]},
    ),
    "naturals.declared": Case(UNIT, two(DRAGON, LOW), ("required", "automatic")),
    "naturals.keeps_bonus": Case(CALIFORNIA, two(DRAGON, LOW), (True, False), how={"declares": [1]}),
    "naturals.pays_bonus": Case(UNIT, two(DRAGON, TWO_FULL_HOUSES), (True, False)),
    "naturals.order_unknown": Case(
        "poker-flush-western",
        {1: ABOVE_LOW, 2: LOW, 3: ""},
        ("excused", "foul"),
        how={"declares": [1], "surrenders": [3]},
    ),
    "naturals.tie": Case(UNIT, two(SIX_PAIRS, THREE_STRAIGHTS), ("kind", "value"), how={"declares": [1, 2]}),
    "naturals.wins": Case(
        REQUIRED,
        {1: SIX_PAIRS, 2: DRAGON, 3: SIX_PAIRS_TOO},
        ("higher", "first_of_equals", "first_declared"),
        {"naturals.tie": "kind"},
        how={"declares": [1, 2, 3], "acted": {1: 1, 2: 2, 3: 3}},
    ),
    "naturals.foul_voids": Case(ONLINE, two(WRONGLY_SET_DRAGON, LOW), (True, False), how={"declares": [1]}),
    "naturals.false_declaration": Case(UNIT, two(ABOVE_LOW, LOW), ("regular", "foul"), how={"declares": [1]}),
    "naturals.excused_by_surrender": Case(
        "poker-flush-western",
        {1: ABOVE_LOW, 2: LOW, 3: ""},
        (True, False),
        how={"declares": [1], "surrenders": [3]},
    ),
    "naturals.kinds": Case(
        UNIT,
        two(DRAGON, LOW),
        (
            [{"kind": "dragon", "value": 5}],
            [{"kind": "six_pairs", "value": 3}],
            [{"kind": "three_straights", "value": 4}],
        ),
        how={"declares": [1]},
    ),
    "surrender.points": Case(UNIT, two("", LOW), (3, 5), how={"surrenders": [1]}),
    "surrender.versus_natural": Case(
        REQUIRED,
        two("", DRAGON),
        ("points", "value"),
        {"surrender.points": 2},
        {"surrenders": [1], "declares": [2]},
    ),
    "surrender.pays_foul": Case(UNIT, two("", FOUL), (True, False), how={"surrenders": [1]}),
    "order.first": Case(
        REQUIRED,
        PLAIN,
        ("button", "left_of_button", "right_of_button", "lowest_seat"),
        how={"stacks": dict.fromkeys(PLAIN, 2), "button": 3},
    ),
    "order.direction": Case(REQUIRED, THREE, ("clockwise", "counterclockwise"), how=SHORT),
    "order.several_naturals": Case(
        CALIFORNIA,
        {1: THREE_FLUSHES, 2: LOW_OF_FOUR, 3: DRAGON_OF_FOUR, 4: LOWER_OF_FOUR},
        ("pairs", "turns", "highest"),
        how={"declares": [1, 3], "button": 4},
    ),
    "order.naturals_first": Case(
        REQUIRED,
        {1: LOW, 2: "Ad Kh Qs / 5s 5h Jh 9s 6d / 7h 7s 8s 8d Th", 3: DRAGON},
        (True, False),
        how={"declares": [3], "stacks": {1: 2, 2: 2, 3: 2}, "button": 3},
    ),
    "stakes.cap": Case(
        UNIT,
        THREE,
        ("net", "gross", "none"),
        {"scoring.row": 2},
        how={"stacks": {1: 50, 2: 3, 3: 50}, "button": 1},
    ),
    "fantasyland.entry": Case(
        CALIFORNIA,
        QUEENS_AGAINST_LOW,
        ({}, {"front": "QQ"}, {"back": "one_pair"}),
    ),
    "limits.players": Case(UNIT, SCOOPED, (4, 3)),
    "fantasyland.cards": Case(CALIFORNIA, QUEENS_AGAINST_LOW, (13, 14, 17)),
    "fantasyland.cards_by_front": Case(
        CALIFORNIA, QUEENS_AGAINST_LOW, ({}, {"QQ": 15, "KK": 16}, {"one_pair": 17})
    ),
    "fantasyland.stay_cards": Case(
        CALIFORNIA,
        two(FULL_HOUSE_IN_MIDDLE, "Jc 7d 5c / 2c 2h Js 9c 6c / 3c 3d 4c 4s Kd"),
        (0, 14, 17),
        how={"fantasyland": [1]},
    ),
    "fantasyland.stay": Case(
        CALIFORNIA,
        two(FULL_HOUSE_IN_MIDDLE, "Jc 7d 5c / 2c 2h Js 9c 6c / 3c 3d 4c 4s Kd"),
        ({}, {"middle": "full_house"}),
        how={"fantasyland": [1]},
    ),
}


def outcome(settlement: Settlement) -> object:
    return (
        settlement.order,
        [(pair.a, pair.b, pair.points, pair.paid) for pair in settlement.pairs],
        [(hand.fantasyland_next, hand.fantasyland_cards, hand.natural) for hand in settlement.hands],
    )


@pytest.mark.parametrize("path", CASES)
def test_every_value_settles_differently(path: str) -> None:
    case = CASES[path]
    outcomes: list[object] = []
    for value in case.values:
        profile = rules(case.base).with_options({**case.options, path: value})
        try:
            outcomes.append(outcome(play(profile, case.rows, **{"button": 1, **case.how})))
        except HandError:
            outcomes.append("refused")
    assert all(outcomes.count(found) == 1 for found in outcomes), outcomes


OUTSIDE_THE_SETTLEMENT = {
    # Proved where they act: in the tests of seating, chips, collection and the house-rules page.
    "hands.rows_called",
    "order.opening",
    "limits.max_unit",
    "limits.buy_in",
    "limits.min_points",
    "limits.max_stack",
    "fantasyland.two_hands",
    "deal.kind",
    "collection.down_minutes",
    "collection.half_from_minute",
    "collection.schedule",
}


def test_no_option_and_no_value_of_one_is_left_out() -> None:
    texts = {path for path in OPTIONS if path.startswith("irregularities.")}
    assert set(CASES) | OUTSIDE_THE_SETTLEMENT | texts == set(OPTIONS)
    for path, case in CASES.items():
        kind = OPTIONS[path][2]
        if isinstance(kind, Choice):
            assert set(case.values) == set(kind.values), path
        if isinstance(kind, Flag):
            assert set(case.values) == {True, False}, path
