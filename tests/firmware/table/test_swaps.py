"""A card is corrected by a name that the camera gave to another: the two change places, and nothing else does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.table import Ask, Phase, State
from firmware.table.swaps import swaps_made
from tests.dealer_ui.felt import Felt

PLACE = {"seat": 1, "row": "front", "index": 2}
"""Where the seven of clubs lies; the king of clubs lies last in seat 4's back."""


@pytest.fixture
def settled(tmp_path: Path) -> Iterator[Felt]:
    felt = Felt(tmp_path)
    felt.to_settled()
    yield felt
    felt.journal.close()


def names(state: State) -> list[list[str | None]]:
    return [[card.card for card in cards] for seat in state.seats for cards in seat.rows.values()]


def test_both_cards_change_in_one_command_and_the_hand_settles_again(settled: Felt) -> None:
    before = settled.state
    state = settled.do("set_card", **PLACE, card="Kc", swap=True)
    assert (state.seats[0].front[2].card, state.seats[3].back[4].card) == ("Kc", "7c")
    assert sum(a != b for a, b in zip(names(before), names(state), strict=True)) == 2
    assert state.phase is Phase.SETTLED
    assert state.settlement != before.settlement
    [(one, other)] = swaps_made(state)
    assert [(spot.seat, spot.row, spot.index, spot.code) for spot in (one, other)] == [
        (1, "front", 2, "Kc"),
        (4, "back", 4, "7c"),
    ]


def test_the_same_change_again_takes_it_back(settled: Felt) -> None:
    before = settled.state
    settled.do("set_card", **PLACE, card="Kc", swap=True)
    state = settled.do("set_card", **PLACE, card="7c", swap=True)
    assert (names(state), state.settlement) == (names(before), before.settlement)
    assert swaps_made(state) == ()


def test_a_change_is_taken_back_whole_while_one_of_its_names_is_claimed_by_a_third_card(
    settled: Felt,
) -> None:
    before = settled.state
    settled.do("set_card", **PLACE, card="Kc", swap=True)
    settled.do("set_card", seat=2, row="back", index=0, card="7c")
    state = settled.do("set_card", **PLACE, card="7c", swap=True)
    assert (state.seats[0].front[2].card, state.seats[3].back[4].card) == ("7c", "Kc")
    assert {question.what for question in state.questions} == {Ask.DUPLICATE}
    state = settled.do("set_card", seat=2, row="back", index=0, card="5s")
    assert (names(state), state.settlement) == (names(before), before.settlement)


def test_what_a_person_named_is_asked_about_and_stays(settled: Felt) -> None:
    settled.do("set_card", seat=4, row="back", index=4, card="7c")
    settled.do("set_card", **PLACE, card="Kc")
    assert settled.state.phase is Phase.SETTLED
    settled.do("set_card", seat=4, row="back", index=4, card="Qd")
    state = settled.do("set_card", **PLACE, card="Qd", swap=True)
    assert state.questions, "the queen of diamonds is on the table twice"
    assert state.seats[3].back[4].card == "Qd"


def test_a_name_that_is_on_the_table_twice_changes_nothing_else(settled: Felt) -> None:
    settled.do("set_card", seat=2, row="back", index=0, card="Kc")
    state = settled.do("set_card", **PLACE, card="Kc", swap=True)
    assert (state.seats[0].front[2].card, state.seats[3].back[4].card) == ("Kc", "Kc")


def test_where_cards_are_missing_the_other_card_is_asked_about(tmp_path: Path) -> None:
    felt = Felt(tmp_path, seats={1: "A", 2: "B", 3: "C"})
    felt.to_settled()
    state = felt.do("set_card", **PLACE, card="Qd", swap=True)
    felt.journal.close()
    assert state.questions, "the seven of clubs is not the only name that is left for it"
    assert swaps_made(state) == ()


def test_a_free_name_is_a_correction_as_before(tmp_path: Path) -> None:
    felt = Felt(tmp_path, seats={1: "A", 2: "B", 3: "C"})
    felt.to_settled()
    state = felt.do("set_card", **PLACE, card="Kc", swap=True)
    felt.journal.close()
    assert state.seats[0].front[2].card == "Kc"
    assert swaps_made(state) == ()
