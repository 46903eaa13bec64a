"""The labelled photographs: which ones are marked `train`, which cards they show, and the boxes around those.

A set is a folder with a `manifest.csv`. Photographs marked `evaluate` are read by `models.training.measure` alone.
"""

import csv
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from vision.base.arrays import Image
from vision.base.pictures import load_picture
from vision.synthetic.evaluation import photographs_with_labels

TRAINED_ON = ("bidly_cards", "rrrrhys_cards", "edje_tf_cards")
"""The sets whose `train` pictures are trained on. A deck is either trained on or judged by."""
BOXED = "edje_tf_cards"
"""The one of these sets that has whole-card boxes."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels of the photograph."""


class LabelledBox(NamedTuple):
    """A box of a photograph: the card's code (or what else it is), the box, and what it surrounds."""

    label: str
    box: Box
    what: str


def has(data: Path | None, name: str) -> bool:
    """Return whether a set of photographs is there."""
    return data is not None and (data / name / "manifest.csv").exists()


def boxes(folder: Path) -> dict[str, list[LabelledBox]]:
    """Return the boxes of a set by file; none where it has no boxes."""
    found: dict[str, list[LabelledBox]] = defaultdict(list)
    path = folder / "boxes.csv"
    if path.exists():
        with path.open() as rows:
            for row in csv.DictReader(rows):
                x1, y1, x2, y2 = (float(row[k]) for k in ("x1", "y1", "x2", "y2"))
                found[row["file"]].append(LabelledBox(row["label"], (x1, y1, x2, y2), row["what"]))
    return found


def pictures_with_boxes(folder: Path) -> Iterator[tuple[Image, list[LabelledBox]]]:
    """Yield the `train` photographs of a set that have boxes, by name."""
    known = boxes(folder)
    for file in sorted(file for file, _ in photographs_with_labels(folder, "train") if file.name in known):
        yield load_picture(file), known[file.name]
