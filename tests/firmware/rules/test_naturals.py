"""The ten naturals, proved by exact counting over every hand of thirteen cards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import CARDS, NATURAL_WORDS, Card, Natural, Rows, natural_finder
from firmware.rules.cards import RANK_COUNTS
from firmware.rules.naturals.kinds import NATURALS
from tests.examples import examples

MIXED_SUITS = 4 | 3 << 4 | 3 << 8 | 3 << 12
"""Four clubs and three of each other suit: no kind that suits decide."""
MIXED_RANKS = sum(count << 3 * rank for rank, count in enumerate([3, 3, 3, 1, 1, 1, 1])) << RANK_COUNTS
"""No kind that ranks decide."""


def rank_counts(ranks: range) -> dict[int, list[tuple[int, int]]]:
    """Return every way to hold cards of some ranks, by how many cards: (packed counts, number of hands)."""
    found = {0: [(0, 1)]}
    for rank in ranks:
        longer: dict[int, list[tuple[int, int]]] = {}
        for cards, ways in found.items():
            for count in range(min(4, 13 - cards) + 1):
                step, hands = count << RANK_COUNTS + 3 * rank, comb(4, count)
                longer.setdefault(cards + count, []).extend(
                    (pack | step, times * hands) for pack, times in ways
                )
        found = longer
    return found


def suit_counts() -> Iterator[tuple[int, int]]:
    """Yield every way in which 13 cards fall into suits: (packed counts, number of hands)."""
    for clubs in range(14):
        for diamonds in range(14 - clubs):
            for hearts in range(14 - clubs - diamonds):
                spades = 13 - clubs - diamonds - hearts
                hands = comb(13, clubs) * comb(13, diamonds) * comb(13, hearts) * comb(13, spades)
                yield clubs | diamonds << 4 | hearts << 8 | spades << 12, hands


@pytest.mark.slow
def test_every_hand_of_13_cards_is_counted_for_the_kinds_that_ranks_decide() -> None:
    """Goes through all 3,598,180 ways to hold 13 cards by rank, each with the number of its hands."""
    counted = natural_finder().counted
    low, high = rank_counts(range(6)), rank_counts(range(6, 13))
    kinds: Counter[int] = Counter()
    vectors: Counter[int] = Counter()
    hands = 0
    for cards, ways in low.items():
        others = high[13 - cards]
        hands += sum(times for _, times in ways) * sum(times for _, times in others)
        for pack, times in ways:
            pack |= MIXED_SUITS
            for other, more in others:
                if bits := counted(pack | other):
                    kinds[bits] += times * more
                    vectors[bits] += 1
    assert hands == comb(52, 13) == 635_013_559_600

    def count(kind: Natural) -> int:
        return sum(times for bits, times in kinds.items() if bits & kind)

    assert count(Natural.DRAGON) == 67_108_864
    assert count(Natural.SIX_PAIRS) == 2_856_863_152
    assert count(Natural.FIVE_PAIRS_TRIPS) == 342_692_064
    assert count(Natural.THREE_STRAIGHTS) == 2_029_579_776
    assert sum(found for bits, found in vectors.items() if bits & Natural.THREE_STRAIGHTS) == 589
    # Every dragon is also three straights; every five pairs and trips are also six pairs.
    assert all(bits & Natural.THREE_STRAIGHTS for bits in kinds if bits & Natural.DRAGON)
    assert all(bits & Natural.SIX_PAIRS for bits in kinds if bits & Natural.FIVE_PAIRS_TRIPS)


def test_every_hand_of_13_cards_is_counted_for_the_kinds_that_suits_decide() -> None:
    counted = natural_finder().counted
    kinds: Counter[Natural] = Counter()
    for pack, hands in suit_counts():
        for kind in Natural(counted(pack | MIXED_RANKS)):
            kinds[kind] += hands
    assert sum(hands for _, hands in suit_counts()) == comb(52, 13)
    assert kinds == {
        Natural.ALL_ONE_SUIT: 4,
        Natural.SUPER_DRAGON: 4,
        Natural.TWELVE_ONE_SUIT: 2_028,
        Natural.ALL_ONE_COLOR: 20_801_200,
        Natural.TWELVE_ONE_COLOR: 502_200_400,
        Natural.THREE_FLUSHES: 5_705_516_392,
    }


def held(text: str, by: str = "cards", wheel: str = "lowest") -> Natural:
    return natural_finder(by, wheel).find(*Rows.parse(text))


@pytest.mark.parametrize(
    ("kind", "rows"),
    [
        (Natural.ALL_ONE_SUIT, "2s 3s 4s / 5s 6s 7s 8s 9s / Ts Js Qs Ks As"),
        (Natural.SUPER_DRAGON, "2s 3s 4s / 5s 6s 7s 8s 9s / Ts Js Qs Ks As"),
        (Natural.DRAGON, "2s 3d 4s / 5h 6s 7c 8s 9s / Ts Jd Qs Ks As"),
        (Natural.ALL_ONE_COLOR, "2h 2d 3h / 3d 7h 8d Jh Kd Ad / 5h 6h 9d Td"),
        (Natural.TWELVE_ONE_SUIT, "2s 3s 4s / 5s 6s 7s 8s 9s / Ts Js Qs Ks 2h"),
        (Natural.TWELVE_ONE_COLOR, "2h 2d 3h / 3d 7h 8d Jh Kd Ad / 5h 6h 9d Ts"),
        (Natural.SIX_PAIRS, "2h 2d 3h / 3d 7h 7d Jh Jd Ad / Ah 9h 9d Ts"),
        (Natural.FIVE_PAIRS_TRIPS, "2h 2d 3h / 3d 7h 7d Jh Jd Ad / Ah 9h 9d 9s"),
        (Natural.THREE_STRAIGHTS, "2h 3d 4h / 4d 5h 6d 7h 8d 9d / Th Jd Qd Ks"),
        (Natural.THREE_FLUSHES, "2h 5h 9h / 4d 5d 7d Jd Ad 3s / 7s 8s Ks As"),
    ],
)
def test_each_kind_is_found(kind: Natural, rows: str) -> None:
    """The rows are uneven on purpose: a kind that looks at the cards does not care."""
    cards = Rows.parse(rows).cards
    assert natural_finder().find(cards[:3], cards[3:8], cards[8:]) & kind


def test_a_super_dragon_is_every_kind_that_it_can_be() -> None:
    found = held("2s 3s 4s / 5s 6s 7s 8s 9s / Ts Js Qs Ks As")
    assert found == (
        Natural.ALL_ONE_SUIT
        | Natural.SUPER_DRAGON
        | Natural.DRAGON
        | Natural.ALL_ONE_COLOR
        | Natural.THREE_STRAIGHTS
        | Natural.THREE_FLUSHES
    )


@pytest.mark.parametrize(
    ("rows", "is_six_pairs", "has_trips"),
    [
        ("2h 2d 2s / 2c 3h 3d 4h 4d 5h / 5d 6h 6d 7h", True, False),
        ("2h 2d 2s / 2c 3h 3d 4h 4d 5h / 5d 6h 6d 6s", True, True),
        ("2h 2d 2s / 2c 3h 3d 3s 3c 4h / 4d 4s 4c 5h", True, False),
        ("2h 2d 2s / 3c 3h 3d 4h 4d 5h / 5d 6h 6d 7h", False, False),
        ("2h 2d 2s / 3c 3h 3d 4h 4d 4c / 5d 5h 6d 6h", False, False),
    ],
    ids=["quads are two pairs", "trips are a pair and one", "three quads", "5 pairs", "three times trips"],
)
def test_pairs_within_quads_and_trips(rows: str, is_six_pairs: bool, has_trips: bool) -> None:
    cards = Rows.parse(rows).cards
    found = natural_finder().find(cards[:3], cards[3:8], cards[8:])
    assert bool(found & Natural.SIX_PAIRS) is is_six_pairs
    assert bool(found & Natural.FIVE_PAIRS_TRIPS) is has_trips


STRAIGHTS_AS_SET = "2h 3d 4h / 4d 5h 6d 7h 8h / 8d 9d Ts Jd Qs"


def test_three_straights_by_cards_look_at_any_arrangement_and_by_rows_at_the_rows() -> None:
    jumbled = "2h 3d 5h / 4h 4d 6d 7h 8h / 8d 9d Ts Jd Qs"
    assert held(jumbled, "cards") & Natural.THREE_STRAIGHTS
    assert not held(jumbled, "rows") & Natural.THREE_STRAIGHTS
    assert held(STRAIGHTS_AS_SET, "rows") & Natural.THREE_STRAIGHTS


def test_three_flushes_by_cards_look_at_any_arrangement_and_by_rows_at_the_rows() -> None:
    assert held("2h 5h 9h / 4d 5d 7d Jd 3s / 7s 8s Ks As Kd", "cards") & Natural.THREE_FLUSHES
    assert not held("2h 5h 9h / 4d 5d 7d Jd 3s / 7s 8s Ks As Kd", "rows") & Natural.THREE_FLUSHES
    assert held("2h 5h 9h / 4d 5d 7d Jd Kd / 7s 8s Ks As 3s", "rows") & Natural.THREE_FLUSHES


def test_a_straight_flush_row_serves_in_three_straights_and_in_three_flushes() -> None:
    assert held("2h 3h 4h / 4d 5s 6s 7s 8h / 9d Td Jd Qd Kd", "rows") & Natural.THREE_STRAIGHTS
    assert held("2h 3h 4h / 4d 5d 7d Jd Ad / 9s Ts Js Qs Ks", "rows") & Natural.THREE_FLUSHES


@pytest.mark.parametrize("by", ["cards", "rows"])
def test_a_2_3_and_q_k_a_are_both_straights_in_front(by: str) -> None:
    assert held("As 2h 3d / 4d 5h 6d 7h 8h / 8d 9d Ts Jd Qs", by) & Natural.THREE_STRAIGHTS
    assert held("As Kh Qd / 4d 5h 6d 7h 8h / 8d 9d Ts Jd Qs", by) & Natural.THREE_STRAIGHTS
    assert not held("As Kh 2d / 4d 5h 6d 7h 8h / 8d 9d Ts Jd Qs", by) & Natural.THREE_STRAIGHTS


@pytest.mark.parametrize("by", ["cards", "rows"])
def test_a_wheel_that_is_no_straight_bars_a_2_3_too(by: str) -> None:
    front, middle = "As 2h 3d / 4d 5h 6d 7h 8h / 8d 9d Ts Jd Qs", "Ts Jh Qd / As 2h 3d 4d 5s / 7d 8d 9s Td Js"
    for rows in (front, middle):
        assert held(rows, by, "second_highest") & Natural.THREE_STRAIGHTS
        assert not held(rows, by, "not_a_straight") & Natural.THREE_STRAIGHTS
    assert held("As Kh Qd / 4d 5h 6d 7h 8h / 8d 9d Ts Jd Qs", by, "not_a_straight") & Natural.THREE_STRAIGHTS


def naive_straight(cards: tuple[Card, ...]) -> bool:
    ranks = sorted(card.rank for card in cards)
    low_ace = sorted(-1 if rank == 12 else rank for rank in ranks)
    return any(found == list(range(found[0], found[0] + len(cards))) for found in (ranks, low_ace))


def naive_flush(cards: tuple[Card, ...]) -> bool:
    return len({card.suit for card in cards}) == 1


def naive_search(cards: tuple[Card, ...], is_row: Callable[[tuple[Card, ...]], bool]) -> bool:
    """Return whether some partition into 3, 5 and 5 has three such rows."""
    for front in filter(is_row, combinations(cards, 3)):
        rest = [card for card in cards if card not in front]
        for middle in filter(is_row, combinations(rest, 5)):
            if is_row(tuple(card for card in rest if card not in middle)):
                return True
    return False


@st.composite
def nearly_three_straights(draw: st.DrawFn) -> tuple[Card, ...]:
    """Thirteen cards that are three straights, or would be but for one card."""
    deck = list(CARDS)
    cards: list[Card] = []
    for size in (3, 5, 5):
        low = draw(st.integers(-1, 13 - size))
        for rank in range(low, low + size):
            cards.append(draw(st.sampled_from([card for card in deck if card.rank == rank % 13])))
            deck.remove(cards[-1])
    if draw(st.booleans()):
        cards[draw(st.integers(0, 12))] = draw(st.sampled_from(deck))
    return tuple(cards)


@st.composite
def nearly_three_flushes(draw: st.DrawFn) -> tuple[Card, ...]:
    """Thirteen cards with a suit for each row of 3, 5 and 5, or nearly so."""
    owners = draw(st.tuples(*[st.integers(0, 3)] * 3))
    wanted = [suit for suit, size in zip(owners, (3, 5, 5), strict=True) for _ in range(size)]
    if draw(st.booleans()):
        wanted[draw(st.integers(0, 12))] = draw(st.integers(0, 3))
    deck = draw(st.permutations(CARDS))
    by_suit = [[card for card in deck if card.suit == suit] for suit in range(4)]
    return tuple(by_suit[suit].pop() for suit in wanted)


@examples(50)
@given(nearly_three_straights())
def test_three_straights_by_cards_agree_with_a_search_through_all_partitions(cards: tuple[Card, ...]) -> None:
    found = natural_finder().find(cards[:3], cards[3:8], cards[8:])
    assert bool(found & Natural.THREE_STRAIGHTS) is naive_search(cards, naive_straight)


@examples(50)
@given(nearly_three_flushes())
def test_three_flushes_by_cards_agree_with_a_search_through_all_partitions(cards: tuple[Card, ...]) -> None:
    found = natural_finder().find(cards[:3], cards[3:8], cards[8:])
    assert bool(found & Natural.THREE_FLUSHES) is naive_search(cards, naive_flush)


@given(st.permutations(CARDS).map(lambda deck: tuple(deck[:13])))
def test_what_is_held_by_rows_is_held_by_cards(cards: tuple[Card, ...]) -> None:
    rows = cards[:3], cards[3:8], cards[8:]
    assert natural_finder("rows").find(*rows) in natural_finder("cards").find(*rows)


def test_every_kind_has_a_name_and_words() -> None:
    assert list(NATURALS) == list(NATURAL_WORDS)
    assert [kind.label for kind in Natural] == list(NATURALS)
