"""The signs of a card's corner: thirteen ranks and four suits, drawn here without a font.

Ranks are drawn as with a broad pen: downward strokes are thick, horizontal ones thin. Their box is 100 high, with x
from 0 to the given width. The box of a suit is 100 high around the origin.
"""

import numpy as np

from vision.base.arrays import Points
from vision.synthetic.drawing import CURVE_STEPS, Path, Piece

THICK = 17.0
THIN = 8.0


def rank_paths(rank: str) -> tuple[tuple[Path, ...], float]:
    """Return a rank's paths, each to be painted separately, and the width of its box (its height is 100)."""
    width, *paths = _RANKS["6" if rank == "9" else rank]
    if rank == "9":
        paths = [path.placed(width, 100, turned=True) for path in paths]
    return tuple(paths), width


def suit_path(suit: str) -> Path:
    """Return a suit's outline, 100 high around the origin."""
    return _SUITS[suit]


def _slant(x0: float, y0: float, x1: float, y1: float, width: float) -> Path:
    """Draw a straight slanting stroke with level ends; ``width`` is measured horizontally."""
    w = width / 2
    return Path.polygon([(x0 - w, y0), (x0 + w, y0), (x1 + w, y1), (x1 - w, y1)])


def _ring(x: float, y: float, rx: float, ry: float) -> Path:
    thick, thin = THICK / 2, THIN / 2
    return Path.ellipse(x, y, rx + thick, ry + thin) + Path.ellipse(x, y, rx - thick, ry - thin)


def _pen(text: str) -> Path:
    """Follow a smooth line with the broad pen."""
    (line,) = Path.parse(text).contours()
    along = np.gradient(line, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    width = THIN + (THICK - THIN) * along[:, 1:] ** 2
    across = along[:, ::-1] * (-1, 1) * width / 2
    every = CURVE_STEPS // 4
    there, back = (line + across)[::every], (line - across)[::-every]
    return Path((("M", _xy(there[0])), *_smooth(there), ("L", _xy(back[0])), *_smooth(back), ("Z", ())))


def _smooth(points: Points) -> list[Piece]:
    """Draw cubic pieces through the points; the tangents come from the neighbours (Catmull and Rom)."""
    padded = np.concatenate([points[:1], points, points[-1:]])
    slope = (padded[2:] - padded[:-2]) / 6
    return [
        ("C", (*_xy(points[i] + slope[i]), *_xy(points[i + 1] - slope[i + 1]), *_xy(points[i + 1])))
        for i in range(len(points) - 1)
    ]


def _xy(point: Points) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _ball(x: float, y: float) -> Path:
    return Path.ellipse(x, y, 9.0)


_RANKS: dict[str, tuple[float, *tuple[Path, ...]]] = {
    "A": (
        74.0,
        _slant(33, 0, 12, 95, 9),
        _slant(37, 0, 60, 95, 18),
        Path.rect(20, 61, 49, 69),
        Path.rect(0, 92, 26, 100),
        Path.rect(43, 92, 74, 100),
    ),
    "K": (
        76.0,
        Path.rect(8, 0, 25, 100),
        Path.rect(0, 0, 33, 8),
        Path.rect(0, 92, 33, 100),
        _slant(59, 4, 21, 62, 11),
        _slant(36, 38, 61, 96, 20),
        Path.rect(45, 0, 72, 8),
        Path.rect(43, 92, 76, 100),
    ),
    "Q": (68.0, _ring(34, 48, 24, 44), _pen("M26,76 C36,72 42,84 46,93 C50,101 57,103 66,97")),
    "J": (
        62.0,
        Path.rect(34, 0, 51, 70),
        Path.rect(22, 0, 62, 8),
        _pen("M42.5,68 C42.5,86 36,96 24,96 C16,96 9,91 7.5,82"),
        _ball(11.5, 77),
    ),
    "T": (
        92.0,
        Path.rect(9, 0, 25, 100),
        Path.rect(0, 92, 34, 100),
        Path.parse("M9,0 L25,0 9,22 0,22 0,15Z"),
        _ring(64, 50, 19.5, 46),
    ),
    "8": (62.0, _ring(31, 26.5, 18.5, 22.5), _ring(31, 71.5, 22, 24.5)),
    "7": (60.0, Path.rect(4, 0, 60, 13), Path.rect(4, 0, 12, 25), _pen("M55,7 C42,30 29,55 27,100")),
    "6": (62.0, _ring(32, 67, 21.5, 29), _pen("M51,14 C47,7 41,4 34,4 C17,4 10.5,28 10.5,67"), _ball(47, 18)),
    "5": (
        62.0,
        Path.rect(13, 0, 53, 13),
        _slant(17, 0, 13, 51, 8),
        _pen("M12,50 C17,43 23,39 30,39 C44,39 53,50 53,67 C53,85 43,96 29,96 C18,96 10,91 7.5,82"),
        _ball(11.5, 77),
    ),
    "4": (
        64.0,
        Path.rect(35, 0, 52, 100),
        Path.rect(25, 92, 62, 100),
        _slant(41, 0, 5, 70, 10),
        Path.rect(0, 65, 64, 74),
    ),
    "3": (
        62.0,
        _pen("M8,19 C11,9 20,4 30,4 C43,4 50,13 50,25 C50,38 42,46 24,46"),
        _pen("M24,46 C45,46 54,56 54,70 C54,87 43,96 29,96 C18,96 10,91 7.5,82"),
        _ball(13, 22),
        _ball(11.5, 77),
    ),
    "2": (
        60.0,
        _pen("M8,28 C8,12 17,4 30,4 C45,4 53,15 53,28 C53,50 24,66 8,94"),
        _ball(13, 26),
        Path.rect(4, 88, 58, 100),
        Path.rect(51, 76, 58, 100),
    ),
}
"""The width of each rank's box, and its paths; a nine is a six turned round."""

_SUITS = {
    "h": Path.parse(
        "M0,50 C-9,30 -46,8 -46,-20 C-46,-40 -34,-50 -22.5,-50 C-11,-50 -2,-41 0,-28 "
        "C2,-41 11,-50 22.5,-50 C34,-50 46,-40 46,-20 C46,8 9,30 0,50Z"
    ),
    "d": Path.parse("M0,-50 C9,-33 23,-14 38,0 C23,14 9,33 0,50 C-9,33 -23,14 -38,0 C-23,-14 -9,-33 0,-50Z"),
    "s": Path.parse(
        "M0,-50 C9,-30 45,-8 45,16 C45,31 35,38 24.5,38 C14,38 6,33 3,25 C4,38 10,46 20,50 L-20,50 "
        "C-10,46 -4,38 -3,25 C-6,33 -14,38 -24.5,38 C-35,38 -45,31 -45,16 C-45,-8 -9,-30 0,-50Z"
    ),
    "c": Path.parse(
        "M0,-50 C13.5,-50 23,-40 23,-28 C23,-20 19,-12 11,-6 C15,-9 20,-11 25,-11 C38,-11 48,-1 48,12 "
        "C48,25 38,35 25,35 C15,35 7,30 3,22 C4,36 10,46 20,50 L-20,50 C-10,46 -4,36 -3,22 C-7,30 -15,35 "
        "-25,35 C-38,35 -48,25 -48,12 C-48,-1 -38,-11 -25,-11 C-20,-11 -15,-9 -11,-6 C-19,-12 -23,-20 "
        "-23,-28 C-23,-40 -13.5,-50 0,-50Z"
    ),
}
