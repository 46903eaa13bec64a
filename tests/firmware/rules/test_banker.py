"""Games in which everybody settles with the banker only."""

from __future__ import annotations

import random
from dataclasses import replace

from dealer_ui.profiles.house_rules_numbered import clauses_on_the_page, rules_of
from firmware.rules import Hand, contradictions, load_profile, profile_names, settle
from tests.firmware.rules.random_settlements import hand as random_hand
from tests.firmware.rules.tables import PLAIN, play, rules
from tests.firmware.rules.test_options import ABOVE_LOW, LOW

BANKER = {name: rules(name, scoring__versus="banker") for name in profile_names()}


def banker_of(hand: Hand) -> int:
    """Return the puck's seat, or the first one that plays on the way round."""
    seat = hand.button
    while seat not in {one.seat for one in hand.seats}:
        seat = seat % 9 + 1
    return seat


def test_each_pays_and_collects_what_a_duel_with_the_banker_comes_to() -> None:
    """Each pair alone, under the rules of everybody against everybody, and stacks counted down by hand."""
    for name in BANKER:
        # an excuse by a third hand: the test below
        everybody = rules(name, naturals__excused_by_surrender=False)
        profile = rules(everybody, scoring__versus="banker")
        deal = random.Random(f"banker {name}")
        for hand in (random_hand(deal, profile) for _ in range(120)):
            settlement = settle(hand, profile)
            assert sum(settlement.paid.values()) == 0
            if any(seat.player for seat in hand.seats):  # two players: each has no other opponent
                alike = settle(replace(hand, button=banker_of(hand)), everybody)
                assert dict(settlement.points) == dict(alike.points)
                continue
            banker = banker_of(hand)
            left = {one.seat: [one.stack, one.stack] for one in hand.seats}
            assert len(settlement.pairs) == len(hand.seats) - 1
            for pair in settlement.pairs:
                other = pair.b if pair.a == banker else pair.a
                assert {pair.a, pair.b} == {banker, other}
                two = Hand(
                    seats=tuple(one for one in hand.seats if one.seat in (banker, other)),
                    button=banker,
                    unit=hand.unit,
                )
                (alone,) = settle(two, rules(everybody, stakes__cap="none")).pairs
                sign = 1 if alone.a == pair.a else -1
                assert (pair.points, pair.owed) == (sign * alone.points, sign * alone.owed)
                winner, payer = (pair.a, pair.b) if pair.owed > 0 else (pair.b, pair.a)
                limits = [amount for amount in (left[payer][0], left[winner][1]) if amount is not None]
                assert abs(pair.paid) == min([abs(pair.owed), *limits])
                for seat, gained in ((winner, abs(pair.paid)), (payer, -abs(pair.paid))):
                    lose, win = left[seat]
                    if lose is not None and win is not None:
                        left[seat] = [lose + gained, win - gained]


def test_the_puck_at_an_empty_seat_makes_the_next_one_clockwise_the_banker() -> None:
    profile = BANKER["washington-1-unit"]
    three = {seat: rows for seat, rows in PLAIN.items() if seat != 3}
    for button, banker in ((1, 1), (3, 4), (5, 1)):
        pairs = play(profile, three, button=button).pairs
        assert {frozenset((pair.a, pair.b)) for pair in pairs} == {
            frozenset((banker, seat)) for seat in three if seat != banker
        }


def test_the_banker_wins_equal_rows_though_the_puck_lies_at_an_empty_seat() -> None:
    profile = rules("washington-1-unit", scoring__versus="banker", scoring__ties="button")
    equal = {
        1: "Kc 7d 2c / 9s 9d 8c 5c 3d / Ts Th 7c 4c 2s",
        2: "Kd 7h 2d / 9h 9c 8d 5d 3c / Td Tc 7s 4d 2h",
    }
    for button, banker in ((1, 1), (2, 2), (3, 1)):
        settlement = play(profile, equal, button=button)
        assert settlement.points[banker] == 3
        assert all(f"seat {banker} wins as the banker" in line.why for line in settlement.pairs[0].lines)
    assert "Rows of equal rank are won by the banker." in [rule.text for rule in rules_of(profile)]


def test_a_surrender_to_the_banker_excuses_nobody_else() -> None:
    profile = rules("poker-flush-western", scoring__versus="banker")
    rows = {1: ABOVE_LOW, 2: LOW, 3: ""}
    fouls = []
    for button in (1, 2, 3):
        hands = play(profile, rows, button=button, declares=[1], surrenders=[3]).hands
        fouls.append([judged.seat for judged in hands if judged.fault])
    assert fouls == [[], [1], []]


def test_the_page_says_who_is_the_banker_and_nothing_of_other_pairs() -> None:
    for profile in BANKER.values():
        assert contradictions(profile) == ()
        assert "scoring.versus" in clauses_on_the_page(profile)
        texts = " ".join(rule.text for rule in rules_of(profile))
        assert "The player with the puck is the banker" in texts
        assert "every other player" not in texts
        assert "position 3 with 4" not in texts
    assert "the banker" not in " ".join(rule.text for rule in rules_of(load_profile("traditional")))
