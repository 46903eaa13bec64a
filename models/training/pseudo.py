"""Real crops to train on, labelled with the half-trained net's help: `python -m models.training pseudo --data DATA`.

Some photographs say which cards lie where (whole-card boxes), not where their indices are. The net looks for indices
in each box; what agrees with the label is taken as the truth, the rest of the box is ignored. Others have a box for
each index: there the label is the truth, and the net says how the index is turned and how high it is. Only photographs
marked `train` are used. Training picks the crops up from the run's folder while it goes on.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from pathlib import Path

import click
import cv2
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track

from models.training.labels import Box, boxed_pictures
from models.training.options import CHECKPOINT
from models.training.real import unsqueezed
from models.training.samples import PHOTOGRAPHS, SIZE_PX, Sample, store_real_crops
from models.training.scene import CORNER_FIELDS
from vision.base.arrays import Image
from vision.commands.options import PHOTOGRAPHS_HINT
from vision.reading.cards import CARDS, RANKS, SUITS
from vision.reading.decode import fuse
from vision.reading.network import CardReader, Indices, default_model

BOXED = "edje_tf_cards"
"""The data set with whole-card boxes."""
SIGNED = "cardcounterml"
"""The data set with a box for each index."""

_SCALES_PX_PER_MM = (2.1, 1.7)
_INDEX_MM = (11.0, 28.0)
_UNKNOWN_DIRECTION = 9.0
_BOX_MM = 22.0  # an index's box, from corner to corner
_SURE = 0.99  # of a rank, or of a colour: a label that says otherwise is wrong


@dataclass(frozen=True)
class Photograph:
    """A photograph with its cards' boxes, labels and scale."""

    picture: Image
    cards: list[tuple[str, Box]]
    px_per_mm: float
    signed: bool = False


def signed_photographs(folder: Path, files: str) -> list[Photograph]:
    """Read the `train` photographs of a data set with a box for each index, of the files that begin so."""
    found = []
    for picture, boxes in boxed_pictures(folder, files):
        wide = unsqueezed(picture)
        times = wide.shape[1] / picture.shape[1]
        cards = [
            (code, (x1 * times, y1, x2 * times, y2)) for code, (x1, y1, x2, y2), _ in boxes if len(code) == 2
        ]
        if cards:
            heights = [math.hypot(x2 - x1, y2 - y1) / _BOX_MM for _, (x1, y1, x2, y2) in cards]
            found.append(Photograph(wide, cards, float(np.median(heights)), signed=True))
    return found


def photographs(folder: Path) -> list[Photograph]:
    """Read the `train` photographs of a data set with whole-card boxes."""
    return [
        Photograph(picture, [(b.label, b.box) for b in boxes], max(_px_per_mm(b.box) for b in boxes))
        for picture, boxes in boxed_pictures(folder)
    ]


def _px_per_mm(box: Box) -> float:
    """Return the scale at which a card turned by some angle has this bounding box."""
    w, h = box[2] - box[0], box[3] - box[1]
    turns = np.linspace(0, np.pi / 2, 46)
    width = 63 * np.cos(turns) + 88 * np.sin(turns)
    height = 63 * np.sin(turns) + 88 * np.cos(turns)
    best = int(np.abs(width / height - w / h).argmin())
    return float(h / height[best])


def label(photo: Photograph, reader: CardReader) -> NDArray[np.float32]:
    """Return the corners (n × 8, see `scene`) of a photograph: found ones, and points to ignore."""
    seen = []
    for wanted in _SCALES_PX_PER_MM:
        scale = wanted / photo.px_per_mm
        way = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
        resized = np.asarray(cv2.resize(photo.picture, None, fx=scale, fy=scale, interpolation=way), np.uint8)
        seen.append(reader.indices(resized, 0.15).scaled(1 / scale))
    indices = fuse(Indices.joined(seen))
    size = indices.sizes / photo.px_per_mm
    indices = indices.take((size > _INDEX_MM[0]) & (size < _INDEX_MM[1]))
    if photo.signed:
        return _signed(indices, photo)
    rows: list[tuple[float, ...]] = []
    for code, box in photo.cards:
        mine = _agreeing(indices, code, box, photo)
        rows += [_corner(indices, k, code) for k in mine]
        if len(mine) < 2:  # an index may hide here that was not found: nothing is right or wrong
            for fx in np.linspace(0.08, 0.92, 5):
                for fy in np.linspace(0.08, 0.92, 5):
                    x, y = box[0] + fx * (box[2] - box[0]), box[1] + fy * (box[3] - box[1])
                    rows.append((x, y, 0, 0, _UNKNOWN_DIRECTION, 0, 16 * photo.px_per_mm, 0))
    return np.array(rows, np.float32).reshape(-1, CORNER_FIELDS)


def _signed(indices: Indices, photo: Photograph) -> NDArray[np.float32]:
    """Return the corners of a photograph with a box for each index; what only the net sees is ignored."""
    rows: list[tuple[float, ...]] = []
    left = set(range(len(indices)))
    for code, box in photo.cards:
        middle = np.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])
        mine = [k for k, (x, y) in enumerate(indices.places.tolist()) if k in left and _inside(x, y, box)]
        if not mine:
            size = 0.8 * math.hypot(box[2] - box[0], box[3] - box[1])
            rows.append((*middle, *_classes(code), _UNKNOWN_DIRECTION, 0, size, 1))
            continue
        k = min(mine, key=lambda k: float(np.hypot(*(indices.places[k] - middle))))
        left -= set(mine)
        rows.append((*_corner(indices, k, code)[:7], float(not _denied(indices, k, code))))
    rows += [(*indices.places[k], 0, 0, _UNKNOWN_DIRECTION, 0, indices.sizes[k], 0) for k in sorted(left)]
    return np.array(rows, np.float32).reshape(-1, CORNER_FIELDS)


def _denied(indices: Indices, k: int, code: str) -> bool:
    """Tell whether the net is sure of another rank or another colour than a label's."""
    belief = np.exp(indices.logp[k]).reshape(len(SUITS), len(RANKS))
    red = [suit in "dh" for suit in SUITS]
    rank, suit = _classes(code)
    other_colour = belief[[r != red[suit] for r in red]].sum()
    return bool(1 - belief[:, rank].sum() > _SURE or other_colour > _SURE)


def _classes(code: str) -> tuple[int, int]:
    return RANKS.index(code[0]), SUITS.index(code[1])


def _inside(x: float, y: float, box: Box) -> bool:
    return box[0] - 3 < x < box[2] + 3 and box[1] - 3 < y < box[3] + 3


def _agreeing(indices: Indices, code: str, box: Box, photo: Photograph) -> list[int]:
    """Return the rows of the indices in a box that bear its label out, at most the best two."""
    want = CARDS.index(code)
    by_suit = indices.logp.reshape(-1, len(SUITS), len(RANKS))
    found: list[tuple[float, int]] = []
    for k, (x, y) in enumerate(indices.places.tolist()):
        if not _inside(x, y, box):
            continue
        exact = int(indices.logp[k].argmax()) == want
        if sum(_inside(x, y, other) for _, other in photo.cards) > 1 and not exact:
            continue
        rank = int(np.logaddexp.reduce(by_suit[k], axis=0).argmax()) == want % len(RANKS)
        suit = int(np.logaddexp.reduce(by_suit[k], axis=1).argmax()) == want // len(RANKS)
        nearly = indices.heat[k] > 0.35 and (rank or suit) and indices.logp[k, want] > -4.6
        if exact or nearly:
            found.append((float(indices.heat[k] * math.exp(indices.logp[k, want])), k))
    return [k for _, k in sorted(found, reverse=True)[:2]]


def _corner(indices: Indices, k: int, code: str) -> tuple[float, ...]:
    return (*indices.places[k], *_classes(code), *indices.directions[k], indices.sizes[k], 1.0)


def crops(photo: Photograph, corners: NDArray[np.float32], rng: random.Random) -> list[Sample]:
    """Cut turned and scaled squares around a photograph's corners."""
    clear = corners[corners[:, 7] > 0]
    samples: list[Sample] = []
    few = max(6, min(20, 6 * len(photo.cards)))
    for _ in range(2 * few if photo.signed else few):  # there are few of those, and they are the harder ones
        if not len(clear) and rng.random() < 0.7:
            continue
        scale = math.exp(rng.uniform(math.log(1.2), math.log(2.8))) / photo.px_per_mm
        if len(clear) and rng.random() < 0.85:
            x, y = (
                clear[rng.randrange(len(clear)), :2]
                + np.array([rng.uniform(-50, 50), rng.uniform(-50, 50)]) / scale
            )
        else:
            x, y = rng.uniform(0, photo.picture.shape[1]), rng.uniform(0, photo.picture.shape[0])
        samples.append(_cut(photo.picture, corners, rng, (float(x), float(y)), scale))
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
    matrix[:, 2] = matrix[:, 2] + SIZE_PX / 2 - np.array(middle)
    source = cv2.GaussianBlur(picture, (0, 0), 0.45 / scale) if scale < 0.75 else picture
    border = rng.randint(0, 255)
    crop = cv2.warpAffine(
        source,
        matrix,
        (SIZE_PX, SIZE_PX),
        flags=cv2.INTER_CUBIC if rng.random() < 0.5 else cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(border, border, border),
    )
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


def label_photographs(data: Path, model: Path, folder: Path, seed: int = 5) -> str:
    """Cut labelled crops of the photographs into a run's folder; return a line that counts them."""
    rng, reader = random.Random(seed), CardReader(model)
    samples: list[Sample] = []
    boxes = indices = 0
    photos = photographs(data / BOXED)
    if (data / SIGNED / "boxes.csv").exists():
        photos += signed_photographs(data / SIGNED, PHOTOGRAPHS[SIGNED])
    for photo in track(photos, "photographs", console=Console(stderr=True)):
        corners = label(photo, reader)
        boxes += len(photo.cards)
        indices += int((corners[:, 7] > 0).sum())
        samples += crops(photo, corners, rng)
    path = store_real_crops(samples, folder)
    return f"{boxes} cards, {indices} indices found, {len(samples)} crops in {path}"


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    required=True,
    help="Folder of labelled photographs, such as ../shared/data.",
)
@click.option(
    "--model", type=click.Path(path_type=Path, dir_okay=False, exists=True), help="ONNX model to look with."
)
@CHECKPOINT
@click.option("--seed", default=5, show_default=True)
def command(data: Path, model: Path | None, folder: Path, seed: int) -> None:
    """Cut labelled crops from the real training photographs."""
    if not (data / BOXED / "boxes.csv").exists():
        raise click.UsageError(f"{data} has no {BOXED} with its boxes.csv. {PHOTOGRAPHS_HINT}")
    click.echo(label_photographs(data, model or default_model(), folder, seed))
