"""Hands and settlements as JSON (DESIGN §4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from firmware.rules import HandError, hand_from_json, settle_json

Json = dict[str, Any]


def hand(**changes: object) -> Json:
    """Return a hand of four seats, some with changes: `seats__1__front="..."`, None takes the key away."""
    made: Json = {
        "profile": "california-face-up",
        "unit": 500,
        "button": 2,
        "seats": [
            {
                "seat": 1,
                "player": "p1",
                "front": "As Ah Kd",
                "middle": "2c 2d 2h 5s 5c",
                "back": "Jh Jd Js Jc 3d",
            },
            {
                "seat": 2,
                "player": "p2",
                "front": "9s 9h 8d",
                "middle": "Qc Qd 3c 4c 6c",
                "back": "7c 6d 5h 4s 3h",
            },
            {
                "seat": 3,
                "player": "p3",
                "front": "Kc 8c 7s",
                "middle": "8s 8h 7d 6h 2s",
                "back": "Kh Ks 9c 9d 4d",
            },
            {
                "seat": 4,
                "player": "p4",
                "front": "Ac Qs Th",
                "middle": "Tc Td 7h 5d 4h",
                "back": "Ad Qh Ts 6s 3s",
            },
        ],
    }
    for seat, stack in zip(made["seats"], (45000, 5000, 20000, 30000), strict=True):
        seat["stack"] = stack
    for path, value in changes.items():
        at: Any = made
        *steps, last = path.split("__")
        for step in steps:
            at = at[int(step)] if step.isdigit() else at[step]
        if value is None:
            del at[last]
        else:
            at[last] = value
    return made


def test_a_settlement_has_exactly_the_agreed_shape() -> None:
    answer = settle_json(hand())
    assert list(answer) == [
        "profile",
        "profile_hash",
        "order",
        "hands",
        "pairs",
        "points",
        "paid",
        "stacks",
        "irregularities",
    ]
    assert (answer["profile"], answer["order"], answer["irregularities"]) == (
        "california-face-up",
        [2, 3, 4, 1],
        [],
    )
    assert answer["hands"][0] == {
        "seat": 1,
        "rows": {
            "front": {"cards": "As Ah Kd", "category": "one_pair", "text": "pair of aces, king", "bonus": 9},
            "middle": {
                "cards": "2c 2d 2h 5s 5c",
                "category": "full_house",
                "text": "full house, twos over fives",
                "bonus": 12,
            },
            "back": {
                "cards": "Jh Jd Js Jc 3d",
                "category": "four_of_a_kind",
                "text": "four jacks, three",
                "bonus": 8,
            },
        },
        "foul": False,
        "natural": None,
        "declaration": None,
        "fantasyland_next": True,
    }
    assert answer["hands"][3]["foul"] is True
    assert answer["hands"][3]["rows"]["front"]["bonus"] == 0
    pair = answer["pairs"][0]
    assert list(pair) == ["a", "b", "points", "owed", "paid", "short", "lines"]
    assert pair["lines"][0] == {
        "id": "row_won",
        "args": {"row": "front", "winner": 2, "loser": 3},
        "points": 1,
        "why": "front: pair of nines beats king high",
        "clause": "scoring.row",
    }
    assert answer["points"].keys() == answer["paid"].keys() == {"1", "2", "3", "4"}
    assert answer["stacks"].keys() == {"p1", "p2", "p3", "p4"}


def test_a_pair_is_worked_out_to_the_cent() -> None:
    answer = settle_json(hand())
    pairs = {(pair["a"], pair["b"]): pair for pair in answer["pairs"]}
    assert list(pairs) == [(2, 3), (2, 4), (2, 1), (3, 4), (3, 1), (4, 1)]
    # 2 over 3: three rows, 99 in front (4) and a straight in back (2).
    assert [pairs[2, 3][key] for key in ("points", "owed", "paid", "short")] == [9, 4500, 4500, 0]
    # 4 is a foul: 9, and 2's bonuses of 6. Seat 2 has 5000 and won 4500, so 500 is left to win.
    assert [pairs[2, 4][key] for key in ("points", "owed", "paid", "short")] == [15, 7500, 500, 7000]
    # 1 over 2: three rows and 29 of bonuses, less 2's 6. Seat 2 can lose its stack and what it won.
    assert [pairs[2, 1][key] for key in ("points", "owed", "paid", "short")] == [-26, -13000, -10000, 3000]
    assert pairs[3, 4]["points"] == 9
    assert pairs[3, 1]["points"] == -(3 + 29)
    assert pairs[4, 1]["points"] == -(9 + 29)
    assert answer["points"] == {"1": 26 + 32 + 38, "2": 9 + 15 - 26, "3": -9 + 9 - 32, "4": -15 - 9 - 38}
    assert sum(answer["paid"].values()) == 0
    assert answer["stacks"]["p2"] == 0


def test_the_answer_is_json() -> None:
    answer = settle_json(hand(seats__0__declares=True))
    assert json.loads(json.dumps(answer)) == answer


def test_a_natural_that_counts_has_kind_and_value_and_is_no_foul() -> None:
    dragon = {"front": "2h 3h 4h", "middle": "Tc Jc Qh Kc Ac", "back": "5d 6h 7c 8h 9h", "declares": True}
    low = {"front": "8c 7d 5c", "middle": "2c 2d Js 9d 6c", "back": "3c 3d 4c 4d Ts"}
    seats = [{"seat": 1, **dragon}, {"seat": 2, **low}]
    answer = settle_json({"profile": "clean-sweep-online", "unit": 1, "button": 1, "seats": seats})
    assert answer["hands"][0]["natural"] == {"kind": "dragon", "value": 13}
    assert answer["hands"][0]["foul"] is False
    assert answer["pairs"][0]["lines"][0]["args"] == {"kind": "dragon", "winner": 1, "loser": 2}
    assert answer["stacks"] == {}


def test_options_override_the_profile() -> None:
    plain = settle_json(hand())
    assert settle_json(hand(options={"foul.points": 20}))["points"] != plain["points"]
    assert settle_json(hand(options={}))["points"] == plain["points"]


def test_the_default_profile_applies_where_the_hand_names_none() -> None:
    assert settle_json(hand(profile=None), "traditional")["profile"] == "traditional"
    assert settle_json(hand(), "traditional")["profile"] == "california-face-up"


def test_a_ten_may_be_written_10() -> None:
    assert settle_json(hand(seats__3__front="Ac Qs 10h"))["hands"][3]["rows"]["front"]["cards"] == "Ac Qs Th"


def test_a_seat_without_a_player_is_itself() -> None:
    answer = settle_json(hand(seats__0__player=None))
    assert answer["stacks"].keys() == {"1", "p2", "p3", "p4"}


def test_null_is_as_good_as_absent_where_a_key_may_be_absent() -> None:
    given = hand(unit=None, seats__0__player=None, seats__0__stack=None)
    nulls = hand(options={}, seats__0__declares=False)
    nulls["unit"] = nulls["options"] = None
    nulls["seats"][0] |= {"player": None, "stack": None, "declares": None}
    assert settle_json(nulls) == settle_json(given)
    nulls["button"] = None
    with pytest.raises(HandError, match="button is null; give the number"):
        settle_json(nulls)


def test_without_a_unit_money_is_points() -> None:
    answer = settle_json(hand(unit=None, options={"stakes.cap": "none"}))
    assert answer["paid"] == answer["points"]


def test_a_seat_that_surrenders_may_leave_its_rows_out() -> None:
    seats = [
        {"seat": 1, "surrenders": True},
        {"seat": 2, "front": "8c 7d 5c", "middle": "2c 2d Js 9d 6c", "back": "3c 3d 4c 4d Ts"},
    ]
    answer = settle_json({"profile": "washington-1-unit", "unit": 100, "button": 1, "seats": seats})
    assert answer["hands"][0] == {
        "seat": 1,
        "rows": {},
        "foul": False,
        "natural": None,
        "declaration": None,
        "fantasyland_next": False,
    }
    assert answer["paid"] == {"1": -300, "2": 300}


# Irregular: nothing is settled.


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"seats__0__front": "As Ah"}, [(1, "front", "wrong_number_of_cards", "As Ah")]),
        ({"seats__0__front": ""}, [(1, "front", "wrong_number_of_cards", "")]),
        (
            {"seats__2__back": "Kh Ks 9c 9d 4d 2s 3h"},
            [
                (2, "back", "card_twice", "3h"),
                (3, "middle", "card_twice", "2s"),
                (3, "back", "wrong_number_of_cards", "Kh Ks 9c 9d 4d 2s 3h"),
                (3, "back", "card_twice", "2s 3h"),
            ],
        ),
        ({"seats__1__front": "9s 9h ??"}, [(2, "front", "unread_card", "??")]),
        ({"seats__1__front": "9s ?? ??"}, [(2, "front", "unread_card", "?? ??")]),
        ({"seats__0__front": "As As Kd"}, [(1, "front", "card_twice", "As")]),
        (
            {"seats__0__front": "As ??", "seats__3__front": "Ac Qs As"},
            [
                (1, "front", "wrong_number_of_cards", "As ??"),
                (1, "front", "card_twice", "As"),
                (1, "front", "unread_card", "??"),
                (4, "front", "card_twice", "As"),
            ],
        ),
    ],
)
def test_an_irregular_hand_is_listed_and_not_settled(
    changes: Json, expected: list[tuple[int, str, str, str]]
) -> None:
    answer = settle_json(hand(**changes))
    assert [tuple(found.values()) for found in answer["irregularities"]] == expected
    assert [list(found) for found in answer["irregularities"]] == [["seat", "row", "what", "cards"]] * len(
        expected
    )
    assert (answer["pairs"], answer["points"], answer["paid"]) == ([], {}, {})
    assert answer["stacks"] == {"p1": 45000, "p2": 5000, "p3": 20000, "p4": 30000}
    assert answer["order"] == [2, 3, 4, 1]


def test_of_an_irregular_hand_sound_rows_are_shown_and_nothing_is_judged() -> None:
    first = settle_json(hand(seats__0__front="As Ah ??"))["hands"][0]
    assert first["rows"]["front"] == {"cards": "As Ah ??", "category": None, "text": "", "bonus": 0}
    assert first["rows"]["back"]["text"] == "four jacks, three"
    assert first["rows"]["back"]["bonus"] == 8
    assert (first["foul"], first["natural"], first["fantasyland_next"]) == (None, None, None)


# Malformed: typed, with a key and a sentence.


@pytest.mark.parametrize(
    ("changes", "key", "message"),
    [
        ({"profile": None}, "profile", "names no profile"),
        ({"profile": "californa-face-up"}, "profile", "did you mean california-face-up"),
        ({"profile": 5}, "profile", "profile is 5; give the name of a profile"),
        ({"options": []}, "options", "an object of option paths"),
        ({"options": {"naturals.tied": "kind"}}, "options.naturals.tied", "did you mean naturals.tie"),
        ({"options": {"naturals.tie": "kinds"}}, "options.naturals.tie", 'allowed: "kind", "value"'),
        ({"options": {"foul.points": 9.0}}, "options.foul.points", "a whole number"),
        (
            {"options": {"naturals.kinds": [{"kind": "dragon"}]}},
            "options.naturals.kinds",
            "dragon has no value",
        ),
        ({"unit": 5.0}, "unit", "unit is 5.0; give whole cents a point"),
        ({"unit": "500"}, "unit", 'unit is "500"'),
        ({"unit": True}, "unit", "unit is true"),
        ({"unit": 0}, "unit", "1 cent or more"),
        ({"button": None}, "button", "button is missing"),
        ({"button": "2"}, "button", "the number of the puck's seat"),
        ({"button": 6}, "button", "seats are 1 to 5"),
        ({"seats": None}, "seats", "seats is missing"),
        ({"seats": {}}, "seats", "an array of seats"),
        ({"seats": []}, "seats", "two to four hands"),
        ({"seats": [1, 2]}, "seats[0]", "must be an object, not 1"),
        ({"seats__1__seat": None}, "seats[1].seat", "is missing"),
        ({"seats__1__seat": 1}, "seats[1].seat", "seat 1 is there twice"),
        ({"seats__1__seat": 1.0}, "seats[1].seat", "is 1.0"),
        ({"seats__1__front": None}, "seats[1].front", "is missing"),
        ({"seats__1__front": ["9s", "9h", "8d"]}, "seats[1].front", "give cards such as"),
        ({"seats__1__front": "9s 9h 8x"}, "seats[1].front", '"8x" is no card'),
        ({"seats__1__stack": -1}, "seats[1].stack", "must be 0 or more"),
        ({"seats__1__stack": 10.5}, "seats[1].stack", "whole cents"),
        ({"seats__1__player": 7}, "seats[1].player", "the player's name"),
        ({"seats__1__player": "\x1b[2J"}, "seats[1].player", "cannot be printed"),
        ({"seats__1__declares": 1}, "seats[1].declares", "true or false"),
        ({"seats__1__declare": True}, "seats[1].declare", "is unknown; did you mean declares"),
        ({"buton": 2}, "buton", "is unknown; did you mean button"),
        ({"profile": "traditional", "seats__1__declares": True}, "seats[1].declares", "has no naturals"),
        ({"seats__1__surrenders": True}, "seats[1].surrenders", "offers no surrender"),
        (
            {"profile": "washington-1-unit", "seats__1__surrenders": True, "seats__1__declares": True},
            "seats[1].surrenders",
            "only one can be",
        ),
        ({"profile": "traditional", "seats__1__fantasyland": True}, "seats[1].fantasyland", "has none"),
        (
            {"seats__0__player": "p3"},
            "seats[2].stack",
            "different stacks at two seats",
        ),
    ],
)
def test_a_malformed_hand_says_what_and_where(changes: Json, key: str, message: str) -> None:
    with pytest.raises(HandError, match=message) as caught:
        settle_json(hand(**changes))
    assert caught.value.key == key
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("value", [None, 5, "hand", [], [hand()], True])
def test_what_is_no_object_is_no_hand(value: object) -> None:
    with pytest.raises(HandError, match="a hand must be an object"):
        settle_json(value)


def test_a_hand_is_read_without_its_profile() -> None:
    assert hand_from_json(hand()).button == 2
    assert [seat.seat for seat in hand_from_json(hand(profile=None)).seats] == [1, 2, 3, 4]
