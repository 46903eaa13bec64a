"""Rank and suit glyphs for drawn decks: letters from free fonts, suits from fonts and from curves of our own.

Only fonts under terms that leave the weights' record clean (OFL, Apache, Bitstream Vera) are used; `FONTS` lists
the beginnings of their file names by licence. A glyph is a uint8 mask (h, w), 255 where there is ink, cut to its ink.
"""

import random
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from models.training.samples import TrainingError
from vision.reading.cards import SUITS

Mask = NDArray[np.uint8]

FONT_ROOT = Path("/usr/share/fonts")
FONTS = {
    "Apache-2.0": "Arimo Caladea Cousine Roboto Tinos",
    "Bitstream Vera": "DejaVu Hack",
    "OFL-1.1": "Andika Bebas Cabin Cantarell Cardo Carlito CharisSIL Comfortaa EBGaramond FiraCode GFSDidot Gentium "
    "Inconsolata Junction Jura Lato Liberation LinBiolinum LinLibertine NotoSans- NotoSansDisplay- NotoSansMono "
    "NotoSansSymbols NotoSerif- NotoSerifDisplay- OldStandard OpenSans Play Prociono Quicksand Vollkorn",
}
_AVOID = ("italic", "oblique", "thin", "hairline", "extralight", "emoji", "initials", "keyboard")
_SUIT_CHARACTERS = dict(zip(SUITS, "♣♦♥♠", strict=True))
_UNASSIGNED = "\U000f1234"  # what a font draws for a character that it lacks


def font_files() -> tuple[Path, ...]:
    """Return the installed fonts whose terms are listed in `FONTS`, sorted so that a seed means the same everywhere."""
    names = tuple(" ".join(FONTS.values()).split())
    found = (path for path in FONT_ROOT.rglob("*.?tf") if path.name.startswith(names))
    return tuple(sorted(p for p in found if not any(word in p.name.lower() for word in _AVOID)))


@lru_cache(maxsize=4096)
def text_mask(text: str, font: Path, size: int = 90) -> Mask | None:
    """Draw `text` and return its ink, or None where the font draws next to nothing."""
    picture = Image.new("L", (4 * size, 2 * size + 20), 0)
    ImageDraw.Draw(picture).text((40, 20), text, font=ImageFont.truetype(str(font), size), fill=255)
    return _cut(np.asarray(picture))


def ten_mask(one: Mask, zero: Mask, rng: random.Random) -> Mask:
    """Draw "10" from its two digits with a gap of its own between them."""
    height = zero.shape[0]
    slim = max(3, round(one.shape[1] * height / one.shape[0] * rng.uniform(0.75, 1.1)))
    gap = max(2, round(zero.shape[1] * rng.uniform(0.1, 0.32)))
    ten = np.zeros((height, slim + gap + zero.shape[1]), np.uint8)
    ten[:, :slim] = cv2.resize(one, (slim, height), interpolation=cv2.INTER_AREA)
    ten[:, slim + gap :] = zero
    return ten


class Hand:
    """How a deck's ranks differ from the font's: strokes heavier or finer, a slant, bent outlines."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        kind = rng.random()
        self._stroke = 1 if kind < 0.25 else -1 if kind < 0.45 else 0  # heavier, finer, the font's own
        # upright strokes alone, as in narrow faces with thin bars, or all of them
        self._kernel = np.ones((1, 5) if rng.random() < 0.5 else (5, 5), np.uint8)
        self._slant = rng.uniform(-0.1, 0.22) if rng.random() < 0.2 else 0.0
        self._bend = rng.uniform(0.008, 0.03) if rng.random() < 0.6 else 0.0

    def drawn(self, glyph: Mask) -> Mask:
        """Return the glyph as this hand draws it."""
        h, w = 128, max(24, round(128 * glyph.shape[1] / glyph.shape[0]))
        mask = np.zeros((h + 40, w + 40), np.uint8)
        mask[20:-20, 20:-20] = cv2.resize(glyph, (w, h), interpolation=cv2.INTER_LINEAR)
        if self._stroke:
            change = cv2.dilate if self._stroke > 0 else cv2.erode
            changed = change(mask, self._kernel)
            ink = int(mask.sum())
            if 0.55 * ink < int(changed.sum()) < 1.6 * ink:  # nothing vanishes, nothing fills up
                mask = np.asarray(changed, np.uint8)
        y, x = np.mgrid[: h + 40, : w + 40].astype(np.float32)
        x = x + np.float32(self._slant) * (y - np.float32(h / 2 + 20))
        if self._bend:
            rough = np.array([[self._rng.gauss(0, self._bend) for _ in range(12)] for _ in range(2)])
            fields = [
                cv2.resize(r.reshape(4, 3), (w + 40, h + 40), interpolation=cv2.INTER_CUBIC) for r in rough
            ]
            x, y = x + fields[0].astype(np.float32) * w, y + fields[1].astype(np.float32) * h
        moved = np.asarray(cv2.remap(mask, x, y, cv2.INTER_LINEAR), np.uint8)
        cut = _cut(moved)
        return glyph if cut is None else cut


def _cut(ink: NDArray[np.uint8]) -> Mask | None:
    rows, columns = np.nonzero(ink > 60)
    if len(rows) < 50:
        return None
    return np.ascontiguousarray(ink[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1])


@lru_cache(maxsize=1)
def rank_fonts() -> tuple[Path, ...]:
    """Return the fonts that draw every rank differently (a font without letters draws boxes).

    Raises:
        TrainingError: there is none.
    """
    fonts = []
    for font in font_files():
        masks = [text_mask(text, font) for text in ("A", "Q", "K", "8", "6", "10")]
        if all(m is not None for m in masks) and len({m.tobytes() for m in masks if m is not None}) == 6:
            fonts.append(font)
    if not fonts:
        raise TrainingError(
            f"None of the fonts that training draws with is in {FONT_ROOT}; "
            "install some (Debian: fonts-dejavu-core fonts-liberation)"
        )
    return tuple(fonts)


@lru_cache(maxsize=1)
def font_suits() -> tuple[dict[str, Mask], ...]:
    """Return the filled suit glyphs of all fonts that have them, each distinct set once."""
    sets: list[dict[str, Mask]] = []
    seen: set[bytes] = set()
    for font in font_files():
        masks = {s: text_mask(c, font, 120) for s, c in _SUIT_CHARACTERS.items()}
        glyphs = {s: m for s, m in masks.items() if m is not None}
        if len(glyphs) < 4 or _is_outline(glyphs) or _is_missing(glyphs, text_mask(_UNASSIGNED, font, 120)):
            continue
        key = b"".join(
            (cv2.resize(m, (10, 10), interpolation=cv2.INTER_AREA) // 48).tobytes() for m in glyphs.values()
        )
        if key not in seen:
            seen.add(key)
            sets.append(glyphs)
    return tuple(sets)


def _is_outline(glyphs: dict[str, Mask]) -> bool:
    middle = [cv2.resize(glyphs[s], (24, 24), interpolation=cv2.INTER_AREA)[10:13, 10:14] for s in "hd"]
    return any(float(m.mean()) < 200 for m in middle)


def _is_missing(glyphs: dict[str, Mask], box: Mask | None) -> bool:
    small = {cv2.resize(m, (24, 24), interpolation=cv2.INTER_AREA).tobytes() for m in glyphs.values()}
    return len(small) < 4 or (box is not None and any(m.shape == box.shape for m in glyphs.values()))


def draw_suits(rng: random.Random) -> dict[str, Mask]:
    """Draw the four suits from curves with random proportions: lobes, waists, stems."""
    heart = _fill(_heart(rng))
    body = _heart(rng) * (1, -rng.uniform(0.8, 0.95)) + (0, -0.12)
    return {"h": heart, "s": _fill(body, _stem(rng, 0.2)), "d": _diamond(rng), "c": _club(rng)}


def _fill(*outlines: NDArray[np.float64]) -> Mask:
    """Fill outlines given in a box of about [-1, 1]² (y down) on a 256 px canvas."""
    canvas = np.zeros((256, 256), np.uint8)
    for outline in outlines:  # each on its own: antialiasing darkens what lies under a polygon's edge
        layer = np.zeros_like(canvas)
        cv2.fillPoly(layer, [np.round((outline * 100 + 128) * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
        canvas = np.maximum(canvas, layer)
    cut = _cut(canvas)
    assert cut is not None
    return cut


def _bezier(*points: tuple[float, float]) -> NDArray[np.float64]:
    t = np.linspace(0, 1, 24)[:, None]
    weights = np.hstack([(1 - t) ** 3, 3 * (1 - t) ** 2 * t, 3 * (1 - t) * t**2, t**3])
    return np.asarray(weights @ np.array(points))


def _mirror(half: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.vstack([half, half[::-1] * (-1, 1)])


def _heart(rng: random.Random) -> NDArray[np.float64]:
    notch, width, shoulder = rng.uniform(-0.7, -0.35), rng.uniform(0.75, 1.0), rng.uniform(-0.55, -0.2)
    top = _bezier((0, notch), (0.12, -1.05), (width, -1.15), (width, shoulder))
    side = _bezier((width, shoulder), (width, rng.uniform(0.0, 0.35)), (rng.uniform(0.15, 0.5), 0.45), (0, 1))
    return _mirror(np.vstack([top, side]))


def _stem(rng: random.Random, top: float) -> NDArray[np.float64]:
    foot, waist = rng.uniform(0.2, 0.55), rng.uniform(0.04, 0.14)
    return _mirror(_bezier((waist, top), (waist, rng.uniform(0.5, 0.8)), (foot * 0.6, 1.0), (foot, 1.05)))


def _diamond(rng: random.Random) -> Mask:
    width, bow = rng.uniform(0.6, 0.95), rng.uniform(-0.14, 0.04)
    side = _bezier(
        (0, -1), (width * (1 / 3 + bow), -2 / 3 + bow), (width * (2 / 3 + bow), -1 / 3 + bow), (width, 0)
    )
    return _fill(_mirror(np.vstack([side, side[::-1] * (1, -1)])))


def _club(rng: random.Random) -> Mask:
    radius, spread = rng.uniform(0.4, 0.5), rng.uniform(0.42, 0.56)
    turn = np.linspace(0, 2 * np.pi, 40)
    leaf = np.stack([np.cos(turn), np.sin(turn)], 1) * radius
    low = rng.uniform(0.1, 0.3)
    middle = leaf * rng.uniform(0.4, 0.7) + (0, low - 0.2)
    return _fill(leaf + (0, -0.55), leaf + (-spread, low), leaf + (spread, low), middle, _stem(rng, low))


def suit_sets(rng: random.Random) -> Iterator[dict[str, Mask]]:
    """Yield sets of suit glyphs for ever: two of three from fonts, every third from our own curves."""
    fonts = font_suits()
    while True:
        yield draw_suits(rng) if not fonts or rng.random() < 1 / 3 else rng.choice(fonts)
