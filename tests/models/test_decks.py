"""Decks to train on: their pictures and where their indices stand."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import cv2
import numpy as np
import pytest

from models.training.decks import HEIGHT, PIPS, WIDTH, RandomDeck, card_back, decks_of_photographs, own_decks
from vision.reading.cards import CARDS

pytestmark = [pytest.mark.usefixtures("fonts"), pytest.mark.slow]


def deck(seed: int) -> RandomDeck:
    return RandomDeck(random.Random(seed), [])


@pytest.mark.parametrize("seed", range(6))
def test_a_random_deck_prints_an_index_in_its_box_and_the_same_one_turned(seed: int) -> None:
    drawn = deck(seed)
    for code in ("As", "Td", "7h", "Qc"):
        picture, box = drawn.face(code, random.Random(0))
        assert picture.shape == (HEIGHT, WIDTH, 3)
        assert picture.dtype == np.uint8
        assert 0 <= box.left < box.right <= WIDTH / 2 + 20
        assert 0 <= box.top < box.split < box.bottom <= HEIGHT / 2
        for side in (picture, picture[::-1, ::-1]):
            index = side[int(box.top) : int(box.bottom), int(max(0, box.left)) : int(box.right)].astype(int)
            paper = np.median(picture.reshape(-1, 3), axis=0)
            printed = np.abs(index - paper).max(axis=2) > 40
            above = int(box.split - box.top)
            assert printed[:above].any(), (code, "no rank")
            assert printed[above:].any(), (code, "no suit")


def test_all_52_cards_of_a_random_deck_look_different() -> None:
    drawn = deck(2)
    assert len({drawn.face(code, random.Random(0))[0].tobytes() for code in CARDS}) == 52


def test_the_same_seed_draws_the_same_deck() -> None:
    (a, box_a), (b, box_b) = (deck(7).face("5d", random.Random(0)) for _ in range(2))
    assert np.array_equal(a, b)
    assert box_a == box_b
    assert not np.array_equal(a, deck(8).face("5d", random.Random(0))[0])


def test_a_number_card_has_as_many_pips_as_its_number() -> None:
    assert {number: len(places) for number, places in PIPS.items()} == {n: n for n in range(1, 11)}


def test_the_house_deck_comes_in_four_styles_with_its_index_found() -> None:
    decks = own_decks()
    assert len(decks) == 4
    for own in decks:
        assert set(own.codes) == set(CARDS)
        assert own.box.left < own.box.right < WIDTH / 3
        assert own.box.top < own.box.split < own.box.bottom < HEIGHT / 2
    standard, jumbo = decks[0].box, decks[1].box
    assert jumbo.bottom - jumbo.top > standard.bottom - standard.top


def test_backs_differ_and_bear_a_light_border() -> None:
    rng = random.Random(1)
    backs = [card_back(rng) for _ in range(5)]
    assert len({back.tobytes() for back in backs}) == 5
    assert all((back[:4] == 245).all() for back in backs)


def test_of_photographed_decks_only_what_is_marked_train_is_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "bidly_cards"
    folder.mkdir()
    with (folder / "manifest.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "kind", "labels", "split"])
        for code, split in (("As", "train"), ("Kd", "evaluate")):
            cv2.imwrite(str(folder / f"{code}.png"), np.full((352, 228, 3), 255, np.uint8))
            rows.writerow([f"{code}.png", "card", code, split])
    (found,) = decks_of_photographs(tmp_path)
    assert found.codes == ("As",)


def test_without_photographs_there_are_no_photographed_decks(tmp_path: Path) -> None:
    assert decks_of_photographs(tmp_path) == []
