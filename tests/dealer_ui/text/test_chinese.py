"""Simplified and traditional Chinese are written with their own letters: none of the one stands in the other."""

from __future__ import annotations

from typing import Final

import pytest
from babel.messages.pofile import read_po

from dealer_ui.text.i18n import CATALOGUES

LETTERS: Final = {"zh_Hans": "gb2312", "zh_Hant": "big5"}
"""Encodings that hold the letters in use for one way of writing, and not those that only the other has."""
SIMPLIFIED: Final = frozenset("并后里台云几余松征叶斗于")
"""Big5 has these, too, as rare letters or with other meanings: 並後裡檯雲幾餘鬆徵葉鬥於 are written for them here."""


def foreign(text: str, code: str) -> set[str]:
    """Return the letters that do not belong to a way of writing Chinese."""
    chinese = {letter for letter in text if 0x3400 <= ord(letter) < 0xF900}
    found = {letter for letter in chinese if not letter.encode(LETTERS[code], errors="ignore")}
    return found | (chinese & SIMPLIFIED if code == "zh_Hant" else set())


@pytest.mark.parametrize("code", LETTERS)
def test_no_letter_of_the_other_way_of_writing_stands_in_a_catalogue(code: str) -> None:
    with (CATALOGUES / code / "LC_MESSAGES" / "messages.po").open("rb") as file:
        said = [message.string for message in read_po(file, locale=code) if message.id]
    texts = [text for one in said for text in ((one,) if isinstance(one, str) else one or ())]
    assert sum(map(len, texts)) > 10_000
    assert {text: letters for text in texts if (letters := foreign(text, code))} == {}


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        ("摊牌後", "zh_Hant", {"摊"}),
        ("報到并經確認", "zh_Hant", {"并"}),
        ("報到並經確認", "zh_Hant", set()),
        ("报到並经确认", "zh_Hans", {"並"}),
        ("报到并经确认", "zh_Hans", set()),
    ],
)
def test_the_look_for_letters_finds_those_of_the_other(text: str, code: str, found: set[str]) -> None:
    assert foreign(text, code) == found
