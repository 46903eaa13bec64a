"""A lowball middle: what beats what, what is a foul, bonuses for lows, and what its page says."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from dealer_ui.profiles.house_rules_numbered import rules_of
from firmware.rules import CARDS, Card, Profile, Rows, contradictions, foul, parse_cards
from firmware.rules.exchange import settlement_json
from firmware.rules.growing import growth
from firmware.rules.recorded_settlement import read_settlement
from tests.firmware.rules.tables import play, rules

LOW = {"hands__middle": "deuce_to_seven", "foul__low_middle": "T"}
SEVEN = rules(
    "washington-1-unit", **LOW, bonus__middle={"deuce_to_seven:8": 2, "deuce_to_seven:7": 4, "7-5-4-3-2": 8}
)
FIVE = rules(
    "washington-1-unit", hands__middle="ace_to_five", bonus__middle={"ace_to_five:6": 2, "ace_to_five:5": 4}
)


def low_key(cards: tuple[Card, ...], low: str) -> tuple[object, ...]:
    """Return a key that is lower for the better low, worked out anew: pairs first, then the cards from the highest."""
    value = {card: (card.rank + 1) % 13 if low == "ace_to_five" else card.rank for card in cards}
    ranks = sorted(value.values(), reverse=True)
    count = sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)
    shape = [times for times, _ in count]
    straight = len(count) == 5 and ranks[0] - ranks[4] == 4
    suited = len({card.suit for card in cards}) == 1
    if low == "ace_to_five":
        straight = suited = False
    place = {(4, 1): 7, (3, 2): 6, (3, 1, 1): 3, (2, 2, 1): 2, (2, 1, 1, 1): 1}.get(tuple(shape), 0)
    place = 8 if straight and suited else 5 if suited else 4 if straight else place
    return place, [rank for _, rank in count]


@pytest.mark.parametrize("profile", [SEVEN, FIVE], ids=["deuce to seven", "ace to five"])
def test_the_lower_middle_wins_by_the_houses_low(profile: Profile) -> None:
    deal, low = random.Random(27), profile.hands.middle
    hands = [tuple(deal.sample(CARDS, 5)) for _ in range(3_000)]
    hands += [cards for cards in combinations(CARDS[:52:4] + CARDS[1:24:4], 5) if deal.random() < 0.1]
    keyed = sorted((low_key(cards, low), profile.scale.of_row(1, cards)) for cards in hands)
    strengths = [strength for _, strength in keyed]
    assert strengths == sorted(strengths, reverse=True)
    assert len(set(strengths)) == len({str(key) for key, _ in keyed})
    best = {"deuce_to_seven": "7s 5h 4d 3c 2c", "ace_to_five": "5s 4s 3s 2s As"}[low]
    assert profile.scale.of_row(1, parse_cards(best)) == profile.scale.size


GOOD = "As Ah Kd / 8c 7d 4h 3s 2c / Jh Jd Js 9c 9d"
OTHER = "Qs Qh Kc / 7h 6s 4d 3h 2h / Ac Ad Th 5h 5s"
BETTER = "Qs Qh 2d / 7c 5d 4d 3h 2h / Ks Kh 8d 8h 6d"


def test_a_worked_hand_pays_the_lower_middle_and_its_bonus_and_is_told_alike_from_the_record() -> None:
    settlement = play(SEVEN, {1: GOOD, 2: BETTER})
    # front, back; middle and two bonuses
    assert settlement.points == {
        1: 1 - 8 + 1 + 2 - 1 + 0,
        2: -(1 - 8 + 1 + 2 - 1),
    }
    whys = [line.why for line in settlement.pairs[0].lines]
    assert "middle: seven low beats eight low" in whys
    recorded = read_settlement(settlement_json(settlement))
    assert [str(line.message) for line in recorded.pairs[0].lines] == whys
    row = recorded.hands[0].rows["middle"]
    assert row.category == "deuce_to_seven"


def test_in_ace_to_five_an_ace_is_low_and_a_straight_flush_is_five_low() -> None:
    rows = "Ks Kh Kd / 5c 4c 3c 2c Ac / Jh Jd Js Jc 9d", "Qs Qh 2d / 6c 4d 3h 2h Ah / Ts Th 8d 8h 6d"
    settlement = play(FIVE, dict(enumerate(rows, start=1)))
    lines = {line.why: line.points for line in settlement.pairs[0].lines}
    assert "middle: five low beats six low" in lines
    recorded = read_settlement(settlement_json(settlement))
    assert str(recorded.hands[0].words(1).full) == "five low, four, three, two, ace" or (
        str(recorded.hands[1].words(1).full) == "five low, four, three, two, ace"
    )


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (GOOD, None),
        ("As Ah Kd / 8c 7d 4h 3s 2c / Jh Jd Ts 9c 8d", "front_above_back"),
        ("As Ah Kd / Qc 7d 4h 3s 2c / Jh Jd Js 9c 9d", "middle_not_low"),
        ("As Ah Kd / 6c 5d 4h 3s 2c / Jh Jd Js 9c 9d", "middle_not_low"),
        ("As Ah Kd / Tc 9d 8h 7s 5c / Jh Jd Js 9c 4d", None),
    ],
)
def test_a_foul_is_a_front_above_the_back_or_a_middle_that_is_not_low_enough(
    rows: str, fault: str | None
) -> None:
    assert foul(Rows.parse(rows), SEVEN) == fault
    if fault:
        why = play(SEVEN, {1: rows, 2: OTHER}).pairs[0].lines[0].why
        assert "beats the back" in why if fault == "front_above_back" else "is not low enough" in why
    assert foul(Rows.parse("2s 2h Kd / Ac Ad 4h Ks Kc / Jh Jd Js 9c 9d"), FIVE) is None


def test_a_growing_middle_is_dead_once_it_holds_a_pair() -> None:
    profile = rules("california-face-up", **LOW, bonus__middle={}, fantasyland__stay={})
    for text, is_dead in (("As / 2c 2d / ", True), ("As / 2c 3d / ", False), ("As Ah / 2c Jd / ", True)):
        rows = Rows.parse(text)
        found = growth(rows, [card for card in CARDS if card not in rows.cards], profile)
        assert found.is_dead == is_dead, text


def test_its_page_says_what_wins_the_middle_and_never_compares_it_with_another_row() -> None:
    for profile in (SEVEN, FIVE):
        assert contradictions(profile) == ()
        text = " ".join(rule.text for rule in rules_of(profile))
        assert "In the middle the lowest hand wins" in text
        assert "The middle is compared with neither" in text
        assert "middle above the front" not in text


@pytest.mark.parametrize(
    ("options", "path"),
    [
        ({"foul__low_middle": "T"}, "foul.low_middle"),
        ({**LOW, "bonus__middle": {"full_house": 2}}, "bonus.middle"),
        ({**LOW, "bonus__middle": {"ace_to_five:6": 2}}, "bonus.middle"),
        ({**LOW, "bonus__middle": {"deuce_to_seven:8": 4, "deuce_to_seven:7": 2}}, "bonus.middle"),
        ({"bonus__back": {"deuce_to_seven:8": 4}}, "bonus.back"),
        ({**LOW, "bonus__middle": {}, "scoring__suits": ["s", "h", "d", "c"]}, "scoring.suits"),
    ],
)
def test_what_a_lowball_middle_excludes_is_said(options: dict[str, object], path: str) -> None:
    assert path in [found.path for found in contradictions(rules("washington-1-unit", **options))]
