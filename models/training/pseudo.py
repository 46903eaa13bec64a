"""Real crops to train on, labelled with the half-trained net's help.

The photographs say which cards lie where (whole-card boxes), not where their indices are. The net looks for indices
in each box; what agrees with the label is taken as the truth, the rest of the box is ignored. Only photographs
marked `train` are used.
"""

import math
import random
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from models.training.photographs import BOXED, Box, LabelledBox, pictures_with_boxes
from models.training.samples import SIZE_PX, Sample, store_real_crops
from models.training.scene import CORNER_FIELDS
from vision.base.arrays import Image
from vision.reading.cards import CARDS, RANKS, SUITS
from vision.reading.decode import fuse
from vision.reading.network import CardReader, Indices

_SCALES_PX_PER_MM = (2.1, 1.7)
_INDEX_MM = (11.0, 28.0)
_UNKNOWN_DIRECTION = 9.0


def px_per_mm(box: Box) -> float:
    """Return the scale at which a card turned by some angle has this bounding box."""
    w, h = box[2] - box[0], box[3] - box[1]
    turns = np.linspace(0, np.pi / 2, 46)
    width = 63 * np.cos(turns) + 88 * np.sin(turns)
    height = 63 * np.sin(turns) + 88 * np.cos(turns)
    return float(h / height[int(np.abs(width / height - w / h).argmin())])


def label(
    picture: Image, cards: Sequence[LabelledBox], scale: float, reader: CardReader
) -> NDArray[np.float32]:
    """Return the corners (n × 8, see `scene`) of a photograph of so many px/mm: found ones, and points to ignore."""
    seen = []
    for wanted in _SCALES_PX_PER_MM:
        times = wanted / scale
        way = cv2.INTER_AREA if times < 1 else cv2.INTER_CUBIC
        resized = np.asarray(cv2.resize(picture, None, fx=times, fy=times, interpolation=way), np.uint8)
        seen.append(reader.indices(resized, 0.15).scaled(1 / times))
    indices = fuse(Indices.joined(seen))
    size = indices.sizes / scale
    indices = indices.take((size > _INDEX_MM[0]) & (size < _INDEX_MM[1]))
    rows: list[tuple[float, ...]] = []
    for code, box, _ in cards:
        rank, suit = RANKS.index(code[0]), SUITS.index(code[1])
        mine = _agreeing(indices, code, box, cards)
        rows += [
            (*indices.places[k], rank, suit, *indices.directions[k], indices.sizes[k], 1.0) for k in mine
        ]
        if len(mine) < 2:  # an index may hide here that was not found: nothing is right or wrong
            shares = np.linspace(0.08, 0.92, 5)
            for x in box[0] + shares * (box[2] - box[0]):
                for y in box[1] + shares * (box[3] - box[1]):
                    rows.append((x, y, 0, 0, _UNKNOWN_DIRECTION, 0, 16 * scale, 0))
    return np.array(rows, np.float32).reshape(-1, CORNER_FIELDS)


def _inside(places: NDArray[np.float64], box: Box) -> NDArray[np.bool_]:
    return np.asarray(((places > np.array(box[:2]) - 3) & (places < np.array(box[2:]) + 3)).all(axis=1))


def _agreeing(indices: Indices, code: str, box: Box, cards: Sequence[LabelledBox]) -> list[int]:
    """Return the rows of the indices in a box that agree with its label, at most the best two."""
    want = CARDS.index(code)
    by_suit = indices.logp.reshape(-1, len(SUITS), len(RANKS))
    exact = indices.logp.argmax(axis=1) == want
    rank = np.logaddexp.reduce(by_suit, axis=1).argmax(axis=1) == want % len(RANKS)
    suit = np.logaddexp.reduce(by_suit, axis=2).argmax(axis=1) == want // len(RANKS)
    nearly = (indices.heat > 0.35) & (rank | suit) & (indices.logp[:, want] > -4.6)
    alone = np.sum([_inside(indices.places, other) for _, other, _ in cards], axis=0) == 1
    good = _inside(indices.places, box) & (exact | (nearly & alone))
    worth = np.where(good, indices.heat * np.exp(indices.logp[:, want]), -1.0)
    return [int(k) for k in np.argsort(-worth)[:2] if good[k]]


def crops(
    picture: Image, corners: NDArray[np.float32], scale: float, count: int, rng: random.Random
) -> list[Sample]:
    """Cut turned and scaled squares around the corners of a photograph of so many px/mm."""
    clear = corners[corners[:, 7] > 0]
    samples: list[Sample] = []
    for _ in range(count):
        if not len(clear) and rng.random() < 0.7:
            continue
        times = math.exp(rng.uniform(math.log(1.2), math.log(2.8))) / scale
        if len(clear) and rng.random() < 0.85:
            near = clear[rng.randrange(len(clear)), :2]
            x, y = near + np.array([rng.uniform(-50, 50), rng.uniform(-50, 50)]) / times
        else:
            x, y = rng.uniform(0, picture.shape[1]), rng.uniform(0, picture.shape[0])
        samples.append(_cut(picture, corners, rng, (float(x), float(y)), times))
    return samples


def _cut(
    picture: Image,
    corners: NDArray[np.float32],
    rng: random.Random,
    middle: tuple[float, float],
    scale: float,
) -> Sample:
    turn = rng.choice([0, 90, 180, 270]) + rng.gauss(0, 25)
    matrix = np.asarray(cv2.getRotationMatrix2D(middle, turn, scale), np.float64)
    matrix[:, 2] += SIZE_PX / 2 - np.array(middle)
    source = cv2.GaussianBlur(picture, (0, 0), 0.45 / scale) if scale < 0.75 else picture
    border = (rng.randint(0, 255),) * 3
    way = cv2.INTER_CUBIC if rng.random() < 0.5 else cv2.INTER_LINEAR
    crop = cv2.warpAffine(source, matrix, (SIZE_PX, SIZE_PX), flags=way, borderValue=border)
    gain = rng.uniform(0.7, 1.2) * np.array([rng.uniform(0.93, 1.07) for _ in range(3)])
    light = (crop.astype(np.float32) / 255) ** rng.uniform(0.8, 1.25) * 255 * gain
    moved = corners.copy()
    moved[:, :2] = corners[:, :2] @ matrix[:, :2].T + matrix[:, 2]
    known = np.abs(corners[:, 4]) <= 1
    moved[known, 4:6] = corners[known, 4:6] @ matrix[:, :2].T / scale
    moved[:, 6] *= scale
    near = ((moved[:, :2] > -20) & (moved[:, :2] < SIZE_PX + 20)).all(axis=1)
    edge = ((moved[:, :2] <= 3) | (moved[:, :2] >= SIZE_PX - 3)).any(axis=1)
    moved[edge, 7] = 0
    return np.clip(light, 0, 255).astype(np.uint8), moved[near]


def label_photographs(data: Path, model: Path, folder: Path, seed: int = 5) -> None:
    """Cut labelled crops of the photographs with boxes into a run's folder."""
    rng, reader = random.Random(seed), CardReader(model)
    samples: list[Sample] = []
    for picture, cards in track(
        list(pictures_with_boxes(data / BOXED)), "photographs", console=Console(stderr=True)
    ):
        scale = max(px_per_mm(card.box) for card in cards)
        corners = label(picture, cards, scale, reader)
        samples += crops(picture, corners, scale, max(6, min(20, 6 * len(cards))), rng)
    store_real_crops(samples, folder)
