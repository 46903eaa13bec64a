"""What a lens, a lamp and a sensor do to a picture: light, glare, blur, sharpening, noise, colour, JPEG."""

import math
import random

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.base.arrays import Image

Plane = NDArray[np.float32]


def photograph(
    rng: random.Random, noise: np.random.Generator, scene: Image, px_per_mm: float
) -> tuple[Image, NDArray[np.bool_]]:
    """Return the scene as a camera might take it, and where glare has burnt it out (h × w, True: nothing is left)."""
    h, w = scene.shape[:2]
    x = np.linspace(-1, 1, w, dtype=np.float32)[None]
    y = np.linspace(-1, 1, h, dtype=np.float32)[:, None]
    light: Plane = scene.astype(np.float32) / np.float32(255)
    balance = np.exp(noise.normal(0, 0.09, 3))
    light = light * _illumination(rng, x, y)[..., None] * (balance / balance.mean()).astype(np.float32)
    light, burnt = _glare(rng, light, x, y)
    light = _soften(rng, light, px_per_mm)
    light = np.clip(light, 0, 1.2) ** np.float32(rng.uniform(0.75, 1.3))
    grain: Plane = noise.standard_normal((h, w, 3), dtype=np.float32)
    if rng.random() < 0.5:
        grain = np.asarray(cv2.blur(grain, (2, 2)) * 1.6, np.float32)
    light = light + grain * np.float32(rng.uniform(0, 0.045))
    picture: Image = np.clip(light * 255, 0, 255).astype(np.uint8)
    if rng.random() < 0.04:  # a camera without colour: the shapes must do
        picture = np.repeat(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)[..., None], 3, axis=2).astype(np.uint8)
    if rng.random() < 0.6:
        _, code = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, rng.randint(35, 95)])
        picture = np.asarray(cv2.imdecode(code, cv2.IMREAD_COLOR), np.uint8)
    return picture, burnt


def _illumination(rng: random.Random, x: Plane, y: Plane) -> Plane:
    turn = rng.uniform(0, 2 * math.pi)
    light = 1 + rng.uniform(0, 0.35) * (x * math.cos(turn) + y * math.sin(turn))
    if rng.random() < 0.2:  # a shadow with an edge
        across = (x * math.cos(turn + 1) + y * math.sin(turn + 1) - rng.uniform(-0.8, 0.8)) * rng.uniform(
            3, 30
        )
        light = light * (1 - rng.uniform(0.1, 0.6) / (1 + np.exp(-np.clip(across, -30, 30))))
    return np.asarray(light * rng.uniform(0.4, 1.2), np.float32)


def _glare(rng: random.Random, light: Plane, x: Plane, y: Plane) -> tuple[Plane, NDArray[np.bool_]]:
    burnt = np.zeros(light.shape[:2], bool)
    if rng.random() < 0.35:
        for _ in range(rng.randint(1, 3)):
            width, height = rng.uniform(0.04, 0.35), rng.uniform(0.04, 0.35)
            spot = np.exp(
                -(((x - rng.uniform(-1, 1)) / width) ** 2) - ((y - rng.uniform(-1, 1)) / height) ** 2
            )
            share = np.minimum(spot * rng.uniform(0.15, 1.1), 0.97)
            light = light * (1 - share[..., None]) + share[..., None] * np.float32(1.05)
            burnt |= share > 0.8
    return np.asarray(light, np.float32), burnt


def _soften(rng: random.Random, light: Plane, px_per_mm: float) -> Plane:
    sigma = rng.choice([0, 0, rng.uniform(0, 0.35), rng.uniform(0, 0.55)]) * min(px_per_mm, 4) * 0.55
    if rng.random() < 0.1:  # a webcam out of focus: the lobes of a small club run together
        sigma = rng.uniform(0.3, 0.6) * px_per_mm
    if sigma > 0.25:
        light = cv2.GaussianBlur(light, (0, 0), sigma).astype(np.float32)
    if rng.random() < 0.15:  # something moved
        reach = rng.randint(2, max(3, int(1.4 * px_per_mm)))
        kernel = np.zeros((2 * reach + 1, 2 * reach + 1), np.float32)
        turn = rng.uniform(0, math.pi)
        dx, dy = reach / 2 * math.cos(turn), reach / 2 * math.sin(turn)
        cv2.line(kernel, (int(reach - dx), int(reach - dy)), (int(reach + dx), int(reach + dy)), 1.0)
        light = cv2.filter2D(light, -1, kernel / kernel.sum()).astype(np.float32)
    if rng.random() < 0.4:  # the halo of in-camera sharpening
        soft = cv2.GaussianBlur(light, (0, 0), rng.uniform(0.7, 1.5))
        light = np.asarray(light + np.float32(rng.uniform(0.2, 1.0)) * (light - soft), np.float32)
    if rng.random() < 0.3:  # taken small, enlarged
        share = rng.uniform(0.5, 0.9)
        h, w = light.shape[:2]
        small = cv2.resize(light, None, fx=share, fy=share, interpolation=cv2.INTER_AREA)
        way = rng.choice([cv2.INTER_LINEAR, cv2.INTER_CUBIC])
        light = cv2.resize(small, (w, h), interpolation=way).astype(np.float32)
    return light
