"""The house-rules page tells what the document decides: flip an option, and the page lists it or quotes against it."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

import pytest

from dealer_ui.profiles.house_rules import house_rules
from dealer_ui.profiles.house_rules_numbered import is_without, rules_of
from dealer_ui.profiles.house_rules_sentences import Values
from dealer_ui.text.rule_words import option_says
from firmware.rules import Profile, load_profile, profile_names
from firmware.rules.profiles.dealt_cards import Count, FrontCards
from firmware.rules.profiles.document import Block, DocumentTable, Paragraph
from firmware.rules.profiles.natural_kinds import NaturalKinds
from firmware.rules.profiles.options import Amount, Bonuses, Choice, Flag, SuitOrder
from firmware.rules.profiles.sources import Quote, Source, cite, sources
from tests.firmware.rules.other_rules import Flip, Settlements, built_hands, flips, random_hands
from tests.firmware.rules.source_text import holds, paragraphs, plain
from tests.firmware.rules.test_options import OUTSIDE_THE_SETTLEMENT
from tests.tools import SHARED

EIGHT = profile_names()
ALL = list(sources().values())
HANDS = 150
LOWBALL = load_profile("washington-1-unit").with_options({"hands.middle": "deuce_to_seven"})
"""A game in which the options of a lowball middle matter."""
LONGEST = 40
"""Words of a quotation: the documents are not the repository's to copy."""


class Page(NamedTuple):
    """The page as its reader has it: the last column of each rule, and the list at the end, by the rule's number."""

    source: dict[str, str]
    others: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, blocks: tuple[Block, ...]) -> Page:
        tables = [block for block in blocks if isinstance(block, DocumentTable) and block.head[0] == "No."]
        cells = {row[0]: row[2] for table in tables if len(table.head) == 3 for row in table.rows}
        source = {
            number: cells[cell.removeprefix("As for ").removesuffix(".")]
            if cell.startswith("As for")
            else cell
            for number, cell in cells.items()
        }
        others = {
            row[0]: tuple(row[3].split(" Or: "))
            for table in tables
            if len(table.head) == 4
            for row in table.rows
        }
        return cls(source, others)


def as_read(flip: Flip, before: object) -> set[str]:
    """Return how the list may say another value."""
    match flip.kind:
        case Choice() | Flag() | SuitOrder():
            said = [
                rule for rule in rules_of(flip.profile) if flip.path in rule.about and not is_without(rule)
            ]
            return {rule.text for rule in said} or {option_says(flip.kind, flip.value)}
        case Count() | FrontCards():
            return {rule.text for rule in rules_of(flip.profile) if flip.path in rule.about}
        case Amount() if flip.path.endswith("_times"):
            return {rule.text for rule in rules_of(flip.profile) if flip.path in rule.about}
        case Amount():
            return {"Another number of points, or none." if before else "Points of the house's choice."}
        case Bonuses() | NaturalKinds():
            return {"Other hands, or other points."}
    return set()


@cache
def telling(profile: Profile) -> tuple[Flip, ...]:
    """Return the flips under which some hand settles otherwise."""
    settlements = Settlements(profile, [*built_hands(), *random_hands(profile, HANDS)])
    return tuple(
        flip
        for flip in flips(profile)
        if flip.path not in OUTSIDE_THE_SETTLEMENT
        and not flip.path.startswith("irregularities.")
        and settlements.differ(flip.profile)
    )


def untold(profile: Profile, page: Page) -> list[str]:
    """Return the flips that settle otherwise, and that the page neither lists nor quotes anything against."""
    values = Values(profile)
    rules = rules_of(profile)
    found = []
    for flip in flips(profile):
        by_the_house = flip.path.startswith(("irregularities.", "limits."))
        if flip.path not in OUTSIDE_THE_SETTLEMENT and not by_the_house and flip not in telling(profile):
            continue
        numbers = [rule.number for rule in rules if flip.path in rule.about]
        cells = " ".join(page.source[number] for number in numbers)
        listed = {other for number in numbers for other in page.others.get(number, ())}
        is_listed = bool(as_read(flip, values[flip.path]) & listed)
        quoted = [
            quote
            for quote in values.excludes(flip.path, flip.value)
            if cite([quote]).partition(": ")[2].strip("“”") in cells
        ]
        without = any(is_without(rule) for rule in rules if flip.path in rule.about)
        absent = [word for word in values.absent_words([flip.path]) if f"“{word.strip()}”" in cells]
        is_the_houses = by_the_house and "Set by the house." in cells
        if not (is_listed or quoted or (without and absent) or is_the_houses):
            found.append(f"{flip.path} = {flip.value}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", EIGHT)
def test_what_settles_otherwise_is_listed_as_a_reading_or_excluded_by_the_documents_words(name: str) -> None:
    profile = load_profile(name)
    assert untold(profile, Page.of(house_rules(profile))) == []


@pytest.mark.slow
def test_a_page_without_its_list_or_its_quotations_is_found_out() -> None:
    profile = load_profile("washington-1-6")
    page = Page.of(house_rules(profile))
    no_list = untold(profile, page._replace(others={}))
    no_words = untold(profile, page._replace(source=dict.fromkeys(page.source, "Overview ¶ 6")))
    assert "foul.versus_natural = both" in no_list
    assert "scoring.ties = button" in no_words
    assert "foul.versus_natural = both" not in no_words
    assert "scoring.ties = button" not in no_list


@pytest.mark.slow
def test_the_hands_show_the_effect_of_every_option_in_some_profile() -> None:
    shown = {flip.path for profile in (*map(load_profile, EIGHT), LOWBALL) for flip in telling(profile)}
    every = {path for path, _, _ in LOWBALL.options() if not path.startswith("irregularities.")}
    assert shown == every - OUTSIDE_THE_SETTLEMENT


@pytest.mark.parametrize("name", EIGHT)
def test_a_rule_that_names_the_list_is_in_it(name: str) -> None:
    blocks = house_rules(load_profile(name))
    page = Page.of(blocks)
    texts = (block.text for block in blocks if isinstance(block, Paragraph))
    alone = next((text for text in texts if "no other reading" in text), "")
    numbers = set(re.findall(r"\d+\.\d+", alone))
    for number, cell in page.source.items():
        assert ("list at the end" in cell) == (number in page.others or number in numbers), number


# ---- the words are the document's ----


def document(source: Source) -> dict[tuple[str, int], str]:
    return _paragraphs(source.file)


@cache
def _paragraphs(file: str) -> dict[tuple[str, int], str]:
    source = sources()[file]
    path = SHARED / "sources" / file
    if not path.is_file():
        pytest.skip(f"{path} is not here: the source documents lie outside the repository (FELTWATCH_SHARED)")
    text = path.read_text(encoding="utf-8")
    return {(heading, number): part for heading, number, part in paragraphs(text, source.headings)}


def quotes_of(source: Source) -> list[Quote]:
    return [quote for sentence in source.sentences for quote in sentence.quotes]


@pytest.mark.parametrize("source", ALL, ids=lambda source: source.file)
def test_quoted_words_stand_in_the_document_where_the_page_says(source: Source) -> None:
    text = document(source)
    assert [
        quote for quote in quotes_of(source) if not holds(text[quote.heading, quote.paragraph], quote.words)
    ] == []


@pytest.mark.parametrize("source", ALL, ids=lambda source: source.file)
def test_the_list_at_the_end_quotes_only_what_the_document_says(source: Source) -> None:
    whole = " ".join(document(source).values())
    for point in source.points:
        for words in re.findall("“([^”]*)”", point.document):
            assert holds(whole.lower(), words.lower()), f"{point.rule}: {words}"


@pytest.mark.parametrize("source", ALL, ids=lambda source: source.file)
def test_what_a_document_is_said_not_to_mention_it_does_not(source: Source) -> None:
    whole = plain(" ".join(document(source).values())).lower()
    assert [word for words in source.absent.values() for word in words if word in whole] == []


@pytest.mark.parametrize("words", ["the penalty will be ten points", "nine points … the penalty will be"])
def test_words_that_a_document_does_not_have_are_noticed(words: str) -> None:
    assert not holds("whole hand will be fouled and the penalty will be nine points.", words)
    assert holds("whole hand will be fouled and the penalty will be nine points.", "fouled … nine points")


@pytest.mark.parametrize("source", ALL, ids=lambda source: source.file)
def test_quotations_are_short(source: Source) -> None:
    assert [quote.words for quote in quotes_of(source) if len(quote.words.split()) > LONGEST] == []


NUMBERS = {1: "one", 3: "three", 4: "four", 6: "six", 9: "nine", 30: "thirty"}


@pytest.mark.parametrize("name", EIGHT)
def test_words_that_decide_an_amount_name_it(name: str) -> None:
    """Or show a hand of the document's example that comes to it, where the amount is none."""
    profile = load_profile(name)
    values = Values(profile)
    for path, kind, value in profile.options():
        quotes = values.excludes(path, value + 2) if isinstance(kind, Amount) else ()
        if not quotes or path == "limits.max_stack":
            continue
        shown = value // 100 if path == "limits.max_unit" else value
        words = " ".join(quote.words for quote in quotes)
        named = re.search(rf"(?i)\b({shown}|{NUMBERS.get(shown, shown)}|an additional point)\b", words)
        assert named or (not value and re.search(r"\d", words)), f"{path}: {words}"


def test_every_quotation_is_about_a_rule_of_a_page() -> None:
    for name in EIGHT:
        profile = load_profile(name)
        on_page = {about for rule in rules_of(profile) for about in rule.about} | {"basics.changes"}
        values = Values(profile)
        assert values.source
        for quote in quotes_of(values.source):
            if quote.game in ("", name):
                assert any(quote.is_about(about, name) for about in on_page), quote
        for point in values.source.points:
            assert point.rule in on_page or (point.games and name not in point.games), point


def test_places_are_joined_and_inner_quotation_marks_are_single() -> None:
    quotes = [
        Quote("a", "", "Foul Hand", 1, "a “Foul Hand”", ()),
        Quote("a", "", "Foul Hand", 2, "nine points", ()),
        Quote("a", "", "Point System", 1, "one point", ()),
    ]
    assert cite(quotes) == (
        "Foul Hand ¶ 1: “a ‘Foul Hand’”; ¶ 2: “nine points”; Point System ¶ 1: “one point”"
    )


# ---- what a house has changed ----


def test_a_house_that_changes_an_option_keeps_no_word_and_no_note_of_the_document_for_it() -> None:
    base = load_profile("washington-1-unit")
    house = base.with_options({"foul.versus_natural": "both", "naturals.by": "rows", "stakes.cap": "gross"})
    page = Page.of(house_rules(house, base))
    for path in ("foul.versus_natural", "naturals.by", "stakes.cap"):
        number = next(rule.number for rule in rules_of(house) if path in rule.about)
        assert page.source[number] == "Set by the house."
        assert number not in page.others
