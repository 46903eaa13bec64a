"""The printed felt as a picture: cloth, zone outlines and ArUco markers, from the layout's millimetres."""

from functools import lru_cache

import cv2
import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.felt.layout import Marker, Markers, TableLayout
from vision.felt.markers import dictionary
from vision.synthetic.drawing import Path

CLOTH_BGR = (66, 102, 34)
LINE_BGR = (150, 190, 160)
LINE_MM = 1.2
ZONE_CORNER_MM = 4.0


def mm_to_pixels(px_per_mm: float) -> Matrix:
    """Map felt millimetres to the pixels of a felt picture (pixel 0 spans 0 to 1/px_per_mm)."""
    return np.array([[px_per_mm, 0, -0.5], [0, px_per_mm, -0.5], [0, 0, 1]])


@lru_cache(maxsize=4)
def felt_picture(layout: TableLayout, px_per_mm: float) -> Image:
    """Paint the empty felt from above: (height_mm · px_per_mm) × (width_mm · px_per_mm) × 3; read-only."""
    size = (round(layout.height_mm * px_per_mm), round(layout.width_mm * px_per_mm))
    felt = cloth(size, CLOTH_BGR)
    to_px = mm_to_pixels(px_per_mm)
    for zone in layout.zones:
        r = ZONE_CORNER_MM
        inset = LINE_MM / 2
        border = Path.rounded(inset, inset, zone.width_mm - inset, zone.height_mm - inset, r).contours()[0]
        points = zone.to_felt(border) @ to_px[:2, :2].T + to_px[:2, 2]
        thick = max(1, round(LINE_MM * px_per_mm))
        cv2.polylines(felt, [np.round(points * 16).astype(np.int32)], True, LINE_BGR, thick, cv2.LINE_AA, 4)
    for marker in layout.markers.at:
        _print_marker(felt, layout.markers, marker, px_per_mm)
    felt.flags.writeable = False
    return felt


def cloth(size: tuple[int, int], colour: tuple[int, int, int]) -> Image:
    """Draw a piece of cloth, ``size`` (height, width) pixels: the same every time."""
    weave = np.random.default_rng(20240501)
    tile = weave.normal(0, 3.0, (256, 256)) + cv2.resize(weave.normal(0, 2.5, (16, 16)), (256, 256))
    piece = np.clip(np.array(colour) + tile[:, :, None] * (0.7, 1.0, 0.6), 0, 255).astype(np.uint8)
    times = (-(-size[0] // 256), -(-size[1] // 256), 1)
    return np.ascontiguousarray(np.tile(piece, times)[: size[0], : size[1]])


def _print_marker(felt: Image, markers: Markers, marker: Marker, px_per_mm: float) -> None:
    """Print one marker with its white border, accurate to a fraction of a pixel."""
    codes = dictionary(markers.dictionary)
    cells = codes.markerSize + 2  # the black border is one cell wide
    code = cv2.aruco.generateImageMarker(codes, marker.id, cells, borderBits=1)
    ink = np.where(np.pad(np.asarray(code), 1, constant_values=255) > 0, 245.0, 28.0)
    half, border = markers.side_mm / 2, markers.quiet_mm
    edges = np.concatenate([[-half - border], np.linspace(-half, half, cells + 1), [half + border]])
    across = _cover((edges + marker.x_mm) * px_per_mm, felt.shape[1])
    down = _cover((edges + marker.y_mm) * px_per_mm, felt.shape[0])
    there = np.ix_(down.any(axis=1), across.any(axis=1))  # only the marker's region: the felt is large
    down, across = down[down.any(axis=1)], across[across.any(axis=1)]
    inside = down.sum(axis=1)[:, None] * across.sum(axis=1)
    printed = down @ ink @ across.T
    mixed = felt[there] * (1 - inside)[:, :, None] + printed[:, :, None]
    felt[there] = np.round(mixed).astype(np.uint8)


def _cover(edges: Points, pixels: int) -> Points:
    """Return how much of each pixel lies between neighbouring edges: pixels × (edges - 1)."""
    left = np.arange(pixels, dtype=float)[:, None]
    return np.asarray(np.clip(np.minimum(edges[1:], left + 1) - np.maximum(edges[:-1], left), 0, 1))
