"""A house's own naturals: each condition against a slow implementation, and how they are written, listed and paid."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import (
    CARDS,
    Card,
    NaturalEntry,
    Profile,
    ProfileError,
    Rows,
    load_profile,
    parse_profile,
    profile_toml,
    recorded_profile,
    settlement_json,
)
from firmware.rules.naturals.conditions import ROW_HANDS, Conditions, implies
from firmware.rules.naturals.kinds import NATURALS, By, natural_finder
from firmware.rules.naturals.search import FIRST_OWN_BIT, OwnNaturalFinder
from firmware.rules.profiles.natural_lists import list_troubles, same_conditions
from firmware.rules.recorded_settlement import read_settlement
from tests.examples import examples
from tests.firmware.rules.tables import play, rules
from tests.firmware.rules.test_naturals import naive_flush, naive_straight
from tests.firmware.rules.test_options import DRAGON, LOW, SIX_PAIRS

Hand = tuple[Card, ...]


def holds(needs: Conditions, cards: Hand, wheel: str = "lowest") -> bool:
    """Return what the product finds."""
    finder = OwnNaturalFinder("cards", wheel, [needs])  # type: ignore[arg-type]
    return finder.bits(cards[:3], cards[3:8], cards[8:]) >= FIRST_OWN_BIT


# ---- a slow implementation ----


def slowly(needs: Conditions, cards: Hand) -> bool:
    """Return whether cards meet conditions, by trying out everything."""
    if needs.ranks and sum(card.code[0] in needs.ranks for card in cards) < needs.cards:
        return False
    by_suit = [sum(card.code[1] == suit for card in cards) for suit in "cdhs"]
    red = sum(card.code[1] in "dh" for card in cards)
    if max(by_suit) < needs.one_suit or max(red, 13 - red) < needs.one_color:
        return False
    if len({card.code[0] for card in cards}) < needs.different_ranks:
        return False
    return any(slow_groups(needs, left) for left in slow_rows(needs, cards))


def slow_groups(needs: Conditions, cards: Sequence[Card]) -> bool:
    ranks = [card.rank for card in cards]
    counts = tuple(sorted(ranks.count(rank) for rank in set(ranks)))
    wanted = needs.quads, needs.trips, needs.pairs
    return any(
        all(have >= want for have, want in zip(one, wanted, strict=True))
        for one in reached(counts, needs.quads_as_pairs)
    )


@cache
def reached(counts: tuple[int, ...], quads_as_pairs: bool) -> set[tuple[int, int, int]]:
    """Return all numbers of quads, trips and pairs that ranks of so many cards can be parted into."""
    if not counts:
        return {(0, 0, 0)}
    count, *others = counts
    ways = {(0, 0, 0)}
    ways |= {(0, 0, 1)} if count >= 2 else set()
    ways |= {(0, 1, 0)} if count >= 3 else set()
    ways |= {(1, 0, 0)} if count == 4 else set()
    ways |= {(0, 0, 2)} if count == 4 and quads_as_pairs else set()
    return {
        (quads + one, trips + two, pairs + three)
        for quads, trips, pairs in reached(tuple(others), quads_as_pairs)
        for one, two, three in ways
    }


def is_row(hand: str, cards: Sequence[Card]) -> bool:
    straight, flush = naive_straight(tuple(cards)), naive_flush(tuple(cards))
    return {"straight": straight, "flush": flush, "straight_flush": straight and flush}[hand]


def slow_rows(needs: Conditions, cards: Hand) -> Iterator[Sequence[Card]]:
    """Yield the cards beside the rows that are asked for, for every way to have such rows."""
    if needs.by == "rows":
        rows = cards[:3], cards[3:8], cards[8:]
        if all(is_row(hand, row) for hand, row in zip(needs.rows, rows, strict=True) if hand):
            yield [card for hand, row in zip(needs.rows, rows, strict=True) if not hand for card in row]
        return
    left: list[Sequence[Card]] = [cards]
    for hand, size in zip(needs.rows, (3, 5, 5), strict=True):
        if hand:
            left = [
                [card for card in others if card not in row]
                for others in left
                for row in combinations(others, size)
                if is_row(hand, row)
            ]
    yield from left


# ---- hands near the conditions ----


@st.composite
def near(draw: st.DrawFn) -> Hand:
    """Thirteen cards of rows and groups, in any order, of which one may have become another."""
    deal = draw(st.randoms(use_true_random=False))
    return near_hand(deal)


def near_hand(deal: random.Random) -> Hand:
    deck = list(CARDS)
    deal.shuffle(deck)
    if deal.random() < 0.4:  # few ranks
        low = deal.randint(0, 8)
        deck.sort(key=lambda card: not low <= card.rank < low + deal.choice((4, 5, 7)))
    cards: list[Card] = []
    for size in (5, 5, 3):
        match deal.choice(("straight", "flush", "straight_flush", "group", "any")):
            case "straight" | "straight_flush" as what:
                low, suit = deal.randint(-1, 13 - size), deal.randint(0, 3)
                found = [
                    next(
                        (
                            card
                            for card in deck
                            if card.rank == rank % 13 and (what == "straight" or card.suit == suit)
                        ),
                        None,
                    )
                    for rank in range(low, low + size)
                ]
                row = [card for card in found if card]
            case "flush":
                row = [card for card in deck if card.suit == deck[0].suit][:size]
            case "group":
                row = [card for card in deck if card.rank in (deck[0].rank, deck[-1].rank)][:size]
            case _:
                row = []
        row = row if len(row) == size else deck[:size]
        cards += row
        deck = [card for card in deck if card not in row]
    if deal.random() < 0.3:
        cards[deal.randint(0, 12)] = deck[0]
    if deal.random() < 0.3:
        deal.shuffle(cards)
    return tuple(cards[10:] + cards[:10])


@st.composite
def conditions(draw: st.DrawFn) -> Conditions:
    """Any conditions, most of them few."""
    given: dict[str, object] = {}
    for name in draw(st.lists(st.sampled_from(("ranks", "suit", "groups", "rows")), min_size=1, max_size=2)):
        match name:
            case "ranks":
                given["ranks"] = draw(st.sampled_from(("89TJQKA", "2345678", "JQKA", "23456789T", "2468T")))
                given["cards"] = draw(st.integers(8, 13))
                given["different_ranks"] = draw(st.sampled_from((0, 5, 9)))
            case "suit":
                given["one_suit"] = draw(st.sampled_from((0, 4, 6, 8)))
                given["one_color"] = draw(st.sampled_from((7, 9, 11)))
            case "groups":
                given |= {"quads": draw(st.integers(0, 2)), "trips": draw(st.integers(0, 3))}
                given |= {"pairs": draw(st.integers(0, 4)), "quads_as_pairs": draw(st.booleans())}
            case _:
                given["by"] = draw(st.sampled_from(("cards", "rows")))
                for row in draw(
                    st.lists(st.sampled_from(("front", "middle", "back")), min_size=1, unique=True)
                ):
                    given[row] = draw(st.sampled_from(ROW_HANDS))
    return Conditions(**given)  # type: ignore[arg-type]


@examples(150)
@given(conditions(), near())
def test_every_condition_agrees_with_a_slow_implementation(needs: Conditions, cards: Hand) -> None:
    assert holds(needs, cards) is slowly(needs, cards)


def test_quads_trips_and_pairs_agree_for_every_shape_of_thirteen_cards() -> None:
    shapes = [
        (fours, threes, twos, ones)
        for fours, threes, twos in product(range(4), range(5), range(7))
        if 0 <= (ones := 13 - 4 * fours - 3 * threes - 2 * twos) <= 13 - fours - threes - twos
    ]
    wanted = [
        Conditions(quads=quads, trips=trips, pairs=pairs, quads_as_pairs=as_pairs)
        for quads, trips, pairs, as_pairs in product(range(4), range(5), range(7), (True, False))
    ]
    finder = OwnNaturalFinder("cards", "lowest", wanted)
    for fours, threes, twos, ones in shapes:
        counts = [4] * fours + [3] * threes + [2] * twos + [1] * ones
        cards = tuple(CARDS[4 * rank + suit] for rank, count in enumerate(counts) for suit in range(count))
        bits = finder.bits(cards[:3], cards[3:8], cards[8:]) // FIRST_OWN_BIT
        assert [bool(bits >> place & 1) for place in range(len(wanted))] == [
            slow_groups(needs, cards) for needs in wanted
        ], counts


@cache
def pool() -> tuple[Hand, ...]:
    deal = random.Random(45)
    ranked = [tuple(deal.sample([card for card in CARDS if card.rank >= low], 13)) for low in (0, 6, 9)]
    return tuple(ranked + [near_hand(deal) for _ in range(150)] + [CARDS[suit::4] for suit in range(4)])


@pytest.mark.parametrize("by", ["cards", "rows"])
def test_a_named_kind_is_what_the_same_conditions_find(by: By) -> None:
    kinds = [kind for kind in NATURALS if not kind.startswith("twelve_")]
    finder = OwnNaturalFinder(by, "lowest", [same_conditions(kind, by) for kind in kinds])
    found = set()
    for cards in pool():
        rows = cards[:3], cards[3:8], cards[8:]
        bits, named = finder.bits(*rows), natural_finder(by).bits(*rows)
        for place, kind in enumerate(kinds):
            assert bool(bits & FIRST_OWN_BIT << place) is bool(named & NATURALS[kind]), kind
        found |= {kind for kind in kinds if named & NATURALS[kind]}
    assert {"dragon", "six_pairs", "three_straights", "three_flushes"} <= found


def some_conditions() -> list[Conditions]:
    groups = [
        Conditions(quads=quads, trips=trips, pairs=pairs, quads_as_pairs=as_pairs)
        for quads, trips, pairs, as_pairs in product((0, 1), (0, 1, 2), (0, 2, 4), (True, False))
        if quads + trips + pairs
    ]
    rows = [
        Conditions(front=front, middle=middle, back=back, by=by)  # type: ignore[arg-type]
        for front, middle, back in product(
            ("", "flush"), ("", "straight", "straight_flush"), ("", "flush", "straight")
        )
        for by in ("cards", "rows")
        if front or middle or back
    ]
    counted = [
        Conditions(ranks=ranks, cards=cards)
        for ranks in ("89TJQKA", "JQKA", "TJQKA")
        for cards in (9, 12, 13)
    ]
    counted += [
        Conditions(one_suit=9),
        Conditions(one_color=9),
        Conditions(different_ranks=9),
        Conditions(one_suit=13),
    ]
    mixed = [
        Conditions(back="flush", pairs=2),
        Conditions(back="flush", pairs=4),
        Conditions(ranks="89TJQKA", trips=2),
    ]
    return [*groups, *rows, *counted, *mixed]


def test_what_is_said_to_cover_another_natural_does_and_what_a_hand_meets_is_not_called_impossible() -> None:
    several = some_conditions()
    finder = OwnNaturalFinder("cards", "lowest", several)
    found = [finder.bits(cards[:3], cards[3:8], cards[8:]) // FIRST_OWN_BIT for cards in pool()]
    met = [{hand for hand, bits in enumerate(found) if bits >> place & 1} for place in range(len(several))]
    covered = [
        (one, other)
        for one, other in product(range(len(several)), repeat=2)
        if one != other and implies(several[one], several[other])
    ]
    assert all(met[one] <= met[other] for one, other in covered)
    assert sum(bool(met[one]) for one, _ in covered) > 100
    for needs, hands in zip(several, met, strict=True):
        entry = NaturalEntry("own", 1, "", needs)
        said = [str(why) for why in list_troubles([entry], "cards")]
        assert not (hands and any(why.startswith("No thirteen cards") for why in said)), needs
        if needs.by == "rows" or not needs.named_rows:  # the others take too long for all hands
            assert hands == {hand for hand, cards in enumerate(pool()) if slowly(needs, cards)}, needs


def test_a_wheel_that_is_no_straight_is_none_in_a_houses_own_natural() -> None:
    low = Conditions(back="straight_flush")
    cards = Rows.parse("2c 4d 9h / Ts 8c 7d 3h Qs / As 2s 3s 4s 5s").cards
    assert holds(low, cards)
    assert not holds(low, cards, "not_a_straight")


# ---- in a profile ----

OURS = """
[profile]
name = "ours"
extends = "washington-1-unit"

[naturals]
declared = "required"
kinds = [
    { kind = "two_tails", value = 20, name = "Two tails", middle = "straight_flush", back = "straight_flush" },
    { kind = "dragon", value = 13 },
    { kind = "twelve_royals", value = 12, ranks = "JQKA", cards = 12 },
    { kind = "all_high", value = 10, ranks = "89TJQKA" },
    { kind = "four_trips", value = 6, trips = 4 },
    { kind = "six_pairs", value = 3, name = "Six and a half" },
    { kind = "pairs_and_flush", value = 2, pairs = 4, back = "flush", by = "rows" },
]
"""
OTHER = "7c 5c 4s / 2c 2d 9d 6c 3s / 3c 3d 4d 4c 6s"
HIGH = "8h 9c Jd / Th Tc Qd Qs Ah / Kc Kd Ks Jc Js"


@pytest.fixture(scope="module")
def ours() -> Profile:
    return parse_profile(OURS)


def test_the_highest_natural_of_the_list_counts_and_its_line_says_why(ours: Profile) -> None:
    pair = play(ours, {1: HIGH, 2: OTHER}, declares=[1]).pairs[0]
    (line,) = pair.lines
    assert (abs(line.points), line.clause) == (10, "naturals.kinds")
    assert line.why == "natural of seat 1: all cards of the ranks 8–A"


def test_a_houses_name_for_a_natural_is_said_and_recorded(ours: Profile) -> None:
    settlement = play(ours, {1: SIX_PAIRS, 2: OTHER}, declares=[1])
    assert settlement.pairs[0].lines[0].why == "natural of seat 1: Six and a half"
    stored = settlement_json(settlement)
    assert stored["hands"][0]["natural"] == {"kind": "six_pairs", "value": 3, "name": "Six and a half"}
    assert str(read_settlement(stored).pairs[0].lines[0].message) == "natural of seat 1: Six and a half"


def test_a_record_keeps_what_an_own_natural_is(ours: Profile) -> None:
    stored = settlement_json(play(ours, {1: HIGH, 2: OTHER}, declares=[1]))
    assert stored["hands"][0]["natural"]["conditions"] == {"ranks": "89TJQKA"}
    assert str(read_settlement(stored).pairs[0].lines[0].message).endswith("all cards of the ranks 8–A")
    # of a later release: told in the record's words
    stored["hands"][0]["natural"]["conditions"] = {"jokers": 2}
    assert str(read_settlement(stored).pairs[0].lines[0].message).endswith("all cards of the ranks 8–A")


def test_an_own_natural_is_written_as_it_was_read(ours: Profile) -> None:
    text = profile_toml(ours)
    assert '{ kind = "pairs_and_flush", value = 2, pairs = 4, back = "flush", by = "rows" }' in text
    assert recorded_profile(text.encode()).naturals.kinds == ours.naturals.kinds


def test_a_row_that_a_natural_names_must_lie_there(ours: Profile) -> None:
    front_pairs = "7d 7s 8s / 8d 9s 9c Jd Jh / Ah Kh Th 5h 3h"
    elsewhere = "7d 7s 8s / Ah Kh Th 5h 3h / 8d 9s 9c Jd Jh"
    assert play(ours, {1: front_pairs, 2: OTHER}, declares=[1]).hands[0].natural
    assert not play(ours, {1: elsewhere, 2: OTHER}, declares=[1]).hands[0].natural


@pytest.mark.parametrize(("acted", "winner"), [({1: 1, 2: 2}, 1), ({1: 2, 2: 1}, 2), ({1: 1}, 2)])
def test_the_natural_declared_first_collects_and_where_nobody_knows_the_higher(
    ours: Profile, acted: dict[int, int], winner: int
) -> None:
    first = rules(ours, naturals__wins="first_declared")
    pair = play(first, {1: SIX_PAIRS, 2: DRAGON}, declares=[1, 2], acted=acted).pairs[0]
    assert pair.lines[0].winner.seat == winner
    assert abs(pair.points) == {1: 3, 2: 13}[winner]
    said = [line.why for line in pair.lines if line.id == "natural_first"]
    assert said == ([f"seat {winner} declared its natural first, so it collects"] if len(acted) == 2 else [])


def test_a_surrender_may_pay_a_natural_its_value() -> None:
    pays = rules(load_profile("poker-flush-western"), surrender__versus_natural="value")
    settlement = play(
        pays,
        {1: DRAGON, 2: "", 3: LOW},
        declares=[1],
        surrenders=[2],
    )
    by_pair = {frozenset((pair.a, pair.b)): pair for pair in settlement.pairs}
    line = by_pair[frozenset((1, 2))].lines[0]
    assert (abs(line.points), line.clause) == (13, "surrender.versus_natural")
    assert line.why.startswith("seat 2 surrenders, and pays seat 1's natural its value: dragon")
    assert abs(by_pair[frozenset((2, 3))].points) == 3


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ('kind = "faces", value = 3, ranks = "JQKX"', "each rank once"),
        ('kind = "faces", value = 3, pairs = 7', "1 to 6"),
        ('kind = "faces", value = 3, pairs = 1, jokers = 1', "'jokers' is no condition of a natural"),
        ('kind = "faces", value = 3', "is no natural; allowed"),
        ('kind = "faces", value = 3, by = "rows"', "asks nothing of the cards"),
        ('kind = "dragon", value = 3, pairs = 2', "takes no conditions"),
        ('kind = "No faces", value = 3, pairs = 2', "small letters, figures and _"),
        ('kind = "faces", value = 3, back = "full_house"', '"straight", "flush", "straight_flush"'),
        ('kind = "faces", value = 3, pairs = 2, quads_as_pairs = 1', "true or false"),
        ('kind = "faces", value = 3, pairs = 2, name = "a\\u202eb"', "faces: "),
        ('kind = "faces", value = 3, pairs = 2, cards = 12', "cards says how many are of its ranks"),
        ('kind = "faces", value = 3, pairs = 2, by = "rows"', "by = rows speaks of rows"),
        ('kind = "faces", value = 3, trips = 2, quads_as_pairs = false', "speaks of two pairs"),
        ('kind = "faces", value = 3, ranks = "JQK"', "No thirteen cards are all cards of the ranks J–K"),
        ('kind = "faces", value = 3, one_suit = 8, pairs = 6', "could never count"),
        ('kind = "faces", value = 3, quads = 2, back = "straight", front = "flush"', "could never count"),
        ('kind = "wide", value = 4, pairs = 3 }, { kind = "narrow", value = 3, pairs = 4', "narrow could never count"),
        ('kind = "wide", value = 4, pairs = 3 }, { kind = "six_pairs", value = 3', "six_pairs could never count"),
        ('kind = "low", value = 2, trips = 2 }, { kind = "high", value = 3, quads = 3', "stands higher in the list: 2"),
    ],
)  # fmt: skip
def test_what_a_natural_cannot_be_is_said_with_its_line(entry: str, why: str) -> None:
    text = f'[profile]\nname = "ours"\nextends = "washington-1-unit"\n\n[naturals]\nkinds = [{{ {entry} }}]\n'
    with pytest.raises(ProfileError) as refused:
        parse_profile(text)
    found = [trouble for trouble in refused.value.troubles if why in str(trouble.message)]
    assert [(trouble.key, trouble.line) for trouble in found] == [("naturals.kinds", 6)], refused.value


def test_the_mistakes_of_a_list_of_naturals_are_said_at_once_each_with_its_line() -> None:
    text = (
        '[profile]\nname = "ours"\nextends = "washington-1-unit"\n[naturals]\nkinds = [\n'
        '    { kind = "dragon", value = 13 },\n    { kind = "faces", value = 3, ranks = "JQKX" },\n'
        '    { kind = "dragon", value = 3 }, { kind = "six_pears", value = 3 },\n    7,\n]\n'
    )
    with pytest.raises(ProfileError) as refused:
        parse_profile(text)
    found = refused.value.troubles
    assert [(trouble.key, trouble.line) for trouble in found] == [
        ("naturals.kinds", line) for line in (5, 7, 8, 8)
    ]
    for trouble, why in zip(
        found, ("highest first", "each rank once", "listed twice", "six_pears"), strict=True
    ):
        assert why in str(trouble.message)


def test_all_that_is_wrong_with_the_new_options_is_said_at_once() -> None:
    text = (
        '[profile]\nname = "ours"\nextends = "washington-1-unit"\n\n[naturals]\nwins = "first_declared"\n'
        "kinds = [\n"
        '    { kind = "a", value = 3, quads = 3, trips = 1 },\n'
        '    { kind = "b", value = 3, pairs = 2, by = "rows" },\n'
        ']\n[surrender]\npoints = 0\nversus_natural = "value"\n'
    )
    with pytest.raises(ProfileError) as refused:
        parse_profile(text)
    assert [(trouble.key, trouble.line) for trouble in refused.value.troubles] == [
        ("naturals.wins", 6), ("naturals.kinds", 7), ("naturals.kinds", 7), ("surrender.versus_natural", 13),
    ]  # fmt: skip
