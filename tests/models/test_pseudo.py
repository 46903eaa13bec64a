"""Labels of real photographs in which each index has its box: the box says which card, the net how it is turned."""

from __future__ import annotations

import csv
from pathlib import Path

import cv2
import numpy as np
import pytest

from models.training import pseudo
from models.training.pseudo import Photograph, signed_photographs
from vision.reading.cards import CARDS, RANKS, SUITS
from vision.reading.network import FEATURES, Indices


def seen(*indices: tuple[float, float, str, float]) -> Indices:
    """Indices at places, each named so with such a probability, the rest shared by all other cards."""
    logp = np.log([[p if code == card else (1 - p) / 51 for card in CARDS] for _, _, code, p in indices])
    n = len(indices)
    places = np.array([(x, y) for x, y, _, _ in indices], float)
    return Indices(
        places, np.full(n, 0.9), logp, np.tile([1.0, 0], (n, 1)), np.full(n, 30.0), np.zeros((n, FEATURES))
    )


def photo(*cards: tuple[str, tuple[float, float, float, float]]) -> Photograph:
    return Photograph(np.zeros((200, 200, 3), np.uint8), list(cards), 2.0, signed=True)


BOX = (40.0, 40.0, 60.0, 80.0)


def test_an_index_in_a_box_is_what_the_box_says_though_the_net_takes_clubs_for_spades() -> None:
    (row,) = pseudo._signed(seen((50, 60, "7s", 0.999)), photo(("7c", BOX)))
    assert (row[2], row[3], row[7]) == (RANKS.index("7"), SUITS.index("c"), 1)
    assert row[4:7].tolist() == [1, 0, 30]


@pytest.mark.parametrize("other", ["8c", "7h"])
def test_a_label_that_the_net_surely_denies_is_neither_right_nor_wrong(other: str) -> None:
    (row,) = pseudo._signed(seen((50, 60, other, 0.9999)), photo(("7c", BOX)))
    assert row[7] == 0


def test_a_box_in_which_the_net_sees_nothing_is_learnt_without_a_direction() -> None:
    (row,) = pseudo._signed(seen((150, 150, "2h", 0.9)).take(np.array([], int)), photo(("7c", BOX)))
    assert row[:2].tolist() == [50, 60]
    assert row[4] > 1
    assert row[7] == 1


def test_what_the_net_sees_where_no_box_is_is_ignored() -> None:
    rows = pseudo._signed(seen((50, 60, "7c", 0.9), (150, 150, "2h", 0.9)), photo(("7c", BOX)))
    assert rows[:, 7].tolist() == [1, 0]


def test_only_photographs_marked_train_of_the_deck_asked_for_are_read_at_their_own_proportions(
    tmp_path: Path,
) -> None:
    names = {"WIN_1.jpg": "train", "WIN_2.jpg": "evaluate", "IMG_1.jpg": "train"}
    with (tmp_path / "manifest.csv").open("w") as rows:
        writer = csv.writer(rows)
        writer.writerows([["file", "split"], *names.items()])
    with (tmp_path / "boxes.csv").open("w") as rows:
        writer = csv.writer(rows)
        writer.writerows([["file", "label", "x1", "y1", "x2", "y2", "what"]])
        writer.writerows([[name, "7c", 40, 40, 60, 80, "index corner"] for name in names])
    for name in names:
        cv2.imwrite(str(tmp_path / name), np.zeros((90, 90, 3), np.uint8))
    (found,) = signed_photographs(tmp_path, "WIN")
    assert found.picture.shape == (90, 160, 3)
    assert found.cards[0][1][0] == pytest.approx(40 * 16 / 9)
