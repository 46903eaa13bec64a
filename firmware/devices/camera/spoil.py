"""Simulated faults of a picture: glare, bad light, flickering lamps, a moving camera, noise on the cable. Pure."""

from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np

from firmware.devices.camera.source import Image

FARTHEST_PX = 80.0
"""Maximum drift of a camera in pixels."""
_GLARE_AT = ((0.30, 0.30, 0.11), (0.66, 0.71, 0.08))  # of the picture's width and height: x, y, radius
_BANDS = 23  # of a picture's height: the rolling shutter's lines in one flicker of a dimmed lamp


@dataclass(frozen=True, slots=True)
class Spoil:
    """The faults of a camera and its light; by default there are none."""

    plugged: bool = True
    pulls: int = 0
    """Number of times the cable was pulled: a camera that was opened before the last time is lost."""
    frozen: bool = False
    """No camera delivers a picture until it thaws."""
    hangs: int = 0
    """Number of times the driver hung: a camera that was opened before the last time delivers nothing any more."""
    late_s: float = 0.0
    """Additional seconds for every picture."""
    garbage: bool = False
    """Pictures are noise."""
    glare: float = 0.0
    """Reflections of two lamps, 0 to 1 (burnt out)."""
    light: float = 1.0
    """The remaining share of the light."""
    bands: float = 0.0
    """Depth of the lamps' flicker, 0 to 1."""
    drift_px_s: float = 0.0
    """Drift in pixels a second since `drift_since` (monotonic seconds)."""
    drift_since: float = 0.0


def spoil_picture(image: Image, spoil: Spoil, now: float) -> Image:
    """Return the picture with the faults at this monotonic time."""
    if spoil.garbage:
        return np.random.default_rng(int(now * 1000)).integers(0, 256, image.shape, np.uint8)
    if spoil.drift_px_s:
        away = min(FARTHEST_PX, spoil.drift_px_s * max(0.0, now - spoil.drift_since))
        shift = np.array([[1.0, 0.0, away], [0.0, 1.0, away / 2]])
        image = cast(Image, cv2.warpAffine(image, shift, (image.shape[1], image.shape[0])))
    if spoil.light != 1.0:
        image = cast(Image, cv2.convertScaleAbs(image, alpha=spoil.light))
    if spoil.bands:
        rows = np.arange(image.shape[0]) * (2 * np.pi * _BANDS / image.shape[0]) + now * 7
        gains = (1 - spoil.bands * (0.5 + 0.5 * np.sin(rows))).astype(np.float32)
        image = (image * gains[:, None, None]).astype(np.uint8)
    if spoil.glare:
        image = cast(Image, cv2.add(image, _glow(image.shape[1], image.shape[0], spoil.glare)))
    return image


def _glow(width: int, height: int, strength: float) -> Image:
    small_w, small_h = 256, max(1, round(256 * height / width))
    y, x = np.mgrid[0:small_h, 0:small_w] / small_w
    glow = np.zeros((small_h, small_w))
    for at_x, at_y, radius in _GLARE_AT:
        glow += np.exp(-(((x - at_x) ** 2 + (y - at_y * height / width) ** 2) / (2 * (radius / 2) ** 2)))
    grey = cv2.resize((np.clip(glow, 0, 1) * 255 * strength).astype(np.uint8), (width, height))
    return cast(Image, cv2.merge([grey, grey, grey]))
