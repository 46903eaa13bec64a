"""Cuts real cards out of photographs, upright: by their outline, or by their two index boxes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations

import cv2
import numpy as np

from models.training.labels import Box
from vision.base.arrays import Image, Points
from vision.synthetic.deck import HEIGHT_MM, WIDTH_MM

PX_PER_MM = 5
"""The scale of what is cut."""

_TOLERANCES = (14, 20, 28, 40)
"""How far a card's paper may differ from what surrounds its indices, in levels: the first that gives a card holds."""

_INDEX_X_MM, _INDEX_Y_MM = (3.0, 11.5), (7.0, 24.0)
"""Where the middle of a card's index lies."""

_ALIKE_MM = 4.0
"""How much farther from its corner one of a card's two indices may stand than the other."""


def straight(picture: Image, corners: Points) -> Image:
    """Cut out what lies between four corners, clockwise from the upper left one."""
    w, h = round(WIDTH_MM * PX_PER_MM), round(HEIGHT_MM * PX_PER_MM)
    goal = np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32) - np.float32(0.5)
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), goal)
    return np.asarray(cv2.warpPerspective(picture, warp, (w, h), flags=cv2.INTER_CUBIC), np.uint8)


def by_outline(picture: Image, boxes: tuple[Box, Box]) -> Points | None:
    """Give the corners of the card whose two indices lie in these boxes; None where its outline is not to be seen."""
    middles = np.array([((x1 + x2) / 2, (y1 + y2) / 2) for x1, y1, x2, y2 in boxes])
    rim = np.concatenate([_rim(picture, box) for box in boxes])
    for tolerance in _TOLERANCES:
        outline = _outline(picture, np.median(rim, axis=0), middles, tolerance)
        if outline is None:
            continue
        for turned in range(4):
            corners = np.roll(outline, turned, axis=0)
            if _fits(corners, middles):
                return corners
    return None


def by_paper(picture: Image, box: Box) -> Points | None:
    """Give the corners of a card that fills a box of its own; without indices' places, its long sides tell its turn."""
    x1, y1, x2, y2 = box
    middle = np.array([[(x1 + x2) / 2, (y1 + y2) / 2]])
    x, y = (int(v) for v in middle[0])
    part = picture[int(y1) : int(y2), int(x1) : int(x2)].reshape(-1, 3)
    if not len(part) or not (0 <= x < picture.shape[1] and 0 <= y < picture.shape[0]):
        return None
    bright = part[part.sum(axis=1) >= np.percentile(part.sum(axis=1), 60)]
    for tolerance in _TOLERANCES:
        outline = _outline(picture, np.median(bright, axis=0), middle, tolerance)
        if outline is None:
            continue
        sides = np.linalg.norm(outline - np.roll(outline, -1, axis=0), axis=1)
        across, down = sides[0] + sides[2], sides[1] + sides[3]
        corners = outline if across < down else np.roll(outline, 1, axis=0)
        if abs(math.log(min(across, down) / max(across, down) * HEIGHT_MM / WIDTH_MM)) < 0.12:
            return np.asarray(corners)
    return None


def by_indices(boxes: tuple[Box, Box], inset_mm: tuple[float, float]) -> Points:
    """Give the corners of a card seen from straight above, whose indices stand so far from its side and its top."""
    first, second = (np.array([(x1 + x2) / 2, (y1 + y2) / 2]) for x1, y1, x2, y2 in boxes)
    across, down = WIDTH_MM - 2 * inset_mm[0], HEIGHT_MM - 2 * inset_mm[1]
    step = second - first
    scale = np.hypot(*step) / math.hypot(across, down)
    turn = math.atan2(step[1], step[0]) - math.atan2(down, across)
    u = scale * np.array([math.cos(turn), math.sin(turn)])
    v = np.array([-u[1], u[0]])
    corner = first - inset_mm[0] * u - inset_mm[1] * v
    return np.array(
        [corner, corner + WIDTH_MM * u, corner + WIDTH_MM * u + HEIGHT_MM * v, corner + HEIGHT_MM * v]
    )


def pairs(boxes: Mapping[str, list[Box]]) -> Iterator[tuple[str, tuple[Box, Box]]]:
    """Yield the cards of a picture that show exactly two indices, each with both boxes."""
    for label, found in boxes.items():
        if len(found) == 2:
            yield label, (found[0], found[1])


def alone(corners: Points, others: Iterable[Box]) -> bool:
    """Tell whether no other card's index lies within these corners."""
    outline = corners.astype(np.float32)
    return not any(
        cv2.pointPolygonTest(outline, ((x1 + x2) / 2, (y1 + y2) / 2), False) > 0 for x1, y1, x2, y2 in others
    )


def _rim(picture: Image, box: Box) -> Image:
    """Give the pixels along an index box's edges, where the paper is bare."""
    h, w = picture.shape[:2]
    x1, x2 = (int(np.clip(v, 0, w - 1)) for v in (box[0], box[2]))
    y1, y2 = (int(np.clip(v, 0, h - 1)) for v in (box[1], box[3]))
    part = picture[y1 : y2 + 1, x1 : x2 + 1]
    return np.concatenate([part[0], part[-1], part[:, 0], part[:, -1]])


def _outline(picture: Image, paper: Points, inside: Points, tolerance: int) -> Points | None:
    """Find the quadrilateral of one colour around some points: its corners, clockwise; None where there is none."""
    smooth = cv2.medianBlur(picture, 5)
    low, high = paper - tolerance, paper + tolerance
    mask = np.asarray(cv2.inRange(smooth, low, high), np.uint8)
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((5, 5), np.uint8)), np.uint8)
    outlines, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    for outline in outlines:
        hull = cv2.convexHull(outline)
        if any(cv2.pointPolygonTest(hull, (float(x), float(y)), False) <= 0 for x, y in inside):
            continue
        area = cv2.contourArea(hull)
        for share in (0.02, 0.03, 0.045, 0.06):
            corners = cv2.approxPolyDP(hull, share * cv2.arcLength(hull, True), True)[:, 0].astype(float)
            if len(corners) == 4:
                filled = cv2.contourArea(outline) / max(area, 1.0)
                covered = cv2.contourArea(corners.astype(np.float32)) / max(area, 1.0)
                return corners if filled > 0.9 and 0.93 < covered < 1.07 and area > 4000 else None
    return None


def _fits(corners: Points, middles: Points) -> bool:
    """Tell whether two indices stand in a card's upper left and lower right corners, about as far from each."""
    goal = np.array([[0, 0], [WIDTH_MM, 0], [WIDTH_MM, HEIGHT_MM], [0, HEIGHT_MM]], np.float32)
    warp = cv2.getPerspectiveTransform(corners.astype(np.float32), goal)
    at = cv2.perspectiveTransform(middles[None].astype(np.float32), warp)[0]
    for first, second in permutations(at):
        both = np.array([first, np.array([WIDTH_MM, HEIGHT_MM]) - second])
        inside = [
            low < mm < high for x, y in both for mm, (low, high) in ((x, _INDEX_X_MM), (y, _INDEX_Y_MM))
        ]
        if all(inside) and np.abs(both[0] - both[1]).max() < _ALIKE_MM:
            return True
    return False
