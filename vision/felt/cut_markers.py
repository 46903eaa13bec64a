"""Markers that the picture's edge cuts: what is left of one still tells where the felt is.

OpenCV finds whole markers only. Where too few are whole, the others' places are predicted from those, and the corners
that are still in the picture are measured. A corner counts where the cells that are in view are that marker's own.
"""

import cv2
import numpy as np

from vision.base.arrays import Image, Points
from vision.felt.edges import MIN_RISE, find_corners
from vision.felt.markers import dictionary

_MIN_CELLS = 0.4
"""Minimum share of a marker's cells that must be in view and right: fewer prove too little."""


_BORDER = 1
"""White cells around a marker's black ones."""

_REACH = 0.15
"""How far off its predicted place a marker is looked for, as a share of its side."""


def cut_corners(grey: Image, predicted: Points, number: int, family: str) -> list[tuple[int, Points]]:
    """Measure a cut marker's corners near where they should be (4 × 2 pixels): each corner's index and its place.

    Empty where the marker that is there is another one, or too little of it is in view.
    """
    drawn = _draw(number, family)
    near = predicted + _shift(grey, predicted, drawn)
    if not _shows(grey, near, drawn):
        return []
    inner = np.array(grey.shape[::-1]) - 2
    corners = [
        (k, place)
        for k, place in enumerate(find_corners(grey, near))
        if place is not None and (place >= 1).all() and (place <= inner).all()
    ]
    return corners if len(corners) >= 2 else []


def _draw(number: int, family: str) -> Image:
    """Draw a marker with its white border, a pixel for each cell."""
    known = dictionary(family)
    marker = cv2.aruco.generateImageMarker(known, number, known.markerSize + 2)
    return np.asarray(np.pad(marker, _BORDER, constant_values=255), np.uint8)


def _to_picture(drawn: Image, corners: Points) -> Points:
    """Return the homography from the drawn marker's pixels to the picture's, given the black square's corners there."""
    low, high = _BORDER - 0.5, len(drawn) - _BORDER - 0.5
    square = np.array([[low, low], [high, low], [high, high], [low, high]], np.float32)
    return np.asarray(cv2.getPerspectiveTransform(square, corners.astype(np.float32)), float)


def _shift(grey: Image, predicted: Points, drawn: Image) -> Points:
    """Return by how many pixels the marker lies off its predicted place: the best match of what is in view."""
    size = np.array(grey.shape[::-1])
    reach = round(_REACH * float(np.ptp(predicted, axis=0).max()))
    low = np.clip(np.floor(predicted.min(axis=0)).astype(int) - reach, 0, size)
    high = np.clip(np.ceil(predicted.max(axis=0)).astype(int) + reach, 0, size)
    if ((high - low) <= 3 * reach).any():
        return np.zeros(2)
    x, y = low
    across, down = high - low
    window = grey[y : y + down, x : x + across]
    moved = np.array([[1, 0, -x], [0, 1, -y], [0, 0, 1]]) @ _to_picture(drawn, predicted)
    here = cv2.warpPerspective(
        drawn, moved, (int(across), int(down)), flags=cv2.INTER_NEAREST, borderValue=255
    )
    match = cv2.matchTemplate(window, here[reach:-reach, reach:-reach], cv2.TM_CCOEFF_NORMED)
    return np.array(cv2.minMaxLoc(match)[3], float) - reach


def _shows(grey: Image, corners: Points, drawn: Image) -> bool:
    """Return whether the cells in view, black and white, are those of this marker."""
    cells = np.stack(np.meshgrid(*[np.arange(_BORDER, len(drawn) - _BORDER)] * 2), axis=-1).reshape(-1, 2)
    to_picture = _to_picture(drawn, corners)
    at = np.round(cv2.perspectiveTransform(cells[None].astype(float), to_picture)[0]).astype(int)
    inside = ((at >= 0) & (at < grey.shape[::-1])).all(axis=1)
    if inside.mean() < _MIN_CELLS:
        return False
    levels = grey[at[inside, 1], at[inside, 0]].astype(float)
    white = (drawn[cells[:, 1], cells[:, 0]] > 0)[inside]
    return bool(white.any() and levels[white].min() - levels[~white].max() > MIN_RISE)
