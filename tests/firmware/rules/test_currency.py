"""How sums are written: a currency's symbol, its place, and what may be one."""

from __future__ import annotations

import doctest
import unicodedata
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import DOLLARS, Currency, currency, load_profile, money_text, paying_in
from firmware.rules.chips import buy_in
from firmware.rules.currency import is_symbol
from firmware.rules.errors import StakesError

SYMBOLS = st.sampled_from(["$", "€", "£", "HK$", "MOP$", "NT$", "CHF", "kr", "zł", "元", "RM"])
CURRENCIES = st.builds(Currency, SYMBOLS, st.booleans())


@given(CURRENCIES, st.integers(-(10**12), 10**12))
def test_no_hundredth_is_lost_and_the_symbol_stands_where_the_house_wants_it(
    of: Currency, cents: int
) -> None:
    said = of.say(cents)
    assert said.endswith(of.symbol) == of.after
    assert said.startswith(of.symbol) != of.after
    figure = said.replace(of.symbol, "").replace("\u00a0", "").replace(",", "")
    assert Decimal(figure) * 100 == abs(cents)
    assert ("." in figure) == bool(cents % 100)


@given(CURRENCIES)
def test_no_line_breaks_within_a_sum(of: Currency) -> None:
    assert not set(of.say(123_456_750)) & set(" \t\n\u200b")
    assert of.pattern.count("{}") == 1


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (DOLLARS, "$1,250.50"),
        (Currency("€", after=True), "1,250.50\u00a0€"),
        (Currency("HK$"), "HK$1,250.50"),
        (Currency("CHF"), "CHF\u00a01,250.50"),
        (Currency("kr", after=True), "1,250.50\u00a0kr"),
    ],
)
def test_a_letter_is_set_off_from_the_figure_and_a_sign_before_it_is_not(of: Currency, said: str) -> None:
    assert of.say(125_050) == said


@given(st.text(max_size=6))
def test_what_is_taken_for_a_symbol_can_neither_break_a_page_nor_be_read_as_a_figure(text: str) -> None:
    if is_symbol(text):
        assert 1 <= len(text) <= 4
        assert text.isprintable()
        assert not set(text) & set("<>&\"'{}%.,+-−0123456789 \u00a0")
        assert not any(letter.isnumeric() and unicodedata.category(letter)[0] == "N" for letter in text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "$ ",
        "Dinar",
        "1$",
        "R.D.",
        "<b>",
        "&",
        "{}",
        "%s",
        "\n",
        "\u202e$",
        "\u200b",
        "a\u0301",
        "د",
        "٣",
        "-",
    ],
)
def test_figures_separators_spaces_and_what_turns_a_line_round_are_no_symbol(text: str) -> None:
    assert not is_symbol(text)


def test_the_rules_own_sentences_are_in_the_currency_of_the_house() -> None:
    rules = load_profile("california-face-up")
    with paying_in(Currency("€", after=True)):
        with pytest.raises(StakesError, match="10\u00a0€ is too little to buy in; bring at least 30\u00a0€"):
            buy_in(1000, 100, rules)
        with paying_in(Currency("HK$")):
            assert money_text(-5) == "-HK$0.05"
        assert currency() == Currency("€", after=True)
    assert money_text(500) == "$5"


def test_the_examples_in_the_docstrings_hold() -> None:
    from importlib import import_module

    assert doctest.testmod(import_module("firmware.rules.currency")).failed == 0
