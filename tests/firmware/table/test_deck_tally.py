"""A deck counted in rounds."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from firmware.table.deck_tally import CARDS, LaidCard, Round, misread, spread, tally


def laid(codes: list[str], sure: bool = True) -> Round:
    return Round(tuple(LaidCard("A", "back", index, code, sure) for index, code in enumerate(codes)))


@given(st.permutations(CARDS), st.integers(1, 51))
def test_a_whole_deck_is_whole_however_it_is_laid_and_divided(codes: list[str], cut: int) -> None:
    counted = tally([laid(codes[:cut]), laid(codes[cut:])])
    assert counted.whole
    assert (counted.seen, counted.missing, counted.twice) == (52, (), ())


@given(st.sets(st.sampled_from(CARDS), min_size=1, max_size=51))
def test_whatever_is_not_laid_is_missing(left_out: set[str]) -> None:
    counted = tally([laid([code for code in CARDS if code not in left_out])])
    assert set(counted.missing) == left_out
    assert not counted.whole


def in_spread(names: dict[str, str]) -> Round:
    """Return all 52 cards in their places, some of them read as others."""
    return Round(
        tuple(
            LaidCard(place, row, index, names.get(card, card), True)
            for place, rows in spread().items()
            for row, cards in rows.items()
            for index, card in enumerate(cards)
        )
    )


def test_a_deck_in_the_order_of_the_spread_is_in_order_and_two_exchanged_cards_are_not() -> None:
    assert tally([in_spread({})]).in_order
    exchanged = in_spread({"Kc": "Qc", "Qc": "Kc"})
    assert tally([exchanged]).whole, "counting shows nothing of it"
    assert not tally([exchanged]).in_order
    assert sorted(misread(exchanged)) == [("Kc", "Qc"), ("Qc", "Kc")]


def test_two_halves_or_cards_in_one_heap_are_in_no_order() -> None:
    cards = in_spread({}).cards
    assert not tally([Round(cards[:26]), Round(cards[26:])]).in_order
    assert not tally([laid(list(CARDS))]).in_order
    assert not tally([replace(in_spread({}), backs=1)]).in_order


def test_a_card_of_two_rounds_is_there_twice() -> None:
    counted = tally([laid(list(CARDS)), laid(["As"])])
    assert (counted.twice, counted.whole) == (("As",), False)


def test_two_cards_of_one_name_in_one_round_are_unsure_to_the_reader_and_told_as_twice() -> None:
    both = laid(["2c", "2c"], sure=False)
    rest = laid([code for code in CARDS if code not in ("2c", "As")])
    counted = tally([rest, both])
    assert (counted.twice, counted.missing, counted.unsure, counted.seen) == (("2c",), ("As",), 0, 51)


def test_an_unsure_card_is_no_card_that_was_seen() -> None:
    counted = tally([laid([code for code in CARDS if code != "As"]), laid(["As"], sure=False)])
    assert (counted.missing, counted.unsure, counted.whole) == (("As",), 1, False)


def test_a_joker_or_a_card_face_down_is_not_overlooked() -> None:
    whole = laid(list(CARDS))
    assert not tally([replace(whole, jokers=1)]).whole
    assert not tally([replace(whole, backs=1)]).whole


def test_nothing_laid_is_nothing_seen() -> None:
    assert (tally([]).seen, len(tally([]).missing)) == (0, 52)
