"""Reads a whole card by its pips, its indices hidden: evidence independent of the indices.

It is a separate network (`models/pips.onnx`, made by `models/training/pips.py`) that does not see the indices. If the
two name different cards, the dealer is asked, whatever the margin. If the whole card shows too little (covered, out of
focus, an unusual deck's print), it gives no evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
from numpy.typing import NDArray

from vision.base.arrays import Image, Points
from vision.base.errors import ModelError
from vision.reading.cards import CARDS, SUITS

SIZE = (64, 88)
"""A card's picture, width and height: about one pixel for a millimetre."""
HIDDEN = 128
"""The level of what is hidden from it."""
COUNTS = "A23456789TC"
"""What is told apart: an ace, pips by their number, a court."""
DIFFERS = 3.0
"""Nats by which the pips must speak for another card than the index to make a question."""

CONCENTRIC_MM = 15.0
"""The least distance of two cards: a nearer one is print taken for a card."""
_SEEN = 0.3  # the least visible share of a card
_BLANK = np.full((SIZE[1], SIZE[0], 3), HIDDEN, np.uint8)
_FRAME = np.array([[0, 0], [SIZE[0], 0], [SIZE[0], SIZE[1]]], np.float32) - np.float32(0.5)


def count_of(code: str) -> int:
    """Return a card's index in `COUNTS`."""
    return COUNTS.index("C" if code[0] in "JQK" else code[0])


_COUNTS, _SUITS = slice(0, len(COUNTS)), slice(len(COUNTS), None)
_AS_IT_IS = np.hstack(
    [np.eye(len(COUNTS))[[*map(count_of, CARDS)]], np.eye(len(SUITS))[[SUITS.index(c[1]) for c in CARDS]]]
)
NOTHING = np.repeat([1 / len(COUNTS), 1 / len(SUITS)], [len(COUNTS), len(SUITS)])
"""The reading of a card that is not visible at all."""
_MIN_PROBABILITY = 1e-9  # probability: the most that a reading may count against a card


def cannot_load(path: Path, error: object) -> ModelError:
    """Return the error of a file of the model that cannot be used."""
    return ModelError("The card reader's model %(path)s cannot be loaded: %(error)s.", path=path, error=error)


def load_network(model: Path, threads: int, takes: str) -> onnxruntime.InferenceSession:
    """Load the network whose one input has the name `takes`, to run on so many processor threads.

    Raises:
        ModelError: the file is missing or is not such a network.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    # Otherwise a network's threads spin after each run, and what follows gets less of the cores: decoding took twice as
    # long (measured on two cores).
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime has no root error of its own
        raise cannot_load(model, error) from error
    if (inputs := [one.name for one in session.get_inputs()]) != [takes]:
        raise cannot_load(model, f"its input is {', '.join(inputs)}, not {takes}")
    return session


class PipReader:
    """The network, loaded once.

    Raises:
        ModelError: the file is not such a model.
    """

    def __init__(self, model: Path, threads: int = 1) -> None:
        self._session = load_network(model, threads, "cards")

    def readings(self, cards: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return what each of n cards (n × 88 × 64 × 3, BGR) looks like, n × 15: the probabilities of `COUNTS`, then
        those of the suits.
        """
        if not len(cards):
            return np.empty((0, len(COUNTS) + len(SUITS)))
        return np.asarray(np.exp(self._session.run(None, {"cards": cards})[0].astype(np.float64)))


def scores(readings: NDArray[np.float64], usual: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the log-probabilities of the 52 cards for n readings (n × 52); courts are all alike.

    `usual`: how each card of an enrolled deck is read (`learnt`); without it, every card as what it is.
    """
    usual = _AS_IT_IS if usual is None else usual
    counts, suits = (readings[:, part] @ usual[:, part].T for part in (_COUNTS, _SUITS))
    return np.asarray(np.log(np.maximum(counts * suits, _MIN_PROBABILITY)))


def learnt(readings: NDArray[np.float64], cards: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how each card of a deck is read (52 × 15), from m readings of known cards (numbers into CARDS).

    Each card is also taken as read once as what it is: so a card that was not seen stays as it was.
    """
    usual, times = _AS_IT_IS.copy(), np.ones(len(CARDS))
    np.add.at(usual, cards, readings)
    np.add.at(times, cards, 1)
    return np.asarray(usual / times[:, None])


def neighbours(outlines: Points) -> NDArray[np.bool_]:
    """Return which other cards may cover some of each (n × n), by the cards' corners (n × 4 × 2)."""
    middles = outlines.mean(axis=1)
    far = np.linalg.norm(middles[:, None] - middles, axis=2)
    reach = np.linalg.norm(outlines[:, 2] - outlines[:, 0], axis=1).max(initial=0.0)
    return np.asarray((far > CONCENTRIC_MM) & (far < 1.05 * reach))


def cut_out(
    picture: Image,
    to_picture: Callable[[Points], Points],
    corners: Sequence[Points],
    hidden_mm: Sequence[Points],
    wanted: Sequence[int] | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Cut cards out of a picture, upright, and hide their indices and the parts that other cards may cover.

    Args:
        picture: BGR.
        to_picture: maps millimetres of the felt to its pixels.
        corners: of each card, 4 × 2 mm on the felt, its own upper left one first, clockwise.
        hidden_mm: the extent of its indices from its corners, across and down.
        wanted: the numbers of the cards to cut out; without it, all.

    Returns:
        The cards, and which of them are visible enough.
    """
    wanted = range(len(corners)) if wanted is None else wanted
    n = len(wanted)
    cards, hidden = np.empty((n, SIZE[1], SIZE[0], 3), np.uint8), np.zeros((n, SIZE[1], SIZE[0]), np.uint8)
    if not n:
        return cards, np.zeros(0, bool)
    outlines = np.array(corners)
    own = outlines[wanted]
    seen = to_picture(own.reshape(-1, 2)).reshape(n, 4, 2).astype(np.float32)
    # the outlines of each card's neighbours in its frame, in the pixels of its picture
    right, down = (own[:, k] - own[:, 0] for k in (1, 3))
    axes = np.stack([SIZE[0] * right / _square(right), SIZE[1] * down / _square(down)], axis=1)
    covered, others = np.nonzero(neighbours(outlines)[wanted])
    over = (outlines[others] - own[covered, None, 0]) @ axes[covered].transpose(0, 2, 1) - 0.5
    over = np.round(over).astype(np.int32)
    for k, mm in enumerate(wanted):
        x, y = (max(1, round(float(v))) for v in hidden_mm[mm])
        for rows in (slice(None, y), slice(-y, None)):
            hidden[k, rows, :x] = hidden[k, rows, -x:] = 1
        for outline in over[covered == k]:
            cv2.fillConvexPoly(hidden[k], outline, 1)
        # perspective within one card is negligible
        cv2.warpAffine(picture, cv2.getAffineTransform(seen[k, :3], _FRAME), SIZE, cards[k], cv2.INTER_LINEAR)
        cv2.copyTo(_BLANK, hidden[k], cards[k])
    return cards, np.asarray(1 - hidden.mean(axis=(1, 2)) >= _SEEN)


def _square(steps: Points) -> Points:
    """Return the squared lengths of steps (n × 2), n × 1."""
    return np.asarray((steps**2).sum(axis=1, keepdims=True))
