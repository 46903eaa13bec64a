"""The labels of the photographs: which ones are marked for what, which cards they show, and the boxes around those."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np

from vision.base.arrays import Image

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels of the photograph."""


class Boxed(NamedTuple):
    """A box of a photograph: the card's code (or what else it is), the box, and what it surrounds."""

    label: str
    box: Box
    what: str


def marked_train(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the files of a set that are marked `train`, each with its labels."""
    with (folder / "manifest.csv").open() as rows:
        for row in csv.DictReader(rows):
            if row["split"] == "train":
                yield row["file"], row.get("labels", "")


def boxes(folder: Path) -> dict[str, list[Boxed]]:
    """Return the boxes of a set by file; none where it has no boxes."""
    found: dict[str, list[Boxed]] = defaultdict(list)
    path = folder / "boxes.csv"
    if path.exists():
        with path.open() as rows:
            for row in csv.DictReader(rows):
                x1, y1, x2, y2 = (float(row[k]) for k in ("x1", "y1", "x2", "y2"))
                found[row["file"]].append(Boxed(row["label"], (x1, y1, x2, y2), row["what"]))
    return found


def boxed_pictures(folder: Path, files: str = "") -> Iterator[tuple[Image, list[Boxed]]]:
    """Yield the `train` photographs of a set with boxes, of the files that begin so, by name; others are left out."""
    known = boxes(folder)
    for name in sorted(known.keys() & {file for file, _ in marked_train(folder)} if known else ()):
        picture = cv2.imread(str(folder / name), cv2.IMREAD_COLOR) if name.startswith(files) else None
        if picture is not None:
            yield np.asarray(picture, np.uint8), known[name]
