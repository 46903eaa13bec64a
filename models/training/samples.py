"""Samples to train on: a square picture with its corners (see `scene`), turned, kept and shown again. No torch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image

SIZE_PX = 160
PACKAGE = Path(__file__).parents[1]
"""The folder of the packaged model."""
RUN = Path(__file__).parent / "runs" / "reader"
"""The folder of the run that makes it."""
PHOTOGRAPHS = {"bidly_cards": "", "rrrrhys_cards": "", "edje_tf_cards": "", "cardcounterml": "WIN"}
"""The sets of photographs whose `train` pictures are trained on, of each the files that begin so. A deck is either
trained on or judged by: the other files of `cardcounterml` show two decks that judge."""
REAL_FILE = "real_crops.npz"
Sample = tuple[Image, NDArray[np.float32]]


def trained_on(data: Path | None) -> list[str]:
    """Name the photographs to train on that there are, as a model's manifest does."""
    found = {
        name: files for name, files in PHOTOGRAPHS.items() if data and (data / name / "manifest.csv").exists()
    }
    return [f"{name} {files}*" if files else name for name, files in found.items()]


def write_manifest(model: Path, says: Mapping[str, object]) -> None:
    """Write what is said of an exported network next to it, with the name and the hash of its file."""
    file = {"file": model.name, "sha256": hashlib.sha256(model.read_bytes()).hexdigest()}
    written = file | dict(says) | file  # first, and not those of a model that it was made from
    model.with_suffix(".json").write_text(json.dumps(written, indent=2, ensure_ascii=False) + "\n")


def turned(sample: Sample, quarters: int) -> Sample:
    """Turn a scene and its corners by quarters of a circle, counter-clockwise."""
    picture, corners = sample
    corners = corners.copy()
    for _ in range(quarters % 4):
        picture = np.rot90(picture)
        x, y, ux, uy = (corners[:, k].copy() for k in (0, 1, 4, 5))
        corners[:, 0], corners[:, 1] = y, picture.shape[0] - 1 - x
        corners[:, 4], corners[:, 5] = uy, -ux
    return np.ascontiguousarray(picture), corners


def store_real_crops(samples: list[Sample], folder: Path) -> Path:
    """Write labelled crops of real photographs into a run's folder, whole or not at all; return their file."""
    path = folder / REAL_FILE
    with path.with_suffix(".new").open("wb") as file:
        np.savez(
            file,
            pictures=np.stack([picture for picture, _ in samples]),
            corners=np.concatenate([corners for _, corners in samples]),
            counts=np.array([len(corners) for _, corners in samples]),
        )
    path.with_suffix(".new").replace(path)
    return path


def real_crops(folder: Path) -> list[Sample]:
    """Load the labelled crops of real photographs, if `models.training.pseudo` has made any in this run."""
    path = folder / REAL_FILE
    if not path.exists():
        return []
    stored = np.load(path)
    ends = np.cumsum(stored["counts"])[:-1]
    return list(zip(stored["pictures"], np.split(stored["corners"], ends), strict=True))
