"""What holds for every hand, under every profile, with every stack."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from firmware.rules import (
    CARDS,
    OPTIONS,
    Hand,
    Profile,
    Rows,
    SeatHand,
    Settlement,
    load_profile,
    profile_names,
    profile_toml,
    recorded_profile,
    settle,
)
from firmware.rules.profiles.options import Choice, Flag
from firmware.rules.strength import scale
from tests.examples import examples

PROFILES = [load_profile(name) for name in profile_names()]
CHOICES: dict[str, tuple[object, ...]] = {
    path: tuple(kind.values) for path, (_, _, kind) in OPTIONS.items() if isinstance(kind, Choice)
}
CHOICES |= {path: (True, False) for path, (_, _, kind) in OPTIONS.items() if isinstance(kind, Flag)}


@st.composite
def profiles(draw: st.DrawFn) -> Profile:
    """Any profile, with some of its options changed."""
    profile = draw(st.sampled_from(PROFILES))
    paths = draw(st.lists(st.sampled_from(sorted(CHOICES)), max_size=4, unique=True))
    return profile.with_options({path: draw(st.sampled_from(CHOICES[path])) for path in paths})


def arranged(cards: tuple[object, ...], best: bool) -> Rows:
    """Return 13 cards as rows: as they come, or sorted so that there is seldom a foul."""
    rows = Rows(cards[:3], cards[3:8], cards[8:])  # type: ignore[arg-type]
    if best and scale().five(rows.middle) > scale().five(rows.back):
        rows = Rows(rows.front, rows.back, rows.middle)
    return rows


@st.composite
def decks(draw: st.DrawFn) -> tuple[object, ...]:
    """All cards, shuffled; or with equal ranks together, so that there are pairs, bonuses and naturals."""
    deck = draw(st.permutations(CARDS))
    if draw(st.booleans()):
        deck = sorted(deck, key=lambda card: card.rank)
    if draw(st.integers(0, 3)) == 0:
        deck = [card for rank in range(13) for card in deck if card.rank == rank]
        deck = [deck[4 * rank + hand] for hand in range(4) for rank in range(13)]  # four dragons
    return tuple(deck)


@st.composite
def hands(draw: st.DrawFn, profile: Profile, *, plain: bool = False) -> Hand:
    """Two to four seats with anything that the profile offers; `plain`: no caps, surrenders, declarations."""
    deck = draw(decks())
    numbers = draw(st.lists(st.integers(1, 5), min_size=2, max_size=4, unique=True))
    shares = len(numbers) == 4 and draw(st.booleans())
    stacks = draw(st.tuples(*[st.none() | st.integers(0, 60)] * 4))
    seats = []
    for index, number in enumerate(numbers):
        surrenders = bool(not plain and profile.surrender.points and draw(st.integers(0, 4)) == 0)
        rows = arranged(deck[13 * index : 13 * index + 13], draw(st.booleans()))
        finds = profile.natural_ranking[profile.natural_finder.bits(*rows)]
        declares = draw(st.booleans()) if profile.naturals.kinds and not surrenders else False
        seats.append(
            SeatHand(
                seat=number,
                rows=rows,
                player=("ann", "bob")[index % 2] if shares else "",
                stack=None if plain else stacks[index % 2 if shares else index],
                declares=bool(declares and (finds or not plain)),
                surrenders=surrenders,
                fantasyland=bool(profile.fantasyland.entry) and draw(st.booleans()),
            )
        )
    return Hand(seats=tuple(seats), button=draw(st.integers(1, 5)), unit=draw(st.integers(1, 7)))


@given(st.data())
@examples(250)
def test_money_sums_to_zero_and_a_cap_is_never_passed(data: st.DataObject) -> None:
    profile = data.draw(profiles())
    hand = data.draw(hands(profile))
    settlement = settle(hand, profile)
    assert not settlement.irregularities
    assert sum(settlement.paid.values()) == sum(settlement.points.values()) == 0
    for pair in settlement.pairs:
        assert pair.points == sum(line.points for line in pair.lines)
        assert pair.owed == pair.points * hand.unit
        assert pair.paid * pair.owed >= 0
        assert pair.short == abs(pair.owed) - abs(pair.paid) >= 0
        assert all(line.why and line.clause in OPTIONS for line in pair.lines)
    check_caps(settlement)


def check_caps(settlement: Settlement) -> None:
    """Assert that nobody's running net or gross passes the stack."""
    cap = settlement.profile.stakes.cap
    owners = {judged.seat: judged.owner for judged in settlement.hands}
    won = dict.fromkeys(owners.values(), 0)
    lost = won.copy()
    for pair in settlement.pairs:
        winner, payer = (pair.a, pair.b) if pair.paid > 0 else (pair.b, pair.a)
        amount = abs(pair.paid)
        won[owners[winner]] += amount
        lost[owners[payer]] += amount
        for player, stack in settlement.hand.stacks.items():
            if stack is not None and cap == "net":
                assert abs(won[player] - lost[player]) <= stack
            if stack is not None and cap == "gross":
                assert won[player] <= stack >= lost[player]
    if cap == "none":
        assert not any(pair.short for pair in settlement.pairs)
    for player, stack in settlement.stacks.items():
        assert stack == (settlement.hand.stacks[player] or 0) + won[player] - lost[player]


@pytest.mark.slow
@given(st.data(), st.integers(1, 4))
@examples(150)
def test_turning_the_table_turns_the_result(data: st.DataObject, turn: int) -> None:
    profile = data.draw(profiles())
    # that one begins at the same seat wherever the table is turned
    assume(profile.order.first != "lowest_seat")
    hand = data.draw(hands(profile))

    def turned(seat: int) -> int:
        return (seat - 1 + turn) % 5 + 1

    seats = tuple(replace(seat, seat=turned(seat.seat), player=seat.owner + "'") for seat in hand.seats)
    before = settle(hand, profile)
    after = settle(Hand(seats=seats, button=turned(hand.button), unit=hand.unit), profile)
    assert [turned(seat) for seat in before.order] == list(after.order)
    assert {turned(seat): points for seat, points in before.points.items()} == after.points
    assert {turned(seat): paid for seat, paid in before.paid.items()} == after.paid
    assert [(turned(p.a), turned(p.b), p.paid) for p in before.pairs] == [
        (p.a, p.b, p.paid) for p in after.pairs
    ]


@pytest.mark.slow
@given(st.data())
@examples(150)
def test_a_pairs_points_do_not_depend_on_the_other_hands(data: st.DataObject) -> None:
    profile = data.draw(profiles())
    hand = data.draw(hands(profile, plain=True))
    together = settle(hand, profile)
    for pair in together.pairs:
        two = tuple(seat for seat in hand.seats if seat.seat in (pair.a, pair.b))
        alone = settle(Hand(seats=two, button=hand.button, unit=hand.unit), profile).pairs[0]
        sign = 1 if alone.a == pair.a else -1
        holders = {seat.owner for seat in hand.seats if seat.seat == hand.button}
        if hand.button not in (pair.a, pair.b) and holders & {seat.owner for seat in two}:
            continue  # the puck lies at the second hand of one of the two, which is not there alone
        assert sign * alone.points == pair.points


@given(profiles())
@examples(60)
def test_a_profile_round_trips_through_toml(profile: Profile) -> None:
    assert recorded_profile(profile_toml(profile).encode()) == profile


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.name)
def test_every_packaged_profile_round_trips_through_toml(profile: Profile) -> None:
    text = profile_toml(profile)
    assert recorded_profile(text.encode()) == profile
    assert profile_toml(recorded_profile(text.encode())) == text
