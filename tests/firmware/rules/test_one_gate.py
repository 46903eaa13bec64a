"""A profile is judged in one place, for every program that asks for it; what is wrong with it is said all at once."""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from firmware.cli.main import main
from firmware.rules import (
    HandError,
    ProfileError,
    contradictions,
    load_profile,
    parse_profile,
    profile_names,
    profile_toml,
    recorded_profile,
    settle_json,
    with_checked_options,
)
from firmware.runtime.config import Config
from firmware.runtime.errors import ConfigError
from firmware.runtime.house_config import house_rules
from firmware.table.errors import CommandRefused
from firmware.table.topics.house import SetHouse, profile_text
from firmware.table.topics.profiles import complete_profile

ROOT: Final = Path(__file__).resolve().parents[3]
SEATS: Final = [
    {"seat": 1, "front": "8c 7d 5c", "middle": "2c 2d Js 9d 6c", "back": "3c 3d 4c 4d 6s"},
    {"seat": 2, "front": "Ac Kh Qh", "middle": "5s 5h Jh 9h 6d", "back": "7h 7s 8h 8s 10h"},
]


def house(text: str, name: str = "house", extends: str = "traditional") -> str:
    return f'[profile]\nname = "{name}"\nextends = "{extends}"\n{text}'


REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    "a packaged name with other rules": (
        house("[foul]\npoints = 99\n", "washington-1-unit", "washington-1-unit"),
        "washington-1-unit is the name of a packaged profile with other rules",
    ),
    "a packaged name with another title": (
        profile_toml(load_profile("traditional")).replace("title = ", 'title = "Ours" # '),
        "traditional is the name of a packaged profile with other rules",
    ),
    "a name that looks like a packaged one": (house("", "washington-l-unit"), "looks like washington-1-unit"),
    "a name that the table refuses": (house("", "Friday game"), "small letters, figures and hyphens"),
    "a title that nobody can see": (
        house("", "house").replace("extends", 'title = "\\u200b"\nextends'),
        "letters that can be seen",
    ),
    "options that contradict each other": (house('[bonus]\npays = "none"\n'), "bonus.front names bonuses"),
    "quads below a full house": (
        house("[bonus]\nmiddle = { full_house = 12, four_of_a_kind = 2, straight_flush = 20 }\n"),
        "full house: 12 points, more than four of a kind, which is stronger: 2",
    ),
    "quads without a bonus above a full house": (
        house("[bonus]\nmiddle = { full_house = 12 }\n"),
        "full house: 12 points, more than four of a kind, which is stronger: 0",
    ),
    "a front pair above trips": (
        house('[bonus]\nfront = { "AA" = 9, three_of_a_kind = 2 }\n'),
        "pair of aces: 9 points, more than three twos, which is stronger: 2",
    ),
    "two rows above three": (
        house("[scoring]\noutcome = { two = 2, three = 1 }\n", extends="washington-2-4"),
        "two rows won: 2 points, more than all three rows won, which is stronger: 1",
    ),
    "a lower natural above a higher one": (
        house('[naturals]\nkinds = [{ kind = "dragon", value = 3 }, { kind = "six_pairs", value = 5 }]\n'),
        "which stands higher in the list: 3. List the kinds from the highest to the lowest.",
    ),
    "a statement that says nothing": (
        house("").replace("extends", 'weaker_pays_more = ["bonus.back"]\nextends'),
        "bonus.back is said to give a weaker hand more points, and it does not",
    ),
}


@pytest.fixture(params=REFUSED)
def refused(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str, str]:
    """A file that is not a sound profile, its text, and what is said of it."""
    text, why = REFUSED[request.param]
    path = tmp_path / "ours.toml"
    path.write_text(text, encoding="utf-8")
    return str(path), text, why


COMMANDS: Final = (
    ("profiles", "check", "FILE"),
    ("profiles", "show", "FILE"),
    ("profiles", "document", "FILE"),
    ("profiles", "keep", "FILE", "--reason", "a test"),
    ("settle", "--profile", "FILE"),
    ("simulate", "--hands", "1", "--profile", "FILE"),
    ("demo", "--profile", "FILE"),
    ("training", "--profile", "FILE"),
)


def test_every_command_refuses_it_alike(refused: tuple[str, str, str]) -> None:
    file, _, why = refused
    for command in COMMANDS:
        result = CliRunner().invoke(main, [file if word == "FILE" else word for word in command])
        assert (result.exit_code, why in result.stderr) == (2, True), (command, result.output)
        assert result.stdout == ""
        assert "^J" not in result.stderr


def test_the_table_refuses_it_in_its_configuration_and_from_a_page(
    refused: tuple[str, str, str], tmp_path: Path
) -> None:
    file, text, why = refused
    with pytest.raises(ConfigError) as configured:
        house_rules(Config(data=tmp_path, profile=file))
    with pytest.raises(CommandRefused) as put_in_force:
        profile_text(SetHouse(profile_text=text, reason="a test"))
    with pytest.raises(CommandRefused) as kept:
        complete_profile(text)
    for error in (configured, put_in_force, kept):
        assert why in str(error.value)


def test_a_hand_that_names_the_file_is_malformed(refused: tuple[str, str, str]) -> None:
    file, _, why = refused
    with pytest.raises(HandError, match=r"ours\.toml") as error:
        settle_json({"profile": file, "button": 1, "seats": SEATS})
    assert error.value.key == "profile"
    assert why in str(error.value)


def test_a_hands_own_options_are_judged_like_a_file() -> None:
    hand = {"profile": "traditional", "button": 1, "seats": SEATS}
    with pytest.raises(HandError, match=r"bonus\.front names bonuses") as error:
        settle_json({**hand, "options": {"bonus.pays": "none"}})
    assert error.value.key == "options.bonus.pays"
    empty = {"bonus.front": {}, "bonus.middle": {}, "bonus.back": {}, "foul.pays_bonus": False}
    assert settle_json({**hand, "options": {"bonus.pays": "none", **empty}})["points"]


def test_the_configurations_options_are_judged_like_a_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"bonus\.front names bonuses"):
        house_rules(Config(data=tmp_path, profile="traditional", options={"bonus.pays": "none"}))


@pytest.mark.parametrize("name", profile_names())
def test_a_copy_of_a_packaged_profile_is_that_profile(name: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.toml"
    path.write_text("# my copy\n" + profile_toml(load_profile(name)), encoding="utf-8")
    assert load_profile(path) == load_profile(name) == parse_profile(path.read_text(encoding="utf-8"))


def test_a_file_that_extends_a_bad_file_is_refused_with_that_files_name(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(REFUSED["a packaged name with other rules"][0], encoding="utf-8")
    (tmp_path / "ours.toml").write_text(house("", extends="base.toml"), encoding="utf-8")
    with pytest.raises(ProfileError, match=r"base.toml, line 2: washington-1-unit is the name"):
        load_profile(tmp_path / "ours.toml")


# ---- rules under which the weaker hand does have more points ----

STATED: Final = house(
    "[bonus]\nmiddle = { full_house = 12, four_of_a_kind = 2, straight_flush = 20 }\n",
).replace("extends", 'weaker_pays_more = ["bonus.middle"]\nextends')


def test_what_a_file_is_to_state_names_every_table_at_once() -> None:
    both = "[bonus]\nmiddle = { full_house = 12 }\nback = { full_house = 12 }\n"
    with pytest.raises(ProfileError, match=r'weaker_pays_more = \["bonus.middle", "bonus.back"\]'):
        parse_profile(house(both))


def test_a_file_that_states_that_the_weaker_hand_has_more_points_is_sound() -> None:
    profile = parse_profile(STATED)
    assert profile.weaker_pays_more == ("bonus.middle",)
    assert contradictions(profile) == ()
    assert recorded_profile(profile_toml(profile).encode()) == profile


def test_the_statement_ends_with_the_value_that_it_is_about(tmp_path: Path) -> None:
    (tmp_path / "base.toml").write_text(STATED, encoding="utf-8")
    for text, stays in (("[foul]\npoints = 7\n", True), ("[bonus]\nmiddle = {}\n", False)):
        (tmp_path / "ours.toml").write_text(house(text, "late", "base.toml"), encoding="utf-8")
        assert bool(load_profile(tmp_path / "ours.toml").weaker_pays_more) is stays
    assert with_checked_options(parse_profile(STATED), {"bonus.middle": {}}).weaker_pays_more == ()
    with pytest.raises(ProfileError, match="full house: 12 points"):
        with_checked_options(parse_profile(STATED), {"bonus.middle": {"full_house": 12}})


# ---- what stands in a record ----


def test_a_record_is_read_as_it_was_written() -> None:
    base = load_profile("washington-1-unit")
    text = profile_toml(base).replace("points = 3", "points = 99", 1).encode()
    old = recorded_profile(text)
    assert (old.name, old.foul.points) == ("washington-1-unit", 99)
    assert old.hash == hashlib.sha256(text).hexdigest() != base.hash
    earlier = b"# a text of an earlier release\n" + text
    assert recorded_profile(earlier) == old
    assert recorded_profile(earlier).hash == hashlib.sha256(earlier).hexdigest()
    assert recorded_profile(text, {"bonus.pays": "none"}).bonus.pays == "none"


@pytest.mark.parametrize("text", [b"\xff", b"", b"[profile]", b"x = ["])
def test_what_is_no_profile_in_a_record_is_refused(text: bytes) -> None:
    with pytest.raises(ProfileError):
        recorded_profile(text)


def test_a_settlement_says_the_name_and_the_hash_of_its_rules(tmp_path: Path) -> None:
    hand = {"profile": "traditional", "button": 1, "seats": SEATS}
    answer = settle_json(hand)
    assert (answer["profile"], answer["profile_hash"]) == ("traditional", load_profile("traditional").hash)
    changed = settle_json({**hand, "options": {"foul.points": 9}})
    rules = load_profile("traditional").with_options({"foul.points": 9})
    assert (changed["profile"], changed["profile_hash"]) == ("traditional", rules.hash)
    text = f'{answer["profile_hash"]}\n{{"foul.points": 9}}'
    assert changed["profile_hash"] == hashlib.sha256(text.encode()).hexdigest()
    shown = CliRunner().invoke(main, ["profiles", "show", "traditional"]).stdout
    assert answer["profile_hash"] == hashlib.sha256(shown.encode()).hexdigest()


# ---- all that is wrong, at once ----

MANY: Final = """[profile]
name = "Ours"
colour = "red"
extends = "traditional"

[foul]
# a remark with = and [brackets]
points = "six"

[bonus]
front = {
  "QQ" = 1 }
[clauses]
"foul.point" = "Four."
[scorin]
row = 1
[scoring]
row = -1
"""


def test_all_mistakes_of_a_file_are_said_at_once_each_with_its_line_and_key(tmp_path: Path) -> None:
    text = MANY.replace('{\n  "QQ" = 1 }', '{ "QJ" = 1 }')
    with pytest.raises(ProfileError) as refused:
        parse_profile(text)
    assert [(one.line, one.key) for one in refused.value.troubles] == [
        (2, "profile.name"),
        (3, "profile.colour"),
        (8, "foul.points"),
        (11, "bonus.front"),
        (13, "clauses.foul.point"),
        (14, "scorin"),
        (17, "scoring.row"),
    ]
    path = tmp_path / "ours.toml"
    path.write_text(text, encoding="utf-8")
    checked = CliRunner().invoke(main, ["profiles", "check", str(path)])
    first, *lines = checked.stderr.splitlines()
    assert (checked.exit_code, first, len(lines)) == (2, "Error: ours.toml cannot be used.", 7)
    assert lines[2] == "  line 8: foul.points = 'six' will not do: allowed: a whole number, 0 or more"
    settled = CliRunner().invoke(main, ["settle", "--profile", str(path)])
    assert "(and 6 more)" in settled.stderr


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (MANY, 11, "this is not TOML"),
        (
            house("[foul]\npoints = six\n"),
            5,
            "a value is a number, true, false, or a text in straight quotation marks",
        ),
        (house("[foul]\npoints = 6 6\n"), 5, "and a line has one"),
        (house('[irregularities]\nother = "The floor\n'), 5, "no closing quotation mark"),
        (house("[foul]\npoints = 6\npoints = 7\n"), 6, "stands in the file twice"),
        (house("[foul]\npoints = 6\n[foul]\n"), 6, "stands in the file twice"),
        (house("[naturals]\nkinds = [\n"), 5, "this is not TOML"),
        (house("points\n"), 4, "a line is a name, the sign = and a value"),
    ],
)
def test_a_text_that_is_no_toml_says_its_line_in_plain_words(text: str, line: int, why: str) -> None:
    with pytest.raises(ProfileError) as refused:
        parse_profile(text)
    (trouble,) = refused.value.troubles
    assert (trouble.line, why in str(trouble.message)) == (line, True), trouble


def test_check_prints_a_changed_text_of_several_lines_on_one(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    path.write_text(house('[irregularities]\nother = "One.\\nTwo."\n'), encoding="utf-8")
    checked = CliRunner().invoke(main, ["profiles", "check", str(path)])
    assert checked.exit_code == 0
    assert "irregularities.other: One. Two. It was: " in checked.stdout
    assert "^J" not in checked.stdout


# ---- no way around ----

UNJUDGED: Final = {
    "dealer_ui/profiles/house_rules_source.py": "the page turns one option at a time, to say the other readings",
    "dealer_ui/profiles/versions.py": "the options are the record's",
    "firmware/table/house.py": "the options are the record's",
    "firmware/rules/profiles/library.py": "the gate itself",
    "firmware/runtime/house_config.py": "the table starts with such a game to show its past, and opens no hand",
}
"""Files that set options without judging them, and why they may."""


def test_no_other_file_sets_options_unjudged_or_makes_a_profile() -> None:
    found = set()
    for folder in ("firmware", "dealer_ui", "pit"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    called = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    if called in {"with_options", "load_unjudged", "Profile"}:
                        found.add((called, str(path.relative_to(ROOT))))
    assert {path for called, path in found if called == "Profile"} == {"firmware/rules/profiles/reading.py"}
    assert {path for called, path in found if called != "Profile"} == {*UNJUDGED}


def test_every_packaged_profile_passes_as_a_houses_own_would() -> None:
    for name in profile_names():
        text = profile_toml(load_profile(name)).replace(f'name = "{name}"', 'name = "ours"', 1)
        assert parse_profile(text).name == "ours"


def test_the_answer_of_settle_is_json_with_the_hash() -> None:
    hand = json.dumps({"profile": "traditional", "button": 1, "seats": SEATS})
    answer = json.loads(CliRunner().invoke(main, ["settle", "--json"], input=hand).stdout)
    assert answer["profile_hash"] == load_profile("traditional").hash
