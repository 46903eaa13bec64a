"""The scale of strengths, proved over every hand there is."""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from functools import cache
from itertools import combinations, pairwise
from math import comb, prod
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import CARDS, CATEGORIES, UNREAD, Card, Category, parse_cards, scale
from firmware.rules.strength import Wheel
from firmware.rules.words import beats, english

WHEELS: tuple[Wheel, ...] = get_args(Wheel)


@cache
def all_strengths(size: int) -> array[int]:
    """Return the strength of every hand of so many cards, in the order of `combinations`."""
    of = scale().three if size == 3 else scale().five
    return array("H", map(of, combinations(CARDS, size)))


def categories(size: int) -> dict[str, int]:
    counts = Counter(all_strengths(size))
    found: Counter[str] = Counter()
    for strength, hands in counts.items():
        found[scale().kind(strength).category.label] += hands
    return dict(found)


def test_all_2598960_five_card_hands_fall_into_their_categories() -> None:
    assert categories(5) == {
        "royal_flush": 4,
        "straight_flush": 36,
        "four_of_a_kind": 624,
        "full_house": 3744,
        "flush": 5108,
        "straight": 10200,
        "three_of_a_kind": 54912,
        "two_pairs": 123552,
        "one_pair": 1098240,
        "high_card": 1302540,
    }
    assert len(set(all_strengths(5))) == 7462


def test_all_22100_three_card_hands_fall_into_their_categories() -> None:
    assert categories(3) == {"three_of_a_kind": 52, "one_pair": 3744, "high_card": 18304}
    assert len(set(all_strengths(3))) == 455


def test_one_dense_scale_holds_7917_strengths() -> None:
    both = set(all_strengths(3)) | set(all_strengths(5))
    assert both == set(range(1, 7918))
    assert not set(all_strengths(3)) & set(all_strengths(5))


def test_one_hash_over_the_order_of_all_2598960_hands() -> None:
    """Whatever is done to the tables, the order of the hands stays."""
    in_order = np.array(all_strengths(5), dtype="<u2").tobytes()
    assert hashlib.sha256(in_order).hexdigest() == (
        "e95b923ba99e62dbc3f6dfd50e4799cd98281987f5b222186da2d32fbff42cbd"
    )


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # eval7 is not ours to mend
def test_eval7_agrees_on_every_hand_of_five_and_three_cards_on_one_scale() -> None:
    eval7 = pytest.importorskip("eval7", reason="eval7 has no wheel for this machine")
    deck = [eval7.Card(card.code) for card in CARDS]
    theirs = [*map(eval7.evaluate, combinations(deck, 5)), *map(eval7.evaluate, combinations(deck, 3))]
    ours = [*all_strengths(5), *all_strengths(3)]
    same = set(zip(ours, theirs, strict=True))
    assert len(same) == 7917
    # Sorted by our strength, theirs rise without a tie: the two orders are one.
    ordered = [value for _, value in sorted(same)]
    assert all(low < high for low, high in pairwise(ordered))


@given(st.permutations(CARDS), st.sampled_from(WHEELS), st.booleans())
def test_a_whole_hands_rows_have_the_strengths_of_each(deck: list[Card], wheel: Wheel, suited: bool) -> None:
    cards = sorted(deck, key=lambda card: card.suit) if suited else deck
    front, middle, back = cards[:3], cards[3:8], cards[8:13]
    expected = tuple(scale(wheel).strength(row) for row in (front, middle, back))
    assert scale(wheel).rows(front, middle, back) == expected


def strength(text: str, wheel: Wheel = "lowest") -> int:
    return scale(wheel).strength(parse_cards(text))


def test_front_a_a_k_loses_to_middle_a_a_k_3_2() -> None:
    assert strength("As Ah Kd") < strength("Ac Ad Kh 3s 2s")


def test_front_k_k_a_beats_middle_k_k_9_5_4() -> None:
    assert strength("Ks Kh Ad") > strength("Kc Kd 9s 5s 4s")


@pytest.mark.parametrize(
    ("front", "middle"),
    [
        ("Ks Kh Ad", "Kc Kd Ah 3s 2s"),
        ("As Kh Qd", "Ac Kd Qh 3s 2s"),
        ("7s 7h 7d", "8c 8d 8h 3s 2s"),
        ("7s 7h 7d", "2c 3d 4h 5s As"),
        ("As Ah Kd", "2c 2d 3h 3s 4s"),
    ],
)
def test_a_front_is_below_a_middle_that_begins_alike_or_is_of_a_higher_category(
    front: str, middle: str
) -> None:
    assert strength(front) < strength(middle)


def test_straights_and_flushes_never_count_in_front() -> None:
    assert strength("Ks Qs Js") < strength("2h 2d 3c")


def test_the_wheel_is_the_lowest_straight_by_default() -> None:
    assert strength("5c 4d 3h 2s As") < strength("6c 5d 4h 3s 2s")
    assert strength("5c 4d 3h 2s As") > strength("Ac Ad Ah Ks Qs")
    assert strength("5s 4s 3s 2s As") < strength("6s 5s 4s 3s 2s")


def test_the_wheel_may_be_the_second_highest_straight() -> None:
    wheel = strength("5c 4d 3h 2s As", "second_highest")
    assert strength("Kc Qd Jh Ts 9s", "second_highest") < wheel < strength("Ac Kd Qh Js Ts", "second_highest")
    suited = strength("5s 4s 3s 2s As", "second_highest")
    assert (
        strength("Ks Qs Js Ts 9s", "second_highest") < suited < strength("As Ks Qs Js Ts", "second_highest")
    )


def test_the_wheel_may_be_no_straight() -> None:
    plain, suited = strength("5c 4d 3h 2s As", "not_a_straight"), strength("5s 4s 3s 2s As", "not_a_straight")
    assert scale("not_a_straight").kind(plain).category is Category.HIGH_CARD
    assert scale("not_a_straight").kind(suited).category is Category.FLUSH
    assert plain < strength("Ac Kd Qh Js 9s", "not_a_straight")
    assert plain > strength("Kc Qd Jh Ts 8s", "not_a_straight")


def test_no_straight_goes_around_the_corner() -> None:
    assert scale().kind(strength("3c 2d Ah Ks Qs")).category is Category.HIGH_CARD


@pytest.mark.parametrize("wheel", WHEELS)
def test_every_wheel_has_a_dense_scale_of_the_same_hands(wheel: Wheel) -> None:
    found = [*scale(wheel).all_ranks(3), *scale(wheel).all_ranks(5)]
    assert sorted(strength for strength, _, _ in found) == list(range(1, 7918))
    five_ranks = [Counter(ranks) for _, ranks, suited in found if len(ranks) == 5 and not suited]
    # Every multiset of ranks that four suits allow, times its suits, less the flushes, is every hand.
    plain = sum(prod(comb(4, count) for count in ranks.values()) for ranks in five_ranks)
    assert plain == comb(52, 5)


def test_suits_decide_nothing() -> None:
    assert strength("As Kd Qh Jc 9c") == strength("Ac Kh Qd Js 9d")


@pytest.mark.parametrize("cards", ["As Ah", "As Ah Ad Ac", "As Ks Qs Js Ts 9s", ""])
def test_a_row_of_another_size_has_no_strength(cards: str) -> None:
    with pytest.raises(ValueError, match="values to unpack"):
        strength(cards)


def test_a_row_with_an_unread_card_has_no_strength() -> None:
    with pytest.raises(KeyError):
        scale().five((UNREAD, *parse_cards("As Ah Ad Ac")))
    with pytest.raises(KeyError):
        scale().three((UNREAD, *parse_cards("As Ah")))


@pytest.mark.parametrize(
    ("cards", "text"),
    [
        ("As Ks Qs Js Ts", "royal flush"),
        ("5s 4s 3s 2s As", "straight flush, five high"),
        ("6s 6c 6d 6h Ks", "four sixes, king"),
        ("6s 6c 6d Ah As", "full house, sixes over aces"),
        ("As Ks Qs Js 9s", "flush, ace high, king, queen, jack, nine"),
        ("Ts 9c 8d 7h 6s", "straight, ten high"),
        ("2s 2c 2d", "three twos"),
        ("2s 2c 2d Ah Ks", "three twos, ace, king"),
        ("2s 2c 3d 3h Ks", "two pairs, threes and twos, king"),
        ("As Ah Kd", "pair of aces, king"),
        ("As Ah Kd 4s 3s", "pair of aces, king, four, three"),
        ("Qs Jh 9d", "queen high, jack, nine"),
    ],
)
def test_a_strength_has_words(cards: str, text: str) -> None:
    assert scale().text(strength(cards)) == text


def test_kickers_are_said_where_they_decide() -> None:
    def say(winner: str, loser: str) -> str:
        return beats(english, scale().words[strength(winner)], scale().words[strength(loser)])

    assert say("As Ah 2d", "9s 9h Kd") == "pair of aces beats pair of nines"
    assert say("As Ah Kd", "Ac Ad 9d") == "pair of aces, king beats pair of aces, nine"
    assert say("As Ah Ad", "9s 9h Kd") == "three aces beat pair of nines"


def test_categories_have_names_both_ways() -> None:
    assert all(CATEGORIES[category.label] is category for category in Category)
    assert str(Category.FOUR_OF_A_KIND.words) == "four of a kind"
