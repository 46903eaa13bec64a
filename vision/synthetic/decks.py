"""Decks for rendered tables: drawn ones, and photographs of real ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np

from vision.base.arrays import Image
from vision.base.errors import DeckError, UnknownCardError
from vision.reading.cards import CARDS
from vision.synthetic.deck import HEIGHT_MM, RED, STANDARD, WIDTH_MM, Style, back_picture, card_picture

BRIDGE_WIDTH_MM = 57.15
"""The other common width; both are 88.9 mm high."""

TRIM = 0.015
"""The share of a photograph's height and width that is cut off at each edge, where the background shows."""

_FILE = re.compile(r"(10|[2-9TJQKA])([cdhs])(?:[_-].*)?", re.IGNORECASE)
_SUFFIXES = {".jpg", ".jpeg", ".png"}


class Deck(Protocol):
    """What the renderer needs of a deck. Every card is `HEIGHT_MM` high."""

    @property
    def name(self) -> str:
        """The deck's name, for reports."""

    @property
    def width_mm(self) -> float:
        """The width of a card."""

    def picture(self, code: str) -> Image:
        """Return the complete upright card, height × width × 3, BGR, of any size; read-only."""

    def back(self) -> Image:
        """Return a card's back, in the same form."""


@dataclass(frozen=True)
class DrawnDeck:
    """A drawn deck; its pictures have ``px_per_mm`` pixels per millimetre."""

    style: Style = STANDARD
    px_per_mm: float = 6.0
    back_colour: str = RED
    width_mm: float = field(default=WIDTH_MM, init=False)

    @property
    def name(self) -> str:
        """The deck's name, for reports."""
        return f"drawn{'-4' * self.style.four_colour}{'-jumbo' * self.style.jumbo}"

    def picture(self, code: str) -> Image:
        """Draw a card.

        Raises:
            UnknownCardError: ``code`` is none of the 52.
        """
        return card_picture(code, self.px_per_mm, self.style)

    def back(self) -> Image:
        """Draw the back."""
        return back_picture(self.px_per_mm, self.back_colour)


class PhotoDeck:
    """A real deck, from one rectified photograph of each face. Its back is drawn."""

    def __init__(
        self, name: str, pictures: Mapping[str, Image], width_mm: float = WIDTH_MM, *, complete: bool = True
    ) -> None:
        """Take the pictures by card code.

        Raises:
            DeckError: a card is missing from a deck that is to be ``complete``.
        """
        missing = [code for code in CARDS if code not in pictures]
        if missing and complete:
            some = " ".join(missing[:6]) + (" …" if len(missing) > 6 else "")
            raise DeckError(f"the deck {name} lacks {len(missing)} of 52 cards: {some}")
        self.name = name
        self.width_mm = width_mm
        self._pictures = dict(pictures)

    @classmethod
    def from_folder(cls, folder: str | Path, *, complete: bool = True) -> PhotoDeck:
        """Read a folder of photographs named by card: ``Th.jpg`` or ``10h.jpg``; of several of a card the first counts.

        The cards are as wide as poker or bridge cards, whichever have more nearly the pictures' proportions.

        Raises:
            DeckError: the folder or a card is missing, or a picture cannot be read.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise DeckError(f"there is no folder {folder} with pictures of a deck")
        pictures: dict[str, Image] = {}
        for path in sorted(folder.iterdir()):
            match = _FILE.fullmatch(path.stem)
            if path.suffix.lower() not in _SUFFIXES or not match:
                continue
            code = match[1].upper().replace("10", "T") + match[2].lower()
            if code not in pictures:
                pictures[code] = _photo(path)
        width_mm = WIDTH_MM
        if pictures:
            ratio = float(np.median([p.shape[1] / p.shape[0] for p in pictures.values()]))
            width_mm = min((WIDTH_MM, BRIDGE_WIDTH_MM), key=lambda width: abs(width / HEIGHT_MM - ratio))
        return cls(folder.name, pictures, width_mm, complete=complete)

    @property
    def cards(self) -> frozenset[str]:
        """The cards it has, by code."""
        return frozenset(self._pictures)

    def picture(self, code: str) -> Image:
        """Return a card's photograph.

        Raises:
            UnknownCardError: the deck has no such card.
        """
        try:
            return self._pictures[code]
        except KeyError:
            raise UnknownCardError(f"there is no card {code!r}") from None

    def back(self) -> Image:
        """Draw a back."""
        return back_picture(6.0, RED)


def _photo(path: Path) -> Image:
    picture = cv2.imdecode(np.fromfile(path, np.uint8), cv2.IMREAD_COLOR) if path.stat().st_size else None
    if picture is None:
        raise DeckError(f"{path} is not a picture that can be read")
    y, x = (round(n * TRIM) for n in picture.shape[:2])
    return np.ascontiguousarray(picture[y : picture.shape[0] - y, x : picture.shape[1] - x], np.uint8)
