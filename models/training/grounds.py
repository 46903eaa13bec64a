"""What cards lie on: felts, cloths and clutter drawn at random, and pieces of photographs without a card."""

import random
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.photographs import BOXED, Box, has, pictures_with_boxes
from vision.base.arrays import Image

_FELTS = [(60, 110, 30), (40, 90, 20), (110, 60, 20), (35, 30, 130)]
_TABLES = [(50, 50, 50), (90, 120, 150), (60, 80, 110), (160, 170, 180)]
_WORDS = "AKQJ1098765432FRONTMIDDLEBACK"


def draw_ground(rng: random.Random, noise: np.random.Generator, size: int, px_per_mm: float) -> Image:
    """Draw a square of ground: a colour, noise from fine to coarse (cloth, carpet, grain), lines and letters."""
    if rng.random() < 0.4:
        base = np.array([rng.randint(10, 200) for _ in range(3)], np.float32)
    else:
        base = np.array(rng.choice(_FELTS + _TABLES), np.float32) + noise.integers(-20, 20, 3)
    ground = np.zeros((size, size, 3), np.float32) + base
    for grain in (1, 2, 4, 16, 48):
        channels = 1 if rng.random() < 0.7 else 3
        cells = size // grain + 2
        rough = noise.normal(0, rng.uniform(0, 16), (cells, cells, channels)).astype(np.float32)
        layer = cv2.resize(rough, (size, size), interpolation=cv2.INTER_LINEAR).reshape(size, size, -1)
        if grain == 4 and rng.random() < 0.3:  # threads or wood
            layer = cv2.blur(layer, (1, 31)).reshape(size, size, -1) * 3
        ground += layer
    picture: Image = np.clip(ground, 0, 255).astype(np.uint8)
    for _ in range(rng.randint(0, 5)):
        _draw_clutter(rng, picture, px_per_mm)
    return picture


def _draw_clutter(rng: random.Random, picture: Image, px_per_mm: float) -> None:
    size = picture.shape[0]
    ink = (rng.randint(0, 255), rng.randint(0, 255), rng.randint(0, 255))
    line = max(1, int(rng.uniform(0.5, 3) * px_per_mm))
    a, b = ((rng.randint(-20, size + 20), rng.randint(-20, size + 20)) for _ in range(2))
    kind = rng.random()
    if kind < 0.35:
        cv2.line(picture, a, (b[0], a[1]) if rng.random() < 0.5 else b, ink, line, cv2.LINE_AA)
    elif kind < 0.6:
        cv2.rectangle(picture, a, b, ink, line)
    elif kind < 0.7:  # squares as of a marker
        cell = max(2, int(rng.uniform(4, 8) * px_per_mm))
        bits = np.array([[rng.choice((0, 255)) for _ in range(5)] for _ in range(5)], np.uint8)
        block = cv2.resize(bits, (5 * cell, 5 * cell), interpolation=cv2.INTER_NEAREST)
        part = picture[max(0, a[1]) : a[1] + 5 * cell, max(0, a[0]) : a[0] + 5 * cell]
        part[:] = block[: part.shape[0], : part.shape[1], None]
    else:
        word = "".join(rng.choice(_WORDS) for _ in range(rng.randint(1, 7)))
        cv2.putText(
            picture, word, a, rng.randint(0, 7), rng.uniform(0.3, 1.5) * px_per_mm / 3, ink, line, cv2.LINE_AA
        )


Ground = tuple[Image, list[Box]]
"""A photograph with the boxes of the cards in it."""


def grounds_of_photographs(data: Path) -> list[Ground]:
    """Return the `train` photographs with whole-card boxes; none where they are absent."""
    if not has(data, BOXED):
        return []
    return [(picture, [b.box for b in boxes]) for picture, boxes in pictures_with_boxes(data / BOXED)]


def cut_ground(rng: random.Random, photographs: list[Ground], size: int) -> Image | None:
    """Cut a square from between the cards, brightened and tinted at random; None where no try found one."""
    for _ in range(6 if photographs else 0):
        picture, boxes = rng.choice(photographs)
        h, w = picture.shape[:2]
        side = min(w - 1, h - 1, int(size * rng.choice([1, 1, 0.5, 0.7, 1.4])))
        for _ in range(8):
            x, y = rng.randint(0, w - side - 1), rng.randint(0, h - side - 1)
            near = (x - 6, y - 6, x + side + 6, y + side + 6)
            if all(b[2] < near[0] or b[0] > near[2] or b[3] < near[1] or b[1] > near[3] for b in boxes):
                return _vary(rng, picture[y : y + side, x : x + side], size)
    return None


def _vary(rng: random.Random, piece: NDArray[np.uint8], size: int) -> Image:
    square = cv2.resize(piece, (size, size))
    if rng.random() < 0.5:
        square = square[::-1]
    gain = np.array([rng.uniform(0.6, 1.5) * rng.uniform(0.9, 1.1) for _ in range(3)], np.float32)
    return np.asarray(np.clip(square.astype(np.float32) * gain, 0, 255), np.uint8)
