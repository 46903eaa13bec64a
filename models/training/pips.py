"""Trains the pip reader: `python -m models.training pips --data DATA`; into `models/pips.onnx`.

It looks at a whole card, upright, at 1 px/mm, its indices hidden, and says how many pips it has (or that it shows a
court) and of which suit. It shares nothing with the index reader but the decks that are trained on. What other cards
may cover is hidden in training, too; it learns to say nothing then. Minutes on one core.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

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
from models.training.export import write_cut_reader
from models.training.net import Separable, conv
from models.training.photo import photograph
from models.training.photographs import has
from models.training.train import begin_on_one_core, train_on_cuts
from vision.base.arrays import Image
from vision.reading.cards import SUITS
from vision.reading.pips import COUNTS, HIDDEN, SIZE

CARDS_SHOWN, SEED = 300_000, 5
BATCH = 64
_PHOTOGRAPHS = ("bidly_cards", "rrrrhys_cards")
_POOL, _FRESH = 40, 0.02
"""How many random decks are in use, and how often one of them is replaced by a new one."""
_KEPT = 4000
"""How many faces, made small, are kept to be laid again."""
_PARTS = (slice(len(COUNTS)), slice(len(COUNTS), None))
"""The counts and the suits in what the network says."""


class PipNet(nn.Module):
    """About 100,000 parameters: a card to 11 counts and 4 suits."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(
            conv(3, 16, 3, 2),
            Separable(16, 32, 3, 2),
            Separable(32, 32),
            Separable(32, 64, 3, 2),
            Separable(64, 64),
            Separable(64, 64),
            conv(64, 12, 1),
        )
        self.last = nn.Sequential(
            nn.Linear(12 * SIZE[1] // 8 * SIZE[0] // 8, 64),
            nn.ReLU(True),
            nn.Linear(64, len(COUNTS) + len(SUITS)),
        )

    def forward(self, cards: Tensor) -> Tensor:
        """Return log-probabilities, counts and then suits, for cards as the reader cuts them: uint8 (n, 88, 64, 3)."""
        out = self.last(self.body(cards.permute(0, 3, 1, 2).float() / 255).flatten(1))
        return torch.cat([functional.log_softmax(out[:, part], 1) for part in _PARTS], 1)


class CardMaker(Maker):
    """Makes cards as the reader cuts them out."""

    def __init__(self, seed: int, data: Path | None, pool: int = _POOL) -> None:
        super().__init__(seed, pool)
        self._real_decks = [*self._art, *self._own, *(decks_of_photographs(data) if data else [])]
        self._faces: dict[tuple[int, str], tuple[Image, IndexBox]] = {}
        self._backs = [_small(card_back(self.rng)) for _ in range(8)]

    def _face(self, code: str) -> tuple[Image, IndexBox]:
        rng = self.rng
        self._renew(_FRESH)
        decks: Sequence[Deck] = self._real_decks if rng.random() < 0.35 else self._random_decks
        deck = rng.choice(decks)
        key = id(deck), code
        if key not in self._faces or rng.random() < 0.1:
            if code not in deck.codes:
                return self._face(code)
            face, box = deck.face(code, rng)
            if len(self._faces) > _KEPT:
                self._faces.clear()
            self._faces[key] = _small(face), box
        return self._faces[key]

    def card(self) -> tuple[Image, int, int]:
        """Return a card's picture, its count and its suit."""
        rng = self.rng
        count = rng.choices(COUNTS, [2 if c == COUNTS[-1] else 1 for c in COUNTS])[0]
        suit = rng.choice(SUITS)
        code = (rng.choice("JQK") if count == COUNTS[-1] else count) + suit
        face, box = self._face(code)
        picture, _ = photograph(rng, self._noise, self._lay(face), rng.choice([1.0, 1.0, 1.6]))
        across = max(1, round(box.right / PX_PER_MM + rng.uniform(0.5, 3)))
        down = max(1, round(box.bottom / PX_PER_MM + rng.uniform(0.5, 4)))
        for rows in (np.s_[:down], np.s_[-down:]):  # the indices, in all four corners
            picture[rows, :across] = picture[rows, -across:] = HIDDEN
        for _ in range(rng.choice([0, 0, 0, 1, 2])):
            self._hide_a_part(picture)
        return picture, COUNTS.index(count), SUITS.index(suit)

    def _lay(self, face: Image) -> Image:
        """Return a face on a plain ground as the reader cuts it out: with small errors in where its corners are."""
        rng, (w, h) = self.rng, SIZE
        turn = math.radians(rng.gauss(0, 1.5))
        matrix = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        if rng.random() < 0.5:
            matrix = -matrix  # the other way up
        matrix = matrix @ np.diag([rng.gauss(1.0, 0.03), rng.gauss(1.0, 0.02)])
        matrix = matrix @ np.diag([w / face.shape[1], h / face.shape[0]])
        middle = np.array([w, h]) / 2 + (rng.gauss(0, 1.2), rng.gauss(0, 1.2))
        shift = middle - matrix @ (np.array(face.shape[1::-1]) / 2)
        ground = np.empty((h, w, 3), np.uint8)
        ground[:] = [rng.randint(0, 200) for _ in range(3)]
        lay = np.column_stack([matrix, shift])
        cv2.warpAffine(face, lay, (w, h), ground, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
        if rng.random() < 0.2:  # something lies on it
            other = rng.choice([*self._backs, *(f for f, _ in list(self._faces.values())[-8:])])
            right, below = (rng.uniform(30, 64), rng.gauss(0, 20)), (rng.gauss(0, 20), rng.uniform(40, 88))
            lay[:, 2] += rng.choice([right, below])
            cv2.warpAffine(other, lay, (w, h), ground, cv2.INTER_LINEAR, cv2.BORDER_TRANSPARENT)
        return ground

    def _hide_a_part(self, picture: Image) -> None:
        """Hide a part, as if another card covered it. Most such cards lie parallel to this one, some at any angle."""
        rng, (w, h) = self.rng, SIZE
        turn = rng.choice([0, 90, 180, 270]) + rng.gauss(0, 12) if rng.random() < 0.6 else rng.uniform(0, 360)
        along = np.array([math.cos(math.radians(turn)), math.sin(math.radians(turn))])
        down = np.array([-along[1], along[0]])
        far = rng.uniform(0.05, 1.0) * (w if abs(along[0]) > 0.7 else h) / 2
        # 200: the covering card reaches beyond this one's edge; otherwise one of its corners lies on this one
        upper, lower = (rng.choice([200.0, rng.uniform(-40, 90)]) for _ in range(2))
        near = np.array([w, h]) / 2 + far * along
        outline = [near - upper * down, near + lower * down]
        outline += [outline[1] + 200 * along, outline[0] + 200 * along]
        cv2.fillConvexPoly(picture, np.round(outline).astype(np.int32), (HIDDEN,) * 3)


def _small(face: Image) -> Image:
    return np.asarray(
        cv2.resize(face, (WIDTH * 2 // 5, HEIGHT * 2 // 5), interpolation=cv2.INTER_AREA), np.uint8
    )


def _batches(maker: CardMaker, count: int) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64]]]:
    """Yield batches of cards with their counts and suits; most are shown again, as they are, mirrored or turned."""
    kept: list[tuple[NDArray[np.uint8], NDArray[np.int64]]] = []
    for step in range(count):
        if len(kept) > 50 and step % 3:
            pictures, truth = kept[maker.rng.randrange(len(kept))]
            rows_step, columns_step = (maker.rng.choice((1, -1)) for _ in range(2))
            pictures = np.ascontiguousarray(pictures[:, ::rows_step, ::columns_step])
        else:
            made = [maker.card() for _ in range(BATCH)]
            pictures, truth = np.stack([m[0] for m in made]), np.array([m[1:] for m in made])
            kept = [*kept[-400:], (pictures, truth)]
        yield pictures, truth


def train(data: Path | None, cards: int, seed: int, out: Path) -> Path:
    """Train batch by batch, and write `pips.onnx` with its manifest; return the network's file."""
    begin_on_one_core(seed)
    maker, net = CardMaker(seed, data), PipNet().to(memory_format=torch.channels_last)
    train_on_cuts(net, _batches(maker, cards // BATCH), cards / BATCH, _PARTS)
    return write_cut_reader(
        net,
        out / "pips.onnx",
        SIZE[::-1],
        f"cards: uint8 (n, {SIZE[1]}, {SIZE[0]}, 3), BGR, upright at 1 px/mm, what is hidden {HIDDEN}",
        f"names: log-probabilities of {len(COUNTS)} counts ({' '.join(COUNTS)}) and 4 suits",
        f"python -m models.training pips --cards {cards} --seed {seed} --data DATA",
        [name for name in _PHOTOGRAPHS if has(data, name)],
    )
