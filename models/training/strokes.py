"""Ranks drawn from strokes of one width, as the plain faces of card indices are: no font has these proportions.

What a curl, a gap or a flat top makes of a figure is drawn again for each deck, up to where one figure would become
another: a five whose bowl all but closes, a six with a short hook.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.glyphs import Mask

Line = NDArray[np.float64]
_TALL = 200  # px from the head to the foot of a stroke's middle line


class Strokes:
    """One face: thirteen ranks, and the figures 1 and 0 of a ten, in a box of `wide` × 1 (y down)."""

    def __init__(self, rng: random.Random) -> None:
        self._wide = rng.uniform(0.4, 0.75)
        self._weight = rng.uniform(0.045, 0.15)
        self._round = rng.uniform(2.0, 3.4)  # the exponent of the bowls: an ellipse, or squarer
        self._serif = rng.uniform(0.12, 0.3) if rng.random() < 0.3 else 0.0
        self._lines = self._draw(rng)

    def mask(self, text: str) -> Mask:
        """Return the ink of a rank, "1" or "0"."""
        margin = 40
        canvas = np.zeros((_TALL + 2 * margin, round(1.2 * _TALL) + 2 * margin), np.uint8)
        thick = max(2, round(self._weight * _TALL))
        for line in self._lines[text]:
            points = np.round((line * _TALL + margin) * 16).astype(np.int32)
            cv2.polylines(canvas, [points], False, 255, thick, cv2.LINE_AA, 4)
        rows, columns = np.nonzero(canvas > 60)
        return np.ascontiguousarray(canvas[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1])

    def _arc(self, box: tuple[float, float, float, float], begin: float, end: float) -> Line:
        """Follow the bowl in a box (left, top, right, bottom); degrees clockwise from the right."""
        left, top, right, bottom = box
        turn = np.radians(np.linspace(begin, end, 48))
        unit = np.stack([np.cos(turn), np.sin(turn)], 1)
        bowed = np.sign(unit) * np.abs(unit) ** (2 / self._round)
        middle = np.array([(left + right) / 2, (top + bottom) / 2])
        return np.asarray(middle + bowed * (np.array([right - left, bottom - top]) / 2))

    def _bars(self, *feet: tuple[float, float]) -> list[Line]:
        """Lay a serif across each end of a stem."""
        half = self._serif * self._wide
        return [_line((x - half, y), (x + half, y)) for x, y in feet] if self._serif else []

    def _draw(self, rng: random.Random) -> Mapping[str, Sequence[Line]]:
        w, waist = self._wide, rng.uniform(0.42, 0.5)
        slim = rng.uniform(0.78, 1.0) * w
        six = self._six(rng)
        stem, bar = rng.uniform(0.6, 0.8) * w, rng.uniform(0.62, 0.76)
        knee, arm = rng.uniform(0.5, 0.66), rng.uniform(0.1, 0.35)
        hook = rng.uniform(0.55, 0.75)
        lean = rng.uniform(0.15, 0.45) * w
        flag = [_line((w / 2, 0), (w / 2 - rng.uniform(0.12, 0.25), rng.uniform(0.1, 0.25)))]
        upper = ((w - slim) / 2, 0.0, (w + slim) / 2, waist)
        lower = (0.0, waist, w, 1.0)
        return {
            "0": [self._arc((0, 0, w, 1), 0, 360)],
            "1": [
                _line((w / 2, 0), (w / 2, 1)),
                *(flag if rng.random() < 0.5 else []),
                *self._bars((w / 2, 1)),
            ],
            "2": [
                _joined(
                    self._arc((0, 0, w, rng.uniform(0.5, 0.7)), rng.uniform(175, 215), rng.uniform(370, 400)),
                    _line((0, 1), (w, 1)),
                )
            ],
            "3": self._three(rng, waist),
            "4": [_line((stem, 1), (stem, 0), (0, bar), (w, bar)), *self._bars((stem, 1))],
            "5": self._five(rng),
            "6": six,
            "7": [_line((0, 0), (w, 0), (lean, 1)), *self._bars((lean, 1))],
            "8": [self._arc(upper, 0, 360), self._arc(lower, 0, 360)],
            "9": [np.array([w, 1.0]) - line for line in six],
            "J": [
                _joined(
                    _line((w, 0), (w, hook)), self._arc((0, 2 * hook - 1, w, 1), 0, rng.uniform(140, 185))
                ),
                *(self._bars((w, 0)) or ([_line((w / 2, 0), (w, 0))] if rng.random() < 0.3 else [])),
            ],
            "Q": [
                self._arc((0, 0, w, 1), 0, 360),
                _line(
                    (rng.uniform(0.4, 0.65) * w, rng.uniform(0.62, 0.8)), (rng.uniform(0.9, 1.15) * w, 1.04)
                ),
            ],
            "K": [
                _line((0, 0), (0, 1)),
                _line((w, 0), (0, knee)),
                _line((arm * w, knee * (1 - arm)), (w, 1)),
                *self._bars((0, 0), (0, 1), (w, 0), (w, 1)),
            ],
            "A": [
                _line((0, 1), (w / 2, 0), (w, 1)),
                _line(((1 - bar) * w / 2, bar), ((1 + bar) * w / 2, bar)),
                *self._bars((0, 1), (w, 1)),
            ],
        }

    def _three(self, rng: random.Random, waist: float) -> list[Line]:
        w, curl = self._wide, rng.uniform(115, 165)
        if rng.random() < 0.4:  # flat-topped
            dent = rng.uniform(0.35, 0.6) * w
            return [
                _joined(_line((0, 0), (w, 0), (dent, waist)), self._arc((0, waist, w, 1), 270, 360 + curl))
            ]
        begin = rng.uniform(195, 225)
        return [
            self._arc((0.05 * w, 0, 0.95 * w, waist), begin, 450),
            self._arc((0, waist, w, 1), 270, 360 + curl),
        ]

    def _five(self, rng: random.Random) -> list[Line]:
        w, top, curl = self._wide, rng.uniform(0.3, 0.42), rng.uniform(115, 168)
        bowl = self._arc((0, top, w, 1), rng.uniform(205, 240), 360 + curl)
        stem = rng.uniform(0.02, 0.2) * w
        return [_line((rng.uniform(0.82, 1) * w, 0), (stem, 0), tuple(bowl[0])), bowl]

    def _six(self, rng: random.Random) -> list[Line]:
        w, top = self._wide, rng.uniform(0.33, 0.46)
        middle = (top + 1) / 2
        bowl = self._arc((0, top, w, 1), 0, 360)
        if rng.random() < 0.25:  # a slope in the place of a hook
            return [
                bowl,
                self._arc((0, 0, rng.uniform(1.3, 1.9) * w, 2 * middle), 180, rng.uniform(255, 272)),
            ]
        return [bowl, self._arc((0, 0, w, 2 * middle), 180, rng.uniform(285, 320))]


def _line(*points: Iterable[float]) -> Line:
    return np.array([tuple(point) for point in points], float)


def _joined(*lines: Line) -> Line:
    return np.vstack(lines)
