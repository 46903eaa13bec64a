"""House profiles as forms: every packaged profile survives the way there and back; mistakes are said at their field."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from dealer_ui.profiles.form import Draft, FormInput, read, sections
from dealer_ui.text.i18n import LANGUAGES, SOURCE, speaking
from dealer_ui.text.words import capital
from firmware.cli.main import main
from firmware.rules import Profile, load_profile, parse_profile, profile_names
from firmware.rules.profiles.sections import OPTIONS
from tests.examples import examples

every_profile = pytest.mark.parametrize("name", profile_names())


def sent(profile: Profile) -> list[tuple[str, str]]:
    """What a browser sends of an untouched form: the chosen one of choices, every other cell."""
    pairs = [("name", "house"), ("title", profile.title)]
    for section in sections(profile):
        for field in section.fields:
            choice = field.control in ("choice", "hands")
            pairs += [(cell.name, cell.value) for cell in field.cells if cell.chosen or not choice]
    return pairs


def typed(profile: Profile, **changes: str) -> Draft:
    """Read a form in which some cells, `.` written as `__`, were typed over."""
    named = {name.replace("__", "."): value for name, value in changes.items()}
    pairs = [(name, named.get(name, value)) for name, value in sent(profile)]
    return read(FormInput(pairs), profile)


@every_profile
def test_a_profile_survives_the_form_and_its_text(name: str) -> None:
    profile = load_profile(name)
    draft = typed(profile)
    assert draft.errors == {}
    assert draft.profile is not None
    assert parse_profile(draft.text) == draft.profile
    expected = replace(profile, name="house", based_on=profile.based_on or name)
    assert draft.profile == expected
    assert [*draft.profile.options()] == [*expected.options()]


@every_profile
def test_every_option_has_its_field_with_its_clause(name: str) -> None:
    profile = load_profile(name)
    fields = {field.path: field for section in sections(profile) for field in section.fields}
    assert fields.keys() == OPTIONS.keys()
    assert all(field.clause for field in fields.values())
    assert all(field.title and field.text for field in fields.values())
    blank = {path for path, field in fields.items() if not field.cells}
    assert blank <= {"collection.schedule"}  # no rate yet: its cells come with the first one that is added


# What is typed into one cell, and the same in TOML for `profiles check`.
MISTAKES = {
    "foul__points": ("nine", 'points = "nine"'),
    "scoring__ties": ("nobody", 'ties = "nobody"'),
    "stakes__cap": ("", 'cap = ""'),
    "foul__pays_bonus": ("perhaps", 'pays_bonus = "perhaps"'),
    "foul__suit_tiebreak": ("s h", 'suit_tiebreak = ["s", "h"]'),
    "limits__max_unit": ("-5", 'max_unit = "-5"'),
    "scoring__row": ("1000000001", "row = 1000000001"),
}


@pytest.mark.parametrize("cell", MISTAKES)
def test_a_mistake_is_refused_with_the_sentence_of_profiles_check(cell: str, tmp_path: Path) -> None:
    value, toml = MISTAKES[cell]
    path = cell.replace("__", ".")
    draft = typed(load_profile("traditional"), **{cell: value})
    assert draft.profile is None
    assert draft.errors.keys() == {path}
    file = tmp_path / "house.toml"
    file.write_text(
        f'[profile]\nname = "house"\nextends = "traditional"\n[{path.partition(".")[0]}]\n{toml}\n'
    )
    checked = CliRunner().invoke(main, ["profiles", "check", str(file)])
    assert checked.exit_code == 2
    titles = {
        field.path: field.title for part in sections(load_profile("traditional")) for field in part.fields
    }
    assert draft.errors[path].replace(f"“{titles[path]}”", path) in checked.output
    assert path not in draft.errors[path], "the form names it by its title"


@pytest.mark.parametrize("code", [code for code in LANGUAGES if code != SOURCE])
def test_a_mistake_is_said_in_every_language(code: str) -> None:
    california = load_profile("california-face-up")
    mistakes: list[tuple[Profile, dict[str, str]]] = [
        *((load_profile("traditional"), {cell: value}) for cell, (value, _) in MISTAKES.items()),
        *((california, {cell: "x"}) for cell in ("bonus__front:QQ", "naturals__kinds:dragon")),
        (california, {"fantasyland__entry:front": "x"}),
        (california, {"limits__buy_in": "100", "limits__max_stack": "10"}),
        (california, {"limits__max_unit": "1000"}),
        (california, {"collection__half_from_minute": "41"}),
        (load_profile("traditional"), {"bonus__pays": "none"}),
    ]
    for profile, changes in mistakes:
        english = typed(profile, **changes).errors
        with speaking(code):
            other = typed(profile, **changes).errors
        assert english
        assert other.keys() == english.keys()
        for field, said in english.items():
            assert other[field] != said
            assert "%(" not in other[field]
            assert "will not do" not in other[field]
            assert "allowed" not in other[field]
            assert not any(path in said or capital(path) in said for path in OPTIONS), said


def test_mistakes_in_tables_are_said_at_the_table() -> None:
    california = load_profile("california-face-up")
    for cell, why in {
        "bonus.front:QQ": "QQ must have whole points",
        "naturals.kinds:dragon": "dragon must be worth whole points",
        "fantasyland.entry:front": "is no hand here",
    }.items():
        draft = typed(california, **{cell: "x"})
        (path,) = draft.errors
        assert path == cell.partition(":")[0]
        assert why in draft.errors[path]
    odd = [
        ("collection.schedule:" + key, value)
        for key, value in (("option", "9"), ("limit", "100"), ("fee", "5"))
    ]
    draft = read(FormInput([*sent(california), *odd]), california)
    assert "even fees" in draft.errors["collection.schedule"]


def test_all_mistakes_are_said_at_once() -> None:
    draft = typed(load_profile("traditional"), foul__points="x", scoring__row="y", name="Friday!", title=" ")
    assert draft.errors.keys() == {"foul.points", "scoring.row", "name", "title"}


def test_a_name_that_is_taken_is_refused() -> None:
    traditional = load_profile("traditional")
    draft = read(FormInput(sent(traditional)), traditional, taken=("house",))
    assert "house already" in draft.errors["name"]


def test_what_the_house_changes_loses_its_clause_and_finds_it_again() -> None:
    washington = load_profile("washington-2-4")
    changed = typed(washington, foul__points="7").profile
    assert changed is not None
    assert "foul.points" not in changed.clause
    assert changed.clause["foul.equal_rows"] == washington.clause["foul.equal_rows"]
    again = typed(changed, foul__points=str(washington.foul.points)).profile
    assert again is not None
    assert again.clause == washington.clause


def test_naturals_take_the_order_in_which_they_stand() -> None:
    western = load_profile("poker-flush-western")
    pairs = sent(western)
    kinds = [pair for pair in pairs if pair[0].startswith("naturals.kinds:")]
    high, low = kinds[:2], kinds[2:]  # 13 points each, and 3 or none: the higher natural has no fewer
    turned = [pair for pair in pairs if pair not in kinds] + high[::-1] + low[::-1]
    draft = read(FormInput(turned), western)
    assert draft.profile is not None
    played = western.naturals.kinds
    assert draft.profile.naturals.kinds == played[:2][::-1] + played[2:][::-1]


@examples(30)
@given(st.sampled_from(profile_names()), st.data())
def test_whatever_is_typed_is_taken_or_refused_at_a_field(name: str, data: st.DataObject) -> None:
    profile = load_profile(name)
    pairs = sent(profile)
    cell = data.draw(st.sampled_from([pair[0] for pair in pairs]))
    text = data.draw(st.text(max_size=12) | st.sampled_from(("0", "3", "-1", "9" * 30, "\0", "٣")))
    draft = read(FormInput([(n, text if n == cell else v) for n, v in pairs]), profile)
    if draft.profile is None:
        assert draft.errors
        assert draft.errors.keys() <= {*OPTIONS, "name", "title"}
    else:
        assert parse_profile(draft.text) == draft.profile
