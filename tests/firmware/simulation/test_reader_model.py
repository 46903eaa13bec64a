"""The modelled reader errs as the measured one does."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from firmware.rules import CARDS
from firmware.simulation.evening import reader_model
from firmware.simulation.evening.reader_model import (
    ErrorsFileError,
    Rates,
    ReaderErrors,
    ReaderModel,
    with_sure_misreads,
)

DECK = [card.code for card in CARDS]
FELT = {
    place: {
        "front": DECK[13 * n : 13 * n + 3],
        "middle": DECK[13 * n + 3 : 13 * n + 8],
        "back": DECK[13 * n + 8 : 13 * n + 13],
    }
    for n, place in enumerate("ABCD")
}
RIGHT = Rates(0, 0, 0, 0, 0, 0)


def errors(**rates: float) -> ReaderErrors:
    all_rates = Rates(**{**RIGHT.__dict__, **rates})
    return ReaderErrors("", all_rates, all_rates, 0.001, {"2c": {"2s": 3}})


def readings(model: ReaderErrors, times: int = 200) -> list[list[tuple[str, bool]]]:
    reader = ReaderModel(model, random.Random(1))
    return [
        [(c["card"], c["sure"]) for zone in reader.read(FELT, "ABCD")["zones"] for c in zone["cards"]]
        for _ in range(times)
    ]


def test_a_reader_without_errors_reads_what_lies_there() -> None:
    assert readings(errors(), 1) == [[(card, True) for card in DECK]]


def test_the_packaged_shares_are_kept() -> None:
    packaged, times = ReaderErrors.load(), 800
    hand = reader_model.HAND_IN_VIEW
    share = (1 - hand) * packaged.ordinary.unsure + hand * packaged.under_a_hand.unsure
    unsure = sum(not sure for cards in readings(packaged, times) for _, sure in cards)
    assert 0.5 * share < unsure / (52 * times) < 2 * share


def test_a_missed_card_is_a_gap_and_an_extra_one_too_many() -> None:
    assert {len(cards) for cards in readings(errors(missed=1), 3)} == {0}
    assert {len(cards) for cards in readings(errors(extra_unsure=1), 3)} == {104}


def test_sure_misreads_come_at_the_upper_bound_of_what_was_measured() -> None:
    packaged = ReaderErrors.load()
    assert with_sure_misreads(packaged).ordinary.misread_sure == packaged.misread_sure_at_most > 0


def test_a_sure_misread_swaps_two_names_or_names_a_card_twice() -> None:
    for cards in readings(errors(misread_sure=0.01)):
        names = [card for card, _ in cards]
        wrong = [(name, true) for name, true in zip(names, DECK, strict=True) if name != true]
        assert all(sure for _, sure in cards)
        for name, _ in wrong:
            assert name in DECK
    assert any(len(set(map(str, cards))) == 52 != sum(c == t for (c, _), t in zip(cards, DECK, strict=True))
               for cards in readings(errors(misread_sure=0.01)))  # fmt: skip
    assert any(len({c for c, _ in cards}) < 52 for cards in readings(errors(misread_sure=0.01)))


def test_what_was_seen_to_be_taken_for_something_is_taken_for_that() -> None:
    misread = [cards[0] for cards in readings(errors(misread_unsure=1), 5)]
    assert misread == [("2s", False)] * 5


def test_the_table_lies_restless_as_often_as_assumed() -> None:
    reader = ReaderModel(errors(), random.Random(1))
    share = sum(reader.restless() for _ in range(20_000)) / 20_000
    assert share == pytest.approx(reader_model.RESTLESS, rel=0.2)


@pytest.mark.parametrize("text", ["", "{}", json.dumps({"ordinary": {"cards": 0}})])
def test_a_file_that_holds_no_counts_is_said(tmp_path: Path, text: str) -> None:
    file = tmp_path / "errors.json"
    file.write_text(text)
    with pytest.raises(ErrorsFileError, match=r"models\.training errors"):
        ReaderErrors.load(file)
