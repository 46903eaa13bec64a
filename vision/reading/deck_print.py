"""Says what keeps a whole deck from being read: white print on black, letters that are not ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import cv2
import numpy as np

from vision.base.arrays import Image
from vision.base.errors import N_
from vision.felt.quality import MIN_WHITE, PictureVerdict
from vision.reading.cards import CARDS
from vision.reading.decode import CLEARLY_THERE, Cluster
from vision.reading.objects import Other
from vision.reading.pips import DIFFERS

READABLE = N_("The deck can be read.")
BLACK = N_("This deck is printed white on black: its cards are not read. Take a deck printed on white.")
LETTERS = N_("This deck has other letters than J, Q, K and A: enrol it.")

_FEW = 4  # cards fewer than these tell nothing of a deck
_COURTS = np.array([card[0] in "JQK" for card in CARDS])


def judge_deck(read: Sequence[tuple[Cluster, bool]], black: int) -> PictureVerdict:
    """Judge a deck by its cards on the table.

    Args:
        read: each card's indices, and whether it is sure.
        black: how many cards are printed white on black.
    """
    courts = [(c, sure) for c, sure in read if c.whole[_COURTS].max() - c.whole[~_COURTS].max() > DIFFERS]
    pips = [(c, sure) for c, sure in read if c.whole[~_COURTS].max() - c.whole[_COURTS].max() > DIFFERS]
    asked, well = sum(not sure for _, sure in courts), sum(sure for _, sure in pips)
    odd = asked if asked >= max(_FEW, len(courts) / 2) and well >= max(_FEW, 0.8 * len(pips)) else 0
    text = BLACK if black else LETTERS if odd else READABLE
    return PictureVerdict("deck", text == READABLE, float(black or odd), 0.0, "cards", text)


def black_cards(frame: Image, others: Sequence[Other], find: Callable[[], Sequence[Cluster]]) -> int:
    """Count the cards printed white on black among what was not read.

    Args:
        frame: the picture, BGR.
        others: what was not read.
        find: finds cards in the picture with its light inverted.
    """
    dark = 0
    for other in others:
        x, y, w, h = cv2.boundingRect(other.corners.astype(np.float32))
        part = frame[max(0, y) : y + h : 4, max(0, x) : x + w : 4]
        dark += other.what in ("back", "foreign") and part.size > 0 and float(np.median(part)) < MIN_WHITE
    if dark < _FEW:
        return 0
    there = sum(cluster.evidence > CLEARLY_THERE for cluster in find())
    return dark if there >= max(_FEW, dark / 2) else 0


def inverted(picture: Image) -> Image:
    """Exchange light and dark in a BGR picture; hues stay."""
    colours = cv2.cvtColor(picture, cv2.COLOR_BGR2YCrCb)
    colours[..., 0] = 255 - colours[..., 0]
    return np.asarray(cv2.cvtColor(colours, cv2.COLOR_YCrCb2BGR), np.uint8)
