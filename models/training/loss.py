"""What the network should have said, and how far off it was."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from models.training.net import DIRECTION, HEAT, OFFSET, RANK, SIZE, STRIDE, SUIT, UNIT_SIZE_PX

_NEIGHBOUR_WEIGHT = 0.35  # cells next to an index's own also learn its class, since a peak may fall there


@dataclass(frozen=True)
class Targets:
    """The truth of a batch: heat and its weight (n, s, s), and one row per taught cell (m × 11).

    A row is: picture, cell row, cell column, rank, suit, ux, uy, weight, x offset, y offset, log size.
    """

    heat: Tensor
    weight: Tensor
    cells: Tensor


def targets(corners: list[NDArray[np.float32]], size: int) -> Targets:
    """Build the truth from each picture's corners (see `scene`); `size` is the pictures' side in pixels."""
    side = size // STRIDE
    heat = np.zeros((len(corners), side, side), np.float32)
    weight = np.ones_like(heat)
    cells: list[tuple[float, ...]] = []
    rows, columns = np.mgrid[:side, :side].astype(np.float32)
    for number, indices in enumerate(corners):
        for x, y, rank, suit, ux, uy, px, state in indices.tolist():
            cx, cy = x / STRIDE - 0.5, y / STRIDE - 0.5
            spread = max(0.75, px * 0.09 / STRIDE) if state > 0 else max(1.0, px * 0.3 / STRIDE)
            away = (columns - cx) ** 2 + (rows - cy) ** 2
            bump = np.exp(-away / (2 * spread**2))
            column, row = round(cx), round(cy)
            if state <= 0:
                weight[number][bump > 0.05] = 0
            elif 0 <= column < side and 0 <= row < side:
                np.maximum(heat[number], bump, out=heat[number])
                heat[number, row, column] = 1
                away[row, column] = 0
                for r, c in np.argwhere(away < 1).tolist():
                    share = 1.0 if (r, c) == (row, column) else _NEIGHBOUR_WEIGHT
                    height = math.log(max(px, 4.0) / UNIT_SIZE_PX)
                    cells.append((number, r, c, rank, suit, ux, uy, share, cx - c, cy - r, height))
    taught = np.array(cells, np.float32).reshape(-1, 11)
    return Targets(torch.from_numpy(heat), torch.from_numpy(weight), torch.from_numpy(taught))


def loss(output: Tensor, truth: Targets) -> tuple[Tensor, dict[str, float]]:
    """Return the loss and its parts with the share of indices whose rank and suit are right."""
    logit = output[:, HEAT]
    heat = torch.sigmoid(logit).clamp(1e-4, 1 - 1e-4)
    peak = (truth.heat >= 1).float()
    hits = -(functional.logsigmoid(logit) * (1 - heat) ** 2 * peak).sum()
    rest = -(
        functional.logsigmoid(-logit) * heat**2 * (1 - truth.heat) ** 4 * (1 - peak) * truth.weight
    ).sum()
    found = (hits + rest) / peak.sum().clamp(min=1)

    cells = truth.cells
    at = output[cells[:, 0].long(), :, cells[:, 1].long(), cells[:, 2].long()]
    share = cells[:, 7]
    total = share.sum().clamp(min=1)
    rank, suit = cells[:, 3].long(), cells[:, 4].long()
    rank_loss = (functional.cross_entropy(at[:, RANK], rank, reduction="none") * share).sum() / total
    suit_loss = (functional.cross_entropy(at[:, SUIT], suit, reduction="none") * share).sum() / total
    known = share * (cells[:, 5].abs() <= 1)  # pseudo-labelled crops may not know the direction
    turn = ((at[:, DIRECTION] - cells[:, 5:7].clamp(-1, 1)).abs().sum(1) * known).sum() / total
    offset = ((at[:, OFFSET] - cells[:, 8:10]).abs().sum(1) * share).sum() / total
    height = ((at[:, SIZE] - cells[:, 10]).abs() * share).sum() / total
    own = share == 1
    parts = {
        "heat": float(found.detach()),
        "rank": float(rank_loss.detach()),
        "suit": float(suit_loss.detach()),
        "rank_right": float((at[own][:, RANK].argmax(1) == rank[own]).float().mean()) if own.any() else 1.0,
        "suit_right": float((at[own][:, SUIT].argmax(1) == suit[own]).float().mean()) if own.any() else 1.0,
    }
    return found + rank_loss + 1.3 * suit_loss + 0.3 * turn + 0.2 * offset + 0.3 * height, parts
