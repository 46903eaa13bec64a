"""`feltwatch settle` and `feltwatch profiles`, from the outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from firmware.cli.main import main
from firmware.record.journal.journal import JournalReader
from firmware.rules import OPTIONS, load_profile, parse_profile, profile_names, profile_toml
from firmware.table.topics.profiles import ProfileKept
from tests.dealer_ui.house import house

Json = dict[str, Any]

LOW = {"front": "8c 7d 5c", "middle": "2c 2d Js 9d 6c", "back": "3c 3d 4c 4d 6s"}
HIGH = {"front": "Ac Kh Qh", "middle": "5s 5h Jh 9h 6d", "back": "7h 7s 8h 8s 10h"}
GOOD: Json = {
    "profile": "washington-1-unit",
    "unit": 100,
    "button": 1,
    "seats": [{"seat": 1, **LOW}, {"seat": 2, **HIGH}],
}
IRREGULAR: Json = {**GOOD, "seats": [{"seat": 1, **LOW}, {"seat": 2, **HIGH, "front": "Ac Kh ??"}]}
MALFORMED: Json = {**GOOD, "button": "one"}


def run(*arguments: str, stdin: str = "") -> Result:
    return CliRunner().invoke(main, list(arguments), input=stdin)


def settle(text: str, *arguments: str) -> tuple[int, list[Json], str]:
    """Return the exit status, the answers and what standard error says."""
    result = run("settle", "--json", *arguments, stdin=text)
    return result.exit_code, [json.loads(line) for line in result.stdout.splitlines()], result.stderr


def test_one_object_is_settled() -> None:
    status, answers, errors = settle(json.dumps(GOOD))
    assert (status, errors) == (0, "")
    assert [answer["paid"] for answer in answers] == [{"1": -300, "2": 300}]


def test_one_object_may_go_over_several_lines() -> None:
    status, answers, _ = settle(json.dumps(GOOD, indent=2))
    assert (status, len(answers)) == (0, 1)


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_gives_an_answer_for_each_hand(indent: int | None) -> None:
    status, answers, _ = settle(json.dumps([GOOD, GOOD, GOOD], indent=indent))
    assert (status, len(answers)) == (0, 3)


def test_json_lines_give_an_answer_for_each_hand_in_order() -> None:
    hands = [{**GOOD, "unit": unit} for unit in (1, 2, 3)]
    status, answers, _ = settle("\n".join(map(json.dumps, hands)) + "\n\n")
    assert status == 0
    assert [answer["paid"]["2"] for answer in answers] == [3, 6, 9]


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "hand.json"
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    assert json.loads(run("settle", str(path), "--json").stdout)["points"] == {"1": -3, "2": 3}
    assert run("settle", "--json", "-", stdin=json.dumps(GOOD)).exit_code == 0


def test_the_profile_applies_where_the_hand_names_none(tmp_path: Path) -> None:
    nameless = {key: value for key, value in GOOD.items() if key != "profile"}
    text = json.dumps(nameless) + "\n" + json.dumps(GOOD)
    _, answers, _ = settle(text, "--profile", "washington-1-6")
    assert [answer["points"]["2"] for answer in answers] == [6, 3]
    house = tmp_path / "house.toml"
    house.write_text('[profile]\nname = "h"\nextends = "traditional"\n[scoring]\nrow = 5\n', encoding="utf-8")
    _, answers, _ = settle(json.dumps(nameless), "--profile", str(house))
    assert (answers[0]["profile"], answers[0]["points"]["2"]) == ("h", 16)


def test_an_irregular_hand_exits_with_1() -> None:
    status, answers, errors = settle(json.dumps(IRREGULAR))
    assert (status, errors) == (1, "")
    assert answers[0]["irregularities"] == [{"seat": 2, "row": "front", "what": "unread_card", "cards": "??"}]


def test_a_malformed_hand_is_answered_in_its_place_and_the_rest_goes_on() -> None:
    lines = [json.dumps(GOOD), json.dumps(MALFORMED), "{not json", json.dumps(IRREGULAR), json.dumps(GOOD)]
    status, answers, errors = settle("\n".join(lines))
    assert status == 2
    assert [next(iter(answer)) for answer in answers] == ["profile", "error", "error", "profile", "profile"]
    assert answers[1]["error"]["line"] == 2
    assert answers[1]["error"]["key"] == "button"
    assert answers[1]["error"]["message"] == 'button is "one"; give the number of the puck\'s seat'
    assert (answers[2]["error"]["line"], answers[2]["error"]["key"]) == (3, "")
    said = errors.splitlines()
    assert len(said) == 2
    assert said[0] == '<stdin>: line 2: button is "one"; give the number of the puck\'s seat'
    assert "this is not JSON" in said[1]
    assert "Traceback" not in errors


def test_in_an_array_the_line_is_that_of_the_hand() -> None:
    text = "[\n" + ",\n".join(map(json.dumps, [GOOD, MALFORMED, GOOD])) + "\n]"
    status, answers, _ = settle(text)
    assert (status, answers[1]["error"]["line"], len(answers)) == (2, 3, 3)


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("{", ["error"]),
        ('{\n "profile": x,\n "unit": 5\n}\n', ["error"]),
        ("nonsense\nmore nonsense\n", ["error", "error"]),
        ('[{"profile": "traditional"', ["error"]),
        ("5", ["error"]),
        ('"text"', ["error"]),
        ("null", ["error"]),
        ("[]]", ["error"]),
        ('{"unit": NaN}', ["error"]),
        ('{"unit": 1e3}', ["error"]),
        ('{"seats": [], "seats": []}', ["error"]),
        ("[" * 100_000, ["error"]),
        ("9" * 5_000, ["error"]),
        ("[{} {}]", ["error"]),
    ],
)
def test_what_is_no_json_is_one_error_for_each_input(text: str, answers: list[str]) -> None:
    status, found, errors = settle(text)
    assert status == 2
    assert [next(iter(answer)) for answer in found] == answers
    assert len(errors.splitlines()) == len(answers)
    assert "Traceback" not in errors


def test_after_a_broken_element_the_rest_of_an_array_goes_on() -> None:
    text = f'[\n  {json.dumps(GOOD)},\n  {{"unit": x}},\n  {json.dumps(GOOD)}\n]'
    status, found, _ = settle(text)
    assert status == 2
    assert [next(iter(answer)) for answer in found] == ["profile", "error", "profile"]


def test_a_key_given_twice_is_malformed() -> None:
    status, found, _ = settle(json.dumps(GOOD)[:-1] + ', "button": 2}')
    assert status == 2
    assert 'the key "button" is there twice' in found[0]["error"]["message"]


@pytest.mark.parametrize("text", ["", "  \n\n", "[]"])
def test_no_hand_at_all_is_bad_input(text: str) -> None:
    result = run("settle", stdin=text)
    assert result.exit_code == 2
    assert "holds no hand" in result.stderr


def test_a_missing_file_a_folder_and_bytes_that_are_no_text(tmp_path: Path) -> None:
    binary = tmp_path / "hand.json"
    binary.write_bytes(b"\xff\xfe{}")
    for path in (tmp_path / "none.json", tmp_path):
        result = run("settle", str(path))
        assert result.exit_code == 2
        assert "Error: " in result.stderr
        assert "Traceback" not in result.stderr
    result = run("settle", str(binary))
    assert result.exit_code == 2
    assert f"{binary}: line 1: this is not UTF-8: byte 0xff at column 1" in result.stderr


def test_an_unknown_profile_is_said_before_any_hand_is_read() -> None:
    result = run("settle", "--profile", "washington", stdin=json.dumps(GOOD))
    assert result.exit_code == 2
    assert "did you mean washington-" in result.stderr
    assert result.stdout == ""


def test_without_json_a_person_can_read_it() -> None:
    hand = {
        **GOOD,
        "seats": [{"seat": 1, "player": "ann", "stack": 200, **LOW}, {"seat": 2, "stack": 5000, **HIGH}],
    }
    result = run("settle", stdin=json.dumps(hand))
    assert result.exit_code == 0
    assert "Seat 1 pays seat 2 $2 (3 points, $1 short of $3)" in result.stdout
    assert "front: ace high beats eight high" in result.stdout
    assert "Fewest transfers: ann gives seat 2 $2" in result.stdout


def test_without_json_an_irregular_hand_says_what_to_resolve() -> None:
    result = run("settle", stdin=json.dumps(IRREGULAR))
    assert result.exit_code == 1
    assert "Nothing is settled until this is resolved:\n  seat 2, front: unread card: ??" in result.stdout


def test_the_profiles_are_listed() -> None:
    assert [line.split()[0] for line in run("profiles", "list").stdout.splitlines()] == list(profile_names())
    listed = json.loads(run("profiles", "list", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(profile_names())


@pytest.mark.parametrize("name", profile_names())
def test_a_profile_is_shown_as_toml_to_copy(name: str) -> None:
    shown = run("profiles", "show", name).stdout
    assert parse_profile(shown) == load_profile(name)
    assert json.loads(run("profiles", "show", name, "--json").stdout)["profile"]["name"] == name


def test_a_copy_of_all_options_that_says_of_what_is_checked_with_its_changes(tmp_path: Path) -> None:
    text = profile_toml(load_profile("traditional")).replace(
        'name = "traditional"', 'name = "ours"\nbased_on = "traditional"', 1
    )
    (tmp_path / "ours.toml").write_text(text.replace("\nrow = 1\n", "\nrow = 2\n"), encoding="utf-8")
    checked = run("profiles", "check", str(tmp_path / "ours.toml")).stdout
    assert "scoring.row: Each row won is 2 points. It was: Each row won is 1 point." in checked


def test_a_file_is_written_down_in_the_record_of_the_running_table(tmp_path: Path) -> None:
    path = tmp_path / "friday.toml"
    path.write_text(HOUSE.format(points=6), encoding="utf-8")
    keep = ("profiles", "keep", str(path), "--reason", "a test", "--data", str(tmp_path / "data"))
    stopped = run(*keep)
    assert (stopped.exit_code, "is not running" in stopped.stderr) == (1, True)
    with house(tmp_path / "data") as table:
        refused = run(*keep)
        assert (refused.exit_code, "--by" in refused.stderr) == (1, True)
        done = run(*keep, "--by", "Moreno", stdin="258053\n")
        assert done.exit_code == 0, done.output
        (row,) = JournalReader(table.config.data).of_type("profile_kept")
    profile = load_profile(path)
    assert (row.actor, row.event) == ("floor:Moreno", ProfileKept("house", profile.hash, "a test"))
    assert f"house is written down ({profile.hash[:10]})" in done.stdout


HOUSE = '[profile]\nname = "house"\nextends = "traditional"\n[foul]\npoints = {points}\n'


def test_a_sound_house_profile_is_checked(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text(HOUSE.format(points=6), encoding="utf-8")
    result = run("profiles", "check", str(path))
    assert result.exit_code == 0
    assert "is sound: the profile house extends traditional." in result.stdout
    assert "foul.points: A foul pays 6 points to each opponent. It was: A foul pays 4 points" in result.stdout


def test_an_unsound_house_profile_is_refused_with_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text(HOUSE.format(points="6.5"), encoding="utf-8")
    for command in ("check", "show", "document"):
        result = run("profiles", command, str(path))
        assert result.exit_code == 2
        assert "line 5: foul.points = 6.5 will not do: allowed: a whole number, 0 or more" in result.stderr
        assert "house.toml" in result.stderr


def test_the_house_rules_are_written_as_markdown_and_as_pdf(tmp_path: Path) -> None:
    text = run("profiles", "document", "traditional").stdout
    assert text.startswith("# Traditional Chinese Poker\n")
    page, print_out = tmp_path / "rules.md", tmp_path / "rules.pdf"
    assert run("profiles", "document", "traditional", "-o", str(page)).exit_code == 0
    assert page.read_text(encoding="utf-8") == text
    assert run("profiles", "document", "traditional", "-o", str(print_out)).exit_code == 0
    assert print_out.read_bytes().startswith(b"%PDF-")


def test_the_house_rules_of_a_house_say_what_it_changed(tmp_path: Path) -> None:
    path, copy = tmp_path / "house.toml", tmp_path / "copy.toml"
    path.write_text(HOUSE.format(points=6), encoding="utf-8")
    text = run("profiles", "document", str(path)).stdout
    assert "## What this house has changed" in text
    # A copy that stands alone still remembers what it was made from.
    copy.write_text(run("profiles", "show", str(path)).stdout, encoding="utf-8")
    assert run("profiles", "document", str(copy)).stdout == text


def test_the_house_rules_are_written_in_other_languages() -> None:
    text = run("profiles", "document", "traditional", "--language", "es").stdout
    assert "La trasera no debe ser más baja que la media" in text
    refused = run("profiles", "document", "traditional", "--language", "xx")
    assert refused.exit_code == 2
    assert "there is no language xx; allowed: en, zh_Hans, zh_Hant, es" in refused.stderr


def test_house_rules_that_cannot_be_written(tmp_path: Path) -> None:
    result = run("profiles", "document", "traditional", "-o", str(tmp_path / "rules.doc"))
    assert result.exit_code == 2
    assert "name a file ending in .md or .pdf" in result.stderr
    for name in ("rules.md", "rules.pdf"):
        result = run("profiles", "document", "traditional", "-o", str(tmp_path / "none" / name))
        assert result.exit_code == 1
        assert "cannot be written" in result.stderr


def test_a_settlement_as_text_names_options_in_the_words_of_the_house_rules() -> None:
    seats = [{"seat": 1, **LOW, "declares": True}, {"seat": 2, **HIGH}]
    text = run("settle", stdin=json.dumps({**GOOD, "profile": "poker-flush-western", "seats": seats})).stdout
    assert "(Naturals: Declared without holding one)" in text
    assert not any(path in text for path in OPTIONS)
