"""The network and its loss; only where torch is installed (the training extra)."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is installed for training only: make training")

from models.training.loss import loss, targets  # noqa: E402
from models.training.net import CHANNELS, HEAT, RANK, STRIDE, SUIT, IndexNet, parameters  # noqa: E402

CORNER = np.array([[44.0, 60.0, 12, 3, 1, 0, 32, 1]], np.float32)  # an ace of spades


def test_the_map_has_one_cell_for_eight_pixels_each_way() -> None:
    out = IndexNet().eval()(torch.zeros(1, 3, 64, 128))
    assert tuple(out.shape) == (1, CHANNELS, 64 // STRIDE, 128 // STRIDE)


def test_the_network_is_small() -> None:
    assert parameters(IndexNet()) < 1_250_000  # 5 MB of float32


def test_the_truth_puts_the_peak_into_the_indexs_own_cell() -> None:
    truth = targets([CORNER], 96)
    (cell,) = torch.nonzero(truth.heat >= 1).tolist()
    assert cell == [0, 7, 5]
    own = truth.cells[truth.cells[:, 7] == 1]
    assert own[0, [3, 4]].tolist() == [12, 3]


def test_where_an_index_is_half_hidden_nothing_is_right_or_wrong() -> None:
    hidden = CORNER.copy()
    hidden[0, 7] = 0
    truth = targets([hidden], 96)
    assert float(truth.heat.max()) == 0
    assert float(truth.weight.min()) == 0


def test_saying_the_truth_costs_less_than_anything_else() -> None:
    truth = targets([CORNER], 96)
    said = torch.full((1, CHANNELS, 12, 12), 0.0)
    said[:, HEAT] = -8
    said[0, HEAT, 7, 5] = 8
    said[0, RANK, :, :][12] = 9
    said[0, SUIT, :, :][3] = 9
    right, parts = loss(said, truth)
    said[0, SUIT, :, :][3], said[0, SUIT, :, :][2] = 0, 9
    wrong, _ = loss(said, truth)
    assert parts["rank_right"] == parts["suit_right"] == 1
    assert float(right) < float(wrong) - 5
