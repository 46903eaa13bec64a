"""Suits that cannot be told apart: seen at the print, said in a verdict, never sure."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest

from vision.reading.cards import CARDS
from vision.reading.decode import Cluster, NamedCluster
from vision.reading.network import Floats, log_softmax
from vision.reading.suits import (
    CONFIRMED,
    MIN_APART,
    RAREST_SPLIT,
    apart,
    chance_of_split,
    judge_suits,
    part_suits,
)


def named(card: str, apart: float, presence: float = 5.0) -> NamedCluster:
    """Name a card whose two indices each put its suit so many nats before the other of its colour."""
    logp: Floats = np.full(52, -20.0)
    other = card[0] + {"c": "s", "s": "c", "d": "h", "h": "d"}[card[1]]
    logp[CARDS.index(card)], logp[CARDS.index(other)] = 0.0, -2 * apart
    return NamedCluster(Cluster((0, 1), log_softmax(logp), presence), card, 2 * apart, (card, other))


def test_clear_print_leaves_every_suit_sure() -> None:
    verdict, taken = judge_suits([named(card, 9) for card in CARDS])
    assert verdict.ok
    assert verdict.figure == pytest.approx(9)
    assert all(taken)


def test_where_many_black_signs_are_unclear_no_black_card_is_sure_though_some_are_clear() -> None:
    soft = [named(card, 2 if card[0] in "2345" else 16) for card in CARDS if card[1] in "cs"]
    verdict, taken = judge_suits(soft + [named(card, 9) for card in CARDS if card[1] in "dh"])
    assert not verdict.ok
    assert verdict.figure < MIN_APART
    assert taken == [False] * 26 + [True] * 26
    assert verdict.text.startswith("clubs and spades cannot be told apart")


def test_one_unclear_sign_among_clear_ones_is_that_cards_own_trouble() -> None:
    assert judge_suits([named("2c", 1), *[named(card, 9) for card in CARDS[1:]]])[0].ok


def test_print_that_is_hardly_a_card_has_no_say() -> None:
    unclear = [named(rank + "c", 1, presence=1.0) for rank in "2345"]
    clear = [named(rank + "c", 7) for rank in "89TJQ"]
    assert judge_suits(unclear + clear)[0].figure == pytest.approx(7)


def test_two_unclear_signs_say_nothing_of_a_picture_and_three_do() -> None:
    assert judge_suits([named("2c", 1), named("3s", 1)])[0].ok
    assert not judge_suits([named("2c", 1), named("3s", 1), named("4s", 1)])[0].ok


def test_how_clearly_a_sign_is_seen_is_told_by_index() -> None:
    assert apart(named("2c", 3)) == pytest.approx(3)


def soft(card: str, nats: float, whole: float = 0.0) -> NamedCluster:
    """Name a black card by indices that show a spade by so many nats each, and large signs that show its suit so."""
    seen = named(card[0] + ("s" if nats > 0 else "c"), abs(nats))
    shown = np.zeros(52)
    shown[CARDS.index(card)] = whole
    return replace(seen, cluster=replace(seen.cluster, whole=shown))


def test_clubs_that_soft_print_shows_as_spades_are_proposed_as_clubs_and_none_is_sure() -> None:
    laid = [*(soft(rank + "s", 14 + k % 3) for k, rank in enumerate("23578JQA"))]
    laid += [soft(rank + "c", 3 + k % 3) for k, rank in enumerate("2469TJK")]
    assert {one.card[1] for one in laid} == {"s"}
    renamed = part_suits(laid, [False] * len(laid))
    assert [one.card for one in renamed] == [rank + "s" for rank in "23578JQA"] + [
        rank + "c" for rank in "2469TJK"
    ]
    changed = renamed[8:]
    assert all(one.margin == 0 and one.candidates == (one.card, one.card[0] + "s") for one in changed)
    assert part_suits(laid, [True] * len(laid)) == laid


def test_a_card_whose_large_signs_contradict_keeps_its_name_and_so_does_its_twin() -> None:
    laid = [*(soft(rank + "s", 14 + k % 3) for k, rank in enumerate("23578JQA"))]
    laid += [soft(rank + "c", 3 + k % 3) for k, rank in enumerate("469TK")]
    pair = [soft("Js", 3, whole=9), replace(soft("Js", 14), card="Jc")]
    assert [one.card for one in part_suits(laid + pair, [False] * 15)][-3:] == ["Kc", "Js", "Jc"]


def test_colours_that_are_named_as_one_deck_shows_them_keep_their_names() -> None:
    deal = [named(rank + suit, 3) for rank in "23456789" for suit in "cs"]
    assert part_suits(deal, [False] * len(deal)) == deal
    few = [soft(rank + "c", 3) for rank in "2345"]
    assert part_suits(few, [False] * len(few)) == few


def test_no_cards_are_no_trouble() -> None:
    verdict, taken = judge_suits([])
    assert verdict.ok
    assert taken == []


def test_among_few_of_its_colour_a_cards_own_sign_must_be_clear() -> None:
    few = [named(rank + "c", 9) for rank in "23456789"]
    own = named("Kc", 4.5)
    assert judge_suits([*few, own])[1][-1] is False
    assert judge_suits([*few, named("Tc", 9), own])[1][-1] is True
    assert judge_suits([*few, named("Kc", 5.5)])[1][-1] is True
    hardly_there = named("Tc", 9, presence=-3.0)
    assert judge_suits([*few, hardly_there, own])[1][-1] is False


def read_as(card: str, index: str) -> NamedCluster:
    """Name a card whose two indices say another one, each by 9 nats: what an assignment makes of a card named twice."""
    logp: Floats = np.full(52, -20.0)
    logp[CARDS.index(index)], logp[CARDS.index(card)] = 0.0, -18.0
    return NamedCluster(Cluster((0, 1), log_softmax(logp), 5.0), card, 9.0, (card, index))


def test_a_card_that_the_indices_name_twice_makes_all_of_its_colour_doubtful_however_sure_each_is() -> None:
    deal = [named(card, 9) for card in CARDS if card != "7c"]
    verdict, taken = judge_suits([*deal, read_as("7c", "7s")])
    assert (verdict.ok, verdict.figure) == (False, 0.0)
    assert [one.card[1] in "dh" for one in [*deal, named("7c", 9)]] == taken


def test_a_rank_that_is_named_twice_says_nothing_of_the_suits() -> None:
    assert judge_suits([*[named(card, 9) for card in CARDS if card != "Kh"], read_as("Kh", "Jh")])[0].ok


def test_far_more_cards_of_one_suit_than_a_deal_gives_make_all_of_its_colour_doubtful() -> None:
    black = [named(card, 9) for card in CARDS if card[1] == "s"] + [named("2c", 9), named("3c", 9)]
    assert judge_suits(black)[0].ok is False
    assert judge_suits([*black, *[named(rank + "c", 9) for rank in "456789"]])[0].ok


def test_a_deck_that_is_laid_out_may_be_in_order_or_have_a_card_twice() -> None:
    in_order = [named(card, 9) for card in CARDS if card[1] == "s"]
    assert judge_suits([*in_order, read_as("Qc", "Qs")], dealt=False)[0].ok


def test_the_chance_of_a_split_is_what_counting_all_deals_says() -> None:
    for count in range(27):
        ways = {k: comb(13, k) * comb(13, count - k) for k in range(min(13, count) + 1) if count - k <= 13}
        for first in ways:
            uneven = sum(ways[k] for k in ways if abs(2 * k - count) >= abs(2 * first - count))
            assert chance_of_split(first, count - first) == pytest.approx(uneven / comb(26, count))
    assert chance_of_split(14, 0) == chance_of_split(20, 4) == chance_of_split(14, 14) == 0.0


def test_of_honest_deals_hardly_one_in_ten_thousand_is_doubted() -> None:
    doubted = 0.0
    for count in range(27):  # as many black cards as may lie there
        ways = {k: comb(13, k) * comb(13, count - k) for k in range(min(13, count) + 1) if count - k <= 13}
        rare = [k for k in ways if chance_of_split(k, count - k) < RAREST_SPLIT]
        doubted = max(doubted, sum(ways[k] for k in rare) / comb(26, count))
    assert 0 < doubted < RAREST_SPLIT


def test_of_a_doubtful_colour_a_card_is_taken_whose_index_and_large_signs_each_clearly_say_the_same() -> None:
    deal = [named(card, 9) for card in CARDS if card not in ("7c", "9c", "Jc", "Kc")]
    for suit, index, shown, wanted in (
        ("c", 9.0, CONFIRMED + 1, True),
        ("c", 9.0, CONFIRMED - 1, False),
        ("c", 4.5, CONFIRMED + 1, False),
        ("s", 9.0, CONFIRMED + 1, False),
    ):
        one = named("9c", index)
        whole = np.array([0.0 if card[1] == suit else -shown for card in CARDS])
        seen = replace(one, cluster=replace(one.cluster, whole=whole))
        verdict, taken = judge_suits([*deal, read_as("7c", "7s"), seen])
        assert not verdict.ok
        assert taken[-1] is wanted
