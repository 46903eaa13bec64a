"""Decks for training: card art from npm, photographs of real cards, our own deck, and randomly drawn decks.

Each deck returns a card as a picture of 315 × 440 px (63 × 88 mm at 5 px/mm, BGR), with the box of the index in its
top left corner. If the card is turned by 180°, its other index is in the same box.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from models.training.art import CACHE
from models.training.glyphs import Hand, Mask, rank_fonts, suit_sets, ten_mask, text_mask
from models.training.photographs import has
from vision.base.arrays import Image
from vision.base.pictures import load_picture
from vision.reading.cards import CARDS, SUITS
from vision.synthetic.deck import Style, card_picture
from vision.synthetic.evaluation import photographs_with_labels

PX_PER_MM = 5.0
WIDTH, HEIGHT = 315, 440
_MM = PX_PER_MM
Colour = tuple[int, int, int]


@dataclass(frozen=True)
class IndexBox:
    """The position of an index on its card, in pixels. `split` is the pixel row between the rank and the suit."""

    left: float
    top: float
    right: float
    bottom: float
    split: float


@dataclass(frozen=True)
class PictureDeck:
    """A deck of existing pictures. If a card has several, one is chosen at random.

    `four_indices`: the top right and bottom left corners have an index too.
    """

    pictures: dict[str, list[Image]]
    box: IndexBox
    four_indices: bool = False

    @property
    def codes(self) -> Sequence[str]:
        """The codes of the cards in the deck."""
        return tuple(self.pictures)

    def face(self, code: str, rng: random.Random) -> tuple[Image, IndexBox]:
        """Return one of the card's pictures and the deck's index box."""
        return rng.choice(self.pictures[code]), self.box


def _ink(picture: Image) -> NDArray[np.bool_]:
    paper = np.median(picture[20:-20, 10:-10].reshape(-1, 3), axis=0)
    return np.asarray(np.abs(picture.astype(int) - paper).max(axis=2) > 70)


def _span(line: NDArray[np.bool_]) -> tuple[int, int]:
    marked = np.flatnonzero(line)
    return int(marked[0]), int(marked[-1]) + 1


def find_index(pictures: dict[str, list[Image]]) -> tuple[IndexBox, bool]:
    """Return the index box, and whether all four corners have an index.

    Both are measured on the aces, because the sides of an ace are empty.
    """
    boxes, with_top_right = [], 0
    edge = int(1.6 * _MM)
    for suit in SUITS:
        ink = _ink(pictures["A" + suit][0])
        corner = ink[edge : int(0.42 * HEIGHT), edge : int(0.3 * WIDTH)]
        top, bottom = _span(np.asarray(corner.any(axis=1)))
        left, right = _span(np.asarray(corner.any(axis=0)))
        gaps = np.flatnonzero(~corner[top:bottom].any(axis=1))
        split = float(np.median(gaps)) if len(gaps) else 0.58 * (bottom - top)
        boxes.append((left + edge, top + edge, right + edge, bottom + edge, top + edge + split))
        with_top_right += ink[edge : int(0.3 * HEIGHT), int(0.75 * WIDTH) : -edge].sum() > 250
    return IndexBox(*(float(v) for v in np.median(np.array(boxes), axis=0))), with_top_right >= 3


def art_decks(cache: Path = CACHE) -> list[PictureDeck]:
    """Return the decks that `models.training.art` has fetched; none if it was never run."""
    decks = []
    for folder in sorted((cache / "art").glob("*/")):
        pictures = {code: [_resize(load_picture(folder / f"{code}.png"))] for code in CARDS}
        decks.append(PictureDeck(pictures, *find_index(pictures)))
    return decks


def _resize(picture: Image, cut: int = 0) -> Image:
    picture = picture[cut : picture.shape[0] - cut, cut : picture.shape[1] - cut]
    way = cv2.INTER_AREA if picture.shape[0] > HEIGHT else cv2.INTER_CUBIC
    return np.asarray(cv2.resize(picture, (WIDTH, HEIGHT), interpolation=way), np.uint8)


def decks_of_photographs(data: Path) -> list[PictureDeck]:
    """Return the decks of rectified photographs in the data folder. Only files marked `train` are used.

    Their index boxes were measured on the photographs.
    """
    boxes = {
        "bidly_cards": (IndexBox(14.0, 20.0, 46.0, 107.5, 66.0), 5),
        "rrrrhys_cards": (IndexBox(14.0, 23.0, 49.0, 110.0, 68.0), 0),
    }
    decks = []
    for name, (box, cut) in boxes.items():
        if not has(data, name):
            continue
        pictures: dict[str, list[Image]] = {}
        for file, (code,) in photographs_with_labels(data / name, "train"):
            pictures.setdefault(code, []).append(_resize(load_picture(file), cut))
        decks.append(PictureDeck(pictures, box))
    return decks


def own_decks() -> list[PictureDeck]:
    """Return the deck that the project draws, in its four styles."""
    decks = []
    for style in (Style(), Style(jumbo=True), Style(four_colour=True), Style(four_colour=True, jumbo=True)):
        pictures = {code: [_resize(card_picture(code, 2 * PX_PER_MM, style))] for code in CARDS}
        decks.append(PictureDeck(pictures, *find_index(pictures)))
    return decks


PIPS: dict[int, list[tuple[float, float]]] = {  # (x, y) in the pip field, from 0 to 1
    1: [(0.5, 0.5)],
    2: [(0.5, 0), (0.5, 1)],
    3: [(0.5, 0), (0.5, 0.5), (0.5, 1)],
}
_SIDES: list[tuple[float, float]] = [(0, 0), (1, 0), (0, 1), (1, 1)]
_MIDS: list[tuple[float, float]] = [(0, 0.5), (1, 0.5)]
_THIRDS: list[tuple[float, float]] = [(0, 1 / 3), (1, 1 / 3), (0, 2 / 3), (1, 2 / 3)]
PIPS |= {4: _SIDES, 5: [*_SIDES, (0.5, 0.5)], 6: _SIDES + _MIDS, 7: [*_SIDES, *_MIDS, (0.5, 0.25)]}
PIPS |= {8: [*_SIDES, *_MIDS, (0.5, 0.25), (0.5, 0.75)], 9: [*_SIDES, *_THIRDS, (0.5, 0.5)]}
PIPS |= {10: [*_SIDES, *_THIRDS, (0.5, 1 / 6), (0.5, 5 / 6)]}

_ROWS: dict[int, list[tuple[float, float]]] = {
    n: [(x, k / (n - 1)) for k in range(n) for x in (0, 1)] for n in (4, 5)
}
OTHER_PIPS: dict[int, list[list[tuple[float, float]]]] = {  # other arrangements, as in some decks
    4: [[(0.5, 0), (0, 0.5), (1, 0.5), (0.5, 1)]],
    6: [[(x, y) for x in (0, 0.5, 1) for y in (0.25, 0.75)]],
    7: [[*_SIDES, *_MIDS, (0.5, 0.75)], [*_SIDES, *_MIDS, (0.5, 0.5)]],
    8: [_ROWS[4], _ROWS[4], [*_MIDS, *((x, y) for x in (0, 0.5, 1) for y in (0, 1))]],
    9: [
        [*_ROWS[4], (0.5, 1 / 6)],
        [*_ROWS[4], (0.5, 5 / 6)],
        [(x, y) for x in (0, 0.5, 1) for y in (0, 0.5, 1)],
    ],
    10: [_ROWS[5], [*_ROWS[4], (0.5, 1 / 3), (0.5, 2 / 3)]],
}


def stamp(picture: Image, mask: Mask, x: float, y: float, colour: Colour, turned: bool = False) -> None:
    """Print a glyph with its centre at (x, y), clipped at the picture's edge."""
    if turned:
        mask = mask[::-1, ::-1]
    h, w = mask.shape
    x0, y0 = round(x - w / 2), round(y - h / 2)
    left, top = max(0, x0), max(0, y0)
    right, bottom = min(picture.shape[1], x0 + w), min(picture.shape[0], y0 + h)
    if right <= left or bottom <= top:
        return
    ink = mask[top - y0 : bottom - y0, left - x0 : right - x0, None].astype(np.float32) / 255
    place = picture[top:bottom, left:right]
    place[:] = (place * (1 - ink) + np.array(colour, np.float32) * ink).astype(np.uint8)


def _fit(mask: Mask, width: float, height: float) -> Mask:
    size = max(4, round(width)), max(4, round(height))
    return np.asarray(cv2.resize(mask, size, interpolation=cv2.INTER_AREA), np.uint8)


def _turn(picture: Image) -> Image:
    return np.ascontiguousarray(picture[::-1, ::-1])


class RandomDeck:
    """A deck with a random design: fonts, suit shapes, sizes, colours, pips, court cards, standard or jumbo index."""

    codes: Sequence[str] = CARDS

    def __init__(self, rng: random.Random, art: Sequence[PictureDeck]) -> None:
        self._rng = rng
        self._art = rng.choice(art) if art else None
        self._body = rng.choice(["art", "pips", "pips", "pips"]) if art else "pips"
        self._font = rng.choice(rank_fonts())
        sets = suit_sets(rng)
        first = next(sets)
        mixed = {s: next(sets)[s] for s in SUITS}
        glyphs = first if rng.random() < 0.8 else mixed
        self._aspect = {s: rng.uniform(0.78, 1.08) * (rng.uniform(0.8, 1) if s == "d" else 1) for s in SUITS}
        self._suit = {s: _wear(rng, glyphs[s]) for s in SUITS}
        kind, narrow = rng.random(), rng.uniform(0.42, 0.85)
        if kind < 0.26:  # jumbo; some indices fill a third of the card's height
            self._rank_mm, suit_share = rng.uniform(10, rng.choice([17, 17, 23])), rng.uniform(0.45, 0.95)
        elif kind < 0.44:  # as in bridge decks: a tall, narrow rank over a small suit
            self._rank_mm, suit_share = rng.uniform(8.5, 14.5), rng.uniform(0.34, 0.6)
            narrow = rng.uniform(0.36, 0.54)
        elif kind < 0.6:
            self._rank_mm, suit_share = rng.uniform(8.5, 12), rng.uniform(0.6, 0.95)
        else:
            self._rank_mm, suit_share = rng.uniform(6, 9.3), rng.uniform(0.6, 0.95)
        self._suit_mm = self._rank_mm * suit_share
        self._rank_width = self._rank_mm * narrow
        self._gap = rng.uniform(0.4, 1.8)
        side = rng.uniform(2.8, 6.2) if self._rank_mm < 10 else rng.uniform(4.5, 8.5)
        widest = max(self._rank_width, self._suit_mm * max(self._aspect.values()))
        self._x = max(widest / 2 + rng.uniform(0.6, 1.4), side)
        self._top = rng.uniform(2.2, 5.2)
        if rng.random() < 0.25:  # some decks print up to the card's edge
            self._x, self._top = widest / 2 + rng.uniform(0.3, 1.2), rng.uniform(0.5, 2.2)
        self._ten = "10" if rng.random() < 0.9 else "T"
        self._ten_apart = narrow < 0.5 or rng.random() < 0.5
        # a bold "10" in one piece that is narrower than this looks like an 8
        self._ten_width = rng.uniform(1.1 if self._ten_apart else 1.3, 1.7)
        self._hand = Hand(rng)
        light = rng.randint(225, 255) if rng.random() < 0.85 else rng.randint(180, 225)
        self._paper = (round(light * rng.uniform(0.93, 1)), round(light * rng.uniform(0.93, 1)), light)
        self._colours = _inks(rng, self._paper)
        self._pip_mm, self._ace_mm = rng.uniform(8, 13), rng.uniform(10, 36)
        self._field = rng.uniform(17, 20.5), rng.uniform(13, 19)
        other = rng.random() < 0.45
        self._pips = {
            n: rng.choice(OTHER_PIPS[n]) if other and n in OTHER_PIPS else p for n, p in PIPS.items()
        }
        self._lettered = rng.random() < 0.1  # court cards that show only a large letter
        self._framed, self._court_pips = rng.random() < 0.8, rng.random() < 0.7
        self.four_indices = rng.random() < 0.12
        self._outline = rng.choice([0, 0, 1, 2])
        self._faces: dict[str, tuple[Image, IndexBox]] = {}

    def face(self, code: str, rng: random.Random) -> tuple[Image, IndexBox]:
        """Return the card, which is drawn only once. `rng` is not used: the deck has its own random generator."""
        if code not in self._faces:
            self._faces[code] = self._draw(code)
        return self._faces[code]

    def _draw(self, code: str) -> tuple[Image, IndexBox]:
        rank, suit = code[0], code[1]
        colour = self._colours[suit]
        text = self._ten if rank == "T" else rank
        width = self._rank_width * (self._ten_width if text == "10" else 1) * self._rng.uniform(0.92, 1.05)
        if rank == "J":
            width *= self._rng.uniform(0.6, 1)
        letter = self._hand.drawn(self._letter(text))
        rank_mask = _fit(letter, min(width, 2 * (self._x - 0.3)) * _MM, self._rank_mm * _MM)
        suit_mask = _fit(self._suit[suit], self._suit_mm * self._aspect[suit] * _MM, self._suit_mm * _MM)
        half = max(rank_mask.shape[1], suit_mask.shape[1]) / 2
        x, top = self._x * _MM, self._top * _MM
        split = top + (self._rank_mm + self._gap / 2) * _MM
        bottom = top + (self._rank_mm + self._gap + self._suit_mm) * _MM
        box = IndexBox(x - half, top, x + half, bottom, split)
        if self._body == "art" and self._art is not None:
            picture = _without_index(self._art, code, box)
        else:
            picture = np.empty((HEIGHT, WIDTH, 3), np.uint8)
            picture[:] = self._paper
            number = "A23456789T".find(rank) + 1
            if number:
                self._draw_pips(picture, number, suit)
            else:
                self._draw_court(picture, rank, suit)
        for _ in range(2):  # print the index, turn the card, and print the other index
            for centre in (x, WIDTH - x) if self.four_indices else (x,):
                if self._body == "pips":  # no part of the pips or court may be under the index
                    pad = _MM
                    ground = np.s_[
                        4 : int(bottom + pad), int(max(4, centre - half - pad)) : int(centre + half + pad)
                    ]
                    picture[ground] = self._paper
                stamp(picture, rank_mask, centre, top + self._rank_mm / 2 * _MM, colour)
                stamp(picture, suit_mask, centre, bottom - self._suit_mm / 2 * _MM, colour)
            picture = _turn(picture)
        if self._outline:
            cv2.rectangle(picture, (1, 1), (WIDTH - 2, HEIGHT - 2), (90, 90, 90), self._outline)
        return picture, box

    def _letter(self, text: str) -> Mask:
        """Return a rank in the deck's font. In some decks, a "10" is made of its two digits."""
        whole, one, zero = (text_mask(part, self._font) for part in (text, "1", "0"))
        assert whole is not None  # `rank_fonts` returns only fonts that have every rank
        if text != "10" or not self._ten_apart or one is None or zero is None:
            return whole
        return ten_mask(one, zero, self._rng)

    def _draw_pips(self, picture: Image, number: int, suit: str) -> None:
        rng, colour = self._rng, self._colours[suit]
        size = self._ace_mm if number == 1 else self._pip_mm
        pip = _fit(self._suit[suit], size * self._aspect[suit] * _MM, size * _MM)
        for column, row in self._pips[number]:
            x = (31.5 + (column - 0.5) * 2 * (31.5 - self._field[0])) * _MM
            y = (self._field[1] + row * (88 - 2 * self._field[1])) * _MM
            stamp(picture, pip, x, y, colour, turned=row > 0.5)
        if number == 1 and rng.random() < 0.4:  # an ornate ace
            for _ in range(rng.randint(1, 4)):
                ring = colour if rng.random() < 0.5 else rng.choice([(0, 0, 0), (255, 255, 255)])
                cv2.circle(
                    picture, (WIDTH // 2, HEIGHT // 2), int(rng.uniform(2, 24) * _MM), ring, rng.randint(1, 5)
                )

    def _draw_court(self, picture: Image, rank: str, suit: str) -> None:
        rng = self._rng
        inset = rng.uniform(10, 14) if self._rank_mm < 10 else rng.uniform(13, 18)
        left, top = int(inset * _MM), int(rng.uniform(5, 12) * _MM)
        field = picture[top : HEIGHT - top, left : WIDTH - left]
        if self._lettered:
            letter = _fit(self._letter(rank), rng.uniform(14, 24) * _MM, rng.uniform(24, 40) * _MM)
            stamp(picture, letter, WIDTH / 2, HEIGHT / 2, self._colours[suit])
        elif self._art is not None and rng.random() < 0.6:
            other = rank + (suit if rng.random() < 0.85 else rng.choice(SUITS))
            body = self._art.pictures[other][0][60:-60, 60:-60]
            field[:] = cv2.resize(body, (field.shape[1], field.shape[0]), interpolation=cv2.INTER_AREA)
        else:
            _draw_shapes(rng, field)
        if self._framed and not self._lettered:
            frame = rng.choice([(160, 60, 20), (0, 0, 0), self._colours[suit]])
            cv2.rectangle(picture, (left, top), (WIDTH - left, HEIGHT - top), frame, 1)
        if self._court_pips:
            pip = _fit(self._suit[suit], 10 * self._aspect[suit] * _MM, 10 * _MM)
            x, y = left + 6.5 * _MM, top + 7 * _MM
            stamp(picture, pip, x, y, self._colours[suit])
            stamp(picture, pip, WIDTH - x, HEIGHT - y, self._colours[suit], turned=True)


def _wear(rng: random.Random, mask: Mask) -> Mask:
    """Return a suit glyph, sometimes thicker, thinner or vertically distorted."""
    mask = np.asarray(cv2.resize(mask, (96, 96), interpolation=cv2.INTER_AREA), np.uint8)
    if rng.random() < 0.3:
        change: Callable[..., NDArray[np.uint8]] = cv2.dilate if rng.random() < 0.5 else cv2.erode  # type: ignore[assignment]
        mask = change(mask, np.ones((3, 3), np.uint8), iterations=rng.randint(1, 2))
    if rng.random() < 0.3:
        rows = (np.linspace(0, 1, 96) ** rng.uniform(0.8, 1.25) * 95).astype(np.float32)
        columns = np.repeat(np.arange(96, dtype=np.float32)[None], 96, axis=0)
        mask = np.asarray(
            cv2.remap(mask, columns, np.repeat(rows[:, None], 96, axis=1), cv2.INTER_LINEAR), np.uint8
        )
    return mask


def _inks(rng: random.Random, paper: Colour) -> dict[str, Colour]:
    """Choose the inks of the four suits, in BGR.

    They are near-black and red (also dark red), the usual four colours, or arbitrary colours.
    """
    dark = rng.randint(0, 55)
    black: Colour = (dark, dark, dark)
    red: Colour = (rng.randint(0, 60), rng.randint(0, 55), rng.randint(120, 240))
    kind = rng.random()
    if kind < 0.76:
        return {"c": black, "d": red, "h": red, "s": black}
    green = (rng.randint(10, 60), rng.randint(90, 150), rng.randint(0, 40))
    blue = (rng.randint(150, 230), rng.randint(40, 110), rng.randint(0, 40))
    if kind < 0.88:
        return {"c": green, "d": blue, "h": red, "s": black}
    # The reader then learns suits from their shapes, not only from their colours.
    return {s: _any_ink(rng, paper) for s in SUITS}


def _any_ink(rng: random.Random, paper: Colour) -> Colour:
    """Choose an ink that is visible on the paper."""
    while True:
        hsv = np.array([[[rng.randint(0, 179), rng.randint(0, 255), rng.randint(30, 210)]]], np.uint8)
        blue, green, red = (int(v) for v in cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)[0, 0])
        if max(abs(a - b) for a, b in zip((blue, green, red), paper, strict=True)) > 60:
            return blue, green, red


def _without_index(art: PictureDeck, code: str, box: IndexBox) -> Image:
    """Return an art card with blank paper in place of its own indices and under the new ones."""
    picture = art.pictures[code][0].copy()
    paper = np.median(art.pictures["2h"][0][20:-20, 10:-10].reshape(-1, 3), axis=0)
    right = int(max(art.box.right, box.right) + 1.2 * _MM)
    bottom = int(max(art.box.bottom, box.bottom) + 1.2 * _MM)
    for _ in range(2):
        picture[4:bottom, 4:right] = paper
        if art.four_indices:
            picture[4 : int(art.box.bottom) + 8, WIDTH - int(art.box.right) - 8 : WIDTH - 4] = paper
        picture = _turn(picture)
    return picture


def _draw_shapes(rng: random.Random, field: Image) -> None:
    """Fill a court card's field with shapes. The lower half is the upper half turned by 180°."""
    h, w = field.shape[:2]
    inks = [(30, 30, 200), (180, 60, 20), (20, 200, 230), (20, 20, 20), (245, 245, 245), (60, 140, 60)]
    for _ in range(rng.randint(15, 45)):
        corners = [[rng.randint(0, w), rng.randint(0, h // 2)] for _ in range(rng.randint(3, 5))]
        shape = np.array(corners, np.int32)
        if rng.random() < 0.6:
            cv2.fillPoly(field, [shape], rng.choice(inks), cv2.LINE_AA)
        else:
            cv2.polylines(field, [shape], False, rng.choice(inks), rng.randint(1, 4), cv2.LINE_AA)
    field[h - h // 2 :] = field[: h // 2][::-1, ::-1]


Deck = PictureDeck | RandomDeck


class Maker:
    """What makes pictures to train on without end, the same ones for the same seed: chance, and decks to draw on."""

    def __init__(self, seed: int, pool: int) -> None:
        self.rng, self._noise = random.Random(seed), np.random.default_rng(seed)
        self._art, self._own = art_decks(), own_decks()
        self._random_decks = [RandomDeck(self.rng, self._art) for _ in range(pool)]

    def _renew(self, share: float) -> None:
        """Replace one of the random decks by a new one, in this share of the calls."""
        if self.rng.random() < share:
            self._random_decks[self.rng.randrange(len(self._random_decks))] = RandomDeck(self.rng, self._art)


def card_back(rng: random.Random) -> Image:
    """Draw a card back with a white border and two random layers of a lattice, dots or ovals."""
    picture = np.full((HEIGHT, WIDTH, 3), 245, np.uint8)
    border = rng.randint(6, 24)
    field = picture[border:-border, border:-border]
    ground = np.array([rng.randint(0, 200) for _ in range(3)])
    field[:] = ground
    b, g, r = (int(v) for v in np.clip(ground + rng.choice([-90, 90, 160]), 0, 255))
    h, w = field.shape[:2]
    for _ in range(2):
        pitch, line, kind = rng.randint(6, 40), rng.randint(1, 5), rng.random()
        if kind < 0.5:
            for x in range(-h, w, pitch):
                cv2.line(field, (x, 0), (x + h, h), (b, g, r), line, cv2.LINE_AA)
                cv2.line(field, (x + h, 0), (x, h), (b, g, r), line, cv2.LINE_AA)
        elif kind < 0.8:
            for y in range(0, h, pitch):
                for x in range(0, w, pitch):
                    cv2.circle(field, (x, y), max(2, pitch // 3), (b, g, r), line, cv2.LINE_AA)
        else:
            for radius in range(4, w, pitch):
                cv2.ellipse(field, (w // 2, h // 2), (radius, int(radius * 1.4)), 0, 0, 360, (b, g, r), line)
    return picture
