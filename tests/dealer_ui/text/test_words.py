"""Money, points and cards in words."""

from __future__ import annotations

import doctest
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dealer_ui.text import words


@pytest.mark.parametrize(
    ("cents", "said"),
    [(0, "$0"), (5, "$0.05"), (2500, "$25"), (125_050, "$1,250.50"), (100_000_000, "$1,000,000")],
)
def test_money_is_said_in_dollars_with_cents_only_where_there_are_some(cents: int, said: str) -> None:
    assert words.money(cents) == said
    assert words.money(-cents) == said


@given(st.integers(-(10**12), 10**12))
def test_money_never_loses_a_cent(cents: int) -> None:
    text = words.money_with_sign(cents)
    amount = Decimal(text.lstrip(f"+{words.MINUS}").lstrip("$").replace(",", ""))
    assert amount * 100 == abs(cents)
    assert text.startswith(words.MINUS) == (cents < 0)
    assert text.startswith("+") == (cents > 0)


def test_a_loss_carries_a_true_minus_sign() -> None:
    assert words.money_with_sign(-5000) == "−$50"
    assert words.points_with_sign(-7) == "−7"
    assert words.points_with_sign(4) == "+4"
    assert words.points_with_sign(0) == "0"


def test_cards_are_named_in_full() -> None:
    assert words.card_name("Th") == "ten of hearts"
    assert words.rank_text("Th") == "10"
    assert words.rank_text("As") == "A"


def test_places_in_a_row_are_counted_as_people_count() -> None:
    assert [words.ordinal(n) for n in (1, 2, 3, 4, 5, 11, 12, 13)] == (
        ["1st", "2nd", "3rd", "4th", "5th", "11th", "12th", "13th"]
    )


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(words).failed == 0
