"""Trains the suit witness: `python -m models.training signs --data DATA`; into `models/signs.onnx`.

It looks at one large sign of a card at the camera's own resolution and says its suit, or that there is none. The cuts
are made first, with worse lenses, light, noise and sharpening than the index reader was trained on, and kept in
the cache. It shares nothing with the index reader but the decks. Minutes on one core.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from models.training.art import CACHE
from models.training.decks import (
    HEIGHT,
    PX_PER_MM,
    WIDTH,
    Deck,
    Maker,
    PictureDeck,
    RandomDeck,
    find_index,
)
from models.training.export import write_cut_reader
from models.training.net import Separable, conv
from models.training.photo import Plane
from models.training.photographs import TRAINED_ON, has
from models.training.real_decks import DECKS, cut_deck
from models.training.train import begin_on_one_core, train_on_cuts
from vision.base.arrays import Image
from vision.base.pictures import load_picture
from vision.reading.cards import SUITS
from vision.reading.signs import SIDE_PX, Window, hide_index, windows

CUTS, SEED = 140_000, 3
_BATCH, _ROUNDS = 128, 12
_POOL, _FRESH = 40, 0.001  # drawn decks at hand, and how often one of them is drawn again
_NONE = len(SUITS)
_AROUND = 1.5  # how much more than its window of a card is drawn


class SignNet(nn.Module):
    """About 18,000 parameters: a cut, float32 (batch, 3, 40, 40) in 0…1, to 4 suits and none."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            conv(3, 16, 5, 2),
            Separable(16, 32, 3, 2),
            Separable(32, 32),
            Separable(32, 48, 3, 2),
            Separable(48, 48),
            conv(48, 12, 1),
            nn.Flatten(),
            nn.Linear(12 * (SIDE_PX // 8) ** 2, 32),
            nn.ReLU(True),
            nn.Linear(32, _NONE + 1),
        )

    def forward(self, cuts: Tensor) -> Tensor:
        """Return log-probabilities for cuts as the reader makes them: uint8 (n, 40, 40, 3), BGR."""
        return functional.log_softmax(self.layers(cuts.permute(0, 3, 1, 2).float() / 255), 1)


class CutMaker(Maker):
    """Makes cuts of signs as the reader makes them."""

    def __init__(self, seed: int, data: Path | None, pool: int = _POOL) -> None:
        super().__init__(seed, pool)
        self._real_decks = [*self._art, *self._own, *(_photographed(data) if data else ())]

    def cut(self) -> tuple[Image, int]:
        """Return a cut and its suit, or that it shows none."""
        rng = self.rng
        self._renew(_FRESH)
        while True:
            deck: Deck = rng.choice(self._real_decks if rng.random() < 0.45 else self._random_decks)
            code = rng.choice("AA23456789TJJQQKK") + rng.choice(SUITS)
            if code not in deck.codes:
                continue
            face, box = deck.face(code, rng)
            hidden = box.right / PX_PER_MM + rng.uniform(0.5, 3), box.bottom / PX_PER_MM + rng.uniform(0.5, 4)
            elsewhere = rng.random() < 0.25
            place = rng.choice(windows(rng.choice("A27K") if elsewhere else code[0]))
            shown = _suit_shown(face, place, hidden, code, deck, elsewhere)
            if shown is not None:
                return self._seen(face, place, hidden), shown

    def _seen(self, face: Image, window: Window, hidden: tuple[float, float]) -> Image:
        """Draw a window of a face as a camera sees it, not quite where it is thought to be, and cut it out."""
        rng = self.rng
        x, y, side = window
        mirror = np.diag([-1.0 if share > 0.5 else 1.0 for share in (x, y)])  # as if it lay in the upper left
        px_per_mm = rng.uniform(1.4, 3.2) if rng.random() < 0.7 else rng.uniform(2.4, 3.0)
        turn, off = rng.uniform(0, 2 * math.pi), math.radians(rng.gauss(0, 2.5))
        flat = np.diag([1.0, rng.uniform(0.7, 1.0) if rng.random() < 0.5 else 1.0])  # seen from the side
        aside = rng.uniform(0, math.pi)
        to_frame = px_per_mm * _turned(aside) @ flat @ _turned(-aside) @ _turned(turn)
        large = round(_AROUND * side * px_per_mm)
        middle = np.array([large / 2, large / 2])
        wide = rng.uniform(0.72, 1.38) if rng.random() < 0.6 else 1.0
        drawn = to_frame @ _turned(off) @ np.diag([wide, 1.0]) @ mirror
        drawn *= 2 * rng.gauss(1, 0.04) / PX_PER_MM  # twice as large, averaged then
        beside = [max(-3.0, min(3.0, rng.gauss(0, 1.1))) for _ in range(2)]
        at = np.array([x * WIDTH, y * HEIGHT]) / PX_PER_MM + beside
        shift = 2 * middle - drawn @ (at * PX_PER_MM)
        ground = tuple(rng.randint(0, 200) for _ in range(3))
        way, size = np.column_stack([drawn, shift]), (2 * large, 2 * large)
        patch = np.asarray(cv2.warpAffine(face, way, size, borderValue=ground), np.uint8)
        if rng.random() < 0.15:  # something lies over its edge
            self._cover(patch, rng.uniform(0.36, 0.7) * side * px_per_mm * 2)
        patch = np.asarray(cv2.resize(patch, (large, large), interpolation=cv2.INTER_AREA), np.uint8)
        patch = worsened(rng, self._noise, patch)
        back = np.linalg.inv(to_frame) * SIDE_PX / side
        half = np.array([SIDE_PX, SIDE_PX]) / 2 - 0.5
        full = np.column_stack([back, half - back @ (middle - 0.5)])
        cut = np.asarray(
            cv2.warpAffine(patch, full, (SIDE_PX, SIDE_PX), borderMode=cv2.BORDER_REPLICATE), np.uint8
        )
        hide_index(cut, window, *hidden)
        return cut[:, ::-1] if rng.random() < 0.5 else cut[::-1] if rng.random() < 0.06 else cut

    def _cover(self, patch: Image, far: float) -> None:
        turn = _turned(self.rng.uniform(0, 2 * math.pi))
        half = np.array([[0, -300], [0, 300], [300, 300], [300, -300]]) + (far, 0)
        outline = np.array(patch.shape[:2]) / 2 + half @ turn.T
        light = self.rng.randint(190, 255) if self.rng.random() < 0.7 else self.rng.randint(0, 190)
        cv2.fillConvexPoly(patch, np.round(outline).astype(np.int32), (light, light, light))


def _turned(radians: float) -> NDArray[np.float64]:
    return np.array([[math.cos(radians), -math.sin(radians)], [math.sin(radians), math.cos(radians)]])


def _photographed(data: Path) -> Iterator[PictureDeck]:
    """Yield the decks cut out of the photographs that are trained on, upright, each card's best picture."""
    for name, (photographs, _) in DECKS.items():
        if photographs in TRAINED_ON and has(data, photographs):
            files = sorted(cut_deck(name, data).glob("*.png"))
            pictures = {file.stem: cv2.resize(load_picture(file), (WIDTH, HEIGHT)) for file in files}
            faces = {code: [np.asarray(picture, np.uint8)] for code, picture in pictures.items()}
            yield PictureDeck(faces, find_index(faces)[0])


def worsened(rng: random.Random, noise: np.random.Generator, patch: Image) -> Image:
    """Return a patch as poor cameras give it: soft, noisy, small and enlarged, before sharpening and after it."""
    light: Plane = patch.astype(np.float32) / np.float32(255)
    balance = np.exp(noise.normal(0, 0.09, 3)).astype(np.float32)
    light = light ** np.float32(rng.uniform(0.75, 1.35)) * balance
    light = light * np.float32(rng.choice([1, 1, 0.6, 0.35]) * rng.uniform(0.6, 1.15))
    if rng.random() < 0.04:  # light on dark paper
        light = np.float32(1) - light
    blurs = [rng.uniform(0, 0.6), rng.uniform(0, 0.6), rng.uniform(0.4, 2.0), rng.uniform(1.0, 3.4)]
    blur = rng.choice(blurs)
    if blur > 0.2:
        light = cv2.GaussianBlur(light, (0, 0), blur).astype(np.float32)
    if rng.random() < 0.12:  # something moved
        reach = rng.uniform(2, 6)
        turn, kernel = rng.uniform(0, math.pi), np.zeros((13, 13), np.float32)
        dx, dy = round(8 * reach * math.cos(turn)), round(8 * reach * math.sin(turn))
        cv2.line(kernel, (96 - dx, 96 - dy), (96 + dx, 96 + dy), 1.0, shift=4)
        light = cv2.filter2D(light, -1, kernel / kernel.sum()).astype(np.float32)
    if rng.random() < 0.6:  # of the photons, and of the amplifier
        grain = noise.standard_normal(light.shape, dtype=np.float32) * np.float32(rng.uniform(0, 0.09))
        light = light + grain * np.float32(0.3) + grain * np.sqrt(np.maximum(light, 0))
    if rng.random() < 0.4:  # taken small, enlarged
        h, w = light.shape[:2]
        share = rng.uniform(0.25, 0.9)
        small = cv2.resize(light, None, fx=share, fy=share, interpolation=cv2.INTER_AREA).astype(np.float32)
        small = _packed(small, rng.randint(30, 95)) if rng.random() < 0.5 else small
        way = rng.choice([cv2.INTER_LINEAR, cv2.INTER_CUBIC])
        light = cv2.resize(small, (w, h), interpolation=way).astype(np.float32)
    if rng.random() < 0.5:  # the halo of in-camera sharpening
        soft = cv2.GaussianBlur(light, (0, 0), rng.uniform(0.7, 2.4))
        light = np.asarray(light + np.float32(rng.uniform(0.3, 2.5)) * (light - soft), np.float32)
    if rng.random() < 0.5:
        grain = noise.standard_normal(light.shape, dtype=np.float32)
        light = light + grain * np.float32(rng.uniform(0, 0.08))
    if rng.random() < 0.02:
        light = np.repeat(light.mean(axis=2, keepdims=True), 3, axis=2)
    if rng.random() < 0.65:
        light = _packed(light, rng.randint(22, 95))
    return np.asarray(np.clip(light * 255, 0, 255), np.uint8)


def _packed(light: Plane, quality: int) -> Plane:
    levels = np.clip(light * 255, 0, 255).astype(np.uint8)
    _, code = cv2.imencode(".jpg", levels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return np.asarray(cv2.imdecode(code, cv2.IMREAD_COLOR), np.float32) / np.float32(255)


def _suit_shown(
    face: Image, window: Window, hidden: tuple[float, float], code: str, deck: Deck, elsewhere: bool
) -> int | None:
    """Return the suit that a window of a face shows, or none; None where it is neither: a part, or not known."""
    suit = SUITS.index(code[1])
    if code[0] in "JQK":
        if isinstance(deck, RandomDeck):
            return suit if deck._court_pips and not elsewhere else None
        if elsewhere:  # the other two corners of a court's picture hold none
            return _NONE if (window[0] - 0.5) * (window[1] - 0.5) < 0 else None
        return suit
    x, y, side = window[0] * WIDTH, window[1] * HEIGHT, window[2] * PX_PER_MM
    paper = np.median(face[20:-20:8, 10:-10:8].reshape(-1, 3), axis=0)
    x0, y0 = max(0, round(x - side / 2)), max(0, round(y - side / 2))
    shown = face[y0 : round(y + side / 2), x0 : round(x + side / 2)]
    part = np.abs(shown - paper.astype(np.int16)).max(axis=2) > 60
    left, top = (mm * PX_PER_MM for mm in hidden)
    across, down = np.arange(x0, x0 + part.shape[1]), np.arange(y0, y0 + part.shape[0])
    part[np.ix_((down < top) | (down > HEIGHT - top), (across < left) | (across > WIDTH - left))] = False
    ink_mm2 = part.sum() / PX_PER_MM**2
    if ink_mm2 < 1:
        return _NONE
    inner = round(0.2 * side)
    middle = part[inner:-inner, inner:-inner].sum() / PX_PER_MM**2
    if code[0] == "A":
        return suit if middle > 12 else None
    return suit if middle > 0.6 * ink_mm2 and middle > 10 else None


def make(data: Path | None, cuts: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Make cuts and their suits, or take those that lie in the cache."""
    path = CACHE / f"signs-{seed}-{cuts}.npz"
    if not path.exists():
        maker = CutMaker(seed, data)
        made = [maker.cut() for _ in range(cuts)]
        np.savez(path, cuts=np.stack([cut for cut, _ in made]), suits=np.array([suit for _, suit in made]))
    with np.load(path) as stored:
        return stored["cuts"], stored["suits"]


def train(data: Path | None, cuts: int, seed: int, out: Path) -> Path:
    """Make cuts, learn them in some rounds, and write `signs.onnx` with its manifest; return the network's file."""
    begin_on_one_core(seed)
    pictures, suits = make(data, cuts, seed)
    net, order, count = SignNet(), np.random.default_rng(seed), len(suits) // _BATCH
    rows = (order.permutation(len(suits))[: count * _BATCH].reshape(-1, _BATCH) for _ in range(_ROUNDS))
    batches = ((pictures[some], suits[some, None]) for each in rows for some in each)
    train_on_cuts(net, batches, _ROUNDS * count, [slice(None)])
    return write_cut_reader(
        net,
        out / "signs.onnx",
        (SIDE_PX, SIDE_PX),
        f"cuts: uint8 (n, {SIDE_PX}, {SIDE_PX}, 3), BGR, upright, what is seen of an index hidden",
        "suits: log-probabilities of clubs, diamonds, hearts, spades and of no sign",
        f"python -m models.training signs --cuts {cuts} --seed {seed} --data DATA",
        [name for name in TRAINED_ON if has(data, name)],
    )
