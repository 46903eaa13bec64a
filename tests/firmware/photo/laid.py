"""Cards that lie as the hands of a photograph do, without a picture."""

from __future__ import annotations

import math

import numpy as np

from firmware.photo.asking import PhotoCard
from firmware.photo.grouping import Place
from firmware.rules import CARDS

ROUND = {2: (0, 180), 3: (0, 90, 180), 4: (0, 90, 180, 270)}


def laid(
    players: int, *, turned: float = 0.0, order: tuple[int, ...] = (3, 5, 5), pitch: float = 66.0
) -> list[PhotoCard]:
    """Return hands around a table, their fronts inside, laid untidily; each card is the next of the 52."""
    rng = np.random.default_rng(players)
    places = []
    for turn in map(math.radians, ROUND[players]):
        for n, size in enumerate(order):
            for k in range(size):
                x, y = (k - (size - 1) / 2) * pitch + rng.normal(0, 3), 260 + 98 * n + rng.normal(0, 4)
                places.append(
                    (x * math.cos(turn) - y * math.sin(turn), x * math.sin(turn) + y * math.cos(turn), turn)
                )
    cards = []
    for number, (x, y, turn) in enumerate(places, start=1):
        c, s = math.cos(turned), math.sin(turned)
        place = Place(
            x * c - y * s, x * s + y * c, turn + turned + rng.normal(0, 0.06) + math.pi * (number % 2)
        )
        corners = tuple((place.x + dx, place.y + dy) for dx, dy in ((-9.0, -9.0), (9, -9), (9, 9), (-9, 9)))
        code = str(CARDS[number - 1])
        cards.append(PhotoCard(number, code, True, (code,), 12.0, corners, place))
    return cards
