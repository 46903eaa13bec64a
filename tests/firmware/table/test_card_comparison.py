"""A new reading of the table: a change is told, and what was not compared is never "the same"."""

from __future__ import annotations

from dataclasses import replace

import pytest

from firmware.table import Phase, State, apply, fold
from firmware.table import events as ev
from firmware.table.card_comparison import can_compare, compare_cards
from tests.firmware.conftest import ROWS, Deal


@pytest.fixture
def settled() -> State:
    deal = Deal(ROWS)
    return fold([*deal.until(Phase.REVIEW), deal.settled()])


def looks(state: State, **other: str) -> list[ev.RowReading]:
    """What a camera sees of the cards on record; `back1="As Ks"` shows another back row at seat 1."""
    made = []
    for seat in state.seats:
        for row, cards in seat.rows.items():
            told = other.get(f"{row}{seat.seat}")
            names = [str(card.card) for card in cards] if told is None else told.split()
            read = tuple(ev.CardReading(name.rstrip("?"), 0.9, not name.endswith("?")) for name in names)
            made.append(ev.RowReading(seat.seat, row, seat.place, read))
    return made


def other_back(state: State, card: str) -> str:
    return " ".join([*(str(one.card) for one in state.seats[0].back[:-1]), card])


def free(state: State) -> str:
    used = {card.card for seat in state.seats for cards in seat.rows.values() for card in cards}
    return next(f"{rank}{suit}" for suit in "cdhs" for rank in "23456789TJQKA" if f"{rank}{suit}" not in used)


def test_a_table_that_nobody_touched_is_the_same(settled: State) -> None:
    seen = compare_cards(settled, looks(settled), last=True)
    assert seen.same == sum(len(cards) > 0 for seat in settled.seats for cards in seat.rows.values())
    assert not seen.changed
    assert not seen.not_compared


def test_another_certain_card_in_a_whole_row_is_a_change(settled: State) -> None:
    new, was = free(settled), str(settled.seats[0].back[-1].card)
    seen = compare_cards(settled, looks(settled, back1=other_back(settled, new)))
    assert [(row.seat, row.row, row.was, row.now) for row in seen.changed] == [(1, "back", (was,), (new,))]


def test_cards_that_are_collected_are_not_compared_and_no_change(settled: State) -> None:
    swept = compare_cards(settled, looks(settled, back1="", front1=str(settled.seats[1].front[0].card)))
    assert not swept.changed
    assert {(row.seat, row.row, row.why) for row in swept.not_compared} == {
        (1, "back", "gone"),
        (1, "front", "gone"),
    }


def test_a_row_that_was_not_looked_at_is_not_compared(settled: State) -> None:
    seen = compare_cards(settled, [look for look in looks(settled) if (look.seat, look.row) != (1, "back")])
    assert [(row.seat, row.row, row.why) for row in seen.not_compared] == [(1, "back", "gone")]


def test_a_card_that_is_not_certain_is_never_the_same_and_no_change(settled: State) -> None:
    seen = compare_cards(settled, looks(settled, back1=other_back(settled, free(settled) + "?")))
    assert not seen.changed
    assert [(row.seat, row.row, row.why) for row in seen.not_compared] == [(1, "back", "unsure")]


def test_a_card_that_the_dealer_corrected_is_known_by_both_names(settled: State) -> None:
    was = str(settled.seats[0].back[-1].card)
    corrected = apply(
        settled, ev.CardCorrected(1, "back", len(settled.seats[0].back) - 1, free(settled), was)
    )
    assert not compare_cards(corrected, looks(settled)).changed, "the camera reads it as before"


def test_a_row_that_the_dealer_keyed_otherwise_is_a_change(settled: State) -> None:
    keyed = apply(settled, ev.RowKeyed(1, "back", tuple(other_back(settled, free(settled)).split())))
    assert [row.row for row in compare_cards(keyed, looks(settled)).changed] == ["back"]


def test_a_hand_without_cards_of_a_camera_is_not_compared(settled: State) -> None:
    assert can_compare(settled)
    assert not can_compare(replace(settled, keyed="The camera is dead."))


def test_a_change_is_kept_once_and_a_new_settlement_is_compared_again(settled: State) -> None:
    row = ev.ChangedRow(1, "back", ("3h",), ("3s",))
    state = fold([ev.CardsCompared(False, changed=(row,)), ev.CardsCompared(True, changed=(row,))], settled)
    assert state.changed == (row,)
    assert state.compared
    unmarked = fold([ev.PaymentMarked(2, 1), ev.PaymentMarked(2, 1, paid=False)], state)
    assert not unmarked.compared
