"""Which names are accepted, and which look alike: real names of many languages, and names made to deceive."""

from __future__ import annotations

import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.names import LONGEST, NameRefused, check_name, is_blank, look_alike, new_name, normal_spelling

REAL = """
Ada; Kim; Lee; O'Brien; O’Neill; Anne-Marie; Jean-Luc Ponty; Dr. Who; Seat 1; Seat 2; Ann; Ben; Cleo; Dan; Mike 2; J.R.
José Ruiz; Íñigo Núñez; Begoña; João Gonçalves; Zoë; François Lefèvre; Jürgen Groß; Åsa Öberg; Søren Kjær
Þórdís Guðjónsdóttir
Łukasz Żółć; Dvořák; Ľubomír Ďuriš; Győző; Șerban Țuțea; Đorđe Njegoš; Ģirts Ķēniņš; Gözde Yıldız; İpek; Māra; Tõnis
Nguyễn Thị Ánh; Trần Văn Đức; Phạm Hữu Nghĩa; Lê Quỳnh; Võ Thị Sáu
Иван Петров; Ким; Юлія Щербак; Ђорђе Петровић; Ёлкин; Айгүл Өмірбек; Чингис
Γιώργος Παπαδόπουλος; Ελένη; Αΐντα
陈小明; 李娜; 歐陽菲菲; 王伟; 张伟; 高橋 さくら; さとう ひろし; ｻﾄｳ; ポール・マッカートニー; 佐々木
김민수; 박지영; 최수진
محمد علي; فاطمة الزهراء; عبد الرحمن; زهرا احمدی; جمشید; محمّد
דוד כהן; שָׂרָה; אברהם בן־דוד; מרים
สมชาย ใจดี; สุภาพร; น้ำผึ้ง
अमित शर्मा; प्रिया; श्रीनिवास; বাংলা রহমান; ਗੁਰਪ੍ਰੀਤ; ગીતા પટેલ; தமிழ்ச்செல்வி; శ్రీకాంత్; ಶ್ರೀಧರ; ശ്രീദേവി; සුනිල්
Գարիկ Հովհաննիսյան; გიორგი; አበበ ቢቂላ; ကျော်စွာ; សុខា; ສົມພອນ; བསྟན་འཛིན; ᠪᠠᠲᠤ; ᏣᎳᎩ
"""
NAMES = [name.strip() for line in REAL.split("\n") for name in line.split(";") if name.strip()]
NOTHING_TO_SEE = {
    "Hangul filler": "\u3164",
    "Hangul choseong filler": "\u115f",
    "Hangul jungseong filler": "\u1160",
    "half-width filler": "\uffa0",
    "Braille blank": "\u2800",
    "zero width space": "\u200b",
    "joiner": "\u200d",
    "word joiner": "\u2060",
    "soft hyphen": "\u00ad",
    "byte order mark": "\ufeff",
    "grapheme joiner": "\u034f",
    "variation selector": "\ufe0f",
    "variation selector 17": "\U000e0100",
    "tag": "\U000e0041",
    "right-to-left override": "\u202e",
    "left-to-right mark": "\u200e",
    "isolate": "\u2066",
    "Arabic letter mark": "\u061c",
    "null note head": "\U0001d159",
    "Khmer inherent vowel": "\u17b4",
    "object replacement": "\ufffc",
}
NOT_A_LETTER = {
    "private use": "\ue000",
    "unassigned": "\U0003fffd",
    "noncharacter": "\ufdd0",
    "surrogate": "\ud800",
    "control": "\x1b",
    "null": "\0",
    "delete": "\x7f",
}
LETTERS = st.text(st.characters(), max_size=45)


def test_a_real_name_is_accepted_as_it_is_spelled() -> None:
    for name in NAMES:
        assert check_name(name) == unicodedata.normalize("NFC", name)
        assert check_name(unicodedata.normalize("NFD", name)) == check_name(name)


def test_no_two_of_the_real_names_look_alike() -> None:
    found = [(one, other) for one, other in combinations(NAMES, 2) if look_alike(one, [other])]
    assert found == []


@pytest.mark.parametrize(
    "strange", (NOTHING_TO_SEE | NOT_A_LETTER).values(), ids=NOTHING_TO_SEE | NOT_A_LETTER
)
def test_what_nobody_sees_is_no_part_of_a_name(strange: str) -> None:
    for name in ("{}", "K{}im", "Kim{}", "{}Kim", " {} "):
        with pytest.raises(NameRefused, match=f"U\\+{ord(strange):04X}"):
            check_name(name.format(strange))


@pytest.mark.parametrize("strange", NOTHING_TO_SEE.values(), ids=NOTHING_TO_SEE)
def test_a_name_of_that_alone_is_blank_and_beside_a_name_it_is_that_name(strange: str) -> None:
    assert is_blank(strange)
    assert is_blank(f" {strange}{strange} ")
    assert look_alike("Kim", [f"K{strange}im"])


@pytest.mark.parametrize("name", ["", " ", "\u3000", "\n\t", "n" * (LONGEST + 1)])
def test_a_name_is_of_1_to_40_letters(name: str) -> None:
    with pytest.raises(NameRefused, match="1 to 40 letters"):
        check_name(name)


@pytest.mark.parametrize("name", ["-", "...", "🃏", "♠♥", "'", "¿?", "€", "Ⓚⓘⓜ"])
def test_signs_alone_are_no_name(name: str) -> None:
    with pytest.raises(NameRefused, match="a letter or a digit"):
        check_name(name)


@pytest.mark.parametrize(
    "name",
    ["K\u0334\u0335\u0336\u0337\u0338im", "Ki\u0308\u0308m", "\u0301Kim", "Kim \u0301", "e\u0301\u0301"],
)
def test_a_pile_of_marks_is_refused(name: str) -> None:
    with pytest.raises(NameRefused, match="at most 4 marks"):
        check_name(name)


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("kim", "Kim"),
        ("KIM", "Kim"),
        ("К\u0456m", "Kim"),
        ("К\u0456м", "Kim"),
        ("КІМ", "Kim"),
        ("Κιm", "Kim"),
        ("Ｋｉｍ", "Kim"),
        ("𝐊𝐢𝐦", "Kim"),
        ("ᴋɪᴍ", "Kim"),
        ("Kirn", "Kim"),
        ("A\u0501a", "Ada"),
        ("АDА", "Ada"),
        ("lan", "Ian"),
        ("Tab1e 7", "Table 7"),
        ("Table O", "Table 0"),
        ("O’Brien", "O'Brien"),
        ("Anne‐Marie", "Anne-Marie"),
        ("STRAUSS", "Strauß"),
        ("Jose\u0301", "josé"),
        ("ЅОРНІА", "Sophia"),
    ],
)
def test_a_name_that_looks_like_a_listed_one_is_refused_and_names_that(name: str, listed: str) -> None:
    with pytest.raises(NameRefused, match=f"looks like {listed}, a name that is taken"):
        new_name(name, ["Somebody Else", listed])
    assert look_alike(listed, [name]) == name


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Ким", "Kim"),
        ("José", "Jose"),
        ("Ila", "Lia"),
        ("Ali", "Ail"),
        ("Table 1", "Table 11"),
        ("Ann", "Anna"),
    ],
)
def test_names_that_a_person_tells_apart_are_both_accepted(name: str, other: str) -> None:
    assert new_name(name, [other]) == name
    assert new_name(other, [name]) == other


def test_a_name_that_is_listed_already_is_itself_whatever_it_looks_like() -> None:
    assert new_name("\u3164", ["\u3164"]) == "\u3164"
    assert new_name("Jose\u0301", ["José", "Kim"]) == "José"
    assert new_name(" Kim ", ["kim", "Kim"]) == "Kim"


@given(LETTERS)
def test_a_name_is_accepted_or_refused_and_nothing_else(name: str) -> None:
    try:
        stored = check_name(name)
    except NameRefused:
        return
    assert stored == check_name(stored) == normal_spelling(stored)
    assert 1 <= len(stored) <= LONGEST
    assert stored.isprintable()
    assert not is_blank(stored)
    assert any(letter.isalnum() or unicodedata.category(letter)[0] in "LN" for letter in stored)


@given(LETTERS, LETTERS)
def test_a_name_looks_like_itself_and_looks_go_both_ways(one: str, other: str) -> None:
    assert look_alike(one, [one]) == one
    assert (look_alike(one, [other]) is None) == (look_alike(other, [one]) is None)
    assert look_alike(one.swapcase() if one.isascii() else one, [one]) == one


@given(st.sampled_from(NAMES), st.sampled_from(list(NOTHING_TO_SEE.values())), st.integers(0, 10))
def test_nothing_invisible_makes_another_name(name: str, strange: str, at: int) -> None:
    assert look_alike(name[:at] + strange + name[at:], [name]) == name
