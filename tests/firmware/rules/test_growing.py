"""A hand is dead exactly where no cards complete it without a foul."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firmware.rules import CARDS, UNREAD, Card, HandError, Profile, Rows, foul, load_profile, parse_cards
from firmware.rules.growing import growth
from tests.examples import examples
from tests.firmware.rules.tables import rules

FACE_UP = load_profile("california-face-up")


def everything_but(rows: Rows, *seen: str) -> list[Card]:
    known = {*rows.cards, *(card for text in seen for card in parse_cards(text))}
    return [card for card in CARDS if card not in known]


def is_dead(text: str, *seen: str, profile: Profile = FACE_UP) -> bool:
    rows = Rows.parse(text)
    return growth(rows, everything_but(rows, *seen), profile).is_dead


@pytest.mark.parametrize(
    ("rows", "seen", "dead"),
    [
        (" / / ", [], False),
        ("As Ah Ad / / ", [], False),
        ("As Ah Ad / 2c 3d / ", [], False),
        # Trip aces in front: the middle still needs a straight, a full house or better.
        ("As Ah Ad / 2c 3d 7h / ", [], True),
        ("As Ah Ad / 2c 2d 3h / ", [], False),
        ("As Ah Ad / 2c 2d 3h / 4c 4d 4h 5s 5h", [], False),
        ("As Ah Ad / 2c 2d 3h / 4c 4d 4h 5s", [], False),
        # ... and then the back something above it.
        ("As Ah Ad / 2c 2d 3h / 4c 4d 5h 6s", [], True),
        ("As Ah / 2c 3d 4h 9s / ", [], True),
        ("Qs Qh / 2c 3d 4h Ks / 2s 2h 3h 3s 4s", [], False),
        ("Ks Kh / Kd 3d 4h 9s / ", [], False),
        # Only the case king makes the middle kings too, and then its kickers must be higher.
        ("Ks Kh / Kd 3d 4h 9s / ", ["Kc"], True),
        ("Ks Kh Ad / Kd 3d 4h 9s / ", [], True),
        ("Ks Kh 2s / Kd 3d 4h 9s / ", [], False),
        # The front must stay below the middle, and may not pair by necessity.
        ("7s 6h / 8c 5d 4h 3s 2c / ", [], False),
        # A back of seven high is below any middle, and equal at best.
        (" / / 7s 5h 4d 3c 2s", [], True),
        (" / / 8s 5h 4d 3c 2s", [], False),
    ],
)
def test_dead_hands_by_example(rows: str, seen: list[str], dead: bool) -> None:
    assert is_dead(rows, *seen) is dead


def test_a_completion_shows_that_a_hand_is_alive() -> None:
    rows = Rows.parse("Qs Qh / Kd 3d 4h / 5c 6c")
    unseen = everything_but(rows)
    found = growth(rows, unseen, FACE_UP)
    assert found.completion is not None
    assert foul(found.completion, FACE_UP) is None
    assert set(found.completion.cards) <= {*unseen, *rows.cards}
    assert all(row[: len(start)] == start for row, start in zip(found.completion, rows, strict=True))
    assert found.open == (1, 2, 3)


def test_what_each_row_can_end_with() -> None:
    rows = Rows.parse("Qs Qh / Kd Kh 4h 4d / 5c 6c 7c 8c")
    found = growth(rows, everything_but(rows, "9c 4c 4s"), FACE_UP)
    text = FACE_UP.scale.text
    assert [text(strength) for strength in found.weakest] == [
        "pair of queens, two",
        "two pairs, kings and fours, two",
        "eight high, seven, six, five, two",
    ]
    assert [text(strength) for strength in found.strongest] == [
        "three queens",
        "full house, kings over fours",
        "flush, ace high, eight, seven, six, five",
    ]


def test_equal_rows_decide() -> None:
    rows = Rows.parse(" / Ac Kd Qh Js / Ad Kc Qs Jh 9s")
    # A ten makes the middle a straight and an ace or a king a pair, so it takes the nine and equals the back.
    unseen = parse_cards("9h Ts As Kh")
    assert growth(rows, unseen, rules(FACE_UP, foul__equal_rows="foul")).is_dead
    assert not growth(rows, unseen, rules(FACE_UP, foul__equal_rows="ok")).is_dead


def test_suits_decide_between_equal_straights() -> None:
    profile = rules(FACE_UP, foul__suit_tiebreak=["s", "h", "c", "d"])
    rows = Rows.parse("2c 3d 4h / 5c 6d 7h 8s / 5s 6h 7d 8c")
    assert growth(rows, parse_cards("9s 9h"), FACE_UP).is_dead
    found = growth(rows, parse_cards("9s 9h"), profile)
    assert found.completion is not None
    assert [str(row[-1]) for row in found.completion[1:]] == ["9h", "9s"]
    assert not growth(rows, parse_cards("9s 9h"), rules(FACE_UP, foul__equal_rows="ok")).is_dead


def completions(rows: Rows, unseen: Sequence[Card]) -> Iterator[Rows]:
    front, middle, back = (size - len(row) for _, row, size in rows.named())
    for first in combinations(unseen, front):
        rest = [card for card in unseen if card not in first]
        for second in combinations(rest, middle):
            left = [card for card in rest if card not in second]
            for third in combinations(left, back):
                yield Rows(rows.front + first, rows.middle + second, rows.back + third)


@st.composite
def growing_hands(draw: st.DrawFn) -> tuple[Rows, list[Card]]:
    """Rows with at most five open places, and few unseen cards, so that all completions can be gone through."""
    # Few ranks and suits, so that there are pairs, straights and flushes to make.
    ranks = draw(st.integers(5, 9))
    suits = draw(st.integers(2, 4))
    deck = draw(st.permutations([card for card in CARDS if card.rank < ranks or card.rank == 12]))
    deck = sorted(deck, key=lambda card: card.suit >= suits)
    open_places = draw(st.integers(1, 4))
    sizes = [3, 5, 5]
    for _ in range(open_places):
        row = draw(st.sampled_from([row for row in range(3) if sizes[row]]))
        sizes[row] -= 1
    taken = sum(sizes)
    rows = Rows(*(tuple(deck[sum(sizes[:row]) : sum(sizes[: row + 1])]) for row in range(3)))
    unseen = deck[taken : taken + open_places + draw(st.integers(0, 4))]
    if draw(st.booleans()) and len(rows.middle) + len(rows.back) > 4:
        rows = Rows(rows.front, *sorted(rows[1:], key=lambda row: max((c.rank for c in row), default=0)))
    return rows, unseen


@pytest.mark.parametrize("wheel", ["lowest", "second_highest", "not_a_straight"])
@pytest.mark.parametrize("suits", [[], ["s", "h", "c", "d"]])
@pytest.mark.parametrize("equal_rows", ["foul", "ok"])
@given(growing_hands())
@examples(40)
def test_it_agrees_with_all_completions(
    wheel: str, suits: list[str], equal_rows: str, hand: tuple[Rows, list[Card]]
) -> None:
    rows, unseen = hand
    profile = rules(FACE_UP, hands__wheel=wheel, foul__suit_tiebreak=suits, foul__equal_rows=equal_rows)
    alive = any(foul(completed, profile) is None for completed in completions(rows, unseen))
    assert growth(rows, unseen, profile).is_dead is not alive


@pytest.mark.parametrize(
    ("rows", "unseen", "message"),
    [
        (Rows.parse("2c 3c 4c 5c / / "), CARDS[20:], "the front row has 4 cards"),
        (Rows.parse("2c ?? / / "), CARDS[20:], "unread"),
        (Rows.parse("2c / / "), (UNREAD,), "unread"),
        (Rows.parse("2c / 2c / "), CARDS[20:], "twice"),
        (Rows.parse("2c / / "), CARDS, "both set and unseen"),
        (Rows.parse("2c / / "), CARDS[20:25], "too few"),
    ],
)
def test_a_hand_that_cannot_grow(rows: Rows, unseen: Sequence[Card], message: str) -> None:
    with pytest.raises(HandError, match=message):
        growth(rows, unseen, FACE_UP)
