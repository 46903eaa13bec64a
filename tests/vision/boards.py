"""Photographs of the ChArUco board through a lens that bends, as a person holds it before the camera."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from vision.base.arrays import Image, Matrix, Points
from vision.felt.lens import BOARD_SQUARE_MM, BOARD_SQUARES, Lens, board_picture
from vision.felt.resample import project

WIDTH, HEIGHT = 1152, 864
TRUE = Lens(
    np.array([[1100.0, 0, 571.0], [0, 1105.0, 438.0], [0, 0, 1]]),
    np.array([-0.12, 0.04, 0.001, -0.0005, 0.0]),
    WIDTH,
    HEIGHT,
    0.0,
)


@cache
def _rays() -> Points:
    """Return, for every pixel of the true lens, where the straight ray hits."""
    from scipy.interpolate import RegularGridInterpolator  # a second to import; few come here

    coarse = [np.arange(0, n + 12, 12.0) for n in (WIDTH, HEIGHT)]
    grid = np.stack(np.meshgrid(*coarse), axis=-1)
    straight = TRUE.undistort(grid.reshape(-1, 2)).reshape(grid.shape)
    between = RegularGridInterpolator(coarse[::-1], straight)
    fine = np.stack(np.meshgrid(np.arange(HEIGHT), np.arange(WIDTH), indexing="ij"), axis=-1)
    return np.asarray(between(fine.reshape(-1, 2)))


def photographed(picture: Image, to_px: Matrix) -> Image:
    """Look at a flat picture through the true lens."""
    source = project(np.asarray(np.linalg.inv(to_px)), _rays()).astype(np.float32)
    shape = (HEIGHT, WIDTH)
    look = (source[:, 0].reshape(shape), source[:, 1].reshape(shape))
    return np.asarray(cv2.remap(picture, *look, cv2.INTER_LINEAR, borderValue=(90, 90, 90)), np.uint8)


@cache
def board_photo(number: int) -> Image:
    """Hold the board out in one of nine places, each time at another angle."""
    rng = np.random.default_rng(number + 1)
    ppm = 4.0
    board = np.pad(board_picture(ppm), 40, constant_values=255)
    size = np.array(BOARD_SQUARES) * BOARD_SQUARE_MM
    turn, _ = cv2.Rodrigues(np.radians([rng.uniform(-28, 28), rng.uniform(-28, 28), rng.uniform(-10, 10)]))
    at = np.array([(number % 3 - 1) * 150.0, (number // 3 - 1) * 95.0, 600.0 + 75 * (number % 2)])
    start = at - turn @ np.array([size[0] / 2, size[1] / 2, 0])
    to_px = TRUE.matrix @ np.column_stack([turn[:, 0], turn[:, 1], start])
    from_board = np.array([[1 / ppm, 0, (0.5 - 40) / ppm], [0, 1 / ppm, (0.5 - 40) / ppm], [0, 0, 1]])
    taken = photographed(board, np.asarray(to_px @ from_board))
    noisy = np.clip(taken + rng.normal(0, 2, taken.shape), 0, 255).astype(np.uint8)
    noisy.flags.writeable = False
    return noisy
