"""What spoils a picture: glare, bad light, flickering lamps, a camera that moves, rubbish on the cable. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import cv2
import numpy as np

from firmware.devices.camera.source import Image

FARTHEST_PX = 80.0
"""Pixels that a drifting camera moves at most."""
_GLARE_AT = ((0.30, 0.30, 0.11), (0.66, 0.71, 0.08))  # of the picture's width and height: x, y, radius
_BANDS = 23  # of a picture's height: the rolling shutter's lines in one flicker of a dimmed lamp


@dataclass(frozen=True, slots=True)
class Spoil:
    """How a camera and its light are spoiled; each field's default spoils nothing."""

    plugged: bool = True
    pulls: int = 0
    """How often the cable was pulled: a camera that was opened before the last of them is lost."""
    frozen: bool = False
    """No picture comes from any camera until it thaws."""
    hangs: int = 0
    """How often the driver hung: a camera that was opened before the last of them gives nothing any more."""
    late_s: float = 0.0
    """Every picture takes this much longer."""
    garbage: bool = False
    """Pictures are noise."""
    glare: float = 0.0
    """Two lamps' reflections, 0 to 1 (burnt out)."""
    light: float = 1.0
    """The share of the light that is left."""
    bands: float = 0.0
    """How deep the lamps flicker, 0 to 1."""
    drift_px_s: float = 0.0
    """Pixels a second that the camera slides since `drift_since` (monotonic seconds)."""
    drift_since: float = 0.0


def spoiled(image: Image, spoil: Spoil, now: float) -> Image:
    """The picture as a spoiled camera sees it at this monotonic time."""
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
