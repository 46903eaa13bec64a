"""The letters that names are spelled with, and the names that are one touch away."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

import dealer_ui
from dealer_ui.text.i18n import speaking
from dealer_ui.view.seats import names_to_offer
from firmware.record.journal.journal import JournalReader
from firmware.table.topics.players import RECENT
from tests.dealer_ui.felt import Felt

FOLDER: Final = Path(dealer_ui.__file__).parent
SCRIPTS: Final = {"zh-Hans": "SC", "zh-Hant": "TC"}
SURNAMES: Final = {
    "zh-Hans": {"wang": "王", "li": "李", "zhang": "张", "liu": "刘", "chen": "陈", "lv": "吕", "yu": "余"},
    "zh-Hant": {"wang": "王", "li": "李", "zhang": "張", "liu": "劉", "chen": "陳", "lv": "呂", "yu": "余"},
}


def syllables(script: str) -> dict[str, str]:
    lines = (FOLDER / "static" / "names" / f"{script}.txt").read_text().splitlines()
    return dict(line.split(" ") for line in lines)


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_letter_that_a_name_can_have_is_printed(script: str) -> None:
    from reportlab.pdfbase.ttfonts import TTFontFile

    printed = TTFontFile(str(FOLDER / "fonts" / f"NotoSansCJK{SCRIPTS[script]}-Regular.ttf")).charToGlyph
    letters = set("".join(syllables(script).values()))
    assert len(letters) > 4000
    assert {letter for letter in letters if ord(letter) not in printed} == set()


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_syllable_is_typed_with_the_pads_letters_and_has_its_surname(script: str) -> None:
    found = syllables(script)
    assert all(sound.isascii() and sound.islower() for sound in found)
    assert {sound for sound, letter in SURNAMES[script].items() if letter not in found[sound]} == set()
    assert found["li"][0] == "李"


def test_who_left_lately_is_offered_again_the_last_one_first(felt: Felt) -> None:
    for player in ("Lin", "Tran"):
        felt.do("leave_seat", player=player)
    assert names_to_offer(felt.state) == ("Guest", "Tran", "Lin")
    felt.do("seat_player", seat=1, player="Tran")
    felt.do("seat_player", seat=4, player="Guest")
    assert names_to_offer(felt.state) == ("Guest 2", "Lin")
    with speaking("zh_Hans"):
        assert names_to_offer(felt.state)[0] == "客人"


def test_the_names_outlive_a_restart_in_the_next_hand(felt: Felt) -> None:
    felt.do("leave_seat", player="Lin")
    felt.deal()
    assert JournalReader(felt.folder).recover()[0].recent == ("Lin",)


def test_no_more_than_a_row_of_names_is_remembered(felt: Felt) -> None:
    for number in range(RECENT + 3):
        felt.do("seat_player", seat=5, player=f"P{number}")
        felt.do("leave_seat", player=f"P{number}")
    assert felt.state.recent == tuple(f"P{number}" for number in range(RECENT + 2, 2, -1))
