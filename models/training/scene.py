"""Scenes to train on: a square of table with cards on it, photographed, and where its card indices are.

Each index is a row of float32 (x, y, rank, suit, ux, uy, size, state): its middle in pixels, class numbers into
`vision.reading.cards.RANKS` and `SUITS`, the unit vector along the card's width as the index reads, its height in
pixels, and 1 where it is to be found, 0 where it is too hidden to be right or wrong.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.decks import (
    HEIGHT,
    PX_PER_MM,
    WIDTH,
    Deck,
    IndexBox,
    Maker,
    card_back,
    decks_of_photographs,
)
from models.training.grounds import cut_ground, draw_ground, grounds_of_photographs
from models.training.photo import photograph
from vision.base.arrays import Image
from vision.reading.cards import RANKS, SUITS

CORNER_FIELDS = 8
Matrix = NDArray[np.float64]
Placement = tuple[float, float, float]  # x, y in pixels, turn in degrees

# Shown more often where readers err most: aces, 6 8 9 10, court cards, the black suits.
_RANK_WEIGHT = {"A": 1.5} | dict.fromkeys("689TQKJ", 1.3)
_SUIT_WEIGHT = {"c": 1.35, "s": 1.35}

# An index counts as visible where so much of its rank and of its suit shows; in narrow fans the next card covers
# the suit's edge, so the suit asks for less.
_RANK_SHOWN, _SUIT_SHOWN, _SEEN_AT_ALL = 0.6, 0.45, 0.25


def _round() -> NDArray[np.uint8]:
    radius = int(3.2 * PX_PER_MM)
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for thickness in (2 * radius, -1):  # a thick line has round corners
        cv2.rectangle(mask, (radius, radius), (WIDTH - radius - 1, HEIGHT - radius - 1), 255, thickness)
    return mask


_OUTLINE = _round()


@dataclass(frozen=True)
class _Index:
    """One index of a laid card: its card's number, class, sample points (45 × 2, row by row), direction, height."""

    card: int
    code: str
    points: NDArray[np.float32]
    upper: NDArray[np.bool_]
    direction: tuple[float, float]
    size: float


class SceneMaker(Maker):
    """Makes scenes."""

    def __init__(self, seed: int, data: Path | None, pool: int = 24) -> None:
        """Load the decks and grounds; `data` is the folder of photographs, None to go without."""
        super().__init__(seed, pool)
        self._real = decks_of_photographs(data) if data else []
        self._grounds = grounds_of_photographs(data) if data else []
        self._backs = [card_back(self.rng) for _ in range(16)]

    def _deck(self) -> Deck:
        rng, share = self.rng, self.rng.random()
        if share < 0.16 and self._real:
            return rng.choice(self._real)
        if share < 0.31 and self._art:
            return rng.choice(self._art)
        if share < 0.36:
            return rng.choice(self._own)
        self._renew(0.08)
        return rng.choice(self._random_decks)

    def scene(self, size: int = 160) -> tuple[Image, NDArray[np.float32]]:
        """Return one photographed square of `size` px (BGR) and its corners (n × 8)."""
        rng = self.rng
        px_per_mm = math.exp(rng.uniform(math.log(1.2), math.log(3.0)))
        picture = cut_ground(rng, self._grounds, size) if rng.random() < 0.35 else None
        if picture is None:
            picture = draw_ground(rng, self._noise, size, px_per_mm)
        if rng.random() < 0.25:
            for _ in range(rng.randint(1, 3)):
                _lay_chip(rng, picture, px_per_mm)
        slant = _slant(rng)
        decks = (self._deck(), self._deck()) if rng.random() < 0.1 else (self._deck(),)
        owner = np.full((size, size), -1, np.int16)
        indices: list[_Index] = []
        tint = (1 - np.abs(self._noise.normal(0, 0.03, 3))).astype(np.float32)
        bend = self._noise.normal(0, 0.014, (4, 2))
        for number, place in enumerate(_layout(rng, size, px_per_mm)):
            deck = rng.choice(decks)
            weights = [_RANK_WEIGHT.get(c[0], 1) * _SUIT_WEIGHT.get(c[1], 1) for c in deck.codes]
            code = rng.choices(deck.codes, weights)[0]
            face, box = deck.face(code, rng)
            back = rng.random() < 0.06
            ground = _ground_matrix(place, px_per_mm, slant, bend, size)
            card = rng.choice(self._backs) if back else face
            _lay(rng, picture, owner, number, card, ground, px_per_mm, tint)
            if not back:
                indices += _indices(number, code, box, deck.four_indices, ground, slant, place[2], px_per_mm)
        if rng.random() < 0.12:
            _lay_fingers(rng, self._noise, picture, owner, px_per_mm)
        taken, burnt = photograph(rng, self._noise, picture, px_per_mm)
        return taken, _corners(indices, owner, burnt)


def _ground_matrix(place: Placement, px_per_mm: float, slant: Matrix, bend: Matrix, size: int) -> Matrix:
    """Return the homography from a card's pixels to the scene's."""
    turn = math.radians(place[2])
    source = np.array([[0, 0], [WIDTH, 0], [WIDTH, HEIGHT], [0, HEIGHT]], np.float32)
    local = (source - (WIDTH / 2, HEIGHT / 2)) * (px_per_mm / PX_PER_MM) * (1 + bend)
    turned = local @ np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    target = (turned + place[:2] - size / 2) @ slant.T + size / 2
    return np.asarray(cv2.getPerspectiveTransform(source, target.astype(np.float32)), np.float64)


def _lay(
    rng: random.Random,
    picture: Image,
    owner: NDArray[np.int16],
    number: int,
    face: Image,
    ground: Matrix,
    px_per_mm: float,
    tint: NDArray[np.float32],
) -> None:
    """Warp a card into the picture with its shadow, and note which pixels it owns."""
    size = picture.shape[0]
    scale = px_per_mm / PX_PER_MM
    shrink = max(0.25, min(1.0, scale * 1.25)) if scale < 0.6 else 1.0
    if shrink < 1:  # so that the warp itself never shrinks by much, which would alias
        face = np.asarray(
            cv2.resize(face, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA), np.uint8
        )
    warp, area = ground @ np.diag([1 / shrink, 1 / shrink, 1]), (size, size)
    card = cv2.warpPerspective(face, warp, area, borderMode=cv2.BORDER_REPLICATE)
    mask = cv2.warpPerspective(_OUTLINE, ground, area).astype(np.float32) / 255
    if rng.random() < 0.8:
        blur = max(0.6, rng.uniform(0.3, 1.2) * px_per_mm)
        shadow = cv2.GaussianBlur(mask, (0, 0), blur) * rng.uniform(0.1, 0.5)
        offset = int(rng.uniform(-1, 1) * px_per_mm), int(rng.uniform(-1, 1) * px_per_mm)
        picture[:] = (picture * (1 - np.roll(shadow, offset, (0, 1))[..., None])).astype(np.uint8)
    picture[:] = (picture * (1 - mask[..., None]) + card * tint * mask[..., None]).astype(np.uint8)
    owner[mask > 0.5] = number


def _slant(rng: random.Random) -> Matrix:
    """Return the foreshortening of a camera that looks from the side, in half of the scenes."""
    if rng.random() < 0.5 or rng.random() < 0.3:
        return np.eye(2)
    turn = rng.uniform(0, math.pi)
    rotation = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    return np.asarray(rotation @ np.diag([1, rng.uniform(0.68, 1)]) @ rotation.T)


def _layout(rng: random.Random, size: int, px_per_mm: float) -> list[Placement]:
    """Lay cards: mostly a row (apart, overlapped or fanned) with an index near the middle, else a heap."""
    if rng.random() >= 0.8:
        cards = range(rng.randint(1, 6))
        return [(rng.uniform(0, size), rng.uniform(0, size), rng.uniform(0, 360)) for _ in cards]
    base = rng.choice([0, 180]) + rng.gauss(0, 8) if rng.random() < 0.6 else rng.uniform(0, 360)
    if rng.random() < 0.12:
        base += 90
    along = np.array([math.cos(math.radians(base)), math.sin(math.radians(base))])
    down = np.array([-along[1], along[0]])
    count = rng.choice([1, 2, 3, 4, 5, 5, 7])
    spacing = rng.random()  # side by side, a narrow fan, overlapped
    apart = (61, 75) if spacing < 0.33 else (7, 15) if spacing < 0.58 else (13, 45)
    pitch = rng.uniform(*apart) * px_per_mm
    start = np.array([rng.uniform(0.15, 0.85), rng.uniform(0.15, 0.85)]) * size
    sideways = rng.uniform(-0.5, 0.5) * 58 * px_per_mm
    share = rng.uniform(0.30, 0.46) if rng.random() < 0.7 else rng.uniform(0, 0.3)
    offset = rng.choice([-1, 1]) * share * 82 * px_per_mm
    middle = rng.uniform(0, count - 1)
    fan = rng.uniform(-9, 9) if rng.random() < 0.45 else 0.0
    flips = rng.random() < 0.5
    placed: list[Placement] = []
    for k in range(count):
        a = (k - middle) * pitch + sideways + rng.gauss(0, 2) * px_per_mm
        b = offset + rng.gauss(0, 3) * px_per_mm + abs(k - middle) * abs(fan) * 0.6 * px_per_mm
        x, y = start + along * a + down * b
        turn = base + rng.gauss(0, 3) + (k - middle) * fan + (180 if flips and rng.random() < 0.5 else 0)
        placed.append((float(x), float(y), turn))
    if rng.random() < 0.3:
        placed.reverse()
    if rng.random() < 0.35:  # the next row
        reach = (89, 100) if rng.random() < 0.6 else (24, 60)
        b = offset + rng.choice([-1, 1]) * rng.uniform(*reach) * px_per_mm
        for k in range(rng.randint(1, 3)):
            x, y = start + along * ((k - 1) * pitch + rng.uniform(-30, 30) * px_per_mm) + down * b
            placed.insert(0, (float(x), float(y), base + rng.gauss(0, 4)))
    return placed


def _indices(
    card: int,
    code: str,
    box: IndexBox,
    four: bool,
    ground: Matrix,
    slant: Matrix,
    turn_deg: float,
    px_per_mm: float,
) -> list[_Index]:
    """Return the two (or four) indices of a laid card with their sample points in the scene."""
    across = np.linspace(box.left, box.right, 5)
    below = np.linspace(box.top, box.bottom, 9)
    gx, gy = np.meshgrid(across, below)
    upper = gy.ravel() < box.split
    turn = math.radians(turn_deg)
    along = slant @ np.array([math.cos(turn), math.sin(turn)])
    along /= np.linalg.norm(along)
    stretch = float(np.linalg.norm(slant @ np.array([-math.sin(turn), math.cos(turn)])))
    size = (box.bottom - box.top) * px_per_mm / PX_PER_MM * stretch
    places = [(gx, gy, 1), (WIDTH - gx, HEIGHT - gy, -1)]
    if four:
        places += [(gx + (WIDTH - box.right - box.left), gy, 1), (box.right + box.left - gx, HEIGHT - gy, -1)]
    found = []
    for px, py, sign in places:
        points = np.stack([px.ravel(), py.ravel()], axis=1)[None].astype(np.float64)
        seen = cv2.perspectiveTransform(points, ground)[0].astype(np.float32)
        found.append(_Index(card, code, seen, upper, (float(along[0] * sign), float(along[1] * sign)), size))
    return found


def _corners(
    indices: Sequence[_Index], owner: NDArray[np.int16], burnt: NDArray[np.bool_]
) -> NDArray[np.float32]:
    h, w = owner.shape
    rows = []
    for index in indices:
        x, y = np.round(index.points).astype(int).T
        inside = (x >= 0) & (x < w) & (y >= 0) & (y < h)
        seen = np.zeros(len(x), bool)
        seen[inside] = (owner[y[inside], x[inside]] == index.card) & ~burnt[y[inside], x[inside]]
        if seen.mean() < _SEEN_AT_ALL:
            continue
        clear = seen[index.upper].mean() >= _RANK_SHOWN and seen[~index.upper].mean() >= _SUIT_SHOWN
        middle = index.points.mean(axis=0)
        rank, suit = RANKS.index(index.code[0]), SUITS.index(index.code[1])
        rows.append((*middle, rank, suit, *index.direction, index.size, float(clear)))
    return np.array(rows, np.float32).reshape(-1, CORNER_FIELDS)


def _lay_chip(rng: random.Random, picture: Image, px_per_mm: float) -> None:
    size = picture.shape[0]
    middle = rng.randint(0, size), rng.randint(0, size)
    radius = max(4, int(rng.uniform(10, 22) * px_per_mm))
    cv2.circle(picture, middle, radius, tuple(rng.randint(0, 255) for _ in range(3)), -1, cv2.LINE_AA)
    line = max(1, int(3 * px_per_mm))
    for turn in range(0, 360, 60):
        cv2.ellipse(picture, middle, (radius, radius), turn, 0, 25, (240, 240, 240), line)
    cv2.circle(picture, middle, radius // 2, (230, 230, 230), 1, cv2.LINE_AA)
    if rng.random() < 0.5:
        ink = rng.choice([(20, 20, 20), (240, 240, 240)])
        start = middle[0] - radius // 2, middle[1] + radius // 4
        cv2.putText(picture, str(rng.choice([5, 10, 25, 100])), start, 0, radius / 40, ink, 1, cv2.LINE_AA)


def _lay_fingers(
    rng: random.Random, noise: np.random.Generator, picture: Image, owner: NDArray[np.int16], px_per_mm: float
) -> None:
    size = picture.shape[0]
    mask = np.zeros((size, size), np.uint8)
    for _ in range(rng.randint(1, 4)):
        root = rng.randint(0, size), rng.choice([-10, size + 10])
        tip = rng.randint(0, size), rng.randint(0, size)
        cv2.line(mask, root, tip, 255, max(3, int(rng.uniform(10, 19) * px_per_mm)), cv2.LINE_AA)
    skin = np.array([rng.randint(40, 170), rng.randint(60, 190), rng.randint(90, 235)], np.float32)
    share = cv2.GaussianBlur(mask, (0, 0), 1)[..., None].astype(np.float32) / 255
    flesh = np.clip(skin + noise.normal(0, 6, (size, size, 1)), 0, 255)
    picture[:] = (picture * (1 - share) + flesh * share).astype(np.uint8)
    owner[mask > 100] = -2
