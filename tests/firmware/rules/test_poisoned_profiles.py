"""Profile texts that mean harm, or that somebody's editor has ruined: each is refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import (
    OPTIONS,
    Profile,
    ProfileError,
    contradictions,
    load_profile,
    parse_profile,
    profile_names,
    profile_toml,
    recorded_profile,
)
from tests.examples import examples

HEAD: Final = '[profile]\nname = "house"\nextends = "traditional"\n'
POISON: Final[Mapping[str, tuple[str, str]]] = {
    "brackets without end": (f"{HEAD}[foul]\npoints = {'[' * 20_000}", "without end"),
    "tables without end": (f"{HEAD}[foul]\npoints = {'{a=' * 5_000}1{'}' * 5_000}", "without end"),
    "a key of twenty thousand parts": (
        f"{HEAD}[foul]\npoints{'.a' * 20_000} = 1",
        "a key has more than 20 parts",
    ),
    "a list in lists": (f"{HEAD}[foul]\npoints = {'[' * 300}{']' * 300}", "foul.points"),
    "a number of five thousand digits": (f"{HEAD}[foul]\npoints = {'9' * 5_000}", "thousands of digits"),
    "the same, in hex": (f"{HEAD}[foul]\npoints = 0x{'f' * 9_000}", "no number may be higher"),
    "a number too high to sum": (f"{HEAD}[foul]\npoints = 1000000001", "no number may be higher"),
    "a bonus too high to sum": (f"{HEAD}[bonus]\nback = {{ flush = 1000000001 }}", "no number may be higher"),
    "a fee too high to sum": (
        f"{HEAD}[collection]\nschedule = [{{ option = 1, limit = 1, fee = 0x{'f' * 9_000} }}]",
        "no number may be higher",
    ),
    "a natural that is a list": (f"{HEAD}[naturals]\nkinds = [{{ kind = [1], value = 3 }}]", "is no natural"),
    "a hand of a thousand letters": (f"{HEAD}[bonus]\nfront = {{ {'Q' * 50_000} = 1 }}", "is no hand here"),
    "suits that are numbers": (f"{HEAD}[foul]\nsuit_tiebreak = [1, 2, 3, 4]", "the four suits"),
    "a date": (f"{HEAD}[foul]\npoints = 1979-05-27", "whole number"),
    "no number": (f"{HEAD}[foul]\npoints = nan", "whole number"),
    "truth as a number": (f"{HEAD}[foul]\npoints = true", "whole number"),
    "a section that is none": (f"a{'.b' * 20_000} = 1\n{HEAD}", "a key has more than 20 parts"),
    "a clause that is a list": (f'{HEAD}[clauses]\n"foul.points" = [1]', "a text"),
    "zero bytes": ("\0", "not TOML"),
}


@pytest.mark.parametrize("name", POISON)
def test_poison_is_refused_in_a_sentence(name: str) -> None:
    text, why = POISON[name]
    with pytest.raises(ProfileError) as refused:
        parse_profile(text, "house.toml")
    said = str(refused.value)
    assert why in said
    assert said.startswith("house.toml")
    assert len(said) < 600
    assert "\n" not in said


@examples(60)
@given(
    st.text(max_size=60), st.sampled_from(("[foul]\npoints = ", "[bonus]\nfront = ", "[hands]\nwheel = ", ""))
)
def test_whatever_stands_in_a_profile_is_taken_or_refused_in_a_sentence(text: str, where: str) -> None:
    said = "taken"
    try:
        parse_profile(f"{HEAD}{where}{text}")
    except ProfileError as refused:
        said = str(refused)
    assert said


WHOLE: Final = {name: profile_toml(load_profile(name)).replace(name, "house", 1) for name in profile_names()}
PIECES: Final = (
    "=", "[", "]", "{", "}", '"', "'", '"""', "#", ".", ",", "\n", "\r", "\0", "\x1b[2K", "\u202e", "\ud7ff", "é",
    "nan", "-1", "true", "0x" + "f" * 30, "9" * 4_400, "[profile]\n", "[[foul]]\n", "a.b.c = 1\n", "nan",
    "1979-05-27", "[" * 400, "{a=" * 400, "naturals = 5\n", "x = 1\n" * 150,
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """A packaged profile's text with some places cut out, doubled, or written over."""
    text = WHOLE[draw(st.sampled_from(profile_names()))]
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.sampled_from((0, 1, 1, 3, 20, 300))))
        match draw(st.sampled_from(("cut", "write", "double", "insert"))):
            case "cut":
                text = text[:start] + text[end:]
            case "write":
                text = text[:start] + draw(st.text(max_size=5)) + text[end:]
            case "double":
                text = text[:end] + text[start:]
            case "insert":
                text = text[:start] + draw(st.sampled_from(PIECES)) + text[start:]
    return text


def troubles_of(read: Callable[[], Profile], lines: int) -> list[str]:
    """What is said of a text with so many lines: nothing, if it is a sound profile."""
    try:
        profile = read()
    except ProfileError as error:
        refused = error
    else:
        assert contradictions(profile) == ()
        assert recorded_profile(profile_toml(profile).encode()) == profile
        return []
    assert 1 <= len(refused.troubles) <= 100
    assert all(0 <= one.line <= lines for one in refused.troubles)
    said = [str(refused), *(str(one.message) for one in refused.troubles)]
    assert all(one and len(one) < 1_000 and "\n" not in one and "\r" not in one for one in said)
    return said


@examples(200)
@given(damaged())
def test_a_damaged_text_is_a_sound_profile_or_refused_with_lines_that_it_has(text: str) -> None:
    troubles_of(lambda: parse_profile(text, "house.toml"), text.count("\n") + 1)


@examples(60)
@given(damaged(), st.binary(max_size=3), st.integers(0, 9_000))
def test_a_damaged_file_is_left_as_it_is_and_said_like_its_text(
    tmp_path_factory: pytest.TempPathFactory, text: str, more: bytes, at: int
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "house.toml"
    data = text.encode("utf-8", "surrogatepass")
    data = data[:at] + more + data[at:]
    path.write_bytes(data)
    said = troubles_of(lambda: load_profile(path), data.count(b"\n") + 1)
    assert path.read_bytes() == data
    try:
        same = data.decode()
    except UnicodeDecodeError:
        assert said[1:] == ["this is no text in UTF-8"]
    else:
        assert said == troubles_of(
            lambda: parse_profile(same, "house.toml"), same.count("\n") + 1
        ) or "is a file" in str(said)


@examples(60)
@given(st.sampled_from(profile_names()), st.data())
def test_the_line_that_is_said_is_the_line_of_the_value(name: str, data: st.DataObject) -> None:
    lines = WHOLE[name].split("\n")
    sections = [number for number, line in enumerate(lines) if line.startswith("[")]
    wrong = {}
    for number, line in enumerate(lines):
        section = max((at for at in sections if at <= number), default=0)
        key = line.partition(" = ")[0]
        path = f"{lines[section].strip('[]')}.{key}"
        if path in OPTIONS and line.count("[") == line.count("]"):
            wrong[number] = path
    chosen = data.draw(st.sets(st.sampled_from(sorted(wrong)), min_size=1, max_size=5))
    for number in chosen:
        lines[number] = f"{lines[number].partition(' = ')[0]} = 1979-05-27"
    with pytest.raises(ProfileError) as refused:
        parse_profile("\n".join(lines))
    assert {one.line: one.key for one in refused.value.troubles} == {at + 1: wrong[at] for at in chosen}


def test_a_sent_profile_reads_no_file_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "secret.toml"
    file.write_text(HEAD)
    with pytest.raises(ProfileError, match="only a packaged profile"):
        parse_profile(f'[profile]\nname = "x"\nextends = "{file}"\n')
    assert parse_profile(HEAD).name == "house"


def test_a_sent_profile_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(ProfileError, match="too long"):
        parse_profile(HEAD + "#" * 60_000)
