"""Says why a picture hides the felt: a veil, flickering light, stripes of sun, or two moments in one frame."""

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image, Points
from vision.base.errors import N_

FOGGED = N_("The picture has little contrast: wipe the lens; a fogged one must grow warm first.")
FLICKERS = N_("The light flickers: set the mains frequency and the exposure, or change the lamps.")
STRIPED = N_(
    "Sun or a lamp throws bright stripes or patches over the table: draw the blinds, or shade the lamp."
)
TORN = N_(
    "The picture is torn: its upper and lower part are of two moments. Let it look again; if it stays, check the "
    "camera's cable and that the felt lies flat."
)

MIN_CONTRAST = 0.7
"""How much darker a marker's black is than its white, by the white: rendered ones reach 0.82, blurred and dark too."""

BANDS = (4, 40)
"""Stripes in one picture: a rolling shutter of 1/14 s sees 7 to 8 periods of mains flicker; slower changes of light
are shadows."""

ALIKE = 0.85
"""How much alike stripes of flicker are across the picture, 1 being the same."""

_BLANK, _VEILED = 0.05, 0.55  # the same of a whole picture: a wall, and one without black or without white
_MIN_WHITE = 70  # grey levels: a picture without light has no contrast either
_DEEP = 0.3  # how deep stripes must be that hide markers, as a logarithm
_TWICE = 2.2  # how much brighter sun is than the light beside it, at least: shadows of lamps are weaker
_PARTED = 0.75  # the share of the light's spread that two levels of light explain
_TORN_MM, _TORN_TIMES = 15.0, 4.0
"""How far apart two halves must place the felt, and by how much farther than each half contradicts itself: a fold is
narrower, and a lens bends each half too."""


def why_unclear(small: Image) -> str | None:
    """Return what hides the felt in a picture (BGR or grey, some hundred pixels wide), as a sentence, if it is seen."""
    grey = small if small.ndim == 2 else np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8)
    black, white = np.percentile(grey, (1, 99))
    if white < _MIN_WHITE:
        return None
    if _BLANK < 1 - black / white < _VEILED:
        return FOGGED
    light = np.log(grey.astype(float) + 4)
    strips = np.stack([strip.mean(axis=1) for strip in np.array_split(light, 8, axis=1)], axis=1)
    rows = np.linspace(-1, 1, len(strips))
    strips -= np.polyval(np.polyfit(rows, strips.mean(axis=1), 3), rows)[:, None]
    depth, alike = even_stripes(strips, np.arange(len(strips)) / len(strips))
    if depth >= _DEEP and alike >= ALIKE:
        return FLICKERS
    return STRIPED if small.ndim == 3 and _in_two_lights(small) else None


def even_stripes(light: Points, at: Points) -> tuple[float, float]:
    """Return how deep the strongest even stripes along rows are, and how much alike from column to column, 0 to 1.

    `light` is the logarithm of the light, rows × columns; `at` is where in the picture each row lies, 0 to 1.
    """
    window = np.hanning(len(at) + 2)[1:-1, None]
    light = light - np.average(light, axis=0, weights=window[:, 0])
    # fit a sine of each whole number of periods: some rows may be missing
    waves = np.exp(-2j * np.pi * np.outer(np.arange(BANDS[0], BANDS[1] + 1), at))
    each = waves @ (light * window) * (2 / window.sum())
    joint = np.abs(each.mean(axis=1))
    best = int(joint.argmax())
    alike = joint[best] / max(np.abs(each[best]).mean(), 1e-9)
    return max(0.0, float(joint[best] - np.median(joint))), float(alike)


def _in_two_lights(small: Image) -> bool:
    """Return whether what has one hue, as the cloth has, lies in two lights of very different strength."""
    colours = small.reshape(-1, 3).astype(float) + 1
    light = colours.sum(axis=1)
    hues = np.round(24 * colours[:, :2] / light[:, None]).astype(int)
    names, counts = np.unique(hues @ (100, 1), return_counts=True)
    same = np.log(light[hues @ (100, 1) == names[counts.argmax()]])
    levels, edges = np.histogram(same, 64)
    below = np.cumsum(levels)[:-1] / len(same)
    sums = np.cumsum(levels * (edges[:-1] + edges[1:]) / 2)[:-1] / len(same)
    mean, spread = same.mean(), max(float(same.var()), 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):  # classes without a pixel
        between = np.nan_to_num((mean * below - sums) ** 2 / (below * (1 - below)))
        apart = np.nan_to_num((mean - sums) / (1 - below) - sums / below)
    best = int(between.argmax())
    return bool(between[best] > _PARTED * spread and apart[best] > np.log(_TWICE) and 0.1 < below[best] < 0.9)


def is_torn(felt: Points, seen: Points) -> bool:
    """Return whether the upper and the lower markers of a picture show the felt at two places.

    Args:
        felt: n × 4 × 2, the corners of n markers on the felt, mm.
        seen: n × 4 × 2, the same in the picture, pixels.
    """
    order = np.argsort(seen[:, :, 1].mean(axis=1))
    there, here = ((side[..., 0] + 1j * side[..., 1])[order] for side in (felt, seen))
    for cut in range(2, len(order) - 1):
        if here[:cut].imag.max() >= here[cut:].imag.min():
            continue
        halves = [slice(None, cut), slice(cut, None)]
        fits = [_similarity(here[half].ravel(), there[half].ravel()) for half in halves]
        own, other = (
            max(
                np.abs(a * here[half] + b - there[half]).max()
                for (a, b), half in zip(fits, some, strict=True)
            )
            for some in (halves, halves[::-1])
        )
        if other > _TORN_MM and other > _TORN_TIMES * own:
            return True
    return False


def _similarity(seen: NDArray[np.complex128], felt: NDArray[np.complex128]) -> tuple[complex, complex]:
    """Fit a turn with a scale and a shift, as complex numbers, by least squares."""
    off = seen - seen.mean()
    a = complex((off.conj() * (felt - felt.mean())).sum() / (np.abs(off) ** 2).sum())
    return a, complex(felt.mean() - a * seen.mean())
