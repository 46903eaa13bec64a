"""One player's thirteen cards as set: front, middle and back."""

from __future__ import annotations

from typing import NamedTuple

from firmware.rules.cards import Card, cards_text, parse_cards
from firmware.rules.words import ROW_NAMES

ROW_SIZES = (3, 5, 5)
"""Number of cards in front, middle and back."""


class Rows(NamedTuple):
    """Three rows of cards, complete or not.

    >>> rows = Rows.parse("As Ah Kd / 9c 9d 9h 2c 3d / 10s Ts ??")
    >>> rows.front
    (As, Ah, Kd)
    >>> str(rows)
    'As Ah Kd / 9c 9d 9h 2c 3d / Ts Ts ??'
    """

    front: tuple[Card, ...]
    middle: tuple[Card, ...]
    back: tuple[Card, ...]

    @classmethod
    def parse(cls, text: str) -> Rows:
        """Parse rows, front first, separated by slashes.

        Raises UnknownCardError, or ValueError unless there are three rows.
        """
        front, middle, back = text.split("/")
        return cls(parse_cards(front), parse_cards(middle), parse_cards(back))

    def __str__(self) -> str:
        return " / ".join([cards_text(row) for row in self])

    @property
    def cards(self) -> tuple[Card, ...]:
        """All the cards, front first."""
        return self.front + self.middle + self.back

    def named(self) -> tuple[tuple[str, tuple[Card, ...], int], ...]:
        """Return each row's name, cards and size."""
        return tuple(zip(ROW_NAMES, self, ROW_SIZES, strict=True))
