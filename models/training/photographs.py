"""The labelled photographs: which ones are marked `train`, which cards they show, and the boxes around those.

A set is a folder with a `manifest.csv`. Photographs marked `evaluate` are read by `models.training.measure` alone.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from vision.base.arrays import Image
from vision.base.pictures import load_picture

TRAINED_ON = ("bidly_cards", "rrrrhys_cards", "edje_tf_cards")
"""The sets whose `train` pictures are trained on. A deck is either trained on or judged by."""
BOXED = "edje_tf_cards"
"""Of them the one with whole-card boxes."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels of the photograph."""


def has(data: Path | None, name: str) -> bool:
    """Tell whether a set of photographs is there."""
    return data is not None and (data / name / "manifest.csv").exists()


def marked_train(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of a set that are marked `train`, each with its labels."""
    with (folder / "manifest.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["split"] == "train":
                yield row["file"], row["labels"]


def boxed_pictures(folder: Path) -> Iterator[tuple[Image, list[tuple[str, Box]]]]:
    """Yield the `train` photographs of a set, by name, with the code and the box of each card."""
    boxes: dict[str, list[tuple[str, Box]]] = defaultdict(list)
    with (folder / "boxes.csv").open() as rows:
        for row in csv.DictReader(rows):
            x1, y1, x2, y2 = (float(row[side]) for side in ("x1", "y1", "x2", "y2"))
            boxes[row["file"]].append((row["label"], (x1, y1, x2, y2)))
    for name in sorted(boxes.keys() & dict(marked_train(folder)).keys()):
        yield load_picture(folder / name), boxes[name]
