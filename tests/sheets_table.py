"""A drawn table on which four marker sheets lie, each turned a little, as a webcam sees it."""

from __future__ import annotations

import math
from typing import Any, Final

import cv2
import numpy as np

from vision.base.arrays import Image, Points
from vision.felt.layout import SHEETS, TableLayout
from vision.felt.markers import dictionary
from vision.felt.sheets import SIDE_MM, measure_sheets
from vision.synthetic.printed_felt import cloth
from vision.synthetic.render import render_table

SPOTS: Final = ((90.0, 100.0, 4.0), (910.0, 90.0, -6.0), (900.0, 640.0, 183.0), (100.0, 650.0, 2.0))
"""Where the sheets lie, mm, and how each is turned, degrees."""
PX_PER_MM: Final = 1.7
WOOD_BGR: Final = (60, 90, 140)


def seen_at(spots: tuple[tuple[float, float, float], ...] = SPOTS) -> dict[int, Points]:
    """Return the corners of each sheet's marker as a camera straight above sees them."""
    square = np.array([[-1.0, -1.0], [1, -1], [1, 1], [-1, 1]]) * SIDE_MM / 2
    seen = {}
    for number, (x, y, turned) in zip(SHEETS, spots, strict=False):
        angle = math.radians(turned)
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        seen[number] = (square @ turn.T + (x, y)) * PX_PER_MM
    return seen


def table_with_sheets(players: int = 2, spots: tuple[tuple[float, float, float], ...] = SPOTS) -> TableLayout:
    """Return the layout of such a table."""
    size = round(1000 * PX_PER_MM), round(750 * PX_PER_MM)
    return measure_sheets(seen_at(spots), size, TableLayout.load(), players)


def picture(layout: TableLayout, hands: Any = None, **conditions: Any) -> Image:
    """Draw what the webcam sees; `hands` as for the renderer."""
    return np.array(render_table(hands or {}, layout, seed=1, felt=_wood, **conditions).frame)


def _wood(layout: TableLayout, px_per_mm: float) -> Image:
    """Draw the table top with its sheets."""
    top = np.array(cloth((round(layout.height_mm * px_per_mm), round(layout.width_mm * px_per_mm)), WOOD_BGR))
    codes = dictionary(layout.markers.dictionary)
    for marker in layout.markers.at:
        page = np.full((600, 600), 245, np.uint8)
        code = np.asarray(cv2.aruco.generateImageMarker(codes, marker.id, 6, borderBits=1))
        page[100:500, 100:500] = np.where(
            cv2.resize(code, (400, 400), interpolation=cv2.INTER_NEAREST) > 0, 245, 28
        )
        scale, angle = SIDE_MM / 400 * px_per_mm, math.radians(marker.turned_deg)
        cos, sin = scale * math.cos(angle), scale * math.sin(angle)
        middle = np.array([marker.x_mm, marker.y_mm]) * px_per_mm - np.array([[cos, -sin], [sin, cos]]) @ (
            299.5,
            299.5,
        )
        onto = np.array([[cos, -sin, middle[0]], [sin, cos, middle[1]]])
        size = top.shape[1], top.shape[0]
        laid = cv2.warpAffine(page, onto, size, flags=cv2.INTER_AREA)
        covers = cv2.warpAffine(np.full_like(page, 255), onto, size)
        top[covers > 127] = laid[covers > 127][:, None]
    top.flags.writeable = False
    return top
