"""What passes between two hands, clause by clause."""

from __future__ import annotations

import pytest

from firmware.cli.settlement_text import settlement_text
from firmware.rules import CLAUSES, OPTIONS, HandError, Line, settlement_json
from firmware.rules.lines import NO_ROW
from firmware.rules.recorded_settlement import read_settlement
from tests.firmware.rules.tables import PLAIN, duel, lines, play, rules

UNIT = "washington-1-unit"
CALIFORNIA = "california-face-up"
ONLINE = "clean-sweep-online"
EASTERN = "poker-flush-eastern"
WESTERN = "poker-flush-western"

LOW = "8c 7d 5c / 2c 2d Js 9d 6c / 3c 3d 4c 4d 6s"
FOUL = "As Ah Kd / Qc Qd Jh 9s 6d / 5h 5s 7h 7s Th"
FOUL_TOO = "8c 7d 5c / 3c 3d 4c 4d 6s / 2c 2d Js 9d 6c"
DRAGON = "2h 3h 4h / 5d 6h 7c 8h 9h / Tc Jc Qh Kc Ac"
WRONGLY_SET_DRAGON = "2h 3h 4h / Tc Jc Qh Kc Ac / 5d 6h 7c 8h 9h"
SIX_PAIRS = "7d 7s 8s / 8d 9s 9c Jd Jh / Kh Ks Ad As 5s"
THREE_STRAIGHTS = "2s 3d 4s / 3s 4d 5c 6d 7c / 8c 9d Td Js Qs"


def test_a_pair_is_the_sum_of_its_lines_and_each_has_an_option_and_a_sentence() -> None:
    for pair in play("washington-2-4", PLAIN).pairs:
        assert pair.points == sum(line.points for line in pair.lines)
        assert all(line.clause in OPTIONS and line.why for line in pair.lines)


def test_a_row_won_says_which_hand_beats_which() -> None:
    nines = "9s 9h 2d / Jc Jd 3s 3h 4d / 5s 5h 5c 6d 8s"
    aces = "As Ah 2c / Kc Kd 3d 3c 4c / 7s 7h 7c 6c 8c"
    line = play(UNIT, {1: nines, 2: aces}).pairs[0].lines[0]
    assert line.why == "front: pair of aces beats pair of nines"
    assert (line.id, line.clause) == ("row_won", "scoring.row")
    assert line.args == {"row": "front", "winner": 2, "loser": 1}


# 2.3, 2.4: a foul pays each opponent, but no other foul.

SIXES_AND_QUADS = "6h 6s 2h / 8c 8h 8d 7c 2c / 4c 4h 4d 4s Kc"


def test_a_foul_pays_the_penalty_and_the_opponents_bonuses() -> None:
    assert lines(CALIFORNIA, FOUL, SIXES_AND_QUADS) == [("foul", -9), ("foul_bonus", -1), ("foul_bonus", -8)]


def test_a_foul_earns_no_bonus_but_shows_what_the_table_gives() -> None:
    settlement = play(CALIFORNIA, {1: FOUL, 2: LOW})
    assert settlement.points == {1: -9, 2: 9}
    assert settlement.hands[0].bonuses == (9, 0, 0)


def test_a_foul_may_pay_the_penalty_alone() -> None:
    assert duel(rules(CALIFORNIA, foul__pays_bonus=False), FOUL, SIXES_AND_QUADS) == -9
    assert duel(rules(CALIFORNIA, bonus__pays="none"), FOUL, SIXES_AND_QUADS) == -9


@pytest.mark.parametrize(
    ("profile", "points"),
    [
        ("california-face-up", 9),
        ("traditional", 4),
        ("clean-sweep-online", 3),
        ("washington-1-unit", 3),
        ("washington-2-4", 4),
        ("washington-1-6", 6),
        ("poker-flush-western", 3),
        ("poker-flush-eastern", 3),
    ],
)
def test_the_penalty_of_each_profile(profile: str, points: int) -> None:
    assert duel(profile, FOUL, LOW) == -points


def test_where_bonuses_take_a_rows_place_a_foul_pays_what_the_table_says() -> None:
    foul_with_quads = "As Ah Kd / Qc Qd Js 9d 6c / 3c 3d 3h 3s Ts"
    quads = "8h 7h 5h / 2h 2s Jh 9h 6d / 4h 4s 4c 4d Th"
    assert lines(EASTERN, foul_with_quads, quads) == [("foul", -3), ("foul_bonus", -4)]


def test_foul_against_foul_exchanges_nothing() -> None:
    assert lines(CALIFORNIA, FOUL, "Ac Ad Kh / Qh Qs Jd 9h 6s / 3h 3s 4h 4s Ts") == [("both_foul", 0)]


@pytest.mark.parametrize(
    ("rows", "profile", "why"),
    [
        (FOUL, UNIT, "the front (pair of aces) beats the middle (pair of queens)"),
        (
            "4s 5s 7s / Kc Kd 9h Th Jh / Qc Qh 2h 8s 3h",
            UNIT,
            "the middle (pair of kings) beats the back (pair of queens)",
        ),
        (
            "4s 5s 7s / Ah Kd Qc Jh 9s / As Kc Qd Jd 9h",
            UNIT,
            "middle and back are equal (ace high, king, queen, jack, nine)",
        ),
        (
            "4h 5s 7s / 9s Th Jh Qc Kc / 9h Td Jd Qd Kd",
            ONLINE,
            "middle and back are equal (straight, king high), and the middle's suit is the higher",
        ),
    ],
)
def test_a_foul_says_what_is_wrong(rows: str, profile: str, why: str) -> None:
    line = play(profile, {1: rows, 2: LOW}).pairs[0].lines[0]
    assert line.why == f"seat 1's hand is a foul: {why}"


# 2.5: a foul against a natural.


@pytest.mark.parametrize(("kind", "penalty"), [("natural", []), ("both", [("foul", -9)])])
def test_a_foul_pays_a_natural_its_value_or_the_penalty_too(
    kind: str, penalty: list[tuple[str, int]]
) -> None:
    profile = rules(CALIFORNIA, foul__versus_natural=kind)
    bonuses = [("natural_bonus", -4), ("natural_bonus", -2)]
    assert lines(profile, FOUL, DRAGON, declares=[2]) == [("natural", -13), *penalty, *bonuses]


SIXES_AND_FULL_HOUSE = "6c 6s 2c / 8c 8s 3c 3d 7s / 5c 5h 5s Kh Ks"


def test_a_natural_that_keeps_no_bonus_neither_earns_nor_pays_one() -> None:
    profile = rules(CALIFORNIA, naturals__keeps_bonus=False)
    assert lines(profile, SIXES_AND_FULL_HOUSE, DRAGON, declares=[2]) == [("natural", -13)]


def test_a_natural_of_california_earns_its_own_bonuses_and_pays_none() -> None:
    """000, Bonus System: "in addition to the other points awarded for winning a segment or Clean Sweep"."""
    expected = [("natural", -13), ("natural_bonus", -4), ("natural_bonus", -2)]
    assert lines(CALIFORNIA, SIXES_AND_FULL_HOUSE, DRAGON, declares=[2]) == expected


def test_three_flushes_with_12_bonus_points_are_worth_15() -> None:
    flushes = "2s 5s 9s / 3h 6h 9h Jh Kh / 4d 7d Td Qd Ad"
    assert duel(CALIFORNIA, flushes, "8c 7c 5c / 2c 2d Js 9d 6c / 3c 3d 4c 4s Ts", declares=[1]) == 15


def test_a_super_dragon_with_30_bonus_points_is_worth_56() -> None:
    super_dragon = "2s 3s 4s / 5s 6s 7s 8s 9s / Ts Js Qs Ks As"
    bonus_tables = {"middle": {"straight_flush": 20}, "back": {"royal_flush": 10}}
    profile = rules(CALIFORNIA, **{f"bonus__{row}": table for row, table in bonus_tables.items()})
    assert duel(profile, super_dragon, "8c 7d 5c / 2c 2d Jh 9d 6c / 3c 3d 4c 4d Td", declares=[1]) == 56


def test_naturals_keep_their_bonuses_between_each_other_to_themselves() -> None:
    assert lines(CALIFORNIA, DRAGON, SIX_PAIRS, declares=[1, 2]) == [("natural", 13)]


def test_a_natural_set_in_the_wrong_order_earns_no_bonus() -> None:
    profile = rules(CALIFORNIA, naturals__foul_voids=False)
    assert lines(profile, WRONGLY_SET_DRAGON, LOW, declares=[1]) == [("natural", 13)]
    assert lines(profile, DRAGON, LOW, declares=[1])[1:] == [("natural_bonus", 4), ("natural_bonus", 2)]


def test_a_natural_may_pay_the_bonuses_of_a_regular_hand() -> None:
    profile = rules(CALIFORNIA, naturals__keeps_bonus=False, naturals__pays_bonus=True)
    found = lines(profile, SIXES_AND_FULL_HOUSE, DRAGON, declares=[2])
    assert found == [("natural", -13), ("natural_pays_bonus", 1), ("natural_pays_bonus", 6)]


# 3: two regular hands.

TIED_WON_WON = "Ks Qs 2d / 8c 8d 9s Th Jd / Ac Ad 4s 4h 5c", "Kh Qh 2c / 7c 7d 9h Tc Jc / As Ah 3s 3h 5d"
TIED_LOST_WON = "Ks Qs 2d / 7c 7d 9s Th Jd / Ac Ad 4s 4h 5c", "Kh Qh 2c / 8c 8d 9h Tc Jc / As Ah 3s 3h 5d"


def test_an_equal_row_is_a_push() -> None:
    assert lines(UNIT, *TIED_WON_WON) == [("row_tied", 0), ("row_won", 1), ("row_won", 1)]
    assert lines(UNIT, *TIED_WON_WON, button=1) == [("row_tied", 0), ("row_won", 1), ("row_won", 1)]


@pytest.mark.parametrize(
    ("button", "tied", "majority"),
    [
        (1, ("row_tied_button", 1), [("majority", 1)]),
        (2, ("row_tied_button", -1), [("majority", -1)]),
        (3, ("row_tied", 0), []),
    ],
)
def test_the_button_wins_an_equal_row_and_it_counts_for_the_majority(
    button: int, tied: tuple[str, int], majority: list[tuple[str, int]]
) -> None:
    profile = rules(UNIT, scoring__ties="button", scoring__majority=1)
    found = lines(profile, *TIED_LOST_WON, button=button)
    assert found == [tied, ("row_won", -1), ("row_won", 1), *majority]


def test_the_button_wins_an_equal_row_with_the_bonus_that_takes_its_place() -> None:
    first, second = "Ks Qs 2d / 7c 7d 4d Ac Jd / 6s 7s 8s 9s Ts", "Kh Qh 2c / 8c 8d 3d Ad Jc / 6h 7h 8h 9h Th"
    profile = rules(EASTERN, scoring__ties="button")
    assert lines(profile, first, second, button=1)[-2:] == [("bonus_in_place", 5), ("bonus_doubled", 5)]


def test_two_won_and_one_tied_earns_the_majority_and_not_the_scoop() -> None:
    profile = rules(UNIT, scoring__majority=1, scoring__scoop=3)
    assert duel(profile, *TIED_WON_WON) == 3
    assert duel(profile, *reversed(TIED_WON_WON)) == -3


WON_WON_LOST = "Ks Qs 2d / 8c 8d 9s Th Jd / Ac Ad 3s 3h 5c", "Kh Js 2c / 7c 7d 9h Tc Jc / As Ah 4s 4h 5d"


@pytest.mark.parametrize(("profile", "two", "three"), [("washington-2-4", 2, 4), ("washington-1-6", 1, 6)])
def test_who_wins_two_of_three_has_that_many_units_whatever_the_third_row_is(
    profile: str, two: int, three: int
) -> None:
    """003: "A player who wins 2 out of 3 hands wins 2 (1) units." """
    assert duel(profile, *TIED_WON_WON) == two
    assert duel(profile, *reversed(TIED_WON_WON)) == -two
    assert duel(profile, *WON_WON_LOST) == two
    assert duel(profile, ABOVE_LOW, LOW) == three
    rows = [("row_tied", 0), ("row_won", 0), ("row_won", 0)]
    assert lines(profile, *TIED_WON_WON) == [*rows, ("two_rows", two)]


def test_with_at_most_one_row_won_by_either_the_rows_are_netted() -> None:
    assert duel("washington-2-4", *TIED_LOST_WON) == duel("washington-1-6", *TIED_LOST_WON) == 0


# 4: bonuses.

FULL_HOUSE = "4s 5h 2d / 8c 8d 8s 9h 9d / Ts Th Td 7h 7c"
QUADS = "4c 5d 2c / 6c 6d 6s 6h Jc / Qs Qh Qd Qc 3d"


def test_each_pays_a_bonus_whether_or_not_the_row_is_won() -> None:
    sixes, aces = "6s 6h 2d / 8c 8d 9s 9h Jd / Ts Th Tc 7h 5c", "As Ah 2c / Kc Kd 3c 3d Jc / Qs Qh Qd 3h 5d"
    assert lines(CALIFORNIA, sixes, aces) == [*[("row_won", -1)] * 3, ("bonus", 1), ("bonus", -9)]


def test_stronger_counts_only_the_stronger_hands_bonus_in_a_row() -> None:
    assert lines("traditional", FULL_HOUSE, QUADS) == [
        ("row_tied", 0),
        ("row_won", -1),
        ("row_won", -1),
        ("majority", -1),
        ("bonus", -3),
        ("bonus_weaker", 0),
        ("bonus", -3),
    ]
    assert duel(rules("traditional", bonus__pays="each"), FULL_HOUSE, QUADS) == -2 - 1 - 3 + 1 - 3


def test_stronger_pays_bonuses_in_different_rows_to_both() -> None:
    quads_in_back = "4s 5h 2d / 8c 8d 9s 9h Jd / Ts Th Td Tc 7c"
    full_house_in_the_middle = "4c 5d 2c / 6c 6d 6s 3h 3d / Qs Qh Qd Jh Jc"
    assert lines("traditional", quads_in_back, full_house_in_the_middle)[-2:] == [("bonus", -1), ("bonus", 3)]


@pytest.mark.parametrize("button", [1, 2, 3])
def test_stronger_counts_neither_of_two_equal_bonus_hands(button: int) -> None:
    first, second = "4s 5h 2d / Ad Ah 3s 3h Jd / 6s 7s 8s 9s Ts", "4c 5d 2c / Qc Qd Ks Kh Jc / 6c 7c 8c 9c Tc"
    profile = rules("traditional", scoring__ties="button")
    assert lines(profile, first, second, button=button)[-1] == ("bonuses_tie", 0)


def test_replaces_pays_the_winners_bonus_in_the_rows_place_and_the_loser_nothing() -> None:
    quads_win = [("row_tied", 0), ("bonus_in_place", 8), ("bonus_in_place", 4)]
    assert lines(EASTERN, QUADS, FULL_HOUSE) == quads_win
    assert duel(EASTERN, FULL_HOUSE, QUADS) == -12


@pytest.mark.parametrize(
    ("row", "first", "second", "bonus"),
    [
        (
            "front",
            "As Ah Ad / 2c 2d 2h 3s 3h / 4c 4d 4h 5s 5h",
            "Ks Kh Kd / 6c 6d 6h 7s 7h / 8c 8d 8h 9s 9h",
            3,
        ),
        (
            "middle",
            "2c 3d 4h / Ac Ad Ah Ks Kh / 5c 6c 7c 8c 9c",
            "2d 3h 4s / Qc Qd Qh Js Jh / 5d 6d 7d 8d 9d",
            2,
        ),
        (
            "back",
            "2c 3d 4h / Ac Ad 6s Ks Kh / Tc Td Th Ts 5c",
            "2d 3h 4s / Qc Qd 6h Js Jh / 9c 9d 9h 9s 5d",
            4,
        ),
    ],
)
def test_a_bonus_over_the_same_category_counts_twice_in_every_row(
    row: str, first: str, second: str, bonus: int
) -> None:
    for options, expected in (
        ({}, [("bonus_in_place", bonus), ("bonus_doubled", bonus)]),
        ({"bonus__doubles_same_category": False}, [("bonus_in_place", bonus)]),
    ):
        settlement = play(rules(EASTERN, **options), {1: first, 2: second}, button=2)
        (pair,) = settlement.pairs
        assert pair.a == 1
        assert [(line.id, line.points) for line in pair.lines if line.args["row"] == row] == expected


ROYAL = "2c 3d 4h / 9c 9d 6s 6d Jh / Ac Kc Qc Jc Tc"
STRAIGHT_FLUSH = "2d 3h 4s / 8c 8d 7c 7s Js / 5h 6h 7h 8h 9h"


def test_a_royal_flush_is_a_straight_flush_unless_the_table_names_it() -> None:
    assert duel(EASTERN, ROYAL, STRAIGHT_FLUSH) == 1 + 5 + 5
    assert play(UNIT, {1: ROYAL, 2: STRAIGHT_FLUSH}).hands[0].bonuses == (0, 0, 4)


def test_a_royal_flush_that_the_table_names_has_its_own_bonus_and_is_its_own_category() -> None:
    named = rules(EASTERN, bonus__back={"straight_flush": 5, "royal_flush": 7})
    assert duel(named, ROYAL, STRAIGHT_FLUSH) == 1 + 7
    assert play(CALIFORNIA, {1: ROYAL, 2: STRAIGHT_FLUSH}).hands[0].bonuses == (0, 0, 20)


def test_no_bonuses_pay_none() -> None:
    found = lines(rules("traditional", bonus__pays="none"), FULL_HOUSE, QUADS)
    assert found == [("row_tied", 0), ("row_won", -1), ("row_won", -1), ("majority", -1)]


# 5: naturals.


def test_a_natural_against_a_regular_hand_is_its_value_and_nothing_else() -> None:
    assert lines(ONLINE, DRAGON, LOW, declares=[1]) == [("natural", 13)]


def test_an_undeclared_natural_plays_as_a_regular_hand() -> None:
    settlement = play(ONLINE, {1: DRAGON, 2: LOW})
    hand = settlement.hands[0]
    assert hand.natural is None
    assert hand.holds is not None
    assert hand.holds.kind == "dragon"
    assert settlement.pairs[0].lines[0].id == "row_won"


def test_a_hand_that_fits_several_kinds_counts_as_the_highest_of_the_list() -> None:
    natural = play(ONLINE, {1: DRAGON, 2: LOW}, declares=[1]).hands[0].natural
    assert natural is not None
    assert (natural.kind, natural.value, natural.place) == ("dragon", 13, 1)
    upside_down = [{"kind": "three_straights", "value": 2}, {"kind": "dragon", "value": 13}]
    assert duel(rules(ONLINE, naturals__kinds=upside_down), DRAGON, LOW, declares=[1]) == 2


def test_the_higher_kind_collects_its_whole_value() -> None:
    assert lines(ONLINE, DRAGON, SIX_PAIRS, declares=[1, 2]) == [("natural", 13)]
    assert lines(ONLINE, SIX_PAIRS, DRAGON, declares=[1, 2]) == [("natural", -13)]


def test_kinds_of_equal_value_tie_or_do_not() -> None:
    by_kind = rules(UNIT, naturals__tie="kind")
    assert lines(by_kind, SIX_PAIRS, THREE_STRAIGHTS, declares=[1, 2]) == [("natural", 3)]
    assert lines(UNIT, SIX_PAIRS, THREE_STRAIGHTS, declares=[1, 2]) == [("naturals_tie", 0)]


@pytest.mark.parametrize("button", [1, 2, 3])
@pytest.mark.parametrize("tie", ["kind", "value"])
def test_the_same_kind_ties_and_the_button_does_not_win_it(button: int, tie: str) -> None:
    other = "2s 3d 4s / 5c 6d 7s 8c 9d / Td Js Qs Ks As"
    profile = rules(CALIFORNIA, naturals__tie=tie)
    assert lines(profile, DRAGON, other, declares=[1, 2], button=button) == [("naturals_tie", 0)]


def test_a_natural_that_counts_is_no_foul_however_its_rows_lie() -> None:
    settlement = play(ONLINE, {1: WRONGLY_SET_DRAGON, 2: LOW}, declares=[1])
    assert settlement.hands[0].fault is None
    assert settlement.points[1] == 13


def test_undeclared_it_is_a_foul() -> None:
    assert lines(ONLINE, WRONGLY_SET_DRAGON, LOW) == [("foul", -3)]


@pytest.mark.parametrize("false_declaration", ["regular", "foul"])
def test_foul_voids_the_natural_of_a_wrongly_set_hand(false_declaration: str) -> None:
    profile = rules(ONLINE, naturals__foul_voids=True, naturals__false_declaration=false_declaration)
    settlement = play(profile, {1: WRONGLY_SET_DRAGON, 2: LOW}, declares=[1])
    hand = settlement.hands[0]
    assert (hand.natural, hand.holds) == (None, None)
    assert hand.fault == "middle_above_back"
    assert settlement.points[1] == -3


ABOVE_LOW = "Ac Kh Qh / 5s 5h Jh 9h 6d / 7h 7s 8h 8s Th"


def test_a_false_declaration_plays_as_set_or_is_a_foul() -> None:
    assert lines(UNIT, ABOVE_LOW, LOW, declares=[1]) == [
        *[("row_won", 1)] * 3,
        ("declaration_not_borne_out", 0),
    ]
    assert lines(WESTERN, ABOVE_LOW, LOW, declares=[1]) == [("foul", -3)]
    (pair,) = play(WESTERN, {1: ABOVE_LOW, 2: LOW}, declares=[1]).pairs
    assert pair.lines[0].args["fault"] == "false_declaration"
    assert "a natural was declared that the cards do not show" in pair.lines[0].why


def test_a_foul_that_declared_no_natural_is_not_said_to_play_as_it_is_set() -> None:
    """Its line keeps the record's words; what is shown, printed and told from a record is true."""
    settled = play(WESTERN, {1: FOUL, 2: LOW}, declares=[1])
    (line,) = (line for line in settled.pairs[0].lines if line.id == "declaration_not_borne_out")
    assert line.why.endswith("the hand plays as it is set")
    (told,) = (one for one in read_settlement(settlement_json(settled)).pairs[0].lines if one.id == line.id)
    assert str(line.message) == str(told.message)
    assert str(line.message).endswith("cards do not show; the hand is a foul by its rows")
    assert "plays as it is set" not in settlement_text(settled)
    both = settlement_text(play(WESTERN, {1: FOUL, 2: FOUL_TOO}))
    assert both.count(" beats the ") == 2, "between two fouls no line says why they are"


def test_an_opponents_surrender_excuses_a_false_declaration() -> None:
    rows = {1: ABOVE_LOW, 2: LOW, 3: ""}
    excused = play(WESTERN, rows, declares=[1], surrenders=[3])
    assert excused.hands[0].fault is None
    assert excused.points == {1: 4 + 3, 2: -4 + 3, 3: -6}
    strict = rules(WESTERN, naturals__excused_by_surrender=False)
    assert play(strict, rows, declares=[1], surrenders=[3]).points == {1: -3 + 3, 2: 3 + 3, 3: -6}


@pytest.mark.parametrize(
    ("acted", "unknown", "excused"),
    [
        ({3: 1, 1: 2}, "excused", True),
        ({1: 1, 3: 2}, "excused", False),
        ({}, "excused", True),
        ({1: 1}, "excused", True),
        ({3: 2}, "excused", True),
        ({}, "foul", False),
        ({1: 1}, "foul", False),
        ({3: 1, 1: 2}, "foul", True),
    ],
)
def test_only_a_surrender_made_already_excuses_a_false_declaration(
    acted: dict[int, int], unknown: str, excused: bool
) -> None:
    profile = rules(WESTERN, naturals__order_unknown=unknown)
    rows = {1: ABOVE_LOW, 2: LOW, 3: ""}
    hand = play(profile, rows, declares=[1], surrenders=[3], acted=acted).hands[0]
    assert (hand.fault is None) is excused
    assert hand.declaration is not None
    clause = "naturals.excused_by_surrender" if excused else "naturals.false_declaration"
    assert hand.declaration == ("not_borne_out", clause)


def test_the_declarers_own_other_hand_excuses_nothing() -> None:
    """004: "unless an opponent has already declared intention to surrender"."""
    rows = {1: ABOVE_LOW, 2: LOW, 3: "", 4: "Qc Ts 3s / 9c 9s 2h 4h Kc / Jc Jd Td Tc 3h"}
    players = {1: "ann", 2: "ben", 3: "ann", 4: "ben"}
    settlement = play(WESTERN, rows, players=players, declares=[1], surrenders=[3], acted={3: 1, 1: 2})
    assert settlement.hands[0].fault == "false_declaration"
    other = {1: "ann", 2: "ann", 3: "ben", 4: "ben"}
    assert play(WESTERN, rows, players=other, declares=[1], surrenders=[3]).hands[0].fault is None


def test_a_declaration_that_came_to_nothing_says_so_with_its_clause() -> None:
    excused = play(WESTERN, {1: ABOVE_LOW, 2: LOW, 3: ""}, declares=[1], surrenders=[3])
    found = [(line.id, line.clause) for pair in excused.pairs for line in pair.lines]
    assert ("declaration_excused", "naturals.excused_by_surrender") in found
    (voided,) = play(CALIFORNIA, {1: WRONGLY_SET_DRAGON, 2: LOW}, declares=[1], button=1).pairs
    line = voided.lines[-1]
    assert (line.id, line.points, line.clause) == ("declaration_voided", 0, "naturals.foul_voids")
    assert line.why == "seat 1 declared a natural, but a hand set in the wrong order cannot claim one"
    hand = play(CALIFORNIA, {1: WRONGLY_SET_DRAGON, 2: LOW}, declares=[1]).hands[0]
    assert hand.declaration == ("voided_by_foul", "naturals.foul_voids")
    assert play(CALIFORNIA, {1: FOUL, 2: LOW}, declares=[1]).hands[0].declaration == (
        "not_borne_out",
        "naturals.false_declaration",
    )
    assert play(CALIFORNIA, {1: DRAGON, 2: LOW}, declares=[1]).hands[0].declaration == (
        "counts",
        "naturals.kinds",
    )
    assert play(CALIFORNIA, {1: DRAGON, 2: LOW}).hands[0].declaration is None


def test_in_washington_a_natural_counts_undeclared() -> None:
    settlement = play(UNIT, {1: DRAGON, 2: LOW})
    natural = settlement.hands[0].natural
    assert natural is not None
    assert (natural.kind, settlement.hands[0].declaration) == ("dragon", None)
    assert [line.id for line in settlement.pairs[0].lines] == ["natural"]
    assert lines(UNIT, WRONGLY_SET_DRAGON, LOW) == [("natural", 3)]


# 6: surrender.


@pytest.mark.parametrize(
    ("other", "declares"), [(DRAGON, [2]), (FOUL, []), (LOW, [])], ids=["natural", "foul", "regular"]
)
def test_who_surrenders_pays_the_same_whatever_the_other_holds(other: str, declares: list[int]) -> None:
    settlement = play(WESTERN, {1: "", 2: other}, surrenders=[1], declares=declares)
    assert settlement.points == {1: -3, 2: 3}
    assert [line.id for line in settlement.pairs[0].lines] == ["surrender"]


@pytest.mark.parametrize(
    "profile", ["washington-1-unit", "washington-2-4", "washington-1-6", WESTERN, EASTERN]
)
def test_who_surrenders_pays_a_foul_unless_the_house_says_that_a_foul_is_not_live(profile: str) -> None:
    paid = play(profile, {1: "", 2: FOUL, 3: LOW}, surrenders=[1]).pairs
    by_seats = {frozenset((pair.a, pair.b)): pair for pair in paid}
    assert abs(by_seats[frozenset((1, 2))].points) == 3
    not_live = play(rules(profile, surrender__pays_foul=False), {1: "", 2: FOUL, 3: LOW}, surrenders=[1])
    by_seats = {frozenset((pair.a, pair.b)): pair for pair in not_live.pairs}
    nothing = by_seats[frozenset((1, 2))]
    assert nothing.points == 0
    assert [line.clause for line in nothing.lines] == ["surrender.pays_foul"]
    assert abs(by_seats[frozenset((1, 3))].points) == 3


def test_between_two_who_surrender_nothing_is_exchanged() -> None:
    settlement = play(WESTERN, {1: "", 2: "", 3: LOW}, surrenders=[1, 2])
    assert settlement.points == {1: -3, 2: -3, 3: 6}


def test_the_rows_of_a_seat_that_surrenders_are_shown_but_not_compared() -> None:
    settlement = play(WESTERN, {1: FOUL, 2: LOW}, surrenders=[1])
    assert settlement.hands[0].fault is None
    assert all(settlement.hands[0].strengths)
    assert settlement.points == {1: -3, 2: 3}


@pytest.mark.parametrize(
    ("profile", "how", "key"),
    [
        ("traditional", {"declares": [1]}, "seats[0].declares"),
        ("traditional", {"surrenders": [2]}, "seats[1].surrenders"),
        (UNIT, {"fantasyland": [1]}, "seats[0].fantasyland"),
    ],
)
def test_what_the_profile_does_not_offer_is_malformed(
    profile: str, how: dict[str, list[int]], key: str
) -> None:
    with pytest.raises(HandError, match=profile) as caught:
        play(
            profile,
            {1: DRAGON, 2: LOW},
            declares=how.get("declares", ()),
            surrenders=how.get("surrenders", ()),
            fantasyland=how.get("fantasyland", ()),
        )
    assert caught.value.key == key


def test_every_kind_of_line_has_a_clause_that_is_an_option_and_a_sentence() -> None:
    profile = rules(CALIFORNIA, naturals__declared="automatic", naturals__foul_voids=False)
    winner, loser = play(profile, {1: DRAGON, 2: SIX_PAIRS}).hands
    for name in CLAUSES:
        about_a_row = name.startswith("row_") or "bonus" in name
        line = Line(name, 0, winner, loser, 0 if about_a_row else NO_ROW)
        assert line.why
        assert line.clause in OPTIONS
