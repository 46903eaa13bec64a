"""Bonuses that differ by the rank of a hand, in any row."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from dealer_ui.profiles.form import sections
from dealer_ui.profiles.house_rules_sentences import Values, bonus_table
from dealer_ui.view.rules_sheet import sheet
from firmware.rules import CARDS, Card, ProfileError, contradictions, parse_cards
from firmware.rules.cards import RANKS
from tests.dealer_ui.profiles.test_form import typed
from tests.firmware.rules.tables import rules

BY_RANK = {
    "two_pairs:A": 1,
    "TTT": 3,
    "three_of_a_kind": 2,
    "straight": 4,
    "straight:5": 3,
    "straight:A": 5,
    "flush": 6,
    "flush:A": 7,
    "full_house": 8,
    "full_house:A": 9,
    "2222": 9,
    "four_of_a_kind": 10,
    "AAAA": 12,
    "straight_flush": 14,
    "straight_flush:5": 13,
    "royal_flush": 20,
}
HOUSE = rules("traditional", bonus__back=BY_RANK, bonus__middle={"QQ": 1, "KK": 2, "AA": 3, "two_pairs": 3})


def worth(cards: Sequence[Card], table: Mapping[str, int]) -> int:
    """Return a row's bonus from its cards alone: counts, sequences and suits, without any table of strengths."""
    codes = [str(card) for card in cards]
    ranks = Counter(code[0] for code in codes)
    high_first = sorted(ranks, key=lambda rank: (ranks[rank], RANKS.index(rank)), reverse=True)
    counts = sorted(ranks.values(), reverse=True)
    one_suit = len({code[1] for code in codes}) == 1
    top = next((five[-1] for at in range(10) if set(five := ("A" + RANKS)[at : at + 5]) == set(ranks)), "")
    if counts == [1] * 5 and top and one_suit:
        name, rank = ("royal_flush", "") if top == "A" else ("straight_flush", top)
    elif counts == [1] * 5 and (top or one_suit):
        name, rank = ("straight", top) if top else ("flush", high_first[0])
    else:
        names = {
            (4, 1): "four_of_a_kind", (3, 2): "full_house", (3, 1, 1): "three_of_a_kind", (2, 2, 1): "two_pairs",
            (2, 1, 1, 1): "one_pair",
        }  # fmt: skip
        name, rank = names.get(tuple(counts), ""), high_first[0]
    one = rank * counts[0] if name in ("one_pair", "three_of_a_kind", "four_of_a_kind") else f"{name}:{rank}"
    return table.get(one, table.get(name, 0))


def dealt(count: int) -> list[tuple[Card, ...]]:
    """Return rows of five, rich in hands that are rare."""
    deal = random.Random(13)
    few = [
        [card for card in CARDS if card.rank in ranks] for ranks in ((12, 0), (12, 3), range(5), range(8, 13))
    ]
    one_suit = [card for card in CARDS if card.suit == 1]
    low = [card for card in one_suit if card.rank in (0, 1, 2, 3, 4, 12)]
    return [tuple(deal.sample(deal.choice([CARDS, *few, one_suit, low]), 5)) for _ in range(count)]


def test_bonuses_by_rank_are_those_of_a_count_of_the_cards() -> None:
    seen: Counter[int] = Counter()
    _, middle, back = HOUSE.bonuses
    for row in dealt(20_000):
        strength = HOUSE.scale.five(row)
        seen[points := worth(row, BY_RANK)] += 1
        assert back[strength] == points, row
        assert middle[strength] == worth(row, dict(HOUSE.bonus.middle)), row
    assert set(seen) == {0, *BY_RANK.values()}


def test_a_misspelt_hand_is_told_as_the_file_has_it_with_the_hand_that_is_meant() -> None:
    with pytest.raises(ProfileError, match=r"\{ fullhouse = 3 \} will not do: .*; did you mean full_house\?"):
        rules("traditional", bonus__back={"fullhouse": 3})


@pytest.mark.parametrize(
    "hand", ["straight:4", "flush:6", "two_pairs:2", "straight_flush:A", "royal_flush:A", "full_house:",
             "three_of_a_kind:A", "AAAAA", ":A", "full_house:AA", "high_card:A"],
)  # fmt: skip
def test_a_hand_that_there_is_not_is_refused(hand: str) -> None:
    with pytest.raises(ProfileError, match="is no hand here; allowed: one_pair, two_pairs"):
        rules("traditional", bonus__back={hand: 1})
    with pytest.raises(ProfileError, match="is no hand here"):
        rules("traditional", bonus__front={"full_house:A": 1})


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ({"full_house:K": 5, "full_house": 4}, "three kings: 5 points, more than full house with three aces"),
        ({"straight:5": 5, "straight": 4, "flush": 5}, "five high: 5 points, more than straight, six high"),
        ({"straight_flush:K": 9}, "straight flush, king high: 9 points, more than Royal flush"),
        ({"KKKK": 5, "straight_flush": 9}, "four kings: 5 points, more than four aces"),
    ],
)  # fmt: skip
def test_a_rank_that_pays_more_than_a_higher_one_is_found(table: dict[str, int], why: str) -> None:
    (found,) = contradictions(rules("traditional", bonus__back=table))
    assert found.path == "bonus.back"
    assert why.lower() in str(found.sentence).lower()


def test_a_wheel_that_is_the_second_straight_may_pay_more_than_the_others() -> None:
    table = {"straight:5": 5, "straight:A": 5, "straight": 4, "flush": 5, "full_house": 5, "four_of_a_kind": 5,
             "straight_flush": 6}  # fmt: skip
    house = rules("traditional", bonus__back=table, hands__wheel="second_highest")
    assert contradictions(house) == ()
    assert contradictions(rules(house, hands__wheel="lowest")) != ()


def test_the_page_the_sheet_and_the_form_name_the_rank() -> None:
    rows = {row[0]: row[1:] for row in bonus_table(Values(HOUSE)).rows}
    assert rows["Full house with three aces"] == ("–", "–", "9")
    assert rows["Pair of kings"] == ("–", "2", "–")
    assert (
        list(rows).index("Four aces") < list(rows).index("Four twos") < list(rows).index("Straight, ace high")
    )
    for table in sheet(HOUSE).tables[1:3]:
        for pay in table.hands:
            cards = parse_cards(" ".join(pay.cards))
            assert len(set(cards)) == len(cards)
            if len(cards) == 5 and (" high" in pay.words or " with " in pay.words):
                assert pay.pays == f"+{worth(cards, BY_RANK)}", pay
    fields = {field.path: field for section in sections(HOUSE) for field in section.fields}
    cells = {cell.name: cell.value for cell in fields["bonus.back"].cells}
    assert (cells["bonus.back:full_house:A"], cells["bonus.back:full_house"]) == ("9", "8")


def test_a_form_keeps_the_ranks_that_a_file_brought() -> None:
    table = {"full_house:2": 2, "full_house": 3, "four_of_a_kind": 3, "straight_flush": 3}
    house = rules("california-face-up", bonus__middle=table, fantasyland__stay={"back": "full_house:8"})
    draft = typed(house)
    assert draft.errors == {}
    assert draft.profile
    assert dict(draft.profile.bonus.middle) == table
    assert draft.profile.fantasyland == house.fantasyland
    wrong = typed(house, **{"bonus__middle:full_house:2": "x"}).errors
    assert "full_house:2 must have whole points" in wrong["bonus.middle"]
