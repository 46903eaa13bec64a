"""Profiles as TOML: the eight that are packaged, a house's own, and everything that can be wrong with one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from firmware.rules import (
    OPTIONS,
    ProfileError,
    RulesError,
    UnknownProfileError,
    load_chain,
    load_profile,
    parse_cards,
    parse_profile,
    profile_names,
    profile_toml,
    recorded_profile,
)

EIGHT = (
    "california-face-up",
    "clean-sweep-online",
    "poker-flush-eastern",
    "poker-flush-western",
    "traditional",
    "washington-1-6",
    "washington-1-unit",
    "washington-2-4",
)


def test_there_are_eight_profiles() -> None:
    assert profile_names() == EIGHT


@pytest.mark.parametrize("name", EIGHT)
def test_a_profile_has_a_source_and_a_clause_for_every_option(name: str) -> None:
    profile = load_profile(name)
    assert profile.name == name
    assert profile.source.endswith(".txt")
    assert set(profile.clause) == set(OPTIONS)
    assert all(profile.clause.values())


@pytest.mark.parametrize("name", EIGHT)
def test_every_option_can_be_said_as_a_sentence(name: str) -> None:
    for path, kind, value in load_profile(name).options():
        said = str(kind.say(value))
        assert said[0].isupper() or said[0].isdigit(), path
        assert said.endswith("."), path


# The source documents' options, column by column.
TABLE: dict[str, tuple[object, ...]] = {
    "deal.kind": ("face_up", *["closed"] * 7),
    "foul.equal_rows": ("foul", "foul", "foul", "foul", "ok", "foul", "foul", "foul"),
    "foul.suit_tiebreak": ((), ("s", "h", "c", "d"), *[()] * 6),
    "scoring.row": (1,) * 8,
    "scoring.majority": (0, 0, 0, 1, 1, 0, 0, 0),
    "scoring.scoop": (0,) * 8,
    "scoring.rows": ((),) * 8,
    "scoring.versus": ("all",) * 8,
    "scoring.suits": ((),) * 8,
    "scoring.scoop_times": (0,) * 8,
    "naturals.wins": ("higher",) * 8,
    "surrender.versus_natural": ("points",) * 8,
    "scoring.beat_all_times": (0,) * 8,
    "scoring.outcome": (*[()] * 5, (("two", 1), ("three", 6)), (), (("two", 2), ("three", 4))),
    "scoring.ties": ("button", *["push"] * 7),
    "bonus.pays": ("each", "none", "replaces", "none", "stronger", "each", "each", "each"),
    "bonus.doubles_same_category": (False, False, True, False, False, False, False, False),
    "foul.points": (9, 3, 3, 3, 4, 6, 3, 4),
    "naturals.by": ("rows", *["cards"] * 7),
    "naturals.declared": (*["required"] * 5, *["automatic"] * 3),
    "naturals.keeps_bonus": (True, *[False] * 7),
    "naturals.pays_bonus": (False,) * 8,
    "naturals.foul_voids": (True, *[False] * 7),
    "naturals.false_declaration": ("regular", "regular", "foul", "foul", *["regular"] * 4),
    "naturals.excused_by_surrender": (False, False, True, True, *[False] * 4),
    "surrender.points": (0, 0, 3, 3, 0, 3, 3, 3),
    "order.first": (
        "button",
        "left_of_button",
        "right_of_button",
        "right_of_button",
        *["left_of_button"] * 4,
    ),
    "order.direction": ("clockwise",) * 8,
    "order.naturals_first": (True, *[False] * 7),
    "stakes.cap": ("net",) * 8,
    "hands.wheel": ("lowest",) * 8,
    "limits.max_unit": (0, 0, 0, 0, 0, 1000, 1000, 1000),
    "limits.buy_in": (30, *[0] * 7),
    "limits.min_points": (9, *[0] * 7),
}
NATURALS_TABLE = {
    "california-face-up": "super_dragon 26, dragon 13, six_pairs 3, three_straights 3, three_flushes 3",
    "traditional": "",
    "clean-sweep-online": "all_one_suit 13, dragon 13, twelve_one_suit 8, five_pairs_trips 4, three_straights 4, "
    "three_flushes 3, six_pairs 3",
    "washington-1-unit": "dragon 3, six_pairs 3, three_straights 3, three_flushes 3",
    "poker-flush-western": "dragon 13, all_one_color 13, twelve_one_color 3, six_pairs 3, three_straights 3, "
    "three_flushes 3",
}


@pytest.mark.parametrize("path", TABLE)
def test_the_options_are_those_of_the_documents(path: str) -> None:
    section, _, name = path.partition(".")
    assert tuple(getattr(getattr(load_profile(profile), section), name) for profile in EIGHT) == TABLE[path]


def test_the_naturals_are_those_of_the_documents() -> None:
    same = {"washington-1-6": "washington-1-unit", "washington-2-4": "washington-1-unit"}
    same["poker-flush-eastern"] = "poker-flush-western"
    for name in EIGHT:
        kinds = load_profile(name).naturals.kinds
        assert (
            ", ".join(f"{entry.kind} {entry.value}" for entry in kinds)
            == NATURALS_TABLE[same.get(name, name)]
        )


def test_the_bonus_tables_are_those_of_the_documents() -> None:
    face_up = load_profile("california-face-up").bonus
    pairs = {rank * 2: points for points, rank in enumerate("6789TJQKA", start=1)}
    trips = {rank * 3: points for points, rank in enumerate("23456789TJQKA", start=10)}
    categories = ("straight", "flush", "full_house", "four_of_a_kind", "straight_flush", "royal_flush")
    assert dict(face_up.front) == pairs | trips
    assert dict(face_up.middle) == dict(zip(categories, (4, 8, 12, 16, 20, 40), strict=True))
    assert dict(face_up.back) == dict(zip(categories, (2, 4, 6, 8, 10, 20), strict=True))
    for name in ("traditional", "washington-1-unit", "washington-2-4", "washington-1-6"):
        bonus = load_profile(name).bonus
        assert dict(bonus.front) == {"three_of_a_kind": 2}
        assert dict(bonus.middle) == {"straight_flush": 4, "four_of_a_kind": 3, "full_house": 1}
        assert dict(bonus.back) == {"straight_flush": 4, "four_of_a_kind": 3}
    eastern = load_profile("poker-flush-eastern").bonus
    assert dict(eastern.front) == {"three_of_a_kind": 3}
    assert dict(eastern.middle) == {"full_house": 2, "four_of_a_kind": 8, "straight_flush": 10}
    assert dict(eastern.back) == {"four_of_a_kind": 4, "straight_flush": 5}


@pytest.mark.parametrize("name", EIGHT)
def test_a_packaged_profile_is_a_game_of_its_own_whatever_its_file_extends(name: str) -> None:
    chain = load_chain(name)
    assert len(chain) == 1
    assert chain[0].based_on == ""
    assert list(chain[0].clause) == list(OPTIONS)


def test_what_packaged_profiles_share_is_no_profile() -> None:
    with pytest.raises(UnknownProfileError, match='there is no profile "_common"'):
        load_profile("_common")


def test_a_sections_clause_is_that_of_its_options_without_their_own() -> None:
    text = (
        '[profile]\nname = "a"\nextends = "traditional"\n[clauses]\nfoul = "Ours."\n"foul.points" = "Four."\n'
    )
    clause = parse_profile(text).clause
    assert (clause["foul.points"], clause["foul.equal_rows"]) == ("Four.", "Ours.")
    assert clause["scoring.row"] == load_profile("traditional").clause["scoring.row"]


# A house's own.

HOUSE = """
[profile]
name = "riverside"
title = "Riverside, 2-4 with a wheel of its own"
extends = "washington-2-4"

[hands]
wheel = "second_highest"

[bonus]
front = { "AAA" = 5, three_of_a_kind = 2 }

[clauses]
"hands.wheel" = "House rule 7."
"""


def write(folder: Path, text: str, name: str = "house.toml") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_house_profile_extends_another(tmp_path: Path) -> None:
    house = load_profile(write(tmp_path, HOUSE))
    base = load_profile("washington-2-4")
    assert (house.name, house.based_on, house.source) == ("riverside", "washington-2-4", base.source)
    assert house.hands.wheel == "second_highest"
    assert house.bonus.front == (("AAA", 5), ("three_of_a_kind", 2))
    assert (house.bonus.middle, house.scoring) == (base.bonus.middle, base.scoring)
    assert house.clause["hands.wheel"] == "House rule 7."
    assert house.clause["scoring.row"] == base.clause["scoring.row"]
    assert "bonus.front" not in house.clause, "the document does not say what the house changed"


def test_a_house_profile_extends_a_file_beside_it(tmp_path: Path) -> None:
    write(tmp_path, HOUSE, "base.toml")
    text = '[profile]\nname = "late-night"\nextends = "base.toml"\n[surrender]\npoints = 2\n'
    chain = load_chain(write(tmp_path, text))
    assert [profile.name for profile in chain] == ["late-night", "riverside", "washington-2-4"]
    assert chain[0].hands.wheel == "second_highest"


def test_a_house_profile_stands_alone_once_written(tmp_path: Path) -> None:
    house = load_profile(write(tmp_path, HOUSE))
    assert recorded_profile(profile_toml(house).encode()) == house


def test_a_rank_of_its_own_goes_before_its_category(tmp_path: Path) -> None:
    house = load_profile(write(tmp_path, HOUSE))
    front = house.bonuses[0]
    assert front[house.scale.three(parse_cards("As Ah Ad"))] == 5
    assert front[house.scale.three(parse_cards("Ks Kh Kd"))] == 2
    assert front[house.scale.three(parse_cards("As Ah Kd"))] == 0


ALL_OF_IT = profile_toml(replace(load_profile("washington-1-unit"), name="riverside"))


def changed(old: str, new: str) -> str:
    assert old in ALL_OF_IT
    return ALL_OF_IT.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "key", "message"),
    [
        (
            changed("majority = 0", "majorty = 0"),
            "scoring.majorty",
            "is no option; did you mean scoring.majority?",
        ),
        (changed("[stakes]", "[stake]"), "stake", r"\[stake\] is no section; did you mean stakes?"),
        (
            changed("row = 1", 'row = "1"'),
            "scoring.row",
            "scoring.row = '1' will not do: allowed: a whole number",
        ),
        (changed("row = 1", "row = 1.0"), "scoring.row", "allowed: a whole number, 0 or more"),
        (changed("row = 1", "row = true"), "scoring.row", "allowed: a whole number"),
        (changed("row = 1", "row = -1"), "scoring.row", "0 or more"),
        (changed("outcome = {}", "outcome = { two = 2 }"), "scoring.outcome", "points for both"),
        (
            changed("outcome = {}", "outcome = { two = 2, three = 4, four = 6 }"),
            "scoring.outcome",
            "points for both",
        ),
        (changed("max_unit = 1000", "max_unit = 10.5"), "limits.max_unit", "a whole number of cents"),
        (changed("pays_bonus = true", "pays_bonus = 1"), "foul.pays_bonus", "allowed: true or false"),
        (changed('wheel = "lowest"', 'wheel = "low"'), "hands.wheel", 'allowed: "lowest", "second_highest"'),
        (changed('wheel = "lowest"', "wheel = 5"), "hands.wheel", 'allowed: "lowest"'),
        (changed("suit_tiebreak = []", 'suit_tiebreak = ["s", "h"]'), "foul.suit_tiebreak", "the four suits"),
        (changed("suit_tiebreak = []", 'suit_tiebreak = "shcd"'), "foul.suit_tiebreak", "the four suits"),
        (changed(", value = 3 }", " }"), "naturals.kinds", "dragon has no value"),
        (changed('"dragon", value = 3', '"dragon", value = 0'), "naturals.kinds", "whole points, 1 or more"),
        (
            changed('"dragon", value = 3', '"dragon", value = 2.5'),
            "naturals.kinds",
            "whole points, 1 or more",
        ),
        (
            changed('"dragon"', '"dragons"'),
            "naturals.kinds",
            "'dragons' is no natural; allowed: all_one_suit",
        ),
        (changed('"dragon"', '"six_pairs"'), "naturals.kinds", "listed twice"),
        (changed("{ kind =", "{ king ="), "naturals.kinds", "an array such as"),
        (changed("front = {", 'front = { "QJ" = 4,'), "bonus.front", "'QJ' is no hand here"),
        (changed("front = {", "front = { flush = 4,"), "bonus.front", "'flush' is no hand here"),
        (changed("middle = {", 'middle = { "QJ" = 4,'), "bonus.middle", "'QJ' is no hand here"),
        (changed("middle = {", "middle = { high_card = 4,"), "bonus.middle", "'high_card' is no hand here"),
        (changed("full_house = 1", "full_house = 1.5"), "bonus.middle", "full_house must have whole points"),
        (changed("entry = {}", 'entry = { top = "QQ" }'), "fantasyland.entry", "the lowest hand by row"),
        (changed("entry = {}", 'entry = { back = "QJ" }'), "fantasyland.entry", "'QJ' is no hand here"),
        (changed("wheel =", "# wheel ="), "hands.wheel", "missing: hands.wheel; name every option"),
        (changed('name = "', 'names = "'), "profile.names", "profile.names is unknown; did you mean name?"),
        (changed('name = "riverside"', 'name = ""'), "profile.name", "profile.name is missing"),
        (changed('name = "riverside"', "name = 5"), "profile.name", "allowed: a text"),
        (changed("[profile]", '[profile]\nnotes = "one"'), "profile.notes", "an array of texts"),
        (changed('"hands.wheel" =', '"hands.wheels" ='), "clauses.hands.wheels", "did you mean hands.wheel?"),
        (changed('misdeal = "', 'misdeal = 5 # "'), "irregularities.misdeal", "allowed: a text"),
        ("stakes = 5\n" + ALL_OF_IT.replace("[stakes]", "[x]"), "stakes", "allowed: a table of options"),
        (ALL_OF_IT.split("kinds = [")[0] + 'kinds = "all"\n', "naturals.kinds", "an array such as"),
        (changed("front = { three_of_a_kind = 2 }", "front = 2"), "bonus.front", "a table of hands"),
        (changed("entry = {}", "entry = []"), "fantasyland.entry", "the lowest hand by row"),
        ("", "profile", r"there is no \[profile\] table"),
        ("clauses = 5\n" + ALL_OF_IT.replace("[clauses]", "[profile.c]"), "profile.c", "unknown"),
        ("[profile", "", "this is not TOML"),
    ],
)
def test_a_profile_that_will_not_do_says_file_key_value_and_what_is_allowed(
    tmp_path: Path, text: str, key: str, message: str
) -> None:
    with pytest.raises(ProfileError) as caught:
        load_profile(write(tmp_path, text))
    assert any(key == one.key and re.search(message, str(one.message)) for one in caught.value.troubles)
    assert str(caught.value).startswith("house.toml")
    assert isinstance(caught.value, ValueError | RulesError)


def test_a_loop_in_extends_is_shown(tmp_path: Path) -> None:
    for name, other in (("a", "b"), ("b", "c"), ("c", "a")):
        write(tmp_path, f'[profile]\nname = "{name}"\nextends = "{other}.toml"\n', f"{name}.toml")
    with pytest.raises(ProfileError, match=r"loop: a.toml extends b.toml extends c.toml extends a.toml"):
        load_profile(tmp_path / "a.toml")


def test_a_profile_cannot_extend_itself(tmp_path: Path) -> None:
    path = write(tmp_path, '[profile]\nname = "a"\nextends = "house.toml"\n')
    with pytest.raises(ProfileError, match=r"loop: house.toml extends house.toml"):
        load_profile(path)


@pytest.mark.parametrize("name", ["california", "", "../x", "CALIFORNIA-FACE-UP", "california-face-up.tom"])
def test_an_unknown_profile_says_which_there_are(name: str) -> None:
    with pytest.raises(UnknownProfileError, match="there are california-face-up, clean-sweep-online"):
        load_profile(name)


def test_a_close_name_is_suggested() -> None:
    with pytest.raises(LookupError, match=r"did you mean traditional\?"):
        load_profile("traditionel")


def test_a_missing_file_and_an_unknown_base(tmp_path: Path) -> None:
    with pytest.raises(UnknownProfileError, match="there is no file"):
        load_profile(tmp_path / "none.toml")
    with pytest.raises(ProfileError, match=r'house.toml, line 3: there is no profile "none"'):
        load_profile(write(tmp_path, '[profile]\nname = "a"\nextends = "none"\n'))


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProfileError, match="no text in UTF-8"):
        load_profile(path)


def test_options_are_set_by_path_and_checked() -> None:
    profile = load_profile("traditional")
    assert profile.with_options({"foul.points": 5, "scoring.ties": "button"}).foul.points == 5
    assert profile.foul.points == 4
    with pytest.raises(ProfileError, match=r"foul.point is no option; did you mean foul.points\?"):
        profile.with_options({"foul.point": 5})


def test_a_bonus_of_0_is_none() -> None:
    profile = load_profile("traditional").with_options({"bonus.front": {"AAA": 5, "KKK": 0}})
    assert profile.bonus.front == (("AAA", 5),)
