"""What the camera reads by, from the record; what is left out is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firmware.record.journal.journal import Journal
from firmware.runtime.config import Config
from firmware.runtime.house_config import prepare_house
from firmware.runtime.reading.calibrations import MOVED, CameraCalibration, reader_setup
from firmware.runtime.reading.messages import ReaderSetup, ReadingDone
from firmware.table.entry import content_hash
from firmware.table.events import Calibration
from firmware.table.house import House


@pytest.fixture
def house(config: Config) -> House:
    with Journal(config.data) as journal:
        return prepare_house(config, journal)


CONTENT = {content_hash(text): text for text in (b"the felt", b"the lens", b"the deck")}
FELT, LENS, DECK = CONTENT


def test_what_is_in_force_is_handed_over_as_it_was_stored(house: House) -> None:
    made = {
        "felt": Calibration(FELT, stands_on={"layout": house.layout_hash, "lens": LENS}),
        "lens": Calibration(LENS),
        "deck": Calibration(DECK, "Red", {"model": house.model_hash}),
    }
    assert reader_setup(made, house, CONTENT.get) == (ReaderSetup("the felt", "the lens", "the deck"), "")
    assert reader_setup({}, house, CONTENT.get) == (ReaderSetup(), "")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"felt": Calibration(FELT, stands_on={"layout": "another"})}, "another layout"),
        ({"deck": Calibration(DECK, stands_on={"model": "another"})}, "another card reader's model"),
        ({"lens": Calibration("0" * 64)}, "missing from the record"),
    ],
)
def test_what_cannot_be_read_by_is_left_out_and_told(
    house: House, made: dict[str, Calibration], words: str
) -> None:
    setup, told = reader_setup(made, house, CONTENT.get)
    assert setup == ReaderSetup()
    assert words in str(told)


def test_a_text_that_is_not_what_its_hash_says_is_left_out(house: House) -> None:
    setup, told = reader_setup({"lens": Calibration(LENS)}, house, lambda digest: b"something else")
    assert setup == ReaderSetup()
    assert "missing from the record" in str(told)


def test_a_felt_goes_with_the_lens_that_is_lost(house: House) -> None:
    made = {
        "felt": Calibration(FELT, stands_on={"layout": house.layout_hash, "lens": "0" * 64}),
        "lens": Calibration("0" * 64),
    }
    assert reader_setup(made, house, CONTENT.get)[0] == ReaderSetup()


def test_a_knock_is_told_until_a_reading_is_well_or_the_felt_is_calibrated(
    house: House, tmp_path: Path
) -> None:
    used: list[ReaderSetup] = []
    calibration = CameraCalibration(used.append, CONTENT.get)

    def reading(ok: bool) -> ReadingDone:
        verdict: dict[str, Any] = {"camera": {"ok": ok}}
        return ReadingDone(1, {"verdicts": verdict})

    calibration.on_answer(ReadingDone(1, {"verdicts": {}}))
    assert calibration.trouble == ""
    calibration.on_answer(reading(False))
    assert calibration.trouble == MOVED
    calibration.on_answer(reading(True))
    assert calibration.trouble == ""
    calibration.on_answer(reading(False))
    calibration.put_in_force({"lens": Calibration(LENS)}, house)
    assert calibration.trouble == ""
    assert used == [ReaderSetup(lens="the lens")]
