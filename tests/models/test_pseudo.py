"""Labels of real photographs: the box says which card, the net where its indices are and how they are turned."""

from __future__ import annotations

import numpy as np
import pytest

from models.training import pseudo
from models.training.photographs import Box, LabelledBox
from vision.reading.cards import CARDS
from vision.reading.network import FEATURES, Indices

BOX = (40.0, 40.0, 100.0, 120.0)


def seen(*indices: tuple[float, float, str, float]) -> Indices:
    """Indices at places, each named so with such a probability, the rest shared by all other cards."""
    logp = np.log([[p if code == card else (1 - p) / 51 for card in CARDS] for _, _, code, p in indices])
    n = len(indices)
    places = np.array([(x, y) for x, y, _, _ in indices], float)
    return Indices(
        places, np.full(n, 0.9), logp, np.tile([1.0, 0], (n, 1)), np.full(n, 30.0), np.zeros((n, FEATURES))
    )


def agreeing(indices: Indices, *others: Box) -> list[int]:
    cards = [LabelledBox("7c", BOX, "whole card"), *(LabelledBox("2h", box, "whole card") for box in others)]
    return pseudo._agreeing(indices, "7c", BOX, cards)


def test_indices_that_agree_with_their_box_are_the_truth_the_surest_two_first() -> None:
    assert agreeing(seen((50, 60, "7c", 0.9), (90, 100, "7c", 0.99), (60, 60, "7c", 0.8))) == [1, 0]


def test_an_index_named_nearly_so_counts_where_no_other_card_lies() -> None:
    nearly = np.full((1, len(CARDS)), -20.0)
    nearly[0, CARDS.index("7s")], nearly[0, CARDS.index("7c")] = np.log(0.9), np.log(0.1)
    index = seen((50, 60, "7s", 0.9))
    index = Indices(index.places, index.heat, nearly, index.directions, index.sizes, index.features)
    assert agreeing(index) == [0]
    assert agreeing(index, BOX) == []


def test_what_lies_outside_or_is_named_otherwise_is_no_truth() -> None:
    assert agreeing(seen((150, 60, "7c", 0.99), (50, 60, "2h", 0.99))) == []


def test_a_photographed_cards_box_tells_the_scale_however_it_is_turned() -> None:
    for box in ((0, 0, 63 * 4, 88 * 4), (0, 0, 88 * 4, 63 * 4)):
        assert pseudo.px_per_mm(box) == pytest.approx(4, rel=0.01)
