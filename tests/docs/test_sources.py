"""The source documents: each sentence has a row; each row quotes what decides an option or a rule, and names tests."""

from __future__ import annotations

import ast
import tomllib
from functools import cache
from typing import Final

import pytest

from dealer_ui.profiles.house_rules_numbered import rules_of
from docs.facts import ROOT, render_fact, sentence_tests
from firmware.rules import load_profile, profile_names
from firmware.rules.profiles.sources import Quote, Sentence, Source, sources
from tests.firmware.rules.source_text import paragraphs, split
from tests.tools import SHARED

DOCUMENTS: Final = SHARED / "sources"
ALL: Final = list(sources().values())
WORDS: Final = 9
"""How many words of a sentence a row quotes."""


@cache
def _tests_of(file: str) -> frozenset[str]:
    """Return the names of a file's tests."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = (node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return frozenset(name for name in found if name.startswith("test_"))


def quoted(sentence: str) -> str:
    return " ".join(sentence.split()[:WORDS])


@pytest.mark.parametrize("source", ALL, ids=lambda source: source.file)
def test_every_sentence_of_a_document_has_a_row(source: Source) -> None:
    path = DOCUMENTS / source.file
    if not path.is_file():
        pytest.skip(f"{path} is not here: the source documents lie outside the repository (FELTWATCH_SHARED)")
    found = list(paragraphs(path.read_text(encoding="utf-8"), source.headings))
    in_document = [(place, number, quoted(part)) for place, number, text in found for part in split(text)]
    assert len(found) == source.paragraphs
    assert in_document == [(row.heading, row.paragraph, row.words) for row in source.sentences]


@pytest.mark.parametrize("source", ALL, ids=lambda source: source.file)
def test_a_table_has_as_many_rows_and_paragraphs_as_its_document(source: Source) -> None:
    assert len(source.sentences) == source.length
    assert len({row.place for row in source.sentences}) == source.paragraphs


def test_every_profile_has_a_document_and_every_document_a_profile() -> None:
    assert {load_profile(name).source for name in profile_names()} == set(sources())


def test_a_row_quotes_what_decides_an_option_or_a_rule_or_says_why_it_does_not() -> None:
    on_pages = {
        about for name in profile_names() for rule in rules_of(load_profile(name)) for about in rule.about
    } | {"basics.changes"}
    for source in ALL:
        for row in source.sentences:
            assert bool(row.quotes) != bool(row.beside), row
            for quote in row.quotes:
                assert any(quote.is_about(rule, quote.game) for rule in on_pages), f"there is no {quote.rule}"
                assert not quote.game or load_profile(quote.game).source == source.file


@pytest.mark.slow
def test_every_sentence_that_is_quoted_names_tests_that_there_are() -> None:
    for source in ALL:
        for row in source.sentences:
            named = sentence_tests(source, row)
            assert named or not row.quotes, row
            for test in named:
                file, _, name = test.partition("::")
                assert name in _tests_of(file), f"{row.words}: there is no test {test}"


def test_no_test_is_named_for_what_no_document_says() -> None:
    table = tomllib.loads((ROOT / "docs/source_tests.toml").read_text(encoding="utf-8"))
    quoted_rules = [quote for source in ALL for row in source.sentences for quote in row.quotes]
    for rule in table["rules"]:
        assert any(quote.is_about(rule, quote.game) for quote in quoted_rules), rule
    assert set(table["paragraphs"]) <= {
        f"{source.file} {row.place}" for source in ALL for row in source.sentences
    }


def test_a_sentence_without_a_test_is_an_error() -> None:
    quote = Quote("foul.unknown", "", "Foul Hand", 1, "a sentence", ())
    sentence = Sentence("Foul Hand", 1, "A sentence that nobody holds", (quote,), "")
    with pytest.raises(KeyError):
        sentence_tests(ALL[0], sentence)


def test_the_book_shows_every_sentence() -> None:
    lines = render_fact("sentences").splitlines()
    heads = 2 * len(ALL)
    assert sum(line.startswith("|") for line in lines) == heads + sum(source.length for source in ALL)
