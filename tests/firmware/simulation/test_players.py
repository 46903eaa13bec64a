from __future__ import annotations

import random
from itertools import chain

import pytest

from firmware.rules import CARDS, foul, load_profile
from firmware.simulation.live.players import Players, SetHand, _natural, arrange

RULES = load_profile("washington-1-unit")


def hands(seed: int, count: int) -> list[dict[int, SetHand]]:
    players = Players(seed, RULES)
    return [players.deal((1, 2, 3, 4)) for _ in range(count)]


def test_the_same_seed_deals_the_same_hands() -> None:
    assert hands(5, 3) == hands(5, 3)
    assert hands(5, 3) != hands(6, 3)


def test_every_card_is_dealt_once_a_hand() -> None:
    for dealt in hands(1, 8):
        cards = list(chain.from_iterable(hand.rows.cards for hand in dealt.values()))
        assert sorted(card.code for card in cards) == sorted(card.code for card in CARDS)
        assert all([len(row) for row in hand.rows] == [3, 5, 5] for hand in dealt.values())


@pytest.mark.slow
def test_most_hands_are_set_right_and_some_are_not() -> None:
    seats = [hand for dealt in hands(2, 40) for hand in dealt.values()]
    fouls = sum(foul(hand.rows, RULES) is not None for hand in seats)
    assert 0 < fouls < len(seats) // 8
    assert 0 < sum(hand.declares for hand in seats) < len(seats) // 8
    assert 0 < sum(hand.surrenders for hand in seats) < len(seats) // 8
    assert not any(hand.declares and hand.surrenders for hand in seats)


def test_players_do_only_what_the_rules_offer() -> None:
    players = Players(3, load_profile("traditional"))
    seats = [hand for _ in range(12) for hand in players.deal((1, 2, 3, 4)).values()]
    assert not any(hand.declares or hand.surrenders for hand in seats)


def test_a_dealt_natural_is_one() -> None:
    rng = random.Random(4)
    for _ in range(20):
        cards = _natural(rng)
        assert len(set(cards)) == 13
        rows = arrange(cards, RULES, rng)
        assert RULES.natural_ranking[RULES.natural_finder.bits(*rows)] is not None


def test_a_seat_that_surrenders_shows_nothing() -> None:
    dealt = hands(1, 1)[0][1]
    assert SetHand(dealt.rows, surrenders=True).truth == {}
    assert list(SetHand(dealt.rows).truth) == ["front", "middle", "back"]
