"""Photographs of hands that never were: real cards, cut out of photographs, laid on photographed surfaces.

Lengths are millimetres of the surface; the camera stands anywhere above it and looks at the middle of what is laid.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.grounds import cut_ground, draw_ground, grounds_of_photographs
from vision.base.arrays import Image, Matrix, Points
from vision.reading.cards import CARDS
from vision.synthetic.decks import Deck, DrawnDeck, PhotoDeck

DECKS = {
    "real": ("bidly", "rrrrhys"),
    "unclear": ("phone", "webcam"),
    "drawn": ("younestouati", "aguilar", "jolly-royal"),
}
"""Decks by kind: photographed with print that can be read; photographed out of focus, burnt out or dark; drawn, which
the reader was never trained on. Each has a folder of cards."""
SIZES = {4: ((4032, 3024),), 3: ((4032, 3024), (3264, 2448)), 2: ((4032, 3024), (3264, 2448), (2592, 1944))}
"""Pixels of the photographs by the number of hands, either way up."""
STEEPEST = 45.0
ROW_SIZES = (3, 5, 5)
_WIDTH, _HEIGHT = 63.5, 88.9

Hand = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Front, middle and back, by card codes."""


@dataclass(frozen=True)
class Photograph:
    """A composed photograph.

    Attributes:
        picture: h × w × 3, BGR, uint8, after a JPEG.
        hands: what lies there.
        places: by card, the pixel of its middle.
        words: how it was laid and taken.
    """

    picture: Image
    hands: tuple[Hand, ...]
    places: dict[str, Points]
    words: str


@lru_cache(maxsize=8)
def _deck(cards: Path, name: str) -> PhotoDeck:
    return PhotoDeck.from_folder(cards / name, complete=False)


@lru_cache(maxsize=1)
def _grounds(data: Path) -> list[tuple[Image, list[tuple[float, float, float, float]]]]:
    return grounds_of_photographs(data)


def compose(seed: int, number: int, kind: str, cards: Path, data: Path) -> Photograph:
    """Compose one photograph; the same seed and number give the same one.

    `cards` holds a folder of cards for each deck, `data` the photographs whose surfaces are used.
    """
    rng = random.Random(f"{seed}/{number}")
    noise = np.random.default_rng([seed, number])
    players = 2 + number % 3
    decks = [_deck(cards, name) for name in DECKS[kind]]
    fit = [deck for deck in decks if len(deck.cards) >= 13 * players]
    if not fit:  # none has enough cards for so many
        players, fit = 2, decks
    deck = rng.choice(fit)
    return _composed(rng, noise, deck, rng.sample(sorted(deck.cards), 13 * players), data)


def draw(seed: int, players: int, size: tuple[int, int]) -> Photograph:
    """Compose a photograph of the house's own drawn deck on a drawn surface: nothing in it is somebody's work."""
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    return _composed(rng, noise, DrawnDeck(), rng.sample(CARDS, 13 * players), None, size)


def _composed(
    rng: random.Random,
    noise: np.random.Generator,
    deck: Deck,
    dealt: list[str],
    data: Path | None,
    size: tuple[int, int] | None = None,
) -> Photograph:
    """Lay the cards and take the photograph."""
    players = len(dealt) // 13
    hands = tuple(_set(rng, dealt[13 * n : 13 * n + 13]) for n in range(players))
    style = rng.choice(("round", "round", "beside", "block"))
    laid = [
        card
        for hand, where in zip(hands, _seats(rng, style, players), strict=True)
        for card in _lay(rng, hand, where)
    ]
    turn = rng.uniform(0, 2 * math.pi)
    tilt = math.radians(rng.uniform(0, STEEPEST))
    size = size or rng.choice(SIZES[players])
    size = size if rng.random() < 0.7 else size[::-1]
    warp = _camera(rng, np.concatenate([corners for _, corners in laid]), turn, tilt, size)
    picture = _photograph(rng, noise, deck, laid, warp, size, data)
    places = {code: _through(warp, corners.mean(axis=0)[None])[0] for code, corners in laid}
    seen_from = f"tilt {math.degrees(tilt):.0f}°, turned {math.degrees(turn):.0f}°"
    words = f"{deck.name}, {players} hands, {style}, {seen_from}, {size[0]}×{size[1]}"
    return Photograph(picture, hands, places, words)


def _set(rng: random.Random, cards: Sequence[str]) -> Hand:
    """Set a hand so that its rows rise, more often than not: high ranks lie in the back."""
    order = sorted(cards, key=lambda code: "23456789TJQKA".index(code[0]) + rng.uniform(0, 6))
    rows = [order[:3], order[3:8], order[8:]]
    for row in rows:
        rng.shuffle(row)
    return tuple(rows[0]), tuple(rows[1]), tuple(rows[2])


_Where = tuple[float, float, float]
"""The middle of a hand and its turn: its rows run along it, its back is turned away."""


def _seats(rng: random.Random, style: str, players: int) -> list[_Where]:
    gap = rng.uniform(15, 90)
    wide, high = 5 * 72.0, 3 * 98.0
    if style == "beside":
        return [(n * (wide + gap), rng.uniform(-25, 25), rng.uniform(-0.1, 0.1)) for n in range(players)]
    if style == "block":
        way = rng.choice((0.0, math.pi))
        cells = [(n % 2 * (wide + gap), n // 2 * (high + gap)) for n in range(players)]
        return [(x, y, rng.uniform(-0.08, 0.08) + (way if y else 0.0)) for x, y in cells]
    turns = [2 * math.pi * n / players for n in range(players)]
    if players == 3:
        turns = [0, math.pi / 2, math.pi] if rng.random() < 0.5 else turns
    away = (high / 2 + gap / 2 + 20) if players == 2 else wide / 2 + high / 2 + gap / 2
    if players > 2:
        away = max(away * 0.85, (wide / 2 + gap / 2) / math.tan(math.pi / max(players, 4)) + high / 2)
    return [(-away * math.sin(t), away * math.cos(t), t + rng.uniform(-0.12, 0.12)) for t in turns]


def _lay(rng: random.Random, hand: Hand, where: _Where) -> list[tuple[str, Points]]:
    """Lay a hand untidily; return its cards with their corners, from the upper left one on, clockwise."""
    x, y, turn = where
    pitch, rows_apart = rng.uniform(52, 76), rng.uniform(82, 108)
    side = rng.choice((-1.0, 0.0, 0.0, 1.0))
    upside_down = rng.random() < 0.3
    laid = []
    for number, row in enumerate(hand):
        shift = side * pitch if number == 0 else 0.0
        shift += rng.uniform(-10, 10)
        for k, code in enumerate(row):
            across = (k - (len(row) - 1) / 2) * pitch + shift + rng.gauss(0, 2.5)
            down = (number - 1) * rows_apart + rng.gauss(0, 3)
            own = rng.gauss(0, math.radians(3)) + (math.pi if upside_down and rng.random() < 0.5 else 0.0)
            middle = np.array([x, y]) + _turned(np.array([[across, down]]), turn)[0]
            half = (
                np.array([[-_WIDTH, -_HEIGHT], [_WIDTH, -_HEIGHT], [_WIDTH, _HEIGHT], [-_WIDTH, _HEIGHT]]) / 2
            )
            laid.append((code, middle + _turned(half, turn + own)))
    return laid


def _turned(points: Points, turn: float) -> Points:
    c, s = math.cos(turn), math.sin(turn)
    return np.asarray(points @ np.array([[c, s], [-s, c]]))


def _camera(rng: random.Random, points: Points, turn: float, tilt: float, size: tuple[int, int]) -> Matrix:
    """Return the homography from the surface to the picture of a camera that sees all points."""
    width, height = size
    focal = rng.uniform(0.72, 1.0) * max(size)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    about = np.array([[1, 0, -middle[0]], [0, 1, -middle[1]], [0, 0, 1]])
    spin = np.array([[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    lean = np.array([[1, 0, 0], [0, math.cos(tilt), -math.sin(tilt)], [0, math.sin(tilt), math.cos(tilt)]])
    lens = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]])
    low, high = 300.0, 6000.0
    margin = rng.uniform(0.03, 0.08) * min(size)
    shift = np.zeros(2)
    for _ in range(40):
        away = (low + high) / 2
        flat = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 0]])
        pose = lean @ flat @ spin @ about
        pose[2] += [0, 0, away]
        warp = lens @ pose
        near = (pose @ np.c_[points, np.ones(len(points))].T)[2].min() > 50
        seen = _through(warp, points)
        shift = np.array([width, height]) / 2 - (seen.min(axis=0) + seen.max(axis=0)) / 2
        seen = seen + shift
        fits = near and (seen > margin).all() and (seen < np.array(size) - margin).all()
        low, high = (low, away) if fits else (away, high)
    return np.asarray(np.array([[1, 0, shift[0]], [0, 1, shift[1]], [0, 0, 1]]) @ warp, np.float64)


def _through(warp: Matrix, points: Points) -> Points:
    seen = np.c_[points, np.ones(len(points))] @ warp.T
    return np.asarray(seen[:, :2] / seen[:, 2:])


def _photograph(
    rng: random.Random,
    noise: np.random.Generator,
    deck: Deck,
    laid: list[tuple[str, Points]],
    warp: Matrix,
    size: tuple[int, int],
    data: Path | None,
) -> Image:
    width, height = size
    picture = _surface(rng, noise, size, data)
    for code, corners in laid[::-1] if rng.random() < 0.15 else laid:
        _put(picture, deck.picture(code), _through(warp, corners), rng.uniform(0.94, 1.0))
    light = noise.uniform(0.7, 1.0, (3, 4)).astype(np.float32)
    tint = np.array([rng.uniform(0.9, 1.0) for _ in range(3)], np.float32)
    lit = (
        picture.astype(np.float32) * cv2.resize(light, size, interpolation=cv2.INTER_CUBIC)[..., None] * tint
    )
    lit = np.asarray(cv2.GaussianBlur(lit, (0, 0), rng.uniform(0.4, 1.0)), np.float32)
    lit += noise.normal(0, rng.uniform(1, 3.5), (height, width, 1)).astype(np.float32)
    _, jpeg = cv2.imencode(
        ".jpg", np.clip(lit, 0, 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, rng.randint(80, 95)]
    )
    return np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), np.uint8)


def _surface(
    rng: random.Random, noise: np.random.Generator, size: tuple[int, int], data: Path | None
) -> Image:
    square = draw_ground(rng, noise, 800, 2.0) if data is None else None
    while square is None:  # a photograph full of cards has no free square
        square = cut_ground(rng, _grounds(data or Path()), 300)
    tiled = np.concatenate(
        [np.concatenate([square, square[:, ::-1]], 1), np.concatenate([square[::-1], square[::-1, ::-1]], 1)]
    )
    sized = cv2.resize(tiled, (max(size), max(size)), interpolation=cv2.INTER_CUBIC)
    return np.ascontiguousarray(sized[: size[1], : size[0]], np.uint8)


def _put(picture: Image, card: Image, corners: Points, bright: float) -> None:
    """Draw a card with round corners, an edge and a soft shadow between four corners of the picture."""
    low = np.floor(corners.min(axis=0)).astype(int) - 12
    high = np.ceil(corners.max(axis=0)).astype(int) + 12
    low, high = np.maximum(low, 0), np.minimum(high, picture.shape[1::-1])
    part = picture[low[1] : high[1], low[0] : high[0]]
    size = (high[0] - low[0], high[1] - low[1])
    h, w = card.shape[:2]
    side = float(np.linalg.norm(corners[1] - corners[0]))
    if side < 0.6 * w:
        factor = max(side / w * 1.3, 0.05)
        card = np.asarray(
            cv2.resize(card, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA), np.uint8
        )
        h, w = card.shape[:2]
    warp = cv2.getPerspectiveTransform(
        np.array([[0, 0], [w, 0], [w, h], [0, h]], np.float32), (corners - low).astype(np.float32)
    )
    seen = cv2.warpPerspective(card, warp, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    mask = (
        cv2.warpPerspective(_rounded(h, w), warp, size, flags=cv2.INTER_LINEAR).astype(np.float32)[..., None]
        / 255
    )
    shadow = cv2.GaussianBlur(mask[..., 0], (0, 0), max(1.0, side / 40))[..., None]
    part[:] = np.clip(part * (1 - 0.45 * shadow * (1 - mask)) * (1 - mask) + seen * bright * mask, 0, 255)


@lru_cache(maxsize=8)
def _rounded(h: int, w: int) -> NDArray[np.uint8]:
    mask = np.zeros((h, w), np.uint8)
    r = max(1, round(3.5 / _WIDTH * w))
    cv2.rectangle(mask, (r, 0), (w - r, h), 255, -1)
    cv2.rectangle(mask, (0, r), (w, h - r), 255, -1)
    for x in (r, w - r - 1):
        for y in (r, h - r - 1):
            cv2.circle(mask, (x, y), r, 255, -1)
    return mask
