"""The house-rules page: every option of every profile in a sentence, nothing false, nothing raw, in four languages."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import pypdfium2
import pytest

from dealer_ui.profiles.house_rules import house_rules
from dealer_ui.profiles.house_rules_numbered import NumberedRule, rules_of
from dealer_ui.reports.house_rules_pdf import pdf
from dealer_ui.reports.pdf import Type
from dealer_ui.text.i18n import CATALOGUES, LANGUAGES, speaking
from firmware.rules import (
    OPTIONS,
    Profile,
    RulesError,
    load_chain,
    load_profile,
    parse_profile,
    profile_names,
)
from firmware.rules.profiles.dealt_cards import Count
from firmware.rules.profiles.document import Block, DocumentTable, Heading, Paragraph, markdown
from firmware.rules.profiles.options import Amount, Choice, Flag
from firmware.rules.profiles.profile import RANKED
from firmware.rules.profiles.sections import SECTIONS

EIGHT = profile_names()
RAW = re.compile(
    rf"\b(?:{'|'.join(SECTIONS)})\.[a-z]+(?:_[a-z]+)*\b|\.(?:txt|toml|json)\b|\b[a-z]+_[a-z_]+\b"
)
"""An option's path, a file's name, an identifier."""


@cache
def page_in(profile: Profile, language: str) -> tuple[Block, ...]:
    """Return a page, which takes a tenth of a second, and which many tests read."""
    with speaking(language):
        return house_rules(profile)


def page(profile: Profile) -> tuple[Block, ...]:
    return page_in(profile, "en")


def said(profile: Profile) -> str:
    """Return all rules in one text."""
    return "\n".join(rule.text for rule in rules_of(profile))


def section(profile: Profile, title: str) -> str:
    """Return what stands below a heading, up to the next one."""
    parts = re.split(r"^## ", markdown(page(profile)), flags=re.MULTILINE)
    return next((part for part in parts if re.match(rf"(?:\d+ )?{re.escape(title)}\n", part)), "")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", EIGHT)
def test_every_option_of_every_profile_has_a_sentence_on_the_page(name: str, language: str) -> None:
    profile = load_profile(name)
    with speaking(language):
        rules = rules_of(profile)
    cells = {
        cell
        for block in page_in(profile, language)
        if isinstance(block, DocumentTable)
        for row in block.rows
        for cell in row
    }
    said_by = {about for rule in rules for about in rule.about}
    assert [path for path, _, _ in profile.options() if path not in said_by] == []
    for rule in rules:
        assert rule.text, rule
        assert rule.text in cells, rule
        assert rule.number in cells, rule


VALUES = {
    path: tuple(kind.values)
    if isinstance(kind, Choice)
    else (False, True)
    if isinstance(kind, Flag)
    else kind.values
    if isinstance(kind, Count)
    else (0, 2, 7)
    for path, (_, _, kind) in OPTIONS.items()
    if isinstance(kind, Choice | Flag | Amount)
}


@pytest.mark.parametrize("path", VALUES)
def test_every_value_of_an_option_is_said_in_words_of_its_own(path: str) -> None:
    """In a game where the option matters; two values in the same words would tell players nothing."""
    lowball = load_profile("washington-1-unit").with_options({"hands.middle": "deuce_to_seven"})
    for profile in (*map(load_profile, EIGHT), lowball):
        profile = profile.with_options({"surrender.points": 3})
        texts = []
        for value in VALUES[path]:
            with suppress(RulesError):
                texts.append(said(profile.with_options({path: value})))
        if len(set(texts)) == len(VALUES[path]):
            return
    pytest.fail(f"no page says every value of {path} differently")


@pytest.mark.parametrize("name", EIGHT)
def test_every_rule_has_a_source_or_says_that_the_house_chose(name: str) -> None:
    tables = [
        block
        for block in page(load_profile(name))
        if isinstance(block, DocumentTable) and block.head[0] == "No."
    ]
    for table in tables:
        for row in table.rows:
            assert all(row), row


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", EIGHT)
def test_nothing_on_the_page_is_a_raw_key_or_the_name_of_a_file(name: str, language: str) -> None:
    text = markdown(page_in(load_profile(name), language)).replace("| --- ", "")
    assert RAW.findall(text) == []
    assert [key for key in EIGHT if key in text and key != "traditional"] == []
    assert "%(" not in text


@pytest.mark.parametrize("raw", ["foul.points: 7.1", "000_7b4fad3d.txt", "profiles/own.toml", "six_pairs"])
def test_the_look_for_raw_keys_finds_them(raw: str) -> None:
    assert RAW.findall(f"A foul pays ({raw}) 3 points.")


@pytest.mark.parametrize("name", EIGHT)
def test_the_index_leads_to_the_rules_by_the_names_of_the_choices(name: str) -> None:
    profile = load_profile(name)
    index = section(profile, "Index")
    numbers = {rule.number for rule in rules_of(profile)}
    assert "| Scoring | Row: " in index
    assert set(re.findall(r"\b\d+\.\d+\b", index)) <= numbers
    number = next(rule.number for rule in rules_of(profile) if "foul.equal_rows" in rule.about)
    assert f"Middle equal to back: {number};" in index


def test_what_the_game_does_without_is_said_not_to_be_in_the_document_with_the_words_it_has_not() -> None:
    western, traditional = (
        re.findall(r"played without:[^|]*\| ([^|]*) \|", markdown(page(load_profile(name))))[0]
        for name in ("poker-flush-western", "traditional")
    )
    assert western.startswith(
        "Rules ¶ 4: “Eastern Chinese Poker awards bonuses for certain hands”. The rest is not"
    )
    assert traditional.startswith("Not in the document, which does not contain: “natural”, “sweep”, “dragon”")
    house = load_profile("california-face-up").with_options({"fantasyland.entry": {}, "fantasyland.stay": {}})
    assert re.search(r"played without:[^|]*\| Set by the house\. \|", markdown(page(house)))


@pytest.mark.parametrize("name", EIGHT)
def test_no_line_is_about_what_the_game_does_not_have(name: str) -> None:
    profile = load_profile(name)
    text = "\n".join(
        rule.text for rule in rules_of(profile) if not rule.text.startswith("This game is played without")
    )
    for word, has in {
        "natural": bool(profile.naturals.kinds),
        "bonus": profile.bonus.pays != "none",
        "surrender": bool(profile.surrender.points),
        "Fantasy Land": bool(profile.fantasyland.entry),
        "down, the house takes": bool(profile.collection.schedule),
    }.items():
        irregular = "\n".join(
            value for path, _, value in profile.options() if path.startswith("irregularities.")
        )
        assert has or word not in text.replace(irregular, ""), word


def test_basic_rules_stand_on_the_page() -> None:
    california = said(load_profile("california-face-up"))
    for words in (
        "The back must rank above the middle, and the middle above the front.",
        "royal flush, straight flush, four of a kind, full house, flush, straight, three of a kind, two pairs",
        "Straights and flushes do not count in the front",
        "A natural counts only if the player declares it before rows are compared and the dealer confirms it.",
        "A natural that counts collects its value from each opponent with a regular hand.",
        "Between two fouls nothing is paid.",
        "Four of a kind may count as two pairs.",
        "In Fantasy Land a player is dealt all 13 cards face down at once",
        "Who stays in Fantasy Land announces it to the other players.",
        "The house dealer deals one card at a time, face up, clockwise from the player at the left of the puck",
        "Up to five players sit at the table",
        "they may agree to play two hands each",
        "Chips stay on the table",
        "Position 1 settles with position 2, then with 3, then with 4.",
    ):
        assert words in california


@pytest.mark.parametrize("name", EIGHT)
def test_the_houses_text_stands_on_the_page_or_that_it_has_none(name: str) -> None:
    profile = load_profile(name)
    titles = {"exposed_card": "Exposed card", "other": "Anything else"}
    shown = section(profile, "Irregularities")
    for option, title in titles.items():
        text = getattr(profile.irregularities, option)
        assert len(text.split()) > 10
        assert f"| {title}: {text} |" in shown
    for kept, emptied in (titles, dict(reversed(titles.items()))):
        options = {f"irregularities.{kept}": "Ask the manager.", f"irregularities.{emptied}": ""}
        shown = section(profile.with_options(options), "Irregularities")
        assert f"| {titles[kept]}: Ask the manager. |" in shown
        assert f"| {titles[emptied]}: The house has not written down what it does. |" in shown


def test_in_every_game_the_floor_decides_what_no_rule_names() -> None:
    for name in EIGHT:
        assert "decided by the floor" in load_profile(name).irregularities.other


@pytest.mark.parametrize("name", EIGHT)
def test_every_page_says_how_many_play_and_what_a_fifth_at_the_table_does(name: str) -> None:
    """The engine lets five sit under every profile; one document alone speaks of five seats."""
    text = section(load_profile(name), "The game and the table")
    assert "wo to four" in text
    assert "the puck and the next three players clockwise are dealt in" in text
    of_five = next(line for line in text.splitlines() if "fifth" in line)
    named = "Description of Table Used" in of_five
    assert named == (name == "california-face-up")
    assert named or "see the list at the end" in of_five
    assert named == ("The house may let a fifth player sit" not in of_five)


def test_a_foul_is_not_said_to_pay_whom_it_does_not_pay() -> None:
    fouls = section(load_profile("poker-flush-western"), "What a foul pays")
    assert "pays a penalty of 3 points to each opponent who has one" in fouls
    assert "To an opponent who surrendered, a foul pays nothing." in fouls
    assert "Between two fouls nothing is paid." in fouls


def test_where_the_document_is_silent_the_page_ends_with_the_other_readings() -> None:
    room = section(load_profile("traditional"), "Where the document leaves room")
    assert "An ace may also be low, in 5-4-3-2-A, which is the lowest straight." in room
    assert "which ranks as the second straight" in room
    assert "The ace is never low" in room


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("washington-1-unit", "a set amount"),
        ("washington-2-4", "a typical payment for a natural is 3 units"),
        ("washington-1-6", "Typical bonus payments include the following"),
        ("clean-sweep-online", "a penalty to each opponent"),
        ("traditional", "automatically loses"),
    ],
)
def test_an_amount_that_the_document_does_not_fix_is_said_to_be_the_houses(name: str, words: str) -> None:
    rows = [
        row
        for row in section(load_profile(name), "Where the document leaves room").splitlines()
        if words in row
    ]
    assert any(
        row.endswith(("Another number of points, or none. |", "| Other hands, or other points. |"))
        for row in rows
    )


def test_a_rank_keeps_its_capital_letter_in_a_list() -> None:
    with speaking("zh_Hans"):
        text = said(load_profile("california-face-up"))
    assert "头道一对Q或更好" in text
    assert "pair of queens or better in the front" in said(load_profile("california-face-up"))


@pytest.mark.parametrize("language", [code for code in LANGUAGES if code != "en"])
@pytest.mark.parametrize("name", EIGHT)
def test_every_rule_is_said_in_every_language(name: str, language: str) -> None:
    profile = load_profile(name)
    english = {rule.number: rule.text for rule in rules_of(profile)}
    with speaking(language):
        other = {rule.number: rule.text for rule in rules_of(profile)}
    assert other.keys() == english.keys()
    assert [text for number, text in other.items() if text == english[number]] == []


# ---- what a house has changed ----

HOUSE = """\
[profile]
name = "house"
extends = "washington-2-4"
[hands]
wheel = "second_highest"
[bonus]
front = { AAA = 5, three_of_a_kind = 2 }
"""


def test_the_page_says_what_the_house_changed_and_names_it_as_the_source(tmp_path: Path) -> None:
    path = tmp_path / "house.toml"
    path.write_text(HOUSE, encoding="utf-8")
    house, base = load_chain(str(path))
    text = markdown(house_rules(house, base))
    assert "## What this house has changed" in text
    assert "| Bonuses: Front | Three of a kind 2. | Three aces 5; three of a kind 2. |" in text
    assert re.search(r"which ranks as the second straight[^|]*\| Set by the house\. \|", text)


def test_a_house_that_changed_nothing_says_so(tmp_path: Path) -> None:
    path = tmp_path / "same.toml"
    path.write_text('[profile]\nname = "same"\nextends = "traditional"\n', encoding="utf-8")
    house, base = load_chain(str(path))
    assert "Nothing of Traditional Chinese Poker." in markdown(house_rules(house, base))


def test_tables_of_bonuses_naturals_and_collection() -> None:
    tables = [block for block in page(load_profile("california-face-up")) if isinstance(block, DocumentTable)]
    bonuses = next(table for table in tables if table.head[0] == "Hand")
    assert bonuses.rows[0] == ("Royal flush", "–", "40", "20")
    assert ("Three aces", "22", "–", "–") in bonuses.rows
    assert bonuses.rows[-1] == ("Pair of sixes", "1", "–", "–")
    naturals = next(table for table in tables if table.head[0] == "Rank")
    assert naturals.rows[0] == ("1", "Super dragon (a dragon in one suit)", "26")
    collection = next(table for table in tables if "Table limit" in table.head)
    assert collection.rows[2] == ("3", "$10", "$12")


def test_the_page_says_where_a_weaker_hand_or_result_may_pay_more() -> None:
    plain = load_profile("washington-2-4")
    stated = replace(plain, weaker_pays_more=RANKED)
    assert "means it so" not in said(plain)
    page_says = said(stated)
    for words in (
        "the front a weaker",
        "the middle a weaker",
        "the back a weaker",
        "A lower natural",
        "Two rows won",
    ):
        assert f"{words} " in page_says


def test_a_text_of_the_house_cannot_break_a_table() -> None:
    profile = load_profile("traditional").with_options({"irregularities.misdeal": "One | two\nthree"})
    assert "One \\| two three" in markdown(page(profile))


# ---- on paper ----


def letters_of(printed: bytes) -> str:
    with pypdfium2.PdfDocument(printed) as document:
        return "".join(page.get_textpage().get_text_bounded() for page in document)


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pdf_has_every_letter_of_the_page_and_the_same_bytes_each_time(language: str) -> None:
    profile = load_profile("california-face-up")
    blocks = page_in(profile, language)
    with speaking(language):
        printed = pdf(blocks)
        assert pdf(blocks) == printed
    found = "".join(letters_of(printed).split())
    for block in blocks:
        if isinstance(block, Heading | Paragraph):
            assert "".join(block.text.split()) in found
    assert "■" not in found
    for rule in rules_of(profile) if language == "en" else ():
        assert "".join(rule.text.split()) in found.replace("\ufffe", ""), rule


@pytest.mark.sampled
@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_no_line_in_print_begins_with_a_comma_or_ends_with_a_paragraph_sign(language: str) -> None:
    with speaking(language):
        printed = [letters_of(pdf(page_in(load_profile(name), language))) for name in EIGHT]
    lines = [line.strip() for text in printed for line in text.splitlines()]
    assert len(lines) > 500
    assert [line for line in lines if line.startswith(("，", "。", "；", "：", "、", ",", ";"))] == []
    assert [line for line in lines if line.endswith("¶")] == []


@pytest.mark.parametrize("language", ["zh_Hans", "zh_Hant"])
def test_our_own_font_has_every_chinese_letter_of_the_catalogue(language: str) -> None:
    kind = Type(language)
    words = (CATALOGUES / language / "LC_MESSAGES/messages.po").read_text(encoding="utf-8")
    missing = {letter for letter in words if ord(letter) >= 0x3000 and not kind.has(letter)}
    assert not missing, "cut the fonts of dealer_ui/fonts again: they lack these letters of the catalogue"


def test_a_letter_that_no_font_has_is_noticed() -> None:
    assert not Type("zh_Hans").has("\ue000")


def test_a_rule_knows_its_number() -> None:
    first = rules_of(load_profile("traditional"))[0]
    assert isinstance(first, NumberedRule)
    assert first.number == "1.1"


def test_a_game_without_naturals_does_not_say_what_changed_about_them() -> None:
    base = load_profile("california-face-up")
    house = parse_profile(
        '[profile]\nname = "ours"\ntitle = "Ours"\nextends = "california-face-up"\n'
        "[naturals]\nkinds = []\nkeeps_bonus = false\n[order]\nnaturals_first = false\n"
    )
    blocks = house_rules(house, base)
    changed = next(block for block in blocks if isinstance(block, DocumentTable))
    assert [row[0] for row in changed.rows] == ["Naturals: Kinds, highest first"]
    assert any(isinstance(block, Paragraph) and house.hash[:10] in block.text for block in blocks)
