"""Files of enrolled decks: a deck's profile as canonical JSON for the record, and as an npz file."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import numpy as np

from vision.base.errors import EnrolmentError, VisionFileError
from vision.base.files import write_whole
from vision.reading.cards import CARDS, RANKS, SUITS
from vision.reading.network import FEATURES, DeckProfile, Floats
from vision.reading.pips import COUNTS

_CLASSES = len(RANKS) + len(SUITS)
_SHAPES = {
    "weight": (_CLASSES, FEATURES),
    "bias": (_CLASSES,),
    "pips": (len(CARDS), len(COUNTS) + len(SUITS)),
}


def profile_json(profile: DeckProfile, model: str) -> str:
    """Write a deck's profile, learnt with the model of this SHA-256, as canonical JSON for the record."""
    values = {"name": profile.name, "model": model}
    values |= {name: array.tolist() for name, array in _arrays(profile).items()}
    return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def profile_of_json(text: str, model: str) -> DeckProfile:
    """Read the output of `profile_json`, for the model of this SHA-256.

    Raises:
        EnrolmentError: it is not a profile, or was learnt with another model.
    """
    try:
        values = json.loads(text)
        arrays = {name: np.array(values[name], float) for name in _SHAPES if name in values}
        profile = DeckProfile(str(values["name"]), **arrays)
        learnt_with = str(values["model"])
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise EnrolmentError("This is no deck profile; enrol the deck again.") from error
    if any(array.shape != _SHAPES[name] for name, array in arrays.items()):
        raise EnrolmentError("This is no deck profile; enrol the deck again.")
    if learnt_with != model:
        raise EnrolmentError(
            "The deck %(name)s was learnt with another card reader's model; enrol the deck again.",
            name=profile.name,
        )
    return profile


def save_profile(profile: DeckProfile, path: Path) -> None:
    """Write a deck's profile to a file.

    Raises:
        VisionFileError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = BytesIO()
        np.savez(file, allow_pickle=False, name=np.array(profile.name), **_arrays(profile))
        write_whole(path, file.getvalue())
    except OSError as error:
        raise VisionFileError(f"{path} cannot be written: {error.strerror}.") from error


def load_profile(path: Path) -> DeckProfile:
    """Read a deck's profile.

    Raises:
        VisionFileError: it is missing or is not a profile.
    """
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in _SHAPES if name in stored}
            return DeckProfile(str(stored["name"]), **arrays)
    except (OSError, ValueError, KeyError, TypeError, EOFError) as error:
        raise VisionFileError(f"{path} is no deck profile; enrol the deck again.") from error


def _arrays(profile: DeckProfile) -> dict[str, Floats]:
    """Return a profile's arrays by name; a profile of an earlier release has no `pips`."""
    arrays = {name: getattr(profile, name) for name in _SHAPES}
    return {name: array for name, array in arrays.items() if array is not None}
