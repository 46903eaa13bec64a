"""Profile texts that mean harm, or that somebody's editor has ruined: each is refused in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import ProfileError, parse_profile, parse_sent_profile
from tests.examples import examples

HEAD: Final = '[profile]\nname = "house"\nextends = "traditional"\n'
POISON: Final[Mapping[str, tuple[str, str]]] = {
    "brackets without end": (f"{HEAD}[foul]\npoints = {'[' * 20_000}", "without end"),
    "tables without end": (f"{HEAD}[foul]\npoints = {'{a=' * 5_000}1{'}' * 5_000}", "without end"),
    "a key of twenty thousand parts": (
        f"{HEAD}[foul]\npoints{'.a' * 20_000} = 1",
        "a key of more than 20 parts",
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
    "a section that is none": (f"a{'.b' * 20_000} = 1\n{HEAD}", "a key of more than 20 parts"),
    "a clause that is a list": (f'{HEAD}[clauses]\n"foul.points" = [1]', "a text"),
    "zero bytes": ("\0", "not TOML"),
    "a byte order mark": (f"\ufeff{HEAD}", "not TOML"),
}


@pytest.mark.parametrize("name", POISON)
def test_poison_is_refused_in_a_sentence(name: str) -> None:
    text, why = POISON[name]
    with pytest.raises(ProfileError) as refused:
        parse_profile(text, "house.toml")
    said = str(refused.value)
    assert why in said
    assert said.startswith("house.toml: ")
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


def test_a_sent_profile_reads_no_file_of_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "secret.toml"
    file.write_text(HEAD)
    with pytest.raises(ProfileError, match="only a packaged profile"):
        parse_sent_profile(f'[profile]\nname = "x"\nextends = "{file}"\n')
    assert parse_sent_profile(HEAD).name == "house"


def test_a_sent_profile_that_is_too_long_is_refused_unread() -> None:
    with pytest.raises(ProfileError, match="too long"):
        parse_sent_profile(HEAD + "#" * 60_000)
