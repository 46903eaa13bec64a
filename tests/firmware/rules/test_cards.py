from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import CARDS, RANKS, SUITS, UNREAD, Card, Rows, UnknownCardError, cards_text, parse_card
from firmware.rules import parse_cards as parse

cards = st.sampled_from((*CARDS, UNREAD))


def test_there_are_52_different_cards() -> None:
    assert len({card.code for card in CARDS}) == len(set(CARDS)) == 52


def test_every_card_round_trips_through_text() -> None:
    for card in CARDS:
        assert parse_card(str(card)) is card
        assert (RANKS[card.rank], SUITS[card.suit]) == tuple(card.code)


def test_a_ten_may_be_written_with_two_digits() -> None:
    assert [parse_card(f"10{suit}") for suit in SUITS] == [parse_card(f"T{suit}") for suit in SUITS]


@pytest.mark.parametrize("text", ["", "A", "1s", "As ", "aS", "AS", "th", "Tx", "10", "11h", "AsK", "?", "🂡"])
def test_anything_else_is_no_card(text: str) -> None:
    with pytest.raises(UnknownCardError, match="is no card"):
        parse_card(text)


def test_an_unknown_card_is_also_a_value_error() -> None:
    with pytest.raises(ValueError, match='"Zz" is no card: write one of'):
        parse("As Zz")


@given(st.lists(cards).map(tuple))
def test_cards_round_trip_through_text(row: tuple[Card, ...]) -> None:
    assert parse(cards_text(row)) == row


@given(st.tuples(*[st.lists(cards, max_size=6).map(tuple)] * 3))
def test_rows_round_trip_through_text(rows: tuple[tuple[Card, ...], ...]) -> None:
    assert Rows.parse(str(Rows(*rows))) == Rows(*rows)


def test_copies_of_a_card_are_the_card() -> None:
    for card in (*CARDS, UNREAD):
        assert copy.deepcopy(card) is card
        assert pickle.loads(pickle.dumps(card)) is card
