"""Samples to train on: a square picture with its corners (see `scene`), turned, stored and loaded. No torch."""

import hashlib
import json
import pickle
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image

SIZE_PX = 160
PACKAGE = Path(__file__).parents[1]
"""The folder of the packaged model."""
DOCS = PACKAGE.parent / "docs"
RUN = Path(__file__).parent / "runs" / "reader"
"""The folder of the run that makes it."""
REAL_FILE = "real_crops.pickle"
Sample = tuple[Image, NDArray[np.float32]]


class TrainingError(RuntimeError):
    """A step of the training cannot be taken; the message says why."""


def write_manifest(model: Path, says: Mapping[str, object]) -> None:
    """Write what is said of an exported network next to it, with the name and the hash of its file."""
    manifest = {"file": model.name, "sha256": hashlib.sha256(model.read_bytes()).hexdigest(), **says}
    model.with_suffix(".json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def turn(sample: Sample, quarters: int) -> Sample:
    """Turn a scene and its corners by quarters of a circle, counter-clockwise."""
    picture, corners = sample
    corners = corners.copy()
    for _ in range(quarters % 4):
        x, y, ux, uy = corners[:, [0, 1, 4, 5]].T.copy()
        corners[:, [0, 1, 4, 5]] = np.stack([y, picture.shape[1] - 1 - x, uy, -ux], axis=1)
        picture = np.rot90(picture)
    return np.ascontiguousarray(picture), corners


def store_real_crops(samples: list[Sample], folder: Path) -> None:
    """Write labelled crops of real photographs into a run's folder, whole or not at all."""
    part = folder / f"{REAL_FILE}.part"
    part.write_bytes(pickle.dumps(samples))
    part.replace(folder / REAL_FILE)


def real_crops(folder: Path) -> list[Sample]:
    """Return the labelled crops of real photographs, if this run has made any."""
    path = folder / REAL_FILE
    samples: list[Sample] = pickle.loads(path.read_bytes()) if path.exists() else []
    return samples
