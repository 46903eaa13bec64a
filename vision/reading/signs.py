"""The suit witness: reads a card's suit by its large signs, at the camera's own resolution.

It is a separate network (`models/signs.onnx`, made by `models/training/signs.py`): it never sees an index, and sees a
sign of 10 mm two to three times as large as `pips.py` does. It looks where a card of that rank has its large signs: a
number's outer pips, an ace's one, the two inside a court's frame. It can only deny a suit: a margin counts nothing of
what it says (`decode.name`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image, Points
from vision.reading.cards import ALIKE, SUITS
from vision.reading.pips import HIDDEN, load_network, neighbours

SIDE_PX = 40
"""The side of a cut: 2.4 px/mm for a pip."""
PX_PER_MM = 2.0
"""The least scale of the picture to cut from, where the camera gives it."""

_USUAL_MM = 63.0, 88.0  # the card that the windows are measured on
_PIP_MM, _ACE_MM = 17.0, (18.0, 36.0)  # sides of windows
_NEAR, _FAR = (19 / 63, 17 / 88), (44 / 63, 71 / 88)
_LOOKED_AT = 2  # signs of a card
_INNER = np.array([(0, 0), (-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)])
"""Points of a window that must be free, in windows from its middle."""

_TWINS = [SUITS.index(ALIKE[suit]) for suit in SUITS]

Window = tuple[float, float, float]
"""A sign's middle in shares of the card's width and height, and the side of what is cut out in millimetres."""


def windows(rank: str) -> tuple[Window, ...]:
    """Return where a card of a rank has its large signs, those farthest from its indices first."""
    (left, upper), (right, lower) = _NEAR, _FAR
    if rank == "A":
        return tuple((0.5, 0.5, side) for side in _ACE_MM)
    if rank in "23":
        return (0.5, upper, _PIP_MM), (0.5, lower, _PIP_MM)
    beside = (left, upper, _PIP_MM), (right, lower, _PIP_MM)
    return beside if rank in "JQK" else ((right, upper, _PIP_MM), (left, lower, _PIP_MM), *beside)


def hide_index(cut: Image, window: Window, across_mm: float, down_mm: float) -> None:
    """Hide what a cut shows of an index that reaches so far from the card's corner."""
    x, y, side = window
    right, below = (
        max(0, round((mm - (min(share, 1 - share) * full - side / 2)) * SIDE_PX / side))
        for mm, share, full in zip((across_mm, down_mm), (x, y), _USUAL_MM, strict=True)
    )
    cut[:below, :right] = HIDDEN


def cut_signs(
    picture: Image,
    to_picture: Callable[[Points], Points],
    corners: Sequence[Points],
    hidden_mm: Sequence[Points],
    ranks: Sequence[str],
    wanted: Sequence[int] | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.intp]]:
    """Cut large signs out of a picture, at most two of a card, each as if it stood upright in the upper left quarter.

    All four suits are alike in a mirror, so that signs of the other quarters are mirrored.

    Args:
        picture, to_picture, corners, hidden_mm, wanted: as for `pips.cut_out`.
        ranks: of the cards.

    Returns:
        The cuts (m × 40 × 40 × 3, BGR) without what is seen of an index, and the number of the card of each.
    """
    wanted = range(len(ranks)) if wanted is None else wanted
    places = [(k, window) for k in wanted for window in windows(ranks[k])]
    if not places:
        return np.empty((0, SIDE_PX, SIDE_PX, 3), np.uint8), np.empty(0, np.intp)
    outlines = np.array(corners)
    owner, at = np.array([k for k, _ in places]), np.array([window for _, window in places])
    start, axes = outlines[owner, 0], outlines[owner][:, (1, 3)] - outlines[owner, :1]
    side = at[:, 2:] / _USUAL_MM  # in shares of the card
    free = _free((at[:, None, :2] + _INNER * side[:, None]) @ axes + start[:, None], outlines, owner)
    before: NDArray[np.intp] = np.cumsum(free) - free
    first = np.searchsorted(owner, owner)  # the first window of each one's card
    kept = np.flatnonzero(free & (before - before[first] < _LOOKED_AT)).tolist()
    toward = np.where(at[:, :2] > 0.5, -1, 1)[:, None]
    frame = at[:, None, :2] + toward * side[:, None] * ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5))
    seen = (
        to_picture((frame @ axes + start[:, None])[kept].reshape(-1, 2)).reshape(-1, 3, 2).astype(np.float32)
    )
    goal = np.array([[0, 0], [SIDE_PX, 0], [SIDE_PX, SIDE_PX]], np.float32) - np.float32(0.5)
    cuts = np.empty((len(kept), SIDE_PX, SIDE_PX, 3), np.uint8)
    hidden = np.array(hidden_mm)[owner].tolist()
    for cut, three, m in zip(cuts, seen, kept, strict=True):
        way = cv2.getAffineTransform(three, goal)
        cv2.warpAffine(picture, way, (SIDE_PX, SIDE_PX), cut, cv2.INTER_LINEAR, cv2.BORDER_REPLICATE)
        hide_index(cut, places[m][1], *hidden[m])
    return cuts, owner[kept]


def _free(points: Points, outlines: Points, owner: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which windows (m × 5 × 2 points) no other card may cover."""
    sides = np.roll(outlines, -1, axis=1) - outlines
    m, n = np.nonzero(neighbours(outlines)[owner])
    step = points[m][:, :, None] - outlines[n][:, None]  # pairs × 5 × 4 × 2
    turn = sides[n, None, :, 0] * step[..., 1] - sides[n, None, :, 1] * step[..., 0]
    free = np.ones(len(points), bool)
    free[m[np.any(np.all(turn > 0, axis=2), axis=1)]] = False
    return free


class SignReader:
    """The network, loaded once.

    Raises:
        ModelError: the file is missing or is not such a model.
    """

    def __init__(self, model: Path, threads: int = 2) -> None:
        self._session = load_network(model, threads, "cuts")

    def suits(
        self, cuts: NDArray[np.uint8], owner: NDArray[np.intp], wanted: Sequence[int]
    ) -> NDArray[np.float64]:
        """Return how the large signs of the wanted cards part the two suits of each colour: n × 4 probabilities.

        A card's signs look alike, so they count as one. Of which colour a card is, none says: a court's picture is of
        all colours. `cuts` and `owner` are those of `cut_signs`; the numbers of the `wanted` cards rise.
        """
        rows, said = np.searchsorted(wanted, owner), np.zeros((len(wanted), len(SUITS)))
        if len(owner):
            by_sign = np.exp(self._session.run(None, {"cuts": cuts})[0].astype(np.float64))[:, : len(SUITS)]
            neither = (1 - by_sign - by_sign[:, _TWINS]).clip(0) / 2  # the other colour, or no sign
            np.add.at(said, rows, np.log(by_sign + neither) / np.bincount(rows)[rows, None])
        return np.asarray(1 / (1 + np.exp(said[:, _TWINS] - said)) / 2)
