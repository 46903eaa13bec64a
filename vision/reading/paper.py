"""Judges each card by its own paper and ink: whether light and colour suffice where it lies.

The verdicts on a picture are measured at the felt's markers. Sun on a marker says nothing of the cards beside it, and
sun on a card nothing of the markers. So each card's own paper has the last word, and where its zone has red cards,
their ink. What is not seen well enough to be judged keeps the verdict on the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image, Points
from vision.base.errors import N_
from vision.felt.layout import Zone
from vision.felt.quality import LIGHT_IS_RIGHT, MAX_WHITE, MIN_WHITE, PictureVerdict
from vision.reading.card_places import CardPlace
from vision.reading.network import Floats

MIN_INK = 0.03
"""How far red ink is off grey, as a share of its paper's brightness: clear print has 0.15 and more. What a sensor's
noise leaves in a grey picture of this scale is below 0.01."""

BURNT = N_("Sun or a lamp burns cards out: draw the blinds, or shade the lamp.")
DARK = N_("Cards lie in the dark: take away what shades them, or turn the lamps up.")
GREY = N_("Red cards look grey: take away the coloured lamp that shines on them.")

_PAPER, _INK = 70, 99
"""The share of a card, in per cent, that may be darker than its paper: pips, half of a court's picture; and the share
that may have less colour than its ink: all but an ace's pip."""
_FEW = 2  # so many red cards tell what colours are worth in their zone
_STEPS = (np.arange(18) + 0.5) / 18
_GRID = np.stack(np.meshgrid(_STEPS, _STEPS), axis=-1).reshape(-1, 2)  # places on a card, in its sides

Cards = Sequence[tuple[str, CardPlace, Zone | None]]
"""The code, the place and the zone of each card."""


def judge_paper(
    picture: Image, to_picture: Callable[[Points], Points], cards: Cards, seen: Mapping[str, PictureVerdict]
) -> tuple[dict[str, PictureVerdict], list[bool]]:
    """Judge light and colour by the cards that were read.

    Args:
        picture: BGR, or one channel.
        to_picture: maps millimetres of the felt to its pixels.
        cards: all cards.
        seen: the verdicts on the picture as a whole, by name.

    Returns:
        The verdicts light and colour, and for each card whether they let it be taken without asking.
    """
    fit = np.full(len(cards), all(seen[name].ok for name in ("light", "colour")))
    if picture.ndim == 2 or not cards or not seen["resolution"].ok:
        return {name: seen[name] for name in ("light", "colour")}, fit.tolist()
    sampled = _sample(picture, to_picture, cards)
    paper = np.percentile(sampled[..., 0], _PAPER, axis=1)
    # where the markers have light enough, a darker card has another paper
    spoilt = (paper > MAX_WHITE) | ((paper < MIN_WHITE) & (not seen["light"].ok))
    middles = to_picture(np.array([place.middle for _, place, _ in cards]))
    outside = ((middles < 0) | (middles > picture.shape[1::-1])).any(axis=1)
    spoilt = np.where(outside, not seen["light"].ok, spoilt)
    light = seen["light"]
    if not spoilt.any():
        if not light.ok:
            least = float(paper.min())
            light = PictureVerdict("light", True, least, MIN_WHITE, "levels", LIGHT_IS_RIGHT)
    elif light.ok or not spoilt.all():
        burnt = float(paper[spoilt].max()) > MAX_WHITE
        worst, limit = (paper.max(), MAX_WHITE) if burnt else (paper.min(), MIN_WHITE)
        text = BURNT if burnt else DARK
        light = PictureVerdict("light", False, float(worst), limit, "levels", text, _zones(cards, spoilt))
    colour = seen["colour"]
    grey = np.full(len(cards), not colour.ok)
    if colour.ok:
        inks = _inks(sampled, paper)
        red = np.array([card[1] in "dh" for card, _, _ in cards])
        names = np.array([zone.name if zone else "" for _, _, zone in cards])
        for name in dict.fromkeys(names[red].tolist()):
            here = inks[red & (names == name)]
            grey |= (names == name) & (len(here) >= _FEW and float(np.median(here)) < MIN_INK)
        if grey.any():
            least = float(inks[red & grey].min())
            colour = PictureVerdict(
                "colour", False, least, MIN_INK, "of its paper", GREY, _zones(cards, grey)
            )
    return {"light": light, "colour": colour}, (~(spoilt | grey)).tolist()


def _zones(cards: Cards, concerned: NDArray[np.bool_]) -> str:
    """Return the names of the zones of some cards, in order."""
    there = {zone.name for (_, _, zone), one in zip(cards, concerned, strict=True) if one and zone}
    return ", ".join(sorted(there))


def _sample(picture: Image, to_picture: Callable[[Points], Points], cards: Cards) -> Floats:
    """Return the brightness and the two hues of places all over each card: n × places × 3."""
    corners = np.array([place.corners for _, place, _ in cards])[:, None]
    right, down = corners[:, :, 1] - corners[:, :, 0], corners[:, :, 3] - corners[:, :, 0]
    felt = corners[:, :, 0] + _GRID[:, :1] * right + _GRID[:, 1:] * down
    at = to_picture(felt.reshape(-1, 2)).reshape(len(cards), -1, 2).astype(np.float32)
    seen = cv2.remap(picture, at[..., 0], at[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.cvtColor(seen, cv2.COLOR_BGR2YCrCb), np.float64)


def _inks(seen: Floats, paper: Floats) -> Floats:
    """Return how far each card's most coloured ink is off what the light makes of grey, as a share of its paper."""
    bright = seen[..., 0] >= paper[:, None]
    ordered, count = np.sort(np.where(bright[..., None], seen, np.inf), axis=1), bright.sum(axis=1)
    low, high = (ordered[np.arange(len(seen)), k] for k in ((count - 1) // 2, count // 2))
    white = np.maximum((low + high) / 2, 1)  # the median
    tint = (white[:, None, 1:] - 128) * (seen[..., :1] / white[:, None, :1])
    off = np.hypot(*np.moveaxis(seen[..., 1:] - 128 - tint, -1, 0))
    return np.asarray(np.percentile(off, _INK, axis=1) / white[:, 0])
