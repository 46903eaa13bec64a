"""Runs the card reader's network: from a picture to the card indices in it.

The network (`models/reader.onnx`) takes one BGR picture as uint8 (1, h, w, 3), h and w multiples of 16. It gives
float32 (1, 23, h/8, w/8), whose channels are described in `models/training/net.py`, and the 112 features of its last
layer's input. It does not know the scale: indices of 27 to 43 px are read best.
"""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from importlib import resources
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image
from vision.reading.cards import RANKS, SUITS
from vision.reading.pips import PipReader, cannot_load, load_network
from vision.reading.signs import SignReader

STRIDE = 8
FEATURES = 112
_PAD = 16
_INPUT = "picture"  # its name in the file
_UNIT_SIZE_PX = 32.0  # the network's height of an index is log(px / 32)
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Indices:
    """Card indices seen in a picture; row k of every array is one index.

    Attributes:
        places: n × 2, the index's middle in pixels.
        heat: n, how surely there is an index, 0 … 1.
        logp: n × 52, log-probability of each card in the order of `vision.reading.cards.CARDS`.
        directions: n × 2, unit vectors along the card's width as the index reads.
        sizes: n, height of the index (rank and suit) in pixels.
        features: n × 112, what the network's last layer saw there; an enrolled deck is learnt from it.
    """

    places: Floats
    heat: Floats
    logp: Floats
    directions: Floats
    sizes: Floats
    features: Floats

    def __len__(self) -> int:
        return len(self.heat)

    def take(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Indices:
        """Return the selected rows."""
        return Indices(*(getattr(self, f.name)[rows] for f in fields(self)))

    def scaled(self, factor: float) -> Indices:
        """Return the same indices in a picture `factor` times as large."""
        return replace(self, places=self.places * factor, sizes=self.sizes * factor)

    @staticmethod
    def joined(parts: list[Indices]) -> Indices:
        """Join the indices of several parts."""
        parts = parts or [NO_INDICES]
        return Indices(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Indices)))


NO_INDICES = Indices(
    np.empty((0, 2)), np.empty(0), np.empty((0, 52)), np.empty((0, 2)), np.empty(0), np.empty((0, FEATURES))
)


@dataclass(frozen=True)
class Curve:
    """A logistic curve from a figure in nats to a probability, and the figure from which a card is sure.

    `models.training.calibrate` derives all three from the budget of silent errors.
    """

    slope: float = 1.0
    offset: float = 0.0
    sure_from: float = 2.0

    def __call__(self, nats: float) -> float:
        """Return the probability of a figure."""
        return 1 / (1 + math.exp(-max(min(self.slope * nats + self.offset, 30.0), -30.0)))


@dataclass(frozen=True)
class Calibration:
    """The probabilities of the reader's figures: that a card is named rightly, and that there is a card at all.

    Attributes:
        margin: nats by which a name beats every other.
        evidence: nats that speak for there being a card.
    """

    margin: Curve = Curve()
    evidence: Curve = Curve()

    def confidence(self, margin: float, evidence: float) -> float:
        """Return the probability that this card is there."""
        return self.margin(margin) * self.evidence(evidence)

    def sure(self, margin: float, evidence: float) -> bool:
        """Return whether the card may be used without asking."""
        return margin >= self.margin.sure_from and evidence >= self.evidence.sure_from


@dataclass(frozen=True)
class Calibrations:
    """The calibrations by situation.

    Attributes:
        whole: all 52 cards are named; a wrong name would displace the right card.
        part: fewer are named, as with three players or while cards are placed; a wrong name displaces no card.
        loose: any photograph; never used to settle a hand, so its budget of silent errors is larger.
    """

    whole: Calibration = Calibration()
    part: Calibration = Calibration()
    loose: Calibration = Calibration()


@dataclass(frozen=True)
class DeckProfile:
    """The peculiarities of one deck: a correction to the network's rank and suit logits, and what its pips look like.

    Attributes:
        name: what the house calls the deck.
        weight: 17 × 112, added to the last layer's weights for ranks and suits.
        bias: 17, likewise.
        pips: 52 × 15, how the pip reader reads each card (`pips.learnt`); None where that was not learnt.
    """

    name: str
    weight: Floats
    bias: Floats
    pips: Floats | None = None

    @property
    def sha256(self) -> str:
        """The profile's hash, for the record."""
        digest = hashlib.sha256(self.name.encode())
        for array in (self.weight, self.bias, self.pips):
            digest.update(b"" if array is None else array.astype("<f8").tobytes())
        return digest.hexdigest()


def log_softmax(x: Floats) -> Floats:
    """Return log-probabilities along the last axis."""
    x = x - np.maximum.reduce(x, axis=-1, keepdims=True)
    return np.asarray(x - np.log(np.add.reduce(np.exp(x), axis=-1, keepdims=True)))


def default_model() -> Path:
    """Return the packaged model's file."""
    return Path(str(resources.files("models") / "reader.onnx"))


class CardReader:
    """The network, loaded once; for one picture at a time; with the profile of an enrolled deck, if any.

    Raises:
        ModelError: the file is missing or is not such a model.
    """

    def __init__(self, model: Path | None = None, threads: int = 1, deck: DeckProfile | None = None) -> None:
        self.path = model or default_model()
        self.deck = deck
        self._threads = threads
        self._session = load_network(self.path, threads, _INPUT)

    @cached_property
    def pips(self) -> PipReader | None:
        """The pip reader, from the file next to the model; None if it was switched off.

        Raises:
            ModelError: there is no such file.
        """
        return PipReader(self.path.with_name("pips.onnx"), self._threads)

    @cached_property
    def signs(self) -> SignReader:
        """The suit witness, likewise."""
        return SignReader(self.path.with_name("signs.onnx"), self._threads)

    @cached_property
    def calibrations(self) -> Calibrations:
        """The calibrations of this model, from the manifest next to it; until it is calibrated, the defaults.

        Raises:
            ModelError: there is no such manifest, or it is another network's.
        """
        path = self.path.with_suffix(".json")
        try:
            manifest = json.loads(path.read_text())
            if "calibration" not in manifest and manifest["file"] == self.path.name:
                return Calibrations()
            parts = [manifest["calibration"][part.name] for part in fields(Calibrations)]
            return Calibrations(*(Calibration(Curve(**p["margin"]), Curve(**p["evidence"])) for p in parts))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise cannot_load(path, error) from error

    @cached_property
    def sha256(self) -> str:
        """The model file's SHA-256, for the record."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()

    def indices(self, picture: Image, threshold: float = 0.2) -> Indices:
        """Find the card indices in a BGR picture (h × w × 3, uint8).

        Raises:
            ValueError: the picture is not h × w × 3 of uint8.
        """
        if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
            raise ValueError(f"a picture is h × w × 3 of uint8, not {picture.shape} of {picture.dtype}")
        h, w = picture.shape[:2]
        padded = cv2.copyMakeBorder(picture, 0, -h % _PAD, 0, -w % _PAD, cv2.BORDER_CONSTANT)
        cells, features = self._session.run(None, {_INPUT: padded[None]})
        return _peaks(cells[0], features[0], threshold, self.deck)


def _peaks(
    output: NDArray[np.float32], features: NDArray[np.float32], threshold: float, deck: DeckProfile | None
) -> Indices:
    """Return the local maxima of the heat map with the network's other outputs there."""
    logit = output[0]
    # A dilation's value is the 3 × 3 neighbourhood's maximum: a cell that equals it is a peak.
    peak = (logit >= cv2.dilate(logit, np.ones((3, 3), np.uint8))) & (
        logit > np.log(threshold / (1 - threshold))
    )
    rows, columns = np.nonzero(peak)
    if not len(rows):
        return NO_INDICES
    at = output[:, rows, columns].T.astype(np.float64)
    seen = features[:, rows, columns].T.astype(np.float64)
    names = at[:, 1:18] if deck is None else at[:, 1:18] + seen @ deck.weight.T + deck.bias
    rank, suit = log_softmax(names[:, :13]), log_softmax(names[:, 13:])
    direction = at[:, 18:20]
    cells = np.stack([columns, rows], axis=1) + 0.5 + np.clip(at[:, 20:22], -1, 1)
    return Indices(
        places=np.asarray(cells * STRIDE, np.float64),
        heat=1 / (1 + np.exp(-at[:, 0])),
        # CARDS runs suit by suit, each from two to ace
        logp=(suit[:, :, None] + rank[:, None, :]).reshape(len(rows), len(SUITS) * len(RANKS)),
        directions=direction / (np.linalg.norm(direction, axis=1, keepdims=True) + 1e-6),
        sizes=_UNIT_SIZE_PX * np.exp(np.clip(at[:, 22], -1.5, 1.5)),
        features=seen,
    )
